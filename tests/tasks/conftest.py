"""The same desk as for the data: campaigns in a ledger."""

from tests.data.conftest import desk, empty, ledger, new_url, postgres

__all__ = ["desk", "empty", "ledger", "new_url", "postgres"]
