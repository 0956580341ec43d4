"""A person at a real terminal: what is typed goes through a pseudo-terminal, Ctrl-C included."""

import fcntl
import os
import pty
import select
import signal
import subprocess
import termios
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from tests.support.session import PATIENCE


class Terminal:
    """One command at a terminal of its own; a context manager."""

    def __init__(self, words: Sequence[str], folder: Path, environment: Mapping[str, str]) -> None:
        self.shown = ""
        self._master, slave = pty.openpty()

        def own_terminal() -> None:
            # As a shell in front of a person has it, whatever this process began with.
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            fcntl.ioctl(0, termios.TIOCSCTTY, 0)

        self._process = subprocess.Popen(
            words,
            cwd=folder,
            env={**environment, "TERM": "dumb"},
            stdin=slave,
            stdout=slave,
            stderr=slave,
            start_new_session=True,
            preexec_fn=own_terminal,  # noqa: PLW1509 - it is one call of the system
        )
        os.close(slave)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._process.kill()
        self._process.wait()
        os.close(self._master)

    def until(self, text: str) -> None:
        """Read until this is shown; fails where the command ends without it."""
        ends = time.monotonic() + PATIENCE
        while text not in self.shown:
            assert self._more(ends), f"never shown: {text!r}, but:\n{self.shown}"

    def type(self, keys: str) -> None:
        os.write(self._master, keys.encode())

    def end(self) -> int:
        """Read all that is shown until the command ends; answers its exit code."""
        ends = time.monotonic() + PATIENCE
        while self._more(ends):
            pass
        return self._process.wait(PATIENCE)

    def _more(self, ends: float) -> bool:
        ready, _, _ = select.select([self._master], [], [], max(0.0, ends - time.monotonic()))
        try:
            shown = os.read(self._master, 4096) if ready else b""
        except OSError:  # so Linux says that nobody has the terminal open any more
            shown = b""
        self.shown += shown.decode(errors="replace")
        return bool(shown)
