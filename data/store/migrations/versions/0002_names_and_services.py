"""1.1: a name as it is compared, each service in its one spelling, what each claim asks."""

from contextlib import suppress

import sqlalchemy as sa
from alembic import op

from config.emails import email_key
from config.settings import spelled
from data.campaigns.people import name_key
from data.store.tables import CAMPAIGN, DECISION, PART, PERSON

revision = "0002"
down_revision = "0001"

# The invitations that were sent, with whom and which problem they were about.
SENT = """
UPDATE part SET
    mailbox = (SELECT mailbox FROM person JOIN step ON step.person_id = person.id
               WHERE step.id = part.step_id),
    problem = (SELECT attach.service_id FROM step JOIN step AS attach
               ON attach.campaign_id = step.campaign_id AND attach.person_id = 0
               WHERE step.id = part.step_id AND attach.op = 'attach')
WHERE step_id IN (SELECT id FROM step WHERE op = 'invite')
"""
PAUSES = """
UPDATE campaign SET paused_until = (SELECT paused_until FROM pace
    WHERE pace.service = campaign.service AND pace.account = campaign.account)
"""


def upgrade() -> None:
    """Add columns and indexes and fill them; spell the services of campaigns."""
    connection = op.get_bind()
    whole = sa.Column("mark", sa.Integer(), nullable=False, server_default="0")
    named = sa.Column("name_key", sa.String(), nullable=False, server_default="")
    op.add_column("ledger", whole)
    op.add_column("person", named)
    for column in (CAMPAIGN.c.pilot_id, CAMPAIGN.c.paused_until, PART.c.mailbox, PART.c.problem):
        op.add_column(column.table.name, sa.Column(column.name, column.type))
    for name in ("person_gone", "person_by_mailbox"):
        op.drop_index(name, "person")
    for name in ("ix_decision_campaign_id", "ix_decision_person_id"):
        op.drop_index(name, "decision")
    connection.execute(sa.text(PAUSES))
    op.drop_table("pace")
    connection.execute(sa.text(SENT))
    people = connection.execute(sa.select(PERSON.c.id, PERSON.c.fields)).all()
    names = [{"number": number, "name": name_key(fields or {})} for number, fields in people]
    this = sa.update(PERSON).where(PERSON.c.id == sa.bindparam("number"))
    if names:
        connection.execute(this.values(name_key=sa.bindparam("name")), names)
    for row in connection.execute(sa.select(CAMPAIGN)).all():
        pilot = email_key((row.spec or {}).get("invites", {}).get("pilot") or "")
        them = (PERSON.c.campaign_id == row.id) & (PERSON.c.email_key == pilot)
        values = {"pilot_id": connection.scalar(sa.select(PERSON.c.id).where(them))}
        with suppress(ValueError):  # an address that was never one stays as it is
            values["service"] = spelled(row.service)
        connection.execute(sa.update(CAMPAIGN).where(CAMPAIGN.c.id == row.id).values(values))
    for table in (PERSON, PART, DECISION):
        for index in table.indexes:
            index.create(connection, checkfirst=True)
