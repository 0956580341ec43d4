"""What every part of the ledger works with: its transactions, and its clock.

A method under `reading` or `writing` is one transaction: it is given the connection, and whoever
calls it does not pass one. It may be run again from its beginning, where the database lost the
transaction, so it changes nothing but the ledger.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from datetime import datetime
from functools import wraps
from typing import Concatenate, ParamSpec, TypeVar

from sqlalchemy import Connection

T = TypeVar("T")
P = ParamSpec("P")


class LedgerPart(ABC):
    """Methods of the ledger about one matter."""

    @abstractmethod
    def _look(self, work: Callable[[Connection], T]) -> T:
        """See work through that only looks, all of it as of one moment."""

    @abstractmethod
    def _write(self, work: Callable[[Connection], T]) -> T:
        """See work through that nobody may come in between of; then commit it."""

    @abstractmethod
    def _write_beside(self, work: Callable[[Connection], T]) -> T:
        """The same for work that says itself what it must be alone with (data/locks.py)."""

    @abstractmethod
    def _now(self) -> datetime: ...


S = TypeVar("S", bound=LedgerPart)


def reading(method: Callable[Concatenate[S, Connection, P], T]) -> Callable[Concatenate[S, P], T]:
    """Have a method look at the ledger as of one moment."""

    @wraps(method)
    def look(self: S, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return self._look(lambda connection: method(self, connection, *args, **kwargs))

    return look


def writing(method: Callable[Concatenate[S, Connection, P], T]) -> Callable[Concatenate[S, P], T]:
    """Have a method write to the ledger while nobody else does."""

    @wraps(method)
    def write(self: S, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return self._write(lambda connection: method(self, connection, *args, **kwargs))

    return write


def writing_beside(
    method: Callable[Concatenate[S, Connection, P], T],
) -> Callable[Concatenate[S, P], T]:
    """Have a method write to the ledger beside others; it says what it must be alone with."""

    @wraps(method)
    def write(self: S, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return self._write_beside(lambda connection: method(self, connection, *args, **kwargs))

    return write
