"""Prefect's database: one server makes its tables, and in SQLite writers wait for their turn.

Prefect begins most transactions as readers. One that then wants to write, after somebody else
wrote, is refused at once, however long it would wait ("database is locked"): a busy server answers
503, loses events and so notices, and stops a second server of the same home. One that begins as a
writer waits its turn, for up to a minute.

Nor does Prefect keep two servers from making the tables of a fresh home, or a new version's, at the
same time: the one that comes second to a table breaks off, and does not start.
"""

import fcntl
from collections.abc import AsyncGenerator
from contextlib import ExitStack, asynccontextmanager, suppress

from prefect.server.database.configurations import AioSqliteConfiguration
from prefect.server.database.dependencies import MODELS_DEPENDENCIES
from prefect.server.utilities.database import get_dialect
from prefect.settings import PREFECT_API_DATABASE_CONNECTION_URL, PREFECT_HOME
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


def make_tables_alone() -> ExitStack:
    """Wait until no other server of this home makes tables. Others wait until this is closed."""
    alone = ExitStack()
    with suppress(OSError):  # of a home that cannot be written to, Prefect says what is wrong
        file = alone.enter_context((PREFECT_HOME.value() / "tables.lock").open("a"))
        fcntl.flock(file, fcntl.LOCK_EX)
    return alone
