"""Workbooks read without a process for each: beginning one takes longer than most of them.

The product reads a workbook in a process of its own, so that no file can harm what sends. That it
does, and what becomes of a file that tries, is seen in tests/config/workbooks and the journeys.
"""

import io
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import pytest

from config.workbooks import process
from config.workbooks.__main__ import main


class Reader:
    """Takes the place of the process that reads, with what is used of a Popen."""

    returncode = 0

    def __init__(self, command: list[str], **_: object) -> None:
        self._wanted = command[command.index("config.workbooks") + 1 :]
        self.stdin, self.stdout = io.BytesIO(), io.BytesIO()
        self.stdin.close = self._read  # type: ignore[method-assign]

    def _read(self) -> None:
        """Read what came, now that it is whole; what a library cannot stand ends it."""
        try:
            with silence():
                main(self._wanted, io.BytesIO(self.stdin.getvalue()), self.stdout)
        except KeyboardInterrupt:
            raise
        except BaseException:  # noqa: BLE001 - what panics in Rust is no Exception
            self.returncode = 1
        self.stdout.seek(0)

    def kill(self) -> None:
        """It has ended."""

    def wait(self) -> int:
        return self.returncode

    def __exit__(self, *_: object) -> None: ...


@contextmanager
def silence() -> Iterator[None]:
    """Hear nothing of what a library writes to stderr past Python, as of a process of its own."""
    kept, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)


def read_here(patch: pytest.MonkeyPatch) -> None:
    """Let workbooks be read in this process."""
    there: dict[str, Any] = {"PIPE": subprocess.PIPE, "DEVNULL": subprocess.DEVNULL}
    patch.setattr(process, "subprocess", SimpleNamespace(Popen=Reader, **there))
