"""The first tables: campaign, candidate, approval, pause, run, attempt, decision, receipt doubts, the ledger."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None

HOLDS_INVITATION = "operation = 'invite' AND state IN ('sending', 'done', 'unsure')"
HOLDS_CAMPAIGN = (
    "operation IN ('create_project', 'attach_problem') AND state IN ('sending', 'done', 'unsure')"
)


def upgrade() -> None:
    op.create_table('campaign',
    sa.Column('id', sa.Integer(), nullable=False),
    sa.Column('key', sa.String(), nullable=False),
    sa.Column('service', sa.String(), nullable=False),
    sa.Column('app_url', sa.String(), nullable=False),
    sa.Column('definition', sa.String(), nullable=False),
    sa.Column('belongs_to', sa.String(), nullable=True),
    sa.Column('digest', sa.String(), nullable=False),
    sa.Column('name', sa.String(), nullable=False),
    sa.Column('description', sa.String(), nullable=False),
    sa.Column('state', sa.String(), nullable=False),
    sa.Column('starttime', sa.String(), nullable=False),
    sa.Column('endtime', sa.String(), nullable=False),
    sa.Column('send_invites', sa.Boolean(), nullable=False),
    sa.Column('ask_first', sa.Boolean(), nullable=False),
    sa.Column('answer_within', sa.Integer(), nullable=True),
    sa.Column('cooldown', sa.Integer(), nullable=True),
    sa.Column('timetable', sa.String(), nullable=False),
    sa.Column('timezone', sa.String(), nullable=True),
    sa.Column('project_state', sa.String(), nullable=False),
    sa.Column('project_attempt', sa.Integer(), nullable=True),
    sa.Column('project_id', sa.BigInteger(), nullable=True),
    sa.Column('problem_state', sa.String(), nullable=False),
    sa.Column('problem_attempt', sa.Integer(), nullable=True),
    sa.Column('problem_id', sa.BigInteger(), nullable=True),
    sa.Column('problem_title', sa.String(), nullable=True),
    sa.Column('problem_doubt', sa.String(), nullable=True),
    sa.Column('problem_seen_at', sa.DateTime(timezone=True), nullable=True),
    sa.Column('parts', sa.Integer(), nullable=False),
    sa.Column('why', sa.String(), nullable=True),
    sa.Column('created_at', sa.DateTime(timezone=True), nullable=False),
    sa.PrimaryKeyConstraint('id'),
    sa.UniqueConstraint('key')
    )
    op.create_table('approval',
    sa.Column('id', sa.Integer(), nullable=False),
    sa.Column('campaign_key', sa.String(), nullable=False),
    sa.Column('digest', sa.String(), nullable=False),
    sa.Column('read', sa.String(), nullable=False),
    sa.Column('service', sa.String(), nullable=False),
    sa.Column('file', sa.String(), nullable=False),
    sa.Column('definition', sa.String(), nullable=True),
    sa.Column('told', sa.String(), nullable=False),
    sa.Column('held', sa.String(), nullable=False),
    sa.Column('asked_at', sa.DateTime(timezone=True), nullable=False),
    sa.Column('answer_by', sa.DateTime(timezone=True), nullable=True),
    sa.Column('answer', sa.String(), nullable=True),
    sa.Column('who', sa.String(), nullable=True),
    sa.Column('why', sa.String(), nullable=True),
    sa.Column('answered_at', sa.DateTime(timezone=True), nullable=True),
    sa.PrimaryKeyConstraint('id')
    )
    op.create_index('ix_approval_campaign_key', 'approval', ['campaign_key'], unique=False)
    op.create_table('pause',
    sa.Column('id', sa.Integer(), nullable=False),
    sa.Column('campaign_key', sa.String(), nullable=False),
    sa.Column('who', sa.String(), nullable=False),
    sa.Column('why', sa.String(), nullable=False),
    sa.Column('paused_at', sa.DateTime(timezone=True), nullable=False),
    sa.Column('resumed_at', sa.DateTime(timezone=True), nullable=True),
    sa.Column('resumed_by', sa.String(), nullable=True),
    sa.Column('resumed_why', sa.String(), nullable=True),
    sa.PrimaryKeyConstraint('id')
    )
    op.create_index('paused_once', 'pause', ['campaign_key'], unique=True, sqlite_where=sa.text('resumed_at IS NULL'), postgresql_where=sa.text('resumed_at IS NULL'))
    op.create_table('ledger',
    sa.Column('id', sa.Integer(), autoincrement=False, nullable=False),
    sa.Column('uuid', sa.String(), nullable=False),
    sa.Column('secret', sa.String(), nullable=False),
    sa.Column('created_at', sa.DateTime(timezone=True), nullable=False),
    sa.Column('openness', sa.String(), nullable=False),
    sa.Column('other', sa.String(), nullable=True),
    sa.Column('move', sa.String(), nullable=True),
    sa.PrimaryKeyConstraint('id')
    )
    op.create_table('candidate',
    sa.Column('id', sa.Integer(), nullable=False),
    sa.Column('campaign_id', sa.Integer(), nullable=False),
    sa.Column('email_key', sa.String(), nullable=False),
    sa.Column('first_name', sa.String(), nullable=False),
    sa.Column('last_name', sa.String(), nullable=False),
    sa.Column('email1', sa.String(), nullable=False),
    sa.Column('source', sa.String(), nullable=False),
    sa.Column('notes', sa.String(), nullable=False),
    sa.Column('stage_id', sa.Integer(), nullable=False),
    sa.Column('timezone', sa.String(), nullable=True),
    sa.Column('listed', sa.Boolean(), nullable=False),
    sa.Column('candidate_id', sa.BigInteger(), nullable=True),
    sa.Column('add_state', sa.String(), nullable=False),
    sa.Column('add_attempt', sa.Integer(), nullable=True),
    sa.Column('invite_state', sa.String(), nullable=False),
    sa.Column('invite_attempt', sa.Integer(), nullable=True),
    sa.Column('generation', sa.Integer(), nullable=False),
    sa.Column('allowed_attempt', sa.Integer(), nullable=False),
    sa.Column('allowed_entry', sa.Integer(), nullable=False),
    sa.Column('corrected_to', sa.Integer(), nullable=True),
    sa.Column('why', sa.String(), nullable=True),
    sa.ForeignKeyConstraint(['campaign_id'], ['campaign.id']),
    sa.ForeignKeyConstraint(['corrected_to'], ['candidate.id']),
    sa.PrimaryKeyConstraint('id'),
    sa.UniqueConstraint('campaign_id', 'email_key')
    )
    op.create_index('one_person_per_id', 'candidate', ['campaign_id', 'candidate_id'], unique=True, sqlite_where=sa.text('candidate_id IS NOT NULL'), postgresql_where=sa.text('candidate_id IS NOT NULL'))
    op.create_index('same_person', 'candidate', ['email_key'], unique=False)
    op.create_table('do_not_contact',
    sa.Column('id', sa.Integer(), nullable=False),
    sa.Column('email_key', sa.String(), nullable=False),
    sa.Column('email1', sa.String(), nullable=False),
    sa.Column('file', sa.String(), nullable=False),
    sa.Column('who', sa.String(), nullable=False),
    sa.Column('why', sa.String(), nullable=False),
    sa.Column('listed_at', sa.DateTime(timezone=True), nullable=False),
    sa.Column('lifted_at', sa.DateTime(timezone=True), nullable=True),
    sa.Column('lifted_by', sa.String(), nullable=True),
    sa.Column('lifted_why', sa.String(), nullable=True),
    sa.PrimaryKeyConstraint('id'),
    sqlite_autoincrement=True
    )
    op.create_index('listed_once', 'do_not_contact', ['email_key', 'file'], unique=True, sqlite_where=sa.text('lifted_at IS NULL'), postgresql_where=sa.text('lifted_at IS NULL'))
    op.create_table('forgotten',
    sa.Column('id', sa.Integer(), nullable=False),
    sa.Column('hash', sa.String(), nullable=False),
    sa.Column('who', sa.String(), nullable=False),
    sa.Column('why', sa.String(), nullable=False),
    sa.Column('forgotten_at', sa.DateTime(timezone=True), nullable=False),
    sa.PrimaryKeyConstraint('id'),
    sa.UniqueConstraint('hash')
    )
    op.create_table('run',
    sa.Column('id', sa.Integer(), nullable=False),
    sa.Column('campaign_id', sa.Integer(), nullable=False),
    sa.Column('host', sa.String(), nullable=False),
    sa.Column('pid', sa.Integer(), nullable=False),
    sa.Column('process_start', sa.String(), nullable=False),
    sa.Column('started_at', sa.DateTime(timezone=True), nullable=False),
    sa.Column('heartbeat_at', sa.DateTime(timezone=True), nullable=False),
    sa.Column('approval_id', sa.Integer(), nullable=True),
    sa.Column('ended_at', sa.DateTime(timezone=True), nullable=True),
    sa.Column('ending', sa.String(), nullable=True),
    sa.Column('reason', sa.String(), nullable=True),
    sa.ForeignKeyConstraint(['approval_id'], ['approval.id']),
    sa.ForeignKeyConstraint(['campaign_id'], ['campaign.id']),
    sa.PrimaryKeyConstraint('id')
    )
    op.create_index('ix_run_campaign_id', 'run', ['campaign_id'], unique=False)
    op.create_table('attempt',
    sa.Column('id', sa.Integer(), nullable=False),
    sa.Column('campaign_id', sa.Integer(), nullable=False),
    sa.Column('candidate_row', sa.Integer(), nullable=True),
    sa.Column('generation', sa.Integer(), nullable=False),
    sa.Column('operation', sa.String(), nullable=False),
    sa.Column('rows', sa.Integer(), nullable=False),
    sa.Column('carried', sa.String(), nullable=True),
    sa.Column('state', sa.String(), nullable=False),
    sa.Column('run_id', sa.Integer(), nullable=False),
    sa.Column('claimed_at', sa.DateTime(timezone=True), nullable=False),
    sa.Column('ended_at', sa.DateTime(timezone=True), nullable=True),
    sa.Column('phase', sa.Integer(), nullable=True),
    sa.Column('status', sa.Integer(), nullable=True),
    sa.Column('evidence', sa.String(), nullable=True),
    sa.ForeignKeyConstraint(['campaign_id'], ['campaign.id']),
    sa.ForeignKeyConstraint(['candidate_row'], ['candidate.id']),
    sa.ForeignKeyConstraint(['run_id'], ['run.id']),
    sa.PrimaryKeyConstraint('id'),
    sqlite_autoincrement=True
    )
    op.create_index('one_invitation', 'attempt', ['candidate_row', 'generation'], unique=True, sqlite_where=sa.text(HOLDS_INVITATION), postgresql_where=sa.text(HOLDS_INVITATION))
    op.create_index('one_project_one_problem', 'attempt', ['campaign_id', 'operation'], unique=True, sqlite_where=sa.text(HOLDS_CAMPAIGN), postgresql_where=sa.text(HOLDS_CAMPAIGN))
    op.create_index('still_sending', 'attempt', ['run_id'], unique=False, sqlite_where=sa.text("state = 'sending'"), postgresql_where=sa.text("state = 'sending'"))
    op.create_table('decision',
    sa.Column('id', sa.Integer(), nullable=False),
    sa.Column('campaign_id', sa.Integer(), nullable=True),
    sa.Column('attempt_id', sa.Integer(), nullable=True),
    sa.Column('candidate_row', sa.Integer(), nullable=True),
    sa.Column('verdict', sa.String(), nullable=False),
    sa.Column('value', sa.String(), nullable=True),
    sa.Column('who', sa.String(), nullable=False),
    sa.Column('why', sa.String(), nullable=False),
    sa.Column('decided_at', sa.DateTime(timezone=True), nullable=False),
    sa.ForeignKeyConstraint(['attempt_id'], ['attempt.id']),
    sa.ForeignKeyConstraint(['campaign_id'], ['campaign.id']),
    sa.ForeignKeyConstraint(['candidate_row'], ['candidate.id']),
    sa.PrimaryKeyConstraint('id')
    )
    op.create_index('ix_decision_campaign_id', 'decision', ['campaign_id'], unique=False)
    op.create_table('inbox',
    sa.Column('id', sa.Integer(), nullable=False),
    sa.Column('digest', sa.String(), nullable=False),
    sa.Column('campaign_key', sa.String(), nullable=False),
    sa.Column('file', sa.String(), nullable=False),
    sa.Column('ending', sa.String(), nullable=False),
    sa.Column('seen_at', sa.DateTime(timezone=True), nullable=False),
    sa.PrimaryKeyConstraint('id'),
    sa.UniqueConstraint('digest', 'campaign_key')
    )
    op.create_table('receipt_doubt',
    sa.Column('id', sa.Integer(), nullable=False),
    sa.Column('campaign_key', sa.String(), nullable=False),
    sa.Column('file', sa.String(), nullable=False),
    sa.Column('says', sa.String(), nullable=False),
    sa.Column('seen_at', sa.DateTime(timezone=True), nullable=False),
    sa.Column('accepted_at', sa.DateTime(timezone=True), nullable=True),
    sa.Column('who', sa.String(), nullable=True),
    sa.Column('why', sa.String(), nullable=True),
    sa.Column('line', sa.String(), nullable=True),
    sa.Column('reached', sa.Integer(), nullable=True),
    sa.PrimaryKeyConstraint('id')
    )
    op.create_index('ix_receipt_doubt_campaign_key', 'receipt_doubt', ['campaign_key'], unique=False)
