"""Run a query: one SELECT, read-only, in the database that a setting names."""

import csv
import re
import sqlite3
from decimal import Decimal
from functools import partial
from io import StringIO
from pathlib import Path
from typing import Any

from pydantic import SecretStr, create_model
from sqlalchemy import Engine, NullPool, create_engine, make_url
from sqlalchemy.exc import SQLAlchemyError

from config.settings import Settings, database_address, home
from config.sheets.files import LARGEST, read_file
from config.sheets.text import decoded
from tasks.sources.address import SECONDS, Unread

SELECT = re.compile(r"(?is)(?:\s|--[^\n]*\n|/\*.*?\*/)*(?:select|with)\b[^;]*;?\s*")
AT_ONCE = 1_000  # rows


def query_as_csv(file: Path, name: str) -> bytes:
    """Run the query in a file, and return its answer as CSV. Raises Unread, BadInput."""
    query = decoded(read_file(file))
    if not SELECT.fullmatch(query):
        raise Unread(f"{file.name}: wanted one SELECT, and no ; before its end")
    table = StringIO(newline="")
    try:
        with _engine(name).connect() as connection:  # what it does is never committed
            only = connection.execution_options(no_parameters=True, stream_results=True)
            found = only.exec_driver_sql(query.strip().removesuffix(";"))
            write = csv.writer(table)
            write.writerow(found.keys())
            for rows in found.partitions(AT_ONCE):
                write.writerows([_text(value) for value in row] for row in rows)
                if table.tell() > LARGEST:
                    raise Unread(f"the answer has more than {LARGEST // 2**20} MB")
    except SQLAlchemyError as error:
        said = str(getattr(error, "orig", None) or type(error).__name__).partition("\n")[0]
        raise Unread(f"the database {name} says: {said}") from None
    return table.getvalue().encode()


def _engine(name: str) -> Engine:
    """An engine for the named database, read-only. Raises Unread."""
    setting = f"CAMPAIGN_DATABASE_{name}"
    fields: Any = {f"database_{name.lower()}": (SecretStr | None, None)}
    own = create_model("Own", __base__=Settings, **fields)(_env_file=home() / ".env")
    typed = getattr(own, *fields)
    try:
        url = make_url(database_address(typed.get_secret_value() if typed else ""))
    except ValueError as wanted:
        raise Unread(f"{setting}: wanted {wanted}") from None
    if url.drivername == "sqlite":
        only = f"{Path(url.database or '').as_uri()}?mode=ro"
        opened = partial(sqlite3.connect, only, uri=True)
        return create_engine("sqlite://", creator=opened, poolclass=NullPool)
    options = f"-c default_transaction_read_only=on -c statement_timeout={SECONDS * 1000:.0f}"
    return create_engine(
        url.set(drivername="postgresql+psycopg"),
        connect_args={"connect_timeout": 10, "options": options},
        poolclass=NullPool,
        hide_parameters=True,
    )


def _text(value: object) -> str:
    """Write a value as a cell: NULL is empty, and numbers keep their digits."""
    if value is None:
        return ""
    return format(value, "f") if isinstance(value, Decimal) else str(value)
