"""The lease: only one process at a time works on a campaign.

For a ledger in a file it is a lock on `<ledger>.locks/KEY`. The system frees it when the process
dies, but keeps it while the process is suspended. On a server it is an advisory lock in a session
of its own. If that session is lost, the lease is lost, and nothing more is sent.
"""

import fcntl
import os
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from datetime import datetime
from hashlib import sha256
from pathlib import Path
from urllib.parse import quote

from sqlalchemy import text
from sqlalchemy.exc import DBAPIError, InvalidRequestError
from sqlalchemy.pool import NullPool

from config.errors import CampaignError
from data.store import postgres
from data.store.ledger import Ledger, explained, identity
from data.store.tables import now


class AtWork(CampaignError):
    says = """{key} is being sent by process {pid} on {host} since {since}. Nothing was sent from
    here. It goes on there; wait for it to end, or stop it."""


class LeaseLost(CampaignError):
    says = """This run lost its hold on {key}: {cause}. Nothing more is sent from here, and every
    answer that came is recorded. Run the same command again."""


Lease = Callable[[], None]
"""The right to send one campaign, held by this process. Call it before each claim and request: it
raises LeaseLost if the lease is lost."""


def lease(ledger: Ledger, key: str) -> AbstractContextManager[Lease]:
    """Take and hold the lease of a campaign. Raises AtWork, LeaseLost, LedgerUnusable."""
    return _on_server(ledger, key) if ledger.on_a_server else _in_folder(ledger.locks, key)


def is_free(ledger: Ledger, key: str) -> bool:
    """Whether nobody is at work on this campaign."""
    if ledger.on_a_server:
        with ledger.reading() as session:
            return session.connection().execute(_WHO, _numbers(key)).first() is None
    with suppress(FileNotFoundError), (ledger.locks / file_name(key)).open("rb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
    return True


def file_name(key: str) -> str:
    """Turn any key into a file name, which never begins with a dot."""
    return quote(key, safe=" ").replace(".", "%2E")


def lock_file(folder: Path, name: str) -> int:
    """Open a file to lock; create it if it is missing. Raises LedgerUnusable."""
    with explained(str(folder / name), OSError):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return os.open(folder / name, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)


@contextmanager
def _in_folder(folder: Path, key: str) -> Iterator[Lease]:
    path = folder / file_name(key)
    number = lock_file(folder, path.name)

    def check() -> None:
        if identity(path) != identity(number):
            raise LeaseLost(key=key, cause="its lock file was removed or replaced")

    try:
        _lock(number, key)
        check()
        os.ftruncate(number, 0)
        here = f"{socket.gethostname()} {os.getpid()} {now().isoformat()}"
        os.pwrite(number, here.encode(), 0)
        yield check
    finally:
        os.close(number)  # frees the lock


def _lock(number: int, key: str) -> None:
    for _ in range(10):  # `is_free` may hold the lock for a moment
        with suppress(BlockingIOError):
            fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        time.sleep(0.02)
    raise _at_work(key, os.pread(number, 1000, 0).decode("utf-8", "replace"))


def _at_work(key: str, written: str) -> AtWork:
    try:
        host, pid, began = written.split()
        since = f"{datetime.fromisoformat(began).astimezone():%Y-%m-%d %H:%M:%S}"
    except ValueError:  # it has only just begun
        host, pid, since = "some machine", "?", "just now"
    return AtWork(key=key, host=host, pid=pid, since=since)


@contextmanager
def _on_server(ledger: Ledger, key: str) -> Iterator[Lease]:
    name = f"{socket.gethostname()[:40]} {os.getpid()}"
    engine = postgres.engine(
        ledger.url.update_query_dict({"application_name": name}), poolclass=NullPool
    )
    with explained(ledger.place):
        connection = engine.connect().execution_options(isolation_level="AUTOCOMMIT")
    one_at_a_time = threading.Lock()

    def check() -> None:
        try:
            with one_at_a_time:
                connection.execute(text("SELECT 1"))
        except (DBAPIError, InvalidRequestError):  # lost just now, or earlier
            cause = "the connection to the ledger's server was lost"
            raise LeaseLost(key=key, cause=cause) from None

    try:
        with explained(ledger.place):
            if not connection.scalar(_TAKE, _numbers(key)):
                who = connection.execute(_WHO, _numbers(key)).first() or ()
                raise _at_work(key, " ".join(who))
        yield check
    finally:
        connection.invalidate()  # ends the session, and with it the lock
        connection.close()
        engine.dispose()


def _numbers(key: str) -> dict[str, int]:
    number = int.from_bytes(sha256(key.encode()).digest()[:8])
    return {"high": number >> 33, "low": number & 0x7FFFFFFF}


_TAKE = text("SELECT pg_try_advisory_lock(:high, :low)")
_WHO = text(
    "SELECT application_name, to_json(backend_start) #>> '{}' "
    "FROM pg_locks JOIN pg_stat_activity USING (pid) WHERE locktype = 'advisory' AND granted "
    "AND objsubid = 2 AND classid = :high AND objid = :low "
    "AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
)
