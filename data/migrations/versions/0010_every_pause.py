"""Every pause is kept: one person's does not hide another's."""

from alembic import op

revision = "0010"
down_revision = "0009"


def upgrade() -> None:
    op.drop_index("paused_once", "pause")
