"""The question before anything is sent: asked on a terminal, kept to, and judged by the service."""

import re
import sys
from io import StringIO
from pathlib import Path

import pytest
from prefect.settings import PREFECT_API_URL, temporary_settings

from config.errors import CampaignError
from data.campaigns import queries
from data.campaigns.remaining import Remaining
from data.store.states import Ending
from flows.cli.reading import TypedFile
from flows.cli.run.asking import ask
from flows.cli.run.one_run import NotAsAsked, OneRun
from flows.cli.run.sending import read_files
from tests.campaigns.test_reused_key import FIRST, OTHERS, PEOPLE, Bench, bench, written
from tests.config.definition.test_sent_fields import filtered
from tests.flows.cli.test_cli import Typed as Type
from tests.flows.cli.test_cli import clean_environment, typed
from tests.support.campaigns import Heard
from tests.support.prefects.prefect_home import CAMPAIGN, Desk
from tests.support.terminal import Terminal

__all__ = ["bench", "clean_environment", "typed"]

HEAD = "project: {name: Autumn}\nproblem: 42\n"


def people(*addresses: str) -> str:
    rows = (f"  - {{first_name: A, last_name: B, email1: {each}}}\n" for each in addresses)
    return "candidates:\n" + "".join(rows)


@pytest.fixture
def at_terminal(monkeypatch: pytest.MonkeyPatch) -> StringIO:
    """Type on a terminal; what is written into this are the keys."""
    keys = StringIO()
    monkeypatch.setattr(sys, "stdin", keys)
    monkeypatch.setattr("flows.cli.run.run.can_ask", lambda: True)
    for name in ("AUTH_URL", "BASE_URL", "APP_URL"):
        monkeypatch.setenv(f"ASSESSMENT_{name}", "http://127.0.0.1:9")
    for name in ("CLIENT_ID", "CLIENT_SECRET", "AUDIENCE"):
        monkeypatch.setenv(f"ASSESSMENT_{name}", "x")
    monkeypatch.setenv("PREFECT_API_URL", "http://127.0.0.1:9/api")  # nothing is started
    return keys


QUESTIONS = {
    "hidden rows": (
        ["filtered.xlsx"],
        "3 people will get an email (1 of them in hidden rows). Send? [y/N] ",
    ),
    "addresses to look at": (
        ["doubtful.yaml"],
        "3 people will get an email (1 with a sample address, 2 with a doubtful address). "
        "Send? [y/N] ",
    ),
    "no email": (["added.yaml"], "1 person will be added; no email is sent. Go on? [y/N] "),
    "several": (
        ["plain.yaml", "added.yaml", "filtered.xlsx"],
        "4 people of 3 campaigns will get an email (1 of them in hidden rows); 1 other will be "
        "added without one. Send? [y/N] ",
    ),
    "a folder": (
        ["."],
        "7 people of 4 campaigns will get an email (1 of them in hidden rows, 1 with a sample "
        "address, 2 with a doubtful address); 1 other will be added without one. Send? [y/N] ",
    ),
}


@pytest.mark.parametrize(("files", "question"), QUESTIONS.values(), ids=QUESTIONS)
def test_what_is_asked(typed: Type, at_terminal: StringIO, files: list[str], question: str) -> None:
    """How many get an email, and whom to look at; the plan and the notes stand above."""
    Path("plain.yaml").write_text(f"campaign: plain\n{HEAD}{people('a@mail.com')}")
    doubtful = people("a@gmial.com", "jobs@mail.com", "c@example.com")
    Path("doubtful.yaml").write_text(f"campaign: doubtful\n{HEAD}{doubtful}")
    without = f"{people('b@mail.com')}invites: {{send: false}}\n"
    Path("added.yaml").write_text(f"campaign: added\n{HEAD}{without}")
    filtered(Path("filtered.xlsx"))
    at_terminal.write("no\n")
    at_terminal.seek(0)
    answer = typed("run", *files)
    assert (answer.code, answer.out) == (1, "")
    assert question in answer.err
    *_, said, then = answer.err.splitlines()
    assert said.endswith("Nothing was sent.")
    assert then.endswith(f": campaign run {' '.join(files)}")
    if "filtered.xlsx" in files:
        assert re.search(r"1 row is hidden.*: 3$", answer.err, re.MULTILINE)
        assert "3 emails, 1 of them " in answer.err
    if "doubtful.yaml" in files:
        assert re.search(r"gmial\.com .* gmail\.com", answer.err)


@pytest.mark.parametrize("files", [["a.yaml", "b.yaml"], ["."]])
def test_what_is_odd_in_a_table_that_two_files_name_is_said_once(
    typed: Type, at_terminal: StringIO, files: list[str]
) -> None:
    """Warnings as well as mistakes, and these are counted once."""
    for key in "ab":
        text = f"campaign: {key}\n{HEAD}candidates: {{file: people.csv}}\n"
        Path(f"{key}.yaml").write_text(text)
    Path("people.csv").write_text("first_name,last_name,email1\nA,B,a@gmial.com\n")
    at_terminal.write("no\n")
    at_terminal.seek(0)
    assert typed("run", *files).err.count("gmail.com") == 1
    Path("people.csv").write_text("first_name,last_name,email1\nA,B,a@gmial.com\nC,D,c@\n")
    wrong = typed("run", "a.yaml", "b.yaml").err
    assert (wrong.count("gmail.com"), wrong.count("c@"), wrong.count("1 mistake;")) == (1, 1, 1)


def test_times_are_noted_only_where_a_project_is_created(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, typed: Type, capsys: pytest.CaptureFixture[str]
) -> None:
    """What a project has no time for is sent once, as empty text; afterwards nothing of it is."""
    file = written(bench.folder / "a.yaml", *FIRST)
    monkeypatch.setenv("CAMPAIGN_DATABASE_URL", bench.local.database_url)
    for name, value in bench.service.environment().items():
        monkeypatch.setenv(name, value)

    def noted() -> list[bool]:
        asked = typed("plan", file)
        in_json = typed("plan", file, "--json").object["notes"]
        capsys.readouterr()
        read_files([TypedFile(file)], asks=True)
        screens = (asked.err, str(in_json), capsys.readouterr().err)
        return ["as empty text" in screen for screen in screens]

    assert noted() == [True, True, True]
    bench.run(file)
    file.write_text(file.read_text() + OTHERS)
    assert "sample address" in typed("plan", file).err  # there is more to send, and a note of that
    assert noted() == [False, False, False]


def test_nobody_is_asked_where_nothing_would_be_sent(
    bench: Bench, at_terminal: StringIO, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor where a person approves each plan; the runs are held to it all the same."""
    monkeypatch.setenv("CAMPAIGN_DATABASE_URL", bench.local.database_url)
    for name, value in bench.service.environment().items():
        monkeypatch.setenv(name, value)
    file = written(bench.folder / "a.yaml", *FIRST)
    bench.run(file)
    [run] = read_files([TypedFile(file)], asks=True)
    ask([run])
    assert run.agreed == Remaining()
    file.write_text(file.read_text() + OTHERS + "invites: {approval: required}\n")
    [run] = read_files([TypedFile(file)], asks=True)
    ask([run])
    assert run.agreed is None


def agreed_to(bench: Bench, file: Path, add: int, invite: int) -> OneRun:
    [run] = read_files([TypedFile(file)], asks=False)
    run.agreed = Remaining(add=add, invite=invite)
    return run


def test_what_is_sent_is_what_was_asked(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that was edited meanwhile, and people who came in otherwise, are not sent unasked."""
    monkeypatch.setenv("CAMPAIGN_DATABASE_URL", bench.local.database_url)
    file = written(bench.folder / "a.yaml", *FIRST)
    for change, why in [
        (lambda: written(file, *FIRST, PEOPLE + OTHERS), "has changed since you were asked"),
        (lambda: None, "has more people now than you were asked about: 1 to add and 1 to invite"),
    ]:
        written(file, *FIRST)
        run = agreed_to(bench, file, 1 if "changed" in why else 0, 1 if "changed" in why else 0)
        change()
        with pytest.raises(NotAsAsked, match=why) as stopped:
            bench.run(file, observer=Heard(on_reading=run.hold_to_it))
        assert f"campaign run {file}" in str(stopped.value)
        assert isinstance(stopped.value, CampaignError) and stopped.value.exit_code == 1
    assert bench.service.api_requests() == 0
    assert bench.ledger.read(queries.find_campaign, "my-trap") is None
    written(file, *FIRST)
    run = agreed_to(bench, file, 1, 1)
    assert bench.run(file, observer=Heard(on_reading=run.hold_to_it)).ending is Ending.COMPLETED
    assert [mail for mail, _ in bench.invited] == ["ada@mail.test"]


@pytest.mark.xdist_group("prefect")
def test_at_a_real_terminal(desk: Desk) -> None:
    """Only y sends; n, Enter, the end of what is typed and Ctrl-C send nothing. --yes, a pipe and a
    run with nothing to send ask nothing.
    """
    file = desk.campaign("asked", 3)
    words = [str(CAMPAIGN), "run", file.name]
    question = "Send? [y/N] "
    for keys, code, said in [
        ("n\n", 1, "Nothing was sent."),
        ("\n", 1, "Nothing was sent."),
        ("\x04", 1, "Nothing was sent."),
        ("\x03", 130, "Interrupted."),
    ]:
        with Terminal(words, desk.folder, desk.environment) as terminal:
            terminal.until(question)
            terminal.type(keys)
            assert terminal.end() == code, terminal.shown
        assert said in terminal.shown and "sent        " in terminal.shown
    assert desk.service.record.requests == []
    with Terminal(words, desk.folder, desk.environment) as terminal:
        terminal.until(question)
        terminal.type("y\n")
        assert terminal.end() == 0, terminal.shown
    assert len(desk.service.record.invitations) == 3
    with Terminal(words, desk.folder, desk.environment) as terminal:
        assert terminal.end() == 0, terminal.shown
    assert "[y/N]" not in terminal.shown
    desk.people(4)
    with Terminal([*words, "--yes"], desk.folder, desk.environment) as terminal:
        assert terminal.end() == 0, terminal.shown
    assert "[y/N]" not in terminal.shown
    assert len(desk.service.record.invitations) == 4


@pytest.mark.parametrize("more", [[], ["--json"]])
def test_a_named_server_that_is_silent_is_said_before_anything_is_sent(
    typed: Type, at_terminal: StringIO, tmp_path: Path, more: list[str]
) -> None:
    """As the commands that deploy say it; the campaign is as it was."""
    file = tmp_path / "a.yaml"
    file.write_text(f"campaign: a\n{HEAD}{people('ada@mail.test')}")
    with temporary_settings({PREFECT_API_URL: "http://127.0.0.1:9/api"}):
        answer = typed("run", file, "--yes", *more)
    assert answer.code == 1
    assert "http://127.0.0.1:9/api does not answer" in answer.err
    assert "A fault" not in answer.err and "Traceback" not in answer.err
