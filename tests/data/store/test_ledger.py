"""Opening, migrating and losing a ledger: one sentence each, and nothing lost."""

import shutil
import sqlite3
import stat
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace

import psutil
import pytest
from sqlalchemy.exc import StatementError
from sqlmodel import select

from data.campaigns.people import find
from data.campaigns.people import rows as rows_of
from data.store import ledger as module
from data.store.ledger import (
    ForeignDatabase,
    Ledger,
    LedgerGone,
    LedgerUnusable,
    NewerLedger,
    NoLedger,
)
from data.store.states import Op, State
from data.store.tables import Notice, Person, SeenFile

OLD = Path(__file__).parents[1] / "ledger-1.0.db"


def url(file: Path) -> str:
    return f"sqlite:///{file}"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A ledger with one row in it, closed."""
    made = tmp_path / "ledger.db"
    with Ledger.open(url(made)) as ledger, ledger.writing() as session:
        session.add(Notice(key="before", text="a row"))
    return made


def rows(ledger: Ledger) -> list[str]:
    with ledger.reading() as session:
        return list(session.exec(select(Notice.key)))


def sql(file: Path, *statements: str) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(file)) as connection, connection:
        return [row for statement in statements for row in connection.execute(statement)]


def test_what_raises_leaves_nothing(file: Path) -> None:
    with Ledger.open(url(file)) as ledger:
        with pytest.raises(RuntimeError), ledger.writing() as session:
            session.add(Notice(key="half", text=""))
            session.flush()
            raise RuntimeError
        assert rows(ledger) == ["before"]


def test_a_naive_time_does_not_enter(file: Path) -> None:
    naive = SeenFile(path="x", trace="y", at=datetime(2026, 1, 1))  # noqa: DTZ001
    with Ledger.open(url(file)) as ledger, pytest.raises(StatementError), ledger.writing() as s:
        s.add(naive)


def test_its_files_are_for_its_owner_alone(tmp_path: Path) -> None:
    file = tmp_path / "new" / "ledger.db"
    with Ledger.open(url(file)) as ledger, ledger.writing() as session:
        session.add(Notice(key="x", text="y"))
        session.flush()
        modes = {stat.S_IMODE(each.stat().st_mode) for each in file.parent.iterdir()}
    assert modes == {0o600}


def test_a_log_is_only_moved_when_asked(file: Path) -> None:
    with Ledger.open(url(file)) as ledger:
        before = file.read_bytes()
        with ledger.writing() as session:
            session.add_all(Notice(key=str(i), text="x" * 5000) for i in range(2000))
        assert file.read_bytes() == before
        ledger.checkpoint()
        assert file.stat().st_size > len(before)


CANNOT_BE_OPENED = [
    # a statement, or how many bytes of the file stay as they were -> what is said
    ("UPDATE alembic_version SET version_num = '9999'", NewerLedger, r"\(9999; this one knows"),
    ("UPDATE alembic_version SET version_num = 'a5f0'", ForeignDatabase, "no ledger"),
    ("DROP TABLE alembic_version", ForeignDatabase, "no ledger"),
    (0, LedgerUnusable, "it is no database"),
    (4096, LedgerUnusable, "it is damaged"),
]


@pytest.mark.parametrize(("harm", "error", "said"), CANNOT_BE_OPENED)
def test_what_cannot_be_read_says_so_and_stays_as_it_is(
    file: Path, harm: str | int, error: type[Exception], said: str
) -> None:
    if isinstance(harm, str):
        sql(file, harm)
    else:
        whole = file.read_bytes()
        file.write_bytes(whole[:harm] + b"\xff" * (len(whole) - harm))
    before = file.read_bytes()
    with pytest.raises(error, match=said) as raised, Ledger.open(url(file)) as ledger:
        rows(ledger)
    assert "Nothing was" in str(raised.value)
    assert file.read_bytes() == before
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("sqlite:////dev/null/ledger.db", "cannot be written"),
        ("postgresql://nobody@127.0.0.1:1/none", "Nothing was sent"),
    ],
)
def test_where_no_ledger_can_be(address: str, said: str) -> None:
    with pytest.raises(LedgerUnusable, match=said):
        Ledger.open(address)


def test_who_only_reads_makes_nothing(tmp_path: Path) -> None:
    with pytest.raises(NoLedger):
        Ledger.open(url(tmp_path / "none.db"), create=False)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("pragma", "said"),
    [("max_page_count = 1", "the disk is full"), ("query_only = ON", "Make it writable")],
)
def test_a_disk_that_takes_no_more_loses_nothing(file: Path, pragma: str, said: str) -> None:
    with Ledger.open(url(file)) as ledger:
        with ledger.recording() as session:
            session.connection().exec_driver_sql(f"PRAGMA {pragma}")
        with pytest.raises(LedgerUnusable, match=said), ledger.recording() as session:
            session.add(Notice(key="more", text="x" * 1_000_000))
    with Ledger.open(url(file)) as ledger:
        assert rows(ledger) == ["before"]


def _move(file: Path) -> None:
    file.rename(file.with_name("moved.db"))


def _replace(file: Path) -> None:
    shutil.copy(file, file.with_name("copy.db"))
    _move(file)
    file.with_name("copy.db").rename(file)


@pytest.mark.parametrize("harm", [_move, _replace])
def test_a_file_that_went_away_takes_what_was_answered_with_it(
    file: Path, harm: Callable[[Path], None]
) -> None:
    with Ledger.open(url(file)) as ledger:
        assert rows(ledger) == ["before"]
        with ledger.writing() as session:
            session.add(Notice(key="claimed", text=""))
        harm(file)
        assert ledger.gone()
        with pytest.raises(LedgerGone), ledger.writing():
            pass
        with ledger.recording() as session:
            session.add(Notice(key="answered", text=""))
    file.unlink(missing_ok=True)
    file.with_name("ledger.db-wal").unlink(missing_ok=True)
    with Ledger.open(url(file.with_name("moved.db"))) as ledger:
        assert rows(ledger) == ["answered", "before", "claimed"]


def test_a_file_that_was_overwritten_sends_nothing_more(file: Path) -> None:
    with Ledger.open(url(file)) as ledger:
        assert rows(ledger) == ["before"]
        file.write_bytes(b"a text of the same name" * 9_999)
        assert ledger.gone()


SECOND = """
def upgrade(connection):
    connection.exec_driver_sql("ALTER TABLE notice ADD COLUMN extra VARCHAR")
    {then}
"""


@pytest.fixture
def later(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """The program one version later, whose migration does this at its end."""

    def made(then: str) -> None:
        folder = tmp_path / "migrations"
        shutil.copytree(module.MIGRATIONS, folder)
        (folder / "0003_extra.py").write_text(SECOND.format(then=then))
        monkeypatch.setattr(module, "MIGRATIONS", folder)
        monkeypatch.setattr(module, "NEWEST", "0003")

    return made


def test_an_older_ledger_is_kept_and_migrated(file: Path, later: Callable[[str], None]) -> None:
    later("pass")
    with Ledger.open(url(file)) as ledger:
        assert rows(ledger) == ["before"]
    assert sql(file, "SELECT version_num FROM alembic_version") == [("0003",)]
    assert "extra" in str(sql(file, "SELECT sql FROM sqlite_master WHERE name = 'notice'"))
    kept = file.with_name("ledger.db.tables-0002")
    assert sql(kept, "SELECT version_num FROM alembic_version") == [("0002",)]
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600


def test_a_migration_that_fails_changes_nothing(file: Path, later: Callable[[str], None]) -> None:
    later("raise RuntimeError('no')")
    with pytest.raises(RuntimeError):
        Ledger.open(url(file))
    assert sql(file, "SELECT version_num FROM alembic_version") == [("0002",)]
    assert "extra" not in str(sql(file, "SELECT sql FROM sqlite_master WHERE name = 'notice'"))


def test_a_ledger_of_1_0_is_one_of_this_version(tmp_path: Path) -> None:
    """It has people in every state, and its service in another spelling."""
    file = Path(shutil.copy(OLD, tmp_path / "ledger.db"))
    tables = "SELECT tbl_name, name FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL"
    with Ledger.open(url(file)) as old, Ledger.open(url(tmp_path / "new.db")):
        assert {*sql(file, tables)} == {*sql(tmp_path / "new.db", tables)}
        with old.reading() as session:
            campaign = find(session, "backend")
            assert campaign.service == "https://service.invalid"
            states = Counter(row.states[Op.INVITE] for row in rows_of(session, campaign.id))
            named = session.exec(select(Person.name_key).where(Person.email1 == "ada@x.org")).one()
    assert states == dict.fromkeys(State, 1) | {State.WAITING: 2, State.GIVEN_UP: 2}
    assert named == "ada of x"
    sent = "SELECT DISTINCT op, mailbox IS NULL, problem FROM part JOIN step ON step.id = step_id"
    assert {("invite", 0, 42), ("add", 1, None)} < {*sql(file, sent)}


@pytest.mark.parametrize("service", ["https://service.invalid", "https://service.invalid:99999"])
def test_a_ledger_of_1_0_keeps_its_pause_and_an_address_that_is_none(
    tmp_path: Path, service: str
) -> None:
    file = Path(shutil.copy(OLD, tmp_path / "ledger.db"))
    until, account = "2026-12-01 09:00:00.000000", sql(file, "SELECT account FROM campaign")[0][0]
    pace = f"INSERT INTO pace VALUES ('{service}', '{account}', '{until}')"
    sql(file, f"UPDATE campaign SET service = '{service}'", pace)
    with Ledger.open(url(file)) as ledger, ledger.reading() as session:
        campaign = find(session, "backend")
        assert campaign.service == service
        assert campaign.paused_until == datetime(2026, 12, 1, 9, tzinfo=UTC)


@pytest.mark.parametrize("kind", ["hard link", "mount"])
def test_a_file_with_a_second_name_is_no_ledger(
    file: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Under each name it would have other locks."""
    if kind == "mount":  # only root could make one
        mounted = SimpleNamespace(mountpoint=str(file.resolve()))
        monkeypatch.setattr(psutil, "disk_partitions", lambda **_: [mounted])
    else:
        file.with_name("second.db").hardlink_to(file)
    for create in (True, False):
        with pytest.raises(LedgerUnusable, match=f"{kind}|its folder"):
            Ledger.open(url(file), create=create)


def test_what_is_erased_is_in_no_file(file: Path) -> None:
    with Ledger.open(url(file)) as ledger:
        with ledger.writing() as session:
            session.add(Notice(key="secret-of-ada", text=""))
        with ledger.writing() as session:
            session.delete(session.get_one(Notice, "secret-of-ada"))
        ledger.rewrite()
        found = [f for f in file.parent.iterdir() if f.is_file() and b"of-ada" in f.read_bytes()]
    assert found == []
