"""Ports of this machine that nobody else is given while a test counts on them."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager

_kept: list[socket.socket] = []


def free_port() -> int:
    """A port on which nobody listens, and which nobody is given until this process ends: a server
    that is to have it may begin a minute later."""
    _kept.append(bound())
    return int(_kept[-1].getsockname()[1])


@contextmanager
def own_port() -> Iterator[int]:
    """A port that nobody else is given in this block, also while nobody listens on it."""
    with bound() as kept:
        yield int(kept.getsockname()[1])


def bound() -> socket.socket:
    """A socket that has a port and does not listen: a server may have the port beside it."""
    free = socket.socket()
    free.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # servers say so as well
    free.bind(("127.0.0.1", 0))
    return free
