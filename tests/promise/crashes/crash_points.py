"""Every boundary at which a run can be cut off, and how to cut it off there.

Watched from outside, with nothing in the product that knows of it: each ledger commit (before its
statements, after them, after the commit), each phase that each request reaches, with the opening
and the end of its connection, and the moments around a changing request's call, each flush of a
file and each file put in another's place (the receipt, the links). To be used in a process that
may die of it.
"""

import os
import signal
from collections.abc import Callable
from contextvars import ContextVar
from pathlib import Path
from threading import Lock
from typing import Any

from sqlalchemy import Connection, Engine, event
from sqlalchemy.dialects.postgresql.psycopg import PGDialect_psycopg
from sqlalchemy.dialects.sqlite.pysqlite import SQLiteDialect_pysqlite
from sqlalchemy.engine.default import DefaultDialect

from sandbox.protocol.operations import recognise
from tasks.service import client
from tasks.service.channel import Way
from tasks.service.client import Service
from tasks.service.connection import Asked, Conversation
from tasks.service.evidence import Phase

CALLED = "called"  # claimed, and nothing of it on the wire yet
RETURNED = "returned"  # judged by nobody yet, recorded nowhere

about: ContextVar[str] = ContextVar("about", default="")


class Boundaries:
    """Counts the boundaries that a run passes, from 1, and sends itself a signal at one of them.

    `at` is the number of a boundary or, for the first one of a kind, its name. `farewell` is told
    the name and the number just before the signal; `wakes` is called where it was no end.
    """

    def __init__(
        self,
        at: int | str | None,
        number: signal.Signals,
        farewell: Callable[[str, int], None],
        wakes: Callable[[], None] = lambda: None,
    ) -> None:
        self.passed = 0
        self._at = at
        self._signal = number
        self._farewell = farewell
        self._wakes = wakes
        self._one_at_a_time = Lock()

    def reach(self, name: str) -> None:
        """Pass one boundary, or not."""
        with self._one_at_a_time:
            self.passed += 1
            if self._at not in (self.passed, name):
                return
            self._at = None
            self._farewell(name, self.passed)
            os.kill(os.getpid(), self._signal)
            self._wakes()


def watch(boundaries: Boundaries) -> None:
    """Make everything that this process does from now on pass `boundaries`."""
    _watch_commits(boundaries)
    _watch_requests(boundaries)
    _watch_calls(boundaries)
    _watch_files(boundaries)


def _watch_commits(boundaries: Boundaries) -> None:
    def begins(connection: Connection) -> None:
        how = connection.get_execution_options()
        if not (how.get("reading") or how.get("postgresql_readonly")):
            boundaries.reach("commit before")

    really_commit = DefaultDialect.do_commit

    def commit(dialect: DefaultDialect, connection: Any) -> None:
        boundaries.reach("commit inside")
        really_commit(dialect, connection)
        boundaries.reach("commit after")

    event.listen(Engine, "begin", begins)
    for dialect in (SQLiteDialect_pysqlite, PGDialect_psycopg):
        dialect.do_commit = commit


def _watch_requests(boundaries: Boundaries) -> None:
    really_exchange, really_open = client.exchange, Way.open
    really_reach, really_close = Conversation.reach, Conversation.close

    async def exchange(way: Way, asked: Asked, **how: Any) -> Any:
        operation = recognise(asked.method.decode(), asked.target.decode()).operation
        token = about.set(operation)
        try:
            return await really_exchange(way, asked, **how)
        finally:
            about.reset(token)

    async def open_it(self: Way) -> Conversation:
        boundaries.reach(f"{about.get()} connecting")
        conversation = await really_open(self)
        boundaries.reach(f"{about.get()} connected")
        return conversation

    def reach(self: Conversation, phase: Phase) -> None:
        really_reach(self, phase)
        if phase > Phase.SENDING:  # nothing lies between the last look and the first byte
            boundaries.reach(f"{about.get()} {phase.name.lower()}")

    def close(self: Conversation) -> None:
        really_close(self)
        boundaries.reach(f"{about.get()} closed")

    client.exchange = exchange
    Way.open = open_it  # type: ignore[method-assign]
    Conversation.reach = reach  # type: ignore[method-assign]
    Conversation.close = close  # type: ignore[method-assign]


def _watch_calls(boundaries: Boundaries) -> None:
    really_call = Service.call

    async def call(self: Service, request: Any, *more: Any) -> Any:
        operation = recognise("POST", request.path).operation
        boundaries.reach(f"{operation} {CALLED}")
        seen = await really_call(self, request, *more)
        boundaries.reach(f"{operation} {RETURNED}")
        return seen

    Service.call = call  # type: ignore[method-assign]


def _watch_files(boundaries: Boundaries) -> None:
    really_flush, really_replace = os.fsync, Path.replace

    def flush(number: int) -> None:
        boundaries.reach("file before flush")
        really_flush(number)
        boundaries.reach("file after flush")

    def replace(self: Path, target: Path) -> Path:
        placed = really_replace(self, target)
        boundaries.reach("file in place")
        return placed

    os.fsync = flush
    Path.replace = replace  # type: ignore[method-assign]
