"""Statements that run for every person: in a file, their text goes straight to SQLite's driver.

SQLAlchemy looks a statement up, fills it in and reads its rows through many layers each time, which
takes several times as long as SQLite itself. Here its text is compiled once. On a server SQLAlchemy
executes each statement: it notices when a connection is lost.
"""

import sqlite3
from collections.abc import Callable, Mapping
from typing import Any, cast

from sqlalchemy import Connection, Insert, Select, Update
from sqlalchemy.dialects import sqlite
from sqlalchemy.exc import DBAPIError

_NAMED = sqlite.dialect(paramstyle="named")

Values = Mapping[str, Any]


class Prepared:
    """One composed statement, to run with one or more sets of values.

    `of_all` is a select that a server is asked once instead of each time, as each statement travels
    there and back: its parameters are lists of the same names. Rows are tuples; times in them are
    as the database stores them. A change needs a transaction that has begun, a single look none.
    """

    def __init__(
        self, composed: Select[Any] | Insert | Update, of_all: Select[Any] | None = None
    ) -> None:
        self._composed = composed
        self._of_all = of_all
        self._text = ""
        self._constants: dict[str, Any] = {}
        self._stored: dict[str, Callable[[Any], Any]] = {}  # how a value is stored, by its name

    def rows(self, connection: Connection, *each: Values) -> list[Any]:
        """Run it with each of these values, and return all rows. Raises DBAPIError."""
        if connection.dialect.name != _NAMED.name:
            if self._of_all is None:
                return list(connection.execute(self._composed, each))
            together = {name: [values[name] for values in each] for name in each[0]}
            return list(connection.execute(self._of_all, together))
        file = self._file(connection, each[0])
        try:
            return [row for values in each for row in file.execute(self._text, self._all(values))]
        except sqlite3.Error as error:
            raise self._reported(error) from error

    def change(self, connection: Connection, *each: Values) -> int:
        """Likewise what returns no rows: how many rows of the table it changed."""
        if connection.dialect.name != _NAMED.name:
            return connection.execute(self._composed, each).rowcount
        file = self._file(connection, each[0])
        try:
            return file.executemany(self._text, map(self._all, each)).rowcount
        except sqlite3.Error as error:
            raise self._reported(error) from error

    def _file(self, connection: Connection, values: Values) -> sqlite3.Connection:
        if not self._text:
            self._compile(list(values))
        return cast("sqlite3.Connection", connection.connection.dbapi_connection)

    def _compile(self, names: list[str]) -> None:
        compiled = self._composed.compile(dialect=_NAMED, column_keys=names)
        self._constants = dict(compiled.params)
        types = {name: bind.type.dialect_impl(_NAMED) for name, bind in compiled.binds.items()}
        stored = {name: kind.bind_processor(_NAMED) for name, kind in types.items()}
        self._stored = {name: store for name, store in stored.items() if store is not None}
        self._text = str(compiled)

    def _all(self, values: Values) -> dict[str, Any]:
        stored = {name: store(values[name]) for name, store in self._stored.items()}
        return {**self._constants, **values, **stored}

    def _reported(self, error: sqlite3.Error) -> Exception:
        """The error as SQLAlchemy reports it, without the values: data/store explains it."""
        hidden: Any = DBAPIError.instance(self._text, None, error, sqlite3.Error)
        return cast("Exception", hidden)
