"""A ledger's tables: what is migrated is what the program knows, and strangers are left alone."""

import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import create_engine
from sqlmodel import SQLModel

from data.campaigns import queries
from data.sending import runs
from data.store.backup import complaints
from data.store.ledger import Ledger
from data.store.opening import KNOWN, NEWEST, LedgerUnusable, NoLedger, migrate
from tests.support.ledgers.small_ledger import Small, definition, intent
from tests.support.session import PATIENCE

ROOT = Path(__file__).parents[3]
VERSIONS = ROOT / "data" / "migrations" / "versions"


def opened(path: Path) -> Ledger:
    return Ledger.open(f"sqlite:///{path}")


def statement(path: Path, *statements: str) -> None:
    import sqlite3

    with closing(sqlite3.connect(path)) as connection:
        for one in statements:
            connection.execute(one)
        connection.commit()


def in_bytes(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in folder.iterdir()}


def test_migrations_lead_to_exactly_the_tables_of_the_program(tmp_path: Path) -> None:
    """Whoever changes a table also writes the migration: nothing is left to generate."""
    engine = create_engine(f"sqlite:///{tmp_path / 'a.db'}")
    with engine.begin() as connection:
        migrate(connection)
        seen = MigrationContext.configure(
            connection, opts={"compare_type": True, "compare_server_default": True}
        )
        found = compare_metadata(seen, SQLModel.metadata)
    engine.dispose()
    assert found == []


def test_the_newest_tables_are_known() -> None:
    """A version that did not know its own tables would refuse every ledger it wrote."""
    assert NEWEST in KNOWN
    versions = (file.name.partition("_")[0] for file in VERSIONS.glob("[0-9]*.py"))
    assert sorted(versions) == sorted(KNOWN)


OPEN = """
import sys
from data.store.ledger import Ledger
print("ready", flush=True)
sys.stdin.readline()
with Ledger.open(sys.argv[1]) as ledger:
    print(ledger.uuid(), flush=True)
"""


def test_several_processes_may_open_a_new_ledger_at_once(tmp_path: Path) -> None:
    """All make its tables, none fails, and there is one ledger with one identity."""
    url = f"sqlite:///{tmp_path / 'new.db'}"
    children = [
        subprocess.Popen(
            [sys.executable, "-c", OPEN, url],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(3)
    ]
    for child in children:
        assert child.stdout is not None
        assert child.stdout.readline() == "ready\n"
    for child in children:
        assert child.stdin is not None
        child.stdin.write("\n")
        child.stdin.flush()
    told = [child.communicate(timeout=PATIENCE) for child in children]
    assert [child.returncode for child in children] == [0, 0, 0], told
    assert len({out for out, _ in told}) == 1


def test_a_ledger_of_a_newer_version_is_refused_and_not_touched(tmp_path: Path) -> None:
    """Byte for byte as it was, with a sentence that says what to do."""
    path = tmp_path / "a.db"
    Small.at(tmp_path, "ada").ledger.close()
    (tmp_path / "ledger.db").rename(path)
    statement(path, "UPDATE alembic_version SET version_num = '9999'")
    before = in_bytes(tmp_path)
    with pytest.raises(LedgerUnusable, match=r"newer version.*9999.*not changed.*Update"):
        opened(path)
    assert in_bytes(tmp_path) == before


def test_a_database_of_something_else_is_refused_and_not_touched(tmp_path: Path) -> None:
    """Somebody's other database is no place for a ledger."""
    path = tmp_path / "photos.db"
    statement(path, "CREATE TABLE photo (id INTEGER)", "INSERT INTO photo VALUES (1)")
    before = in_bytes(tmp_path)
    with pytest.raises(LedgerUnusable, match=r"other tables.*not changed.*CAMPAIGN_DATABASE_URL"):
        opened(path)
    assert in_bytes(tmp_path) == before


@pytest.mark.parametrize("content", [b"not a database at all, but long enough" * 40, b"SQLite f"])
def test_a_file_that_is_no_database_is_refused_and_not_touched(
    tmp_path: Path, content: bytes
) -> None:
    """A spreadsheet named by mistake stays what it was; a run and the doctor say the same of it."""
    path = tmp_path / "people.xlsx"
    path.write_bytes(content)
    path.chmod(0o600)
    with pytest.raises(LedgerUnusable, match="cannot be opened") as told:
        opened(path)
    [(_, to_mend)] = complaints(path)
    assert "CAMPAIGN_DATABASE_URL" in to_mend and to_mend.rstrip(".") in str(told.value)
    assert in_bytes(tmp_path) == {"people.xlsx": content}


def test_only_a_run_makes_a_ledger(tmp_path: Path) -> None:
    """Commands that read say that there is none, and leave no empty one behind."""
    with pytest.raises(NoLedger, match="campaign run"):
        Ledger.open(f"sqlite:///{tmp_path / 'a.db'}", create=False)
    assert in_bytes(tmp_path) == {}


def test_opening_again_changes_nothing(tmp_path: Path) -> None:
    """The same ledger has the same identity, and what is in it stays."""
    with opened(tmp_path / "a.db") as ledger:
        first = ledger.uuid()
        runs.begin(ledger, "a", definition("ada"), intent())
    with opened(tmp_path / "a.db") as ledger:
        assert ledger.uuid() == first
        assert [one.key for one in ledger.read(queries.every_campaign)] == ["a"]


def test_a_ledger_is_for_its_owner_alone(tmp_path: Path) -> None:
    """It holds names and addresses of people."""
    opened(tmp_path / "deep" / "a.db").close()
    assert (tmp_path / "deep" / "a.db").stat().st_mode & 0o077 == 0
