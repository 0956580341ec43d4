"""Sessions of a ledger on a PostgreSQL server.

Both sides notice a dead connection within half a minute. So a machine that vanished in the middle
of a transaction soon loses its lease and locks to others.
"""

from typing import Any

from sqlalchemy import Connection, Engine, create_engine, text
from sqlalchemy.engine import URL

PATIENCE = 30  # seconds to wait for another process's commit

_ALIVE = {"keepalives_idle": 10, "keepalives_interval": 5, "keepalives_count": 3}  # seconds, tries
_CLIENT = {
    "connect_timeout": 5,
    "keepalives": 1,
    **_ALIVE,
    "tcp_user_timeout": 20_000,  # milliseconds
    "target_session_attrs": "read-write",  # a stand-by is not the ledger
    "client_encoding": "UTF8",
}
_SERVER = {
    "synchronous_commit": "on",  # a commit is on the disk before it returns
    "timezone": "UTC",
    "lock_timeout": PATIENCE * 1000,
    "idle_in_transaction_session_timeout": 60_000,
    **{f"tcp_{name}": value for name, value in _ALIVE.items()},
    "tcp_user_timeout": 20_000,
}
_ALONE = 1_000_000_007  # the advisory lock of writers


def engine(address: URL, **more: Any) -> Engine:
    """An engine for this address; `more` goes to `create_engine`."""
    given = address.query
    # Options from the address come first, so that ours overrule them.
    ours = (f"-c {name}={value}" for name, value in _SERVER.items())
    options = " ".join([str(given.get("options", "")), *ours]).strip()
    return create_engine(
        address.set(drivername="postgresql+psycopg"),
        connect_args={k: v for k, v in _CLIENT.items() if k not in given} | {"options": options},
        isolation_level="READ COMMITTED",  # of writers, who are alone: see `alone`
        hide_parameters=True,
        pool_pre_ping=True,
        **more,
    )


def alone(connection: Connection) -> None:
    """Keep other writers out until this transaction ends, as BEGIN IMMEDIATE does in a file."""
    connection.execute(text("SELECT pg_advisory_xact_lock(:number)"), {"number": _ALONE})


# Which server, database and table this is: others once a dump was restored.
IDENTITY = text("""
    SELECT concat_ws('-', system_identifier, oid, 'ledger'::regclass::oid)
    FROM pg_control_system(), pg_database WHERE datname = current_database()
""")
