"""What is kept of each version of the ledger, and how one is put back on a desk."""

import sqlite3
from collections.abc import Iterable
from contextlib import closing
from hashlib import sha256
from pathlib import Path
from typing import Any

from sqlalchemy import Table, func, select

from data.campaigns import queries
from data.store.ledger import Ledger
from tests.support.doubtful_campaign import KEY
from tests.support.ledgers.databases import Postgres

HERE = Path(__file__).parent
MIGRATIONS = HERE.parent.parent / "data" / "migrations" / "versions"

SQLITE = "sqlite.sql"
POSTGRES = "postgresql.sql"
DEFINITION = "hiring.yaml"
RECEIPT = "receipt.json"
SERVICE = "service.jsonl"  # what the sandbox had received and done
CONTENT = "content.json"  # what the ledger said of everybody, and how many rows each table had
DIGEST = "migrations.sha256"

Content = dict[str, dict[str, Any]]

URL = "http://127.0.0.1:8700"
"""Stands for the address at which the service answers."""


def migrations_digest(version: str) -> str:
    """Stands for every migration up to a version, byte for byte."""
    digest = sha256()
    for file in sorted(MIGRATIONS.glob("[0-9]*.py")):
        if file.name.partition("_")[0] <= version:
            digest.update(file.read_bytes())
    return digest.hexdigest()


def content_of(ledger: Ledger, tables: Iterable[Table]) -> Content:
    """By address the two steps of everybody and their id at the service; by table its rows."""
    campaign = ledger.read(queries.find_campaign, KEY)
    assert campaign is not None
    people = {
        one.email1: [one.add_state, one.invite_state, one.candidate_id]
        for one in queries.candidates(ledger, campaign.id)
    }
    with ledger._transactions.reading() as connection:
        rows = {
            table.name: connection.scalar(select(func.count()).select_from(table))
            for table in tables
        }
    return {"people": people, "rows": rows}


def in_a_file(script: str, path: Path) -> str:
    """Make a kept ledger anew in a file; answers its address."""
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(script)
    return f"sqlite:///{path}"


def on_the_server(script: str, server: Postgres, what: str) -> str:
    """Make a kept ledger anew in a database of the server; answers its address."""
    import psycopg

    url = server.ledger_of(what)
    with psycopg.connect(server.driver_url(server.made[what])) as connection:
        connection.execute(script.encode())
    return url
