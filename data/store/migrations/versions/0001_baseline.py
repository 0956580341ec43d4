"""The tables of 1.0. A new ledger is made whole from tables.py and starts at the newest version."""

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Nothing: every ledger has these tables."""
