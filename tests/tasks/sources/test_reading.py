"""People behind an address or a query are read like those of a file, and kept for nobody else."""

import json
import os
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import NullPool, create_engine, make_url, text

from config import reading
from config.definition import Definition
from config.errors import BadInput
from config.settings import settings
from tasks.sources import local_copy
from tasks.sources.address import Unread
from tasks.sources.local_copy import folder_of
from tasks.sources.reading import fetch_campaign
from tests.data.ledgers import Postgres, postgres

__all__ = ["postgres"]

PEOPLE = """
CREATE TABLE people (first TEXT, last TEXT, mail TEXT, stage TEXT, score NUMERIC(30, 2), note TEXT);
INSERT INTO people VALUES ('Ada', 'Lovelace', 'ada@x.org', 'Test', 12345678901234567890.50, NULL);
INSERT INTO people VALUES ('Ben', 'O''Kri, "B"', 'ben@x.org', 'Out', 7, '100% sure: 12:30');
"""
NAMES = "first AS first_name, last AS last_name, mail AS email1, note AS notes"
QUERY = f"-- who is to be tested\nSELECT {NAMES}, score FROM people WHERE stage LIKE 'T%';\n"


class Place:
    """A folder with a definition, and a ledger beside which is kept what was brought."""

    def __init__(self, folder: Path) -> None:
        self.file, self.query = folder / "hiring.yaml", folder / "people.sql"
        self.ask(QUERY)

    def write(self, **people: Any) -> None:
        people |= {"columns": {"notes": "notes"}}
        whole = {"campaign": "hiring", "project": {"name": "X"}, "problem": 42}
        self.file.write_text(json.dumps(whole | {"candidates": people}))
        os.utime(self.file, (0, 0))

    def ask(self, query: str) -> None:
        self.query.write_text(query)
        os.utime(self.query, (0, 0))
        self.write(query=self.query.name, database="PEOPLE")

    def wrong(self) -> str:
        with pytest.raises(BadInput) as refused:
            fetch_campaign(self.file)
        return "\n".join(map(str, refused.value.mistakes))

    @property
    def kept(self) -> Path:
        return folder_of(settings()) / "hiring"


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    monkeypatch.setenv("CAMPAIGN_DATABASE_URL", f"sqlite:///{tmp_path}/ledger.db")
    with sqlite3.connect(tmp_path / "hr.db") as database:
        database.executescript(PEOPLE)
    database.close()
    monkeypatch.setenv("CAMPAIGN_DATABASE_PEOPLE", f"sqlite:///{tmp_path}/hr.db")
    return Place(tmp_path)


@pytest.fixture
def server(postgres: Postgres, monkeypatch: pytest.MonkeyPatch) -> str:
    address = postgres.database()
    url = make_url(address).set(drivername="postgresql+psycopg")
    with create_engine(url, poolclass=NullPool).begin() as there:
        for line in PEOPLE.strip().split(";\n"):
            there.execute(text(line.removesuffix(";").replace("12:30", r"12\:30")))
    monkeypatch.setenv("CAMPAIGN_DATABASE_PEOPLE", address)
    return address


def told(place: Place) -> list[dict[str, Any]]:
    people = fetch_campaign(place.file).listed
    return [each.candidate.model_dump(include={"email1", "notes"}) for each in people]


def test_a_query_is_read_like_a_file(place: Place) -> None:
    assert told(place) == [{"email1": "ada@x.org", "notes": ""}]
    assert place.kept.stat().st_mode & 0o777 == 0o600
    assert "12345678901234567890" in place.kept.read_text() or "1.23" in place.kept.read_text()
    place.ask(f"SELECT {NAMES} FROM people")
    assert told(place)[1] == {"email1": "ben@x.org", "notes": "100% sure: 12:30"}
    place.ask(f"SELECT {NAMES} FROM people WHERE 1 = 0")
    assert told(place) == []  # all have moved on


@pytest.mark.slow
@pytest.mark.xdist_group("pg")
def test_a_query_on_a_server(place: Place, server: str) -> None:
    assert told(place) == [{"email1": "ada@x.org", "notes": ""}]
    assert "12345678901234567890.50" in place.kept.read_text()
    place.ask("WITH gone AS (DELETE FROM people RETURNING *) SELECT * FROM gone")
    assert "candidates.query: the database PEOPLE says: " in place.wrong()
    place.ask("SELECT setval('ledger_id_seq', 7)")
    assert "the database PEOPLE says: " in place.wrong()
    place.ask(QUERY)
    assert len(told(place)) == 1


@pytest.mark.parametrize(
    "query",
    ["DELETE FROM people", "SELECT 1; DELETE FROM people", "", "UPDATE people SET mail = ''; -- x"],
)
def test_what_is_no_single_select_is_not_asked(place: Place, query: str) -> None:
    place.ask(query)
    assert "wanted one SELECT" in place.wrong() or "this file is empty" in place.wrong()
    place.ask("WITH x AS (SELECT 1) DELETE FROM people")
    assert "readonly" in place.wrong()
    place.query.write_bytes("SELECT 'gelöscht'".encode("cp1252"))
    assert "not in UTF-8" in place.wrong()
    assert not place.kept.exists()
    place.ask("SELECT nobody FROM people")
    assert "the database PEOPLE says: no such column: nobody" in place.wrong()
    place.ask(QUERY)
    assert len(told(place)) == 1


def test_a_database_that_no_setting_names(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    for address in (None, "", "mysql://u:s3cret@x/y"):
        if address is None:
            monkeypatch.delenv("CAMPAIGN_DATABASE_PEOPLE")
        else:
            monkeypatch.setenv("CAMPAIGN_DATABASE_PEOPLE", address)
        assert "candidates.query: CAMPAIGN_DATABASE_PEOPLE: wanted postgresql://" in place.wrong()
        assert "s3cret" not in place.wrong()


def test_an_address_is_read_like_a_file_and_never_by_what_it_was_before(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = "https://x.org/export?token=s3cret"
    answers: list[bytes | Unread] = [
        b"first_name,last_name,email1,notes\nAda,Lovelace,ada@x.org,\n",
        b'"email1","first_name","last_name","notes"\nada@x.org,Ada,Lovelace,\n',
        b"first_name,last_name,email1,notes\nAda,Lovelace,ada@x.org,Hi\n",
        b"first_name,last_name,email1,notes\nAda,Lovelace,ada@,\n",
        Unread("x.org broke off"),
    ]

    def fetched(asked: str, _: object) -> bytes:
        assert asked == url
        if isinstance(said := answers.pop(0), Unread):
            raise said
        return said

    monkeypatch.setattr(local_copy, "fetched", fetched)
    place.write(url=url)
    read = fetch_campaign(place.file)
    assert [each.key for each in read.listed] == ["ada@x.org"]
    again = fetch_campaign(place.file, kept=True)
    assert (again.digest, len(again.listed)) == (read.digest, 1)
    same, other = (fetch_campaign(place.file).digest == read.digest for _ in range(2))
    assert same and not other  # an approval is for the people, and no workbook has the same bytes
    assert place.kept.stat().st_mode & 0o777 == 0o600
    assert f"{place.kept}:2, email1" in place.wrong()
    assert place.wrong() == f"{place.file}, candidates.url: x.org broke off"
    assert not place.kept.exists()
    assert reading.read_campaign(place.file).listed == []
    spec = read.definition.model_dump(mode="json")
    assert "s3cret" not in f"{read!r}{read.definition}{json.dumps(spec)}"
    assert Definition.model_validate(spec).campaign == "hiring"


@pytest.mark.parametrize(
    ("people", "said"),
    [
        ({"url": "https://x.org/?t=s3cret", "file": "people.csv"}, "wanted one of file and url"),
        ({"where": {}}, "wanted one of file and url, or query"),
        ({"query": "people.sql"}, "or query with database"),
        ({"file": "people.csv", "database": "PEOPLE"}, "or query with database"),
        ({"query": "people.sql", "database": "people"}, 'found "people", wanted where query runs'),
        ({"query": "people.sql", "database": "db://me:s3cret@x"}, 'found "db://…", wanted where'),
        ({"file": "https://x.org/?t=s3cret"}, 'file: found "https://…", wanted the name'),
        ({"query": "https://x/?t=s3cret"}, 'query: found "https://…", wanted the name'),
        ({"url": ["https://x.org/?t=s3cret"]}, "found a list, wanted the https address"),
    ],
)
def test_where_people_are_is_said_once(place: Place, people: dict[str, Any], said: str) -> None:
    place.write(**people)
    assert said in place.wrong()
    assert "s3cret" not in place.wrong()
