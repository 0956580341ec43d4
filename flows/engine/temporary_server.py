"""Prefect's temporary server for one command: started at once, ended with all of it recorded.

Without a standing server Prefect needs one of its own. It takes some seconds to start, so it is
started first, and the command reads its files and imports Prefect meanwhile.

A Ctrl-C on a terminal goes to every process of the group: the server would end at once, and the
run, which is only finishing what is in flight, would wait minutes for it. So it has a session of
its own, which ends with the run even when that is killed.
"""

import asyncio
import os
import select
import shlex
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from config.errors import CampaignError
from flows.engine.child_process import start_child
from flows.engine.login import OF_CLIENTS, guarded, made
from flows.engine.prefect_settings import UNSEEN, prepare

NAMED = "PREFECT_API_URL"
NOT_NEEDED = "named"
ANSWERS = "answers"
LONGEST_START = "PREFECT_SERVER_EPHEMERAL_STARTUP_TIMEOUT_SECONDS"


class NoPrefect(CampaignError):
    """Prefect's temporary server did not come up, so that nothing was begun."""

    def __init__(self) -> None:
        home = shlex.quote(os.environ["PREFECT_HOME"])
        super().__init__(
            "Prefect's temporary server did not start, and nothing was sent. To see why: "
            f"PREFECT_HOME={home} prefect server start. Then run the same command again."
        )


class TemporaryServer:
    """A server on its way, or none where another one is named."""

    def __init__(self, process: "subprocess.Popen[bytes] | None", login: str = "") -> None:
        self._process = process
        self._login = login
        self._read_ahead = b""
        self._answers = False
        self.is_led = False  # whether Prefect is set to use it

    def lead(self) -> None:
        """Set Prefect to use it; called before Prefect is imported. Raises NoPrefect."""
        if self._process is None or self.is_led:
            return
        address = self._next_word(self._process)
        if address == NOT_NEEDED:
            self._process = None
        else:
            os.environ[NAMED] = address
            os.environ[OF_CLIENTS] = self._login
            self.is_led = True

    def awaited(self) -> None:
        """Wait until it answers. Raises NoPrefect."""
        if self._process is not None and not self._answers:
            self._answers = self._next_word(self._process) == ANSWERS

    def wait_until_recorded(self) -> None:
        """Wait until everything that Prefect has to tell it is in its database."""
        with suppress(Exception):  # the ledger has it all; Prefect's pages lack the end
            if self._answers:
                from flows.engine.recorded import everything_recorded  # noqa: PLC0415 - imports Prefect

                asyncio.run(everything_recorded())

    def _next_word(self, process: "subprocess.Popen[bytes]") -> str:
        """Read one line of what it says."""
        pipe = process.stdout.fileno() if process.stdout else -1
        ends = time.monotonic() + float(os.environ[LONGEST_START])
        while b"\n" not in self._read_ahead:
            ready, _, _ = select.select([pipe], [], [], max(0.0, ends - time.monotonic()))
            more = os.read(pipe, 1024) if ready else b""
            if not more:
                raise NoPrefect
            self._read_ahead += more
        word, _, self._read_ahead = self._read_ahead.partition(b"\n")
        return word.decode()


_under_way: list[TemporaryServer] = []  # at most one: Prefect reads its address but once


def is_temporary() -> bool:
    """Whether the server of this process ends with the command."""
    return any(server.is_led for server in _under_way)


@contextmanager
def temporary_server() -> Iterator[TemporaryServer]:
    """Start the server, or go on with one of a block around this; end it with its block.

    Prefect must not have been imported before the first one.
    """
    prepare(quiet=True)
    if _under_way or os.environ.get(NAMED):
        yield _under_way[0] if _under_way else TemporaryServer(None)
        return
    command = [sys.executable, "-m", "flows.engine.prefect_server"]
    login = made()  # anew for each, and nobody sees it
    process = start_child(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        env=guarded(login) | UNSEEN,
    )
    server = TemporaryServer(process, login)
    _under_way.append(server)
    try:
        yield server
    finally:
        _under_way.clear()
        try:
            # Always: what Prefect could not tell it, it would try to tell for minutes at the end.
            server.wait_until_recorded()
        finally:
            process.terminate()
            process.communicate()
