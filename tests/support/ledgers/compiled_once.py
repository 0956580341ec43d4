"""Each statement is put into SQL once in a process, whatever ledger it is for.

SQLAlchemy keeps what it has put into SQL for each engine by itself, and each ledger has an engine
of its own: in a campaign of three people, that was half of the work of a run.
"""

from sqlalchemy import Engine
from sqlalchemy.dialects.postgresql.psycopg import PGDialect_psycopg
from sqlalchemy.dialects.sqlite.pysqlite import SQLiteDialect_pysqlite
from sqlalchemy.util import LRUCache

AT_MOST = 3000  # statements; the product has some hundreds


def compile_once() -> None:
    """Let all engines of this process share one memory of statements in SQL.

    What they are in SQL depends on the dialect, and here all dialects of a kind are alike: there
    is one SQLite and one PostgreSQL server, and nothing sets them up in two ways.
    """
    shared: LRUCache = LRUCache(AT_MOST)
    for kind in (SQLiteDialect_pysqlite, PGDialect_psycopg):
        kind.__hash__ = lambda self: hash(type(self))
        kind.__eq__ = lambda self, other: type(self) is type(other)
    Engine._compiled_cache = property(lambda _: shared, lambda *_: None)
