"""What is kept of each version of the ledger, and how one is put back on a desk."""

import json
import sqlite3
from contextlib import closing
from hashlib import sha256
from pathlib import Path

from data.ledger import Ledger
from tests.databases import Postgres
from tests.doubtful_campaign import KEY

HERE = Path(__file__).parent
MIGRATIONS = HERE.parent.parent / "data" / "migrations" / "versions"

SQLITE = "sqlite.sql"
POSTGRES = "postgresql.sql"
DEFINITION = "hiring.yaml"
RECEIPT = "hiring.receipt"
SERVICE = "service.jsonl"  # what the sandbox had received and done
PEOPLE = "people.json"  # what the ledger said of everybody when it was kept
DIGEST = "migrations.sha256"

URL = "http://127.0.0.1:8700"
"""Stands for the address at which the service answers."""


def migrations_digest(version: str) -> str:
    """Stands for every migration up to a version, byte for byte."""
    digest = sha256()
    for file in sorted(MIGRATIONS.glob("[0-9]*.py")):
        if file.name.partition("_")[0] <= version:
            digest.update(file.read_bytes())
    return digest.hexdigest()


def people_in(ledger: Ledger) -> str:
    """Where everybody stands, as JSON: by address the two steps and the id at the service."""
    campaign = ledger.campaign(KEY)
    assert campaign is not None
    people = {
        one.email1: [one.add_state, one.invite_state, one.candidate_id]
        for one in ledger.candidates(campaign.id)
    }
    return json.dumps(people, indent=1, ensure_ascii=False) + "\n"


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
