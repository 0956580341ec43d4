"""The six moments of a request, and how a program says that it has reached one.

`sent` and `done` are what the service sees, so a program says nothing of them. Of the four others
it says one line, and goes on when it gets one back: no moment passes while the harness decides
whether the program dies there. Where the environment names no harness, it says nothing.
Standard library only: programs of other environments import this module.
"""

import os
import socket
from enum import StrEnum
from typing import BinaryIO

HARNESS = "MATRIX_MOMENTS"  # a Unix socket's path


class Moment(StrEnum):
    """Where a program is with one person's invitation, in the order of things."""

    BEFORE = "before"  # nothing about this person is written down or sent
    CLAIMED = "claimed"  # what the program writes down first is durable; nothing was sent
    SENT = "sent"  # the service has the request, and has done nothing; it will not
    DONE = "done"  # the service has done it, and has not answered; it will not
    ANSWERED = "answered"  # the program has read the answer, and has not written it down
    RECORDED = "recorded"  # the outcome is durable


SEEN_BY_THE_SERVICE = frozenset({Moment.SENT, Moment.DONE})

_lines: dict[int, BinaryIO] = {}


def reached(moment: Moment, person: str) -> None:
    """Say that this process has reached a moment; returns if it may go on."""
    path = os.environ.get(HARNESS)
    if not path:
        return
    pid = os.getpid()
    if pid not in _lines:
        with socket.socket(socket.AF_UNIX) as connected:
            connected.connect(path)
            _lines[pid] = connected.makefile("rwb", buffering=0)
    _lines[pid].write(f"{moment} {person}\n".encode())
    _lines[pid].readline()
