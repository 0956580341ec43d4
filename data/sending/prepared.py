"""Statements that run for every person: in a file, their text goes straight to SQLite's driver.

SQLAlchemy looks a statement up, fills it in and reads its rows through many layers each time, which
takes several times as long as SQLite itself. Here its text is compiled once. On a server SQLAlchemy
executes each statement: it notices when a connection is lost.
"""

import sqlite3
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

from sqlalchemy import Connection, Insert, Select, Update
from sqlalchemy.dialects import sqlite
from sqlalchemy.exc import DBAPIError

_NAMED = sqlite.dialect(paramstyle="named")

Values = Mapping[str, Any]
Composed = Select[Any] | Insert | Update


@dataclass(frozen=True, slots=True)
class _Compiled:
    """A statement's text for SQLite, what is always the same in it, and how values are stored."""

    text: str
    constants: Values
    stored: Mapping[str, Callable[[Any], Any]]

    @classmethod
    def of(cls, composed: Composed, names: Sequence[str]) -> Self:
        compiled = composed.compile(dialect=_NAMED, column_keys=names)
        types = {name: bind.type.dialect_impl(_NAMED) for name, bind in compiled.binds.items()}
        stored = {name: kind.bind_processor(_NAMED) for name, kind in types.items()}
        converted = {name: store for name, store in stored.items() if store is not None}
        # What is not given stays without a value, so that the driver misses it.
        given = {name for name, bind in compiled.binds.items() if bind.required}
        constants = {name: value for name, value in compiled.params.items() if name not in given}
        return cls(str(compiled), constants, converted)

    def filled(self, values: Values) -> dict[str, Any]:
        stored = {name: store(values[name]) for name, store in self.stored.items()}
        return {**self.constants, **values, **stored}


class Prepared:
    """One composed statement, to run with one or more sets of values of the same names.

    `of_all` is a select that a server is asked once instead of each time, as each statement travels
    there and back: its parameters are lists of the same names. Rows are tuples; times in them are
    as the database stores them. A change outside a transaction is an error: in a file it would be
    committed by itself. A single look needs none.
    """

    def __init__(self, composed: Composed, of_all: Select[Any] | None = None) -> None:
        self._composed = composed
        self._of_all = of_all
        self._compiled: _Compiled | None = None

    def rows(self, connection: Connection, *each: Values) -> list[Any]:
        """Run it with each of these values, and return all rows. Raises DBAPIError."""
        if (file := _file(connection)) is None:
            if self._of_all is None:
                return list(connection.execute(self._composed, each))
            together = {name: [values[name] for values in each] for name in each[0]}
            return list(connection.execute(self._of_all, together))
        compiled = self._in_file(file, each[0])
        try:
            filled = map(compiled.filled, each)
            return [row for values in filled for row in file.execute(compiled.text, values)]
        except sqlite3.Error as error:
            raise _reported(compiled.text, error) from error

    def change(self, connection: Connection, *each: Values) -> int:
        """Likewise what returns no rows: how many rows of the table it changed."""
        if (file := _file(connection)) is None:
            return connection.execute(self._composed, each).rowcount
        compiled = self._in_file(file, each[0])
        try:
            return file.executemany(compiled.text, map(compiled.filled, each)).rowcount
        except sqlite3.Error as error:
            raise _reported(compiled.text, error) from error

    def _in_file(self, file: sqlite3.Connection, values: Values) -> _Compiled:
        if not (isinstance(self._composed, Select) or file.in_transaction):
            raise RuntimeError("a change needs a transaction that has begun")
        if self._compiled is None:
            self._compiled = _Compiled.of(self._composed, list(values))
        return self._compiled


def _file(connection: Connection) -> sqlite3.Connection | None:
    """The driver's own connection; None on a server."""
    driver = connection.connection.dbapi_connection
    return driver if isinstance(driver, sqlite3.Connection) else None


def _reported(text: str, error: sqlite3.Error) -> BaseException:
    """The error as SQLAlchemy reports it, without the values: data/store explains it."""
    return DBAPIError.instance(text, None, error, sqlite3.Error)
