"""Whether a campaign adds people once more whose add is unsure, instead of asking a person."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    # What an earlier version left behind asks, as it did.
    op.add_column(
        "campaign",
        sa.Column("add_again", sa.Boolean(), server_default=sa.false(), nullable=False),
    )
