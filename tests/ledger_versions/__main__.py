"""Keeps the ledger of today's version, so that every later one is tried on it:

    .venv/bin/python -m tests.ledger_versions

It writes a folder beside this file, named after the version of the tables: a campaign with
everything that happens to people in it, as SQL text of both databases, with its definition, its
receipt, and what the service had received. Once a version is released its folder stays as it is.
"""

import json
import re
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from sqlalchemy import Engine, event
from sqlmodel import SQLModel

from data.campaigns import inbox, notices
from data.moving.ledger_copy import copy_ledger
from data.receipts import receipt_doubts
from data.store.clock import now
from data.store.opening import NEWEST
from data.store.states import Ending
from sandbox.faults.faults import Fault
from sandbox.server import Sandbox
from tests.ledger_versions.kept import (
    CONTENT,
    DEFINITION,
    DIGEST,
    HERE,
    POSTGRES,
    RECEIPT,
    SERVICE,
    SQLITE,
    URL,
    content_of,
    migrations_digest,
)
from tests.support.doubtful_campaign import KEY, DoubtfulCampaign, doubtful_campaign
from tests.support.ledgers.databases import Postgres, end_postgres, postgres_of_session
from tests.support.session import begin_session, end_session

SOUGHT = """\
campaign: backend-2026
project: {name: Backend engineer}
problem: 42
candidates:
  - {first_name: Ada, last_name: Lovelace, email1: ada@example.com}
  - {first_name: Zoë, last_name: Müller, email1: Zoe@Example.com}
  - {first_name: Grace, last_name: Hopper, email1: grace@example.com}
  - {first_name: Alan, last_name: Turing, email1: alan@example.com, notes: "'quoted', \\\\ and ü"}
  - {first_name: Tim, last_name: Berners-Lee, email1: tim@example.com}
  - {first_name: Radia, last_name: Perlman, email1: radia@exmaple.com}
  - {first_name: Edsger, last_name: Dijkstra, email1: edsger@example.com}
invites: {approval: required, per_second: 100}
"""
LATER = "  - {first_name: Barbara, last_name: Liskov, email1: barbara@example.com}\ninvites:"
WHY = ("--who", "rita", "--why", "asked by phone")


class Unheard:
    """Takes the place of a test's captured output: nobody compares what is said here."""

    def readouterr(self) -> tuple[str, str]:
        return "", ""


def live_through(desk: DoubtfulCampaign) -> None:
    """One of everything that a ledger remembers."""
    desk.file.write_text(SOUGHT, encoding="utf-8")
    typed(desk, "block", "eve@example.com", "--why", "asked never to be written to")
    desk.run()
    typed(desk, "approve", KEY, *WHY)
    desk.run(
        Fault("lost", "invite", email="Zoe@Example.com", after_work=True),
        Fault("status", "invite", status=422, email="grace@example.com"),
    )
    typed(desk, "settle", KEY, "--invites", "sent", *WHY)
    typed(desk, "correct", KEY, "radia@exmaple.com", "radia@example.com", "--why", "a typo")
    typed(desk, "resend", KEY, "tim@example.com", "--why", "he deleted it", "--yes")
    desk.run()
    typed(desk, "approve", KEY, *WHY)
    desk.run(Fault("lost", "invite", email="tim@example.com"))
    typed(desk, "pause", KEY, "--why", "until Monday")
    typed(desk, "pause", KEY, "--who", "mia", "--why", "until Tuesday")
    typed(desk, "resume", KEY, "--why", "it is Monday")
    typed(desk, "forget", "edsger@example.com", "--why", "asked by mail", "--yes")
    with desk.ledger() as ledger:
        ledger.write(receipt_doubts.note, KEY, "hiring.receipt", "a receipt of another ledger")
        ledger.write(notices.note, "a run", "NeedsAttention", f"{KEY}: NeedsAttention.", now())
        ledger.write(inbox.begin, desk.folder / "autumn.yaml", "a" * 64, [KEY])
        ledger.write(inbox.note, "a" * 64, KEY, "autumn.yaml", Ending.COMPLETED)
    # Somebody comes in whom no run has seen yet.
    desk.file.write_text(SOUGHT.replace("invites:", LATER), encoding="utf-8")


def typed(desk: DoubtfulCampaign, *words: str) -> None:
    answer = desk.type(*words)
    assert answer.code == 0, (words, answer)


def kept_as_text(desk: DoubtfulCampaign, server: Postgres, folder: Path) -> None:
    """Write the folder of a version."""
    address = desk.service.base_url
    file = desk.folder / "ledger.db"

    def write(name: str, text: str) -> None:
        anywhere = text.replace(address, URL).replace(str(desk.folder), "/home/rita/hiring")
        (folder / name).write_text(anywhere, encoding="utf-8")

    with desk.ledger() as ledger:
        content = content_of(ledger, SQLModel.metadata.sorted_tables)
    assert all(content["rows"].values()), "something is to be in every table"
    write(CONTENT, json.dumps(content, indent=1, ensure_ascii=False) + "\n")
    with closing(sqlite3.connect(file)) as connection:
        write(SQLITE, "\n".join(connection.iterdump()) + "\n")
    write(DEFINITION, desk.file.read_text(encoding="utf-8"))
    write(RECEIPT, desk.file.with_suffix(".receipt").read_text(encoding="utf-8"))
    write(SERVICE, (desk.folder / "service" / "journal.jsonl").read_text(encoding="utf-8"))
    with making_tables() as made:
        copy_ledger(f"sqlite:///{file}", server.ledger_of("kept"))
    write(POSTGRES, "".join(f"{one};\n" for one in [*made, *contents(server)]))
    write(DIGEST, migrations_digest(NEWEST) + "\n")


@contextmanager
def making_tables() -> Iterator[list[str]]:
    """Collect the statements of the migrations, as the server gets them."""
    made: list[str] = []

    def seen(_: object, __: object, statement: str, *___: object) -> None:
        if statement.lstrip().startswith(("CREATE", "ALTER", "DROP")):
            made.append(re.sub(r"\s+\n", "\n", statement.strip()))

    event.listen(Engine, "before_cursor_execute", seen)
    yield made
    event.remove(Engine, "before_cursor_execute", seen)


def contents(server: Postgres) -> Iterator[str]:
    """The statements that put every row back, and every number that is used up."""
    from psycopg import connect
    from psycopg.sql import SQL, Identifier, Literal

    tables = [table.name for table in SQLModel.metadata.sorted_tables]
    with connect(server.driver_url(server.made["kept"])) as connection:
        for table in ["alembic_version", *tables]:
            name = Identifier(table)
            rows = connection.execute(SQL("SELECT * FROM {} ORDER BY 1").format(name)).fetchall()
            # In one statement, since a row may point to one below it.
            values = SQL(",\n").join(
                SQL("({})").format(SQL(", ").join(map(Literal, row))) for row in rows
            )
            yield SQL("INSERT INTO {} VALUES\n{}").format(name, values).as_string(connection)
        found = connection.execute("SELECT sequencename FROM pg_sequences ORDER BY 1").fetchall()
        for (sequence,) in found:
            where = SQL("SELECT last_value, is_called FROM {}").format(Identifier(sequence))
            for last, called in connection.execute(where):
                yield f"SELECT setval('{sequence}', {last}, {called})"


def main() -> None:
    folder = HERE / NEWEST
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    begin_session()
    try:
        server = postgres_of_session()
        with tempfile.TemporaryDirectory() as place, pytest.MonkeyPatch.context() as patch:
            service = Sandbox(Path(place, "service"))
            with doubtful_campaign(Path(place), patch, Unheard(), service) as desk:  # type: ignore[arg-type]
                live_through(desk)
                kept_as_text(desk, server, folder)
    finally:
        end_postgres()
        end_session()
    print(f"{folder.relative_to(Path.cwd())}: {len(list(folder.iterdir()))} files")


if __name__ == "__main__":
    main()
