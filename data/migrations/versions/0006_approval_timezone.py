"""In which time zone people read until when a plan waits for its approval."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    op.add_column("approval", sa.Column("timezone", sa.String(), nullable=True))
