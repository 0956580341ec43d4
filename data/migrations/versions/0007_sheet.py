"""Which sheet has the people, where a person named it: of a campaign, and of a plan to approve."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    for table in ("campaign", "approval"):
        op.add_column(table, sa.Column("sheet", sa.String(), nullable=True))
