"""The same desk as for the data: campaigns in a ledger."""

from tests.data.conftest import desk, ledger, server

__all__ = ["desk", "ledger", "server"]
