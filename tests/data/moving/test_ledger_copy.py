"""Moving a ledger: everything goes along, and never are two of them open."""

from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select
from sqlalchemy.dialects.postgresql.psycopg import PGDialect_psycopg
from sqlalchemy.dialects.sqlite.pysqlite import SQLiteDialect_pysqlite
from sqlalchemy.engine import make_url
from sqlalchemy.engine.default import DefaultDialect
from sqlmodel import SQLModel

from data.campaigns import pauses, queries
from data.decisions import withdrawing
from data.holds import do_not_contact
from data.moving.ledger_copy import NotCopied, copy_ledger
from data.receipts import receipt_doubts
from data.sending import recovery, runs
from data.store.closed import LedgerClosed
from data.store.errors import LedgerUnusable
from data.store.ledger import Ledger
from data.store.opening import address_of, place_of
from data.store.states import By, Ending, Operation, Step
from flows.cli.main import main
from sandbox.server import Sandbox
from tests.support.campaigns import Office, people
from tests.support.ledgers.databases import Postgres
from tests.support.ledgers.small_ledger import FIRST_ID, Small, definition, intent

WAYS = ["sqlite to sqlite", "sqlite to postgresql", "postgresql to sqlite"]


@pytest.fixture(params=WAYS)
def way(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[str, str]:
    """Where the old ledger lies, and where the new one is to lie."""
    file = {"old": f"sqlite:///{tmp_path}/old.db", "new": f"sqlite:///{tmp_path}/new.db"}
    if request.param == WAYS[0]:
        return file["old"], file["new"]
    server: Postgres = request.getfixturevalue("postgres")
    there = server.ledger_of(str(tmp_path))
    request.addfinalizer(lambda: server.forget(str(tmp_path)))
    return (file["old"], there) if request.param == WAYS[1] else (there, file["new"])


def a_ledger_at(url: str) -> Small:
    """A ledger with something in every table that a run fills, and a number that is used up."""
    ledger = Ledger.open(url)
    small = Small(ledger, runs.begin(ledger, "a", definition("ada", "bo", "cy"), intent()))
    small.add_everybody()
    ada, bo, _ = small.rows().values()
    for row, step in ((ada, Step.DONE), (bo, Step.UNSURE)):
        claimed = small.claim(Operation.INVITE, row)
        assert claimed is not None
        small.land(Operation.INVITE, claimed, step, why="ä, 'quoted'")
    ledger.write(
        withdrawing.correct,
        small.begun.campaign,
        small.rows()["cy"],
        ("di@example.com",) * 2,
        By("rita", "x"),
    )
    ledger.write(do_not_contact.block, {"eve@example.com": "Eve@example.com"}, By("rita", "asked"))
    ledger.write(pauses.pause, "a", By("rita", "a look"))
    ledger.write(receipt_doubts.note, "a", "a.receipt", "another ledger")
    runs.end(ledger, small.begun.run, Ending.NEEDS_ATTENTION, None)
    return small


def content(url: str) -> dict[str, list[Any]]:
    """All that is in a ledger, but for its own row."""
    tables = [table for table in SQLModel.metadata.sorted_tables if table.name != "ledger"]
    with Ledger.open(url, create=False) as ledger, ledger._transactions.reading() as connection:
        return {
            table.name: [
                tuple(row) for row in connection.execute(select(table).order_by(table.c.id))
            ]
            for table in tables
        }


def is_open(url: str) -> bool:
    """Whether anything could be sent from the ledger at an address."""
    try:
        with Ledger.open(url, create=False) as ledger:
            runs.heartbeat(ledger, 0)  # nobody's
    except LedgerUnusable:
        return False
    return True


def typed(*words: str) -> int:
    """Type `campaign ledger …`; answers how it ends."""
    return shown("ledger", *words)


def test_everything_goes_along_and_the_old_one_is_closed(way: tuple[str, str]) -> None:
    """Every row with its number, the identity, and what was used up; the old one only shows."""
    old, new = way
    with a_ledger_at(old).ledger as ledger:
        uuid, before, last = (
            ledger.uuid(),
            content(old),
            ledger.read(receipt_doubts.reach, "a").attempt,
        )
    copied = copy_ledger(old, new)
    assert copied.rows["candidate"] == 4
    assert sum(copied.rows.values()) == sum(map(len, before.values()))
    assert content(new) == content(old) == before
    assert (is_open(old), is_open(new)) == (False, True)
    with Ledger.open(new) as ledger:
        assert ledger.uuid() == uuid
        begun = runs.begin(ledger, "a", definition("ada", "bo", "cy", "fay"), intent("two"))
        small = Small(ledger, begun)
        claimed = small.claim(Operation.ADD, *small.rows().values())
        assert claimed is not None
        assert claimed.attempt == last + 1
        small.land(Operation.ADD, claimed, Step.DONE, ids={small.rows()["fay"]: FIRST_ID + 9})
        runs.end(ledger, begun.run, Ending.COMPLETED, None)
    with Ledger.open(old) as ledger, pytest.raises(LedgerClosed, match="campaigns continue there"):
        runs.begin(ledger, "a", definition("ada"), intent("three"))


def test_a_move_typed_again_gives_the_answer_of_the_first_time(way: tuple[str, str]) -> None:
    """A power cut may come after its last commit; also once the new ledger has gone on."""
    old, new = way
    a_ledger_at(old).ledger.close()
    copied = copy_ledger(old, new)
    assert copy_ledger(old, new) == copied
    with Ledger.open(new) as ledger:
        begun = runs.begin(ledger, "a", definition("ada", "fay"), intent("two"))
        runs.end(ledger, begun.run, Ending.COMPLETED, None)
    before = content(new)
    assert copy_ledger(old, new) == copied
    assert content(new) == before
    assert (is_open(old), is_open(new)) == (False, True)


def test_a_move_typed_again_says_where_the_ledger_has_moved_since(
    way: tuple[str, str], tmp_path: Path
) -> None:
    """The database that was named has a closed ledger by now: another name would not help."""
    old, new = way
    third = f"sqlite:///{tmp_path}/third.db"
    a_ledger_at(old).ledger.close()
    copy_ledger(old, new)
    copy_ledger(new, third)
    with pytest.raises(LedgerClosed, match=f"copied to {third},"):
        copy_ledger(old, new)
    assert is_open(third)


def test_a_closed_ledger_leaves_nothing_where_it_cannot_go(
    way: tuple[str, str], tmp_path: Path
) -> None:
    """Half a ledger there would only be in the way."""
    old, new = way
    a_ledger_at(old).ledger.close()
    copy_ledger(old, new)
    third = tmp_path / "third.db"
    with pytest.raises(LedgerClosed):
        copy_ledger(old, f"sqlite:///{third}")
    assert not third.exists()


def test_a_number_that_was_used_up_is_not_given_again(way: tuple[str, str]) -> None:
    """Receipts tell by the last attempt how far a ledger had got: also one that is gone."""
    old, new = way
    with a_ledger_at(old).ledger as ledger, ledger._engine.begin() as connection:
        highest = connection.exec_driver_sql("SELECT max(id) FROM attempt").scalar_one()
        connection.exec_driver_sql("UPDATE candidate SET invite_attempt = NULL")
        connection.exec_driver_sql(f"DELETE FROM attempt WHERE id = {highest}")
    copy_ledger(old, new)
    with Ledger.open(new) as ledger:
        small = Small(ledger, runs.begin(ledger, "a", None, None))
        assert small.claim(Operation.CREATE).attempt == highest + 1  # type: ignore[union-attr]
        runs.end(ledger, small.begun.run, Ending.STOPPED, None)


def test_nothing_is_moved_while_a_run_is_at_work(way: tuple[str, str]) -> None:
    """A run that lives would go on sending from the old one."""
    old, new = way
    with a_ledger_at(old).ledger as ledger:
        begun = runs.begin(ledger, "a", None, None)
        with pytest.raises(NotCopied, match="a run of a is in progress"):
            copy_ledger(old, new)
        runs.end(ledger, begun.run, Ending.STOPPED, None)
    assert is_open(old)
    copy_ledger(old, new)
    assert is_open(new)


def test_what_a_dead_run_was_sending_goes_along_as_doubt(way: tuple[str, str]) -> None:
    """Its process is gone: nobody will ever tell."""
    old, new = way
    with Ledger.open(old) as ledger:
        small = Small(ledger, runs.begin(ledger, "a", definition("ada"), intent()))
        small.claim(Operation.CREATE)
        recovery.OWN_RUNS.discard(small.begun.run)
    copy_ledger(old, new)
    with Ledger.open(new) as ledger:
        assert ledger.read(queries.find_campaign, "a").project_state == Step.UNSURE  # type: ignore[union-attr]


def test_a_database_that_holds_a_ledger_is_left_alone(way: tuple[str, str]) -> None:
    """Also the very same one, and one that this ledger was copied to before."""
    old, new = way
    a_ledger_at(old).ledger.close()
    for taken in (new, old):
        Ledger.open(taken).close()
        with pytest.raises(NotCopied) as refused:
            copy_ledger(old, taken)
        assert place_of(make_url(taken)) in str(refused.value)
        assert is_open(old)


def test_an_address_means_what_it_means_as_the_setting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A relative one lies beside the program wherever it is typed, a file where it is typed. What
    is said at the end, and by the closed ledger, is an address that leads there from anywhere."""
    home, here = tmp_path / "home", tmp_path / "here"
    here.mkdir()
    monkeypatch.setattr("config.folders.home", lambda: home)
    monkeypatch.chdir(here)
    a_ledger_at(f"sqlite:///{home}/old.db").ledger.close()
    assert typed("copy", "sqlite:///old.db", "new.db") == 0
    told = capsys.readouterr().out
    assert f"set CAMPAIGN_DATABASE_URL to sqlite:///{here}/new.db\n" in told
    assert typed("move", "new.db", "sqlite:///newer.db") == 0
    assert is_open(f"sqlite:///{home}/newer.db")
    with pytest.raises(LedgerClosed, match=f"copied to sqlite:///{home}/newer.db,"):
        copy_ledger(f"sqlite:///{here}/new.db", f"sqlite:///{here}/third.db")
    monkeypatch.setenv("CAMPAIGN_DATABASE_URL", "sqlite:///newer.db")
    assert typed("backup", "kept.db") == typed("backup", "sqlite:///kept.db") == 0
    told = capsys.readouterr().out
    assert f"{here}/kept.db: " in told and f"{home}/kept.db: " in told
    assert is_open(f"sqlite:///{here}/kept.db") and is_open(f"sqlite:///{home}/kept.db")
    assert typed("copy", "mysql://new", "x.db") == 2
    assert typed("move", "missing.db", "x.db") == 2  # what was typed is wrong; nothing is stopped


def test_a_move_ends_with_what_the_old_ledger_still_has(
    way: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    """Nobody can be forgotten in it any more, and `forget` on the new one does not name it."""
    old, new = way
    a_ledger_at(old).ledger.close()
    for _ in range(2):
        assert typed("move", old, new) == 0
        ending = " ".join(capsys.readouterr().out.split())
        assert f"Next: set CAMPAIGN_DATABASE_URL to {address_of(make_url(new))}" in ending
        assert "campaign plan FILE" in ending
        assert place_of(make_url(old)) in ending
        assert "forget does not reach" in ending


class _Killed(BaseException):
    """The process is gone at this point."""


def shown(*words: str) -> int:
    """Type `campaign …`; answers how it ends."""
    with pytest.MonkeyPatch.context() as terminal, pytest.raises(SystemExit) as ended:
        terminal.setattr("sys.argv", ["campaign", *words])
        main()
    return int(ended.value.code or 0)


SHOWING = ["status", "status a", "settle a", "links a", "history a", "export ada@example.com"]


@pytest.fixture
def plan_of_a(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """What is typed for the plan of the campaign that `a_ledger_at` begins."""
    monkeypatch.setenv("CAMPAIGN_OUTPUT_DIR", str(tmp_path / "out"))
    monkeypatch.setenv("ASSESSMENT_API_URL", "https://service.test")
    file = tmp_path / "a.yaml"
    file.write_text(
        "campaign: a\nproject: {name: A}\nproblem: 42\ncandidates:\n"
        "  - {first_name: Ada, last_name: Example, email1: ada@example.com}\n"
    )
    return f"plan {file}"


def test_an_unfinished_copy_shows_nothing_and_names_the_command_that_ends_it(
    way: tuple[str, str],
    plan_of_a: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """It may be empty, or have old numbers. The command works as it is printed."""
    old, new = way
    a_ledger_at(old).ledger.close()
    with monkeypatch.context() as killing, pytest.raises(_Killed):
        killing.setattr("data.moving.ledger_copy._carry", dies)
        copy_ledger(old, new)
    monkeypatch.setenv("CAMPAIGN_DATABASE_URL", new)
    there, here = address_of(make_url(old)), address_of(make_url(new))
    finish = f"campaign ledger move {there} {here}"
    for words in [*SHOWING, plan_of_a]:
        assert shown(*words.split()) == 1, words
        printed = capsys.readouterr()
        assert printed.out == ""
        assert f"unfinished copy of {there}" in printed.err, words
        assert finish in printed.err
    if "postgresql" not in finish:  # the server of the tests is named by more than its address
        assert shown(*finish.split()[1:]) == 0
        assert is_open(new)


def dies(*_: object) -> None:
    raise _Killed


def test_a_closed_ledger_shows_where_things_stood_and_says_so(
    way: tuple[str, str],
    plan_of_a: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Nobody takes its numbers for today's; on the new ledger nothing is said."""
    old, new = way
    a_ledger_at(old).ledger.close()
    copied = copy_ledger(old, new)
    note = f"moved to {copied.address}"
    for url in (old, new):
        monkeypatch.setenv("CAMPAIGN_DATABASE_URL", url)
        for words in [*SHOWING, plan_of_a]:
            assert shown(*words.split()) in (0, 3), words
            assert capsys.readouterr().err.count(note) == (url == old), words


def test_the_address_of_a_server_is_shown_without_its_password(
    postgres: Postgres, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Asterisks in its place would be set and refused; whoever reads it knows what is missing."""
    there = postgres.ledger_of(str(tmp_path)).replace("postgres@", "postgres:hunter2@")
    a_ledger_at(f"sqlite:///{tmp_path}/old.db").ledger.close()
    assert typed("move", f"{tmp_path}/old.db", there) == 0
    with pytest.raises(LedgerClosed) as closed:
        copy_ledger(f"sqlite:///{tmp_path}/old.db", f"sqlite:///{tmp_path}/third.db")
    address = f"postgresql://postgres@/{postgres.made[str(tmp_path)]}"
    for text in (capsys.readouterr().out, str(closed.value)):
        assert address in text
        assert "(with the server's password in the address, unless ~/.pgpass has it)" in text
        assert "hunter2" not in text and "***" not in text
    postgres.forget(str(tmp_path))


@pytest.mark.parametrize("after", [False, True], ids=["before the commit", "after the commit"])
def test_killed_at_any_moment_never_are_both_open(
    way: tuple[str, str], after: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Killed at each commit in turn, the same copy typed again ends it; nothing is lost."""
    old, new = way
    a_ledger_at(old).ledger.close()
    before, seen = content(old), set()
    really_commit = DefaultDialect.do_commit
    commits, dies = 0, 0

    def commit(dialect: Any, connection: Any) -> None:
        nonlocal commits
        commits += 1
        if commits == dies and not after:
            raise _Killed
        really_commit(dialect, connection)
        if commits == dies:
            raise _Killed

    while True:
        commits, dies = 0, dies + 1
        with monkeypatch.context() as killing:
            for dialect in (SQLiteDialect_pysqlite, PGDialect_psycopg):
                killing.setattr(dialect, "do_commit", commit)
            try:
                copy_ledger(old, new)
            except _Killed:
                pass
            else:
                break
        stands = (is_open(old), is_open(new))
        seen.add(stands)
        assert stands != (True, True)
    assert (is_open(old), is_open(new)) == (False, True)
    assert content(new) == before
    assert (True, False) in seen


def test_a_campaign_goes_on_from_the_new_ledger_and_from_no_other(
    way: tuple[str, str], tmp_path: Path
) -> None:
    """Its receipt fits; whoever is invited stays it; a run on the old ledger sends nothing."""
    old, new = way
    with Sandbox() as service:
        office = Office.at(tmp_path, service)
        office.local = office.local.model_copy(update={"database_url": old})
        path = office.write("a", people("ada", "bo"))
        assert office.run(path).ending == Ending.COMPLETED
        copy_ledger(old, new)
        office.write("a", people("ada", "bo", "cy"))
        with pytest.raises(LedgerClosed):
            office.run(path)
        assert set(office.emails()) == {"ada@example.com", "bo@example.com"}
        office.local = office.local.model_copy(update={"database_url": new})
        assert office.run(path).ending == Ending.COMPLETED
        assert office.emails() == dict.fromkeys(
            ["ada@example.com", "bo@example.com", "cy@example.com"], 1
        )
