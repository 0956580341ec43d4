"""Prefect's SQLite database, in which writers wait for their turn.

Prefect begins most transactions as readers. One that then wants to write, after somebody else
wrote, is refused at once, however long it would wait ("database is locked"): a busy server answers
503, loses events and so notices, and stops a second server of the same home. One that begins as a
writer waits its turn, for up to a minute.
"""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from prefect.server.database.configurations import AioSqliteConfiguration
from prefect.server.database.dependencies import MODELS_DEPENDENCIES
from prefect.server.utilities.database import get_dialect
from prefect.settings import PREFECT_API_DATABASE_CONNECTION_URL
from sqlalchemy.ext.asyncio import AsyncSession, AsyncSessionTransaction


class _InTurn(AioSqliteConfiguration):
    """Begins every transaction as a writer: what only reads opens none."""

    @asynccontextmanager
    async def begin_transaction(
        self, session: AsyncSession, with_for_update: bool = True
    ) -> AsyncGenerator[AsyncSessionTransaction, None]:
        del with_for_update  # whatever was asked for
        async with super().begin_transaction(session, with_for_update=True) as transaction:
            yield transaction


def write_in_turn() -> None:
    """Have the server of this process wait for its turn. Called before Prefect opens its database.

    PostgreSQL does not need it.
    """
    address = PREFECT_API_DATABASE_CONNECTION_URL.value()
    if get_dialect(address).name == "sqlite":
        MODELS_DEPENDENCIES["database_config"] = _InTurn(connection_url=address)
