"""`campaign doctor`: what is not in order is found before a run meets it, and can be mended."""

import os
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path

import pytest
from prefect.server.database import _migrations
from prefect.settings import (
    PREFECT_API_URL,
    PREFECT_HOME,
    PREFECT_SERVER_DATABASE_CONNECTION_URL,
    temporary_settings,
)
from sqlalchemy.engine import make_url

from config.settings import load_local
from data.campaigns import notices
from data.store.clock import now
from flows.cli.main import main
from flows.cli.serve.serve import Server
from sandbox.faults.faults import Fault
from tasks.plan.receipts import OlderLedger
from tasks.status.health import How, clock, room, set_up_anew
from tests.support.doubtful_campaign import KEY, DoubtfulCampaign, doubtful_campaign

NOON = datetime(2026, 12, 1, 12, tzinfo=UTC)


@pytest.fixture
def desk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[DoubtfulCampaign]:
    monkeypatch.delenv("PREFECT_API_URL", raising=False)
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    with doubtful_campaign(tmp_path, monkeypatch, capsys) as desk:
        yield desk


def found(desk: DoubtfulCampaign, what: str) -> tuple[int, list[tuple[str, str]]]:
    """The exit code, and how each of these things is with what to do about it."""
    answer = desk.type("doctor", "--json")
    findings = answer.object["findings"]
    assert answer.object["ok"] is (answer.code == 0)
    return answer.code, [
        (one["how"], f"{one['said']} {one['mend'] or ''}")
        for one in findings
        if one["what"] == what
    ]


def test_where_all_is_well_nothing_is_to_mend(desk: DoubtfulCampaign) -> None:
    """One token and one list of problems, nothing else; the ledger is not even made."""
    answer = desk.type("doctor")
    assert (answer.code, "to fix" in answer.out) == (0, False)
    assert [one.operation for one in desk.service.record.requests] == ["token", "list_problems"]
    assert not (desk.folder / "ledger.db").exists()
    desk.run()
    assert desk.type("doctor").code == 0


def test_credentials_that_are_refused(
    desk: DoubtfulCampaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Told in words, and the secret is in none of them."""
    monkeypatch.setenv("ASSESSMENT_CLIENT_SECRET", "hush-hush")
    code, [(how, said)] = found(desk, "credentials")
    assert (code, how) == (1, "mend")
    assert "operator" in said and "hush" not in said


@pytest.mark.parametrize("status", [401, 403])
@pytest.mark.parametrize(
    ("operation", "call"),
    [("invite", "the invitation"), ("add_candidates", "adding the candidates")],
)
def test_credentials_that_are_refused_for_one_call(
    desk: DoubtfulCampaign, operation: str, call: str, status: int
) -> None:
    """They get a token and a list, so that only the ledger tells: for which call, when, and in
    which words. Until it succeeds, or nobody waits for it any more."""
    desk.run(Fault("status", operation, status=status, count=None, body='{"message": "no scope"}'))
    code, [_, (how, said)] = found(desk, "credentials")
    assert (code, how) == (1, "mend")
    assert f"{call} (status {status}, in {KEY} at 20" in said
    assert f"campaign run {desk.file}" in said
    assert 'the service wrote: "no scope"' in desk.type("doctor").out
    if operation == "invite" and status == 403:
        desk.run()
    else:
        everybody = ("ada@example.com", "zoe@example.com", "grace@example.com")
        assert desk.type("withdraw", KEY, *everybody, "--why", "over").code == 0
    assert [how for how, _ in found(desk, "credentials")[1]] == ["well"]


def test_a_service_that_does_not_answer(
    desk: DoubtfulCampaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The variable that leads nowhere is named."""
    monkeypatch.setenv("ASSESSMENT_BASE_URL", f"{desk.service.base_url}/elsewhere")
    code, [(how, said)] = found(desk, "service")
    assert (code, how, "ASSESSMENT_BASE_URL" in said) == (1, "mend", True)


def test_settings_that_are_missing(desk: DoubtfulCampaign, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each by its name; the rest is looked at all the same."""
    monkeypatch.delenv("ASSESSMENT_AUDIENCE")
    code, [(how, said)] = found(desk, "settings")
    assert (code, how, "ASSESSMENT_AUDIENCE is not set" in said) == (1, "mend", True)
    assert found(desk, "packages")[1][0][0] == "well"


@pytest.mark.parametrize(
    ("holds", "in_checkout", "typed"),
    [
        ("uv-receipt.toml", False, "uv tool install --reinstall"),
        ("pipx_metadata.json", False, "pipx reinstall"),
        ("pyvenv.cfg", True, "make clean setup"),
        ("pyvenv.cfg", False, "docs/operations.md"),
    ],
)
def test_packages_are_set_right_by_what_installed_them(
    tmp_path: Path, holds: str, in_checkout: bool, typed: str
) -> None:
    """`make clean setup` means nothing where no checkout is."""
    environment = tmp_path / ".venv"
    environment.mkdir()
    (environment / holds).touch()
    assert typed in set_up_anew(environment, tmp_path if in_checkout else None)


def test_windows_is_told_in_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not by an error of an import."""
    monkeypatch.setattr("sys.platform", "win32")
    with pytest.raises(SystemExit, match="WSL"):
        main()


@pytest.mark.parametrize(
    ("apart", "how"),
    [
        (timedelta(0), How.WELL),
        (timedelta(seconds=59), How.WELL),
        (timedelta(minutes=7), How.LOOK),
        (timedelta(days=-1), How.LOOK),
    ],
)
def test_a_clock_that_is_off(apart: timedelta, how: How) -> None:
    """Windows and waves go by this machine's time: the service's own tells whether it is right."""
    said = clock(format_datetime(NOON, usegmt=True), NOON + apart)
    assert said.how is how
    if how is How.LOOK:
        assert ("ahead of" in said.said) is (apart > timedelta(0))


@pytest.mark.parametrize("said", [None, "", "yesterday", "Tue, 99 Dec 2026 12:00:00 GMT"])
def test_a_service_without_a_usable_date(said: str | None) -> None:
    """Whatever it sends as a date: nothing to compare with is nothing wrong."""
    assert clock(said, NOON).how is How.WELL


@pytest.mark.parametrize(
    ("free", "how"), [(2 * 10**9, How.WELL), (10**8, How.LOOK), (10**6, How.MEND)]
)
def test_a_disk_that_is_nearly_full(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, free: int, how: How
) -> None:
    """Also for a folder that is not there yet."""
    usage = shutil.disk_usage(tmp_path)._replace(free=free)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage)
    assert [one.how for one in room({"ledger": tmp_path / "new" / "ledger.db"})] == [how]


def test_a_place_for_results_that_is_none(tmp_path: Path) -> None:
    """A file, or what lies below one: nothing could be written there."""
    (tmp_path / "file").write_text("")
    for place in (tmp_path / "file", tmp_path / "file" / "out"):
        [found] = room({"results": place})
        assert found.how is How.MEND


def test_a_ledger_that_others_may_read(desk: DoubtfulCampaign) -> None:
    """It names people."""
    desk.run()
    (desk.folder / "ledger.db").chmod(0o644)
    code, [(how, said), *_] = found(desk, "ledger")
    assert (code, how, f"chmod 600 {desk.folder / 'ledger.db'}" in said) == (1, "mend", True)


@pytest.mark.parametrize("kept", ["ledger.db", "."])
def test_a_ledger_that_cannot_be_written_to(
    desk: DoubtfulCampaign, monkeypatch: pytest.MonkeyPatch, kept: str
) -> None:
    """Nor can one in a folder where its log cannot be made; the next run would end there."""
    desk.run()
    held, access = desk.folder / kept, os.access
    monkeypatch.setattr("os.access", lambda path, mode: path != held and access(path, mode))
    code, [(how, _), *_] = found(desk, "ledger")
    assert (code, how) == (1, "mend")


def test_a_ledger_that_is_damaged(desk: DoubtfulCampaign) -> None:
    """Found by looking at every page, before a run trusts it."""
    desk.run()
    file = desk.folder / "ledger.db"
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        [(root,)] = connection.execute("SELECT rootpage FROM sqlite_schema WHERE name='candidate'")
        [(size,)] = connection.execute("PRAGMA page_size")
    with file.open("r+b") as pages:
        pages.seek((root - 1) * size)
        pages.write(os.urandom(size))
    code, [(how, _), *_] = found(desk, "ledger")
    assert (code, how) == (1, "mend")


def test_a_ledger_that_is_closed(desk: DoubtfulCampaign) -> None:
    """It sends nothing more: where the open one is, is said."""
    desk.run()
    assert desk.type("ledger", "move", desk.folder / "ledger.db", "moved.db").code == 0
    code, [_, (how, said)] = found(desk, "ledger")
    assert (code, how) == (1, "mend")
    assert f"sqlite:///{desk.folder / 'moved.db'}" in said


def test_doubts_are_counted_as_settle_counts_them(desk: DoubtfulCampaign) -> None:
    """An add of several people is one call."""
    desk.run(Fault("lost", "add_candidates", after_work=True))
    _, [(_, said)] = found(desk, "doubts")
    [first, *_] = desk.type("settle", KEY).out.splitlines()
    assert first == f"{KEY}: 1 call unsure" and first in said


def test_an_old_copy_of_the_ledger_is_known_by_the_receipt(desk: DoubtfulCampaign) -> None:
    """Until a person decides; and who decides for the copy is told to look before a run."""
    [file] = [Path(str(make_url(load_local().database_url).database))]
    desk.type("status")
    desk.run(Fault("lost", "invite", email="ada@example.com"))
    assert found(desk, "receipts") == (0, [])
    desk.settle("--invites", "again", "--why", "none came", "--no-wait")
    desk.type("ledger", "backup", desk.folder / "before.bak")
    desk.run()
    shutil.copy(desk.folder / "before.bak", file)
    for left in ("-wal", "-shm"):
        Path(f"{file}{left}").unlink(missing_ok=True)
    code, [(how, said)] = found(desk, "receipts")
    assert (code, how) == (1, "mend")
    again = f"campaign run {desk.file}"
    assert "old copy" in said and said.endswith(again)
    with pytest.raises(OlderLedger):
        desk.run()
    *_, look, then = desk.settle("--accept-ledger", "--why", "looked").out.splitlines()
    assert look.endswith(f"campaign plan {desk.file}") and then.endswith(again)
    assert found(desk, "receipts") == (0, [])


def test_a_prefect_server_that_is_gone(
    desk: DoubtfulCampaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Named in the environment, and nobody answers there."""
    monkeypatch.setattr("flows.cli.serve.serve.look_at", lambda _: Server.SILENT)
    with temporary_settings({PREFECT_API_URL: "http://127.0.0.1:9/api"}):
        code, [(how, said)] = found(desk, "prefect")
    assert (code, how, "PREFECT_API_URL" in said) == (1, "mend", True)


def test_a_database_of_another_prefect(desk: DoubtfulCampaign) -> None:
    """No server of a run could begin with it, so nothing is well; with our own all is."""
    file = desk.folder / "prefect.db"
    versions = Path(next(iter(_migrations.__path__))) / "versions" / "sqlite"
    revision = next(versions.glob("20*.py")).name.split("_")[4]
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute("CREATE TABLE alembic_version (version_num TEXT)")
        connection.execute("INSERT INTO alembic_version VALUES (?)", (revision,))
    with temporary_settings(
        {PREFECT_SERVER_DATABASE_CONNECTION_URL: f"sqlite+aiosqlite:///{file}"}
    ):
        assert found(desk, "prefect")[0] == 0
        with closing(sqlite3.connect(file)) as connection, connection:
            connection.execute("UPDATE alembic_version SET version_num = 'f00dfeed0000'")
        code, [(how, said)] = found(desk, "prefect")
    assert (code, how, str(file) in said, "PREFECT_HOME" in said) == (1, "mend", True, True)


@pytest.mark.parametrize(
    ("how", "kind", "words"),
    [
        (Server.WELL, "well", "answers"),
        (Server.REFUSES, "mend", "PREFECT_API_AUTH_STRING, or PREFECT_API_KEY"),
        (Server.OPEN, "look", "PREFECT_SERVER_API_AUTH_STRING"),
    ],
)
def test_how_a_prefect_server_receives_us(
    desk: DoubtfulCampaign, monkeypatch: pytest.MonkeyPatch, how: Server, kind: str, words: str
) -> None:
    """A login that it refuses stops everything; one that asks for none takes anybody's approval."""
    monkeypatch.setattr("flows.cli.serve.serve.look_at", lambda _: how)
    with temporary_settings({PREFECT_API_URL: "http://127.0.0.1:9/api"}):
        code, [(found_as, said)] = found(desk, "prefect")
    assert (code, found_as) == (int(kind == "mend"), kind)
    assert words in said


def test_what_could_not_be_told(desk: DoubtfulCampaign) -> None:
    """What Prefect's server laid aside is counted, and what nobody could be told; each with what
    to do. Where there is none of it, nothing is said."""
    with temporary_settings({PREFECT_HOME: desk.folder / "home"}):
        assert found(desk, "messages")[1] == []
        assert [how for how, _ in found(desk, "prefect")[1]] == ["well"]
        with desk.ledger() as ledger:
            ledger.write(notices.note, "a run", "Stopped", "spring: Stopped.", now())
        laid_aside = desk.folder / "home" / "dlq" / "a-message"
        laid_aside.parent.mkdir(parents=True)
        laid_aside.write_text("{}")
        _, [_, (how, said)] = found(desk, "prefect")
        assert (how, f"1 message, kept in {laid_aside.parent}" in said) == ("look", True)
        assert f"rm -r {laid_aside.parent}" in said
        _, [(how, said)] = found(desk, "messages")
        assert (how, "campaign up" in said) == ("look", True)


def test_a_secret_that_a_killed_worker_left_behind(desk: DoubtfulCampaign) -> None:
    """Pointed at where it lies, with what to type; the secret itself is in no word of it."""
    left = desk.folder / "temporary" / "prefect-workspace-attempt-1a2b" / "workspace.json"
    left.parent.mkdir()
    left.write_text('{"environment": {"ASSESSMENT_CLIENT_SECRET": "hush-hush"}}')
    code, [(how, said)] = found(desk, "secrets")
    assert (code, how, f"rm -r {left.parent}" in said) == (0, "look", True)
    assert "1 folder of Prefect's workers" in said and "holds a secret" in said
    below = desk.type("doctor").out.partition(f"rm -r {left.parent}")[2].splitlines()[1]
    assert below.startswith(" " * 22 + "Keep")
    assert "hush" not in said
    left.write_text('{"environment": {"PATH": "/bin"}}')
    assert found(desk, "secrets") == (0, [])


def test_a_secret_that_a_worker_would_write_down(desk: DoubtfulCampaign) -> None:
    """Where a Prefect server is named, workers may be started with the same environment."""
    assert found(desk, "secrets") == (0, [])
    with temporary_settings({PREFECT_API_URL: "http://127.0.0.1:9/api"}):
        _, [(how, said)] = found(desk, "secrets")
    assert (how, ".env" in said) == ("look", True)
    assert "ASSESSMENT_CLIENT_SECRET is in the environment" in said
