"""How far answers of the service are believed, and what it said where that was no plain yes."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    trust = sa.Column("trust", sa.String(), nullable=False, server_default="status")
    op.add_column("campaign", trust)
    op.add_column("attempt", sa.Column("answer", sa.String(), nullable=True))
