"""Decisions as they are typed: what cannot be taken back is asked for first."""

import os
import shlex
import sys
from pathlib import Path

import pytest
from openpyxl import Workbook
from sqlalchemy import text
from sqlmodel import SQLModel, select

from data.decisions.decisions import By, block, correct, withdraw
from data.store.states import Op, State
from data.store.tables import Decision
from flows.cli import app, words
from tasks.outputs.exports import write_file
from tests.data.desk import Desk

AGAIN = ["invite", "backend", "ada@x.org", "--why", "It went to spam"]
BACK = ["invite", "backend", "ben@x.org", "--why", "The day is right after all"]
FORGET, NOBODY = ["forget", "ada@x.org"], ["forget", "adda@x.org"]


@pytest.mark.parametrize(
    ("typed", "agreed"),
    [
        *((AGAIN, True), (AGAIN, False), (BACK, False)),
        *((FORGET, True), (FORGET, False), (FORGET, None), (NOBODY, False)),
    ],
)
def test_a_second_email_and_forgetting_are_asked_for(
    typed: list[str], agreed: bool | None, desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where nobody can be asked, nobody is forgotten. The question says who is nowhere."""
    asked: list[str] = []
    desk.take_in("Ada", "Ben")
    desk.sends()
    desk.call(withdraw, ["ben@x.org"], By("me", "the wrong day"))
    for stream in (sys.stdin, sys.stderr):
        monkeypatch.setattr(stream, "isatty", lambda: agreed is not None)
    monkeypatch.setattr(words.typer, "confirm", lambda it, **_: asked.append(it) or agreed)
    assert app.run(typed) == (0 if agreed else 1)
    assert ["is in no campaign" in each for each in asked] == [typed == NOBODY] * len(asked)
    with desk.at() as (session, _):
        decided = session.exec(select(Decision).where(Decision.word == typed[0])).all()
    assert len(decided) == bool(agreed)


@pytest.mark.parametrize(
    "typed",
    [
        "settle backend --again ''",
        "settle backend --sent '' --why x",
        "settle backend --sent =7 --why x",
        "settle backend --again project=",
        "settle backend --accept-ledger --sent ada@x.org --why x",
        "forget '' --yes",
        "forget the --yes",
        "forget ada@x.org ' ' --yes",
        "forget '' --show",
        "block ''",
        "block the",
        "block @x.org, --why x",
        "block --lift ' '",
        "withdraw backend ''",
        "withdraw backend --undo ' '",
        "invite backend '' --why x --yes",
        "correct backend '' ben@x.org",
        "correct backend ada@x.org ''",
    ],
)
def test_what_is_no_address_decides_nothing(
    typed: str, desk: Desk, capsys: pytest.CaptureFixture[str]
) -> None:
    """The project and its problem are settled by their names only."""

    def everything() -> list[str]:
        with desk.ledger.reading() as session:
            tables = SQLModel.metadata.tables.keys() - {"run"}  # a dead one may be noted as that
            return [repr(session.execute(text(f"SELECT * FROM {t}")).all()) for t in sorted(tables)]

    desk.take_in("Ada", "Ben")
    desk.call(withdraw, ["ada@x.org"], By("me", "the day is the wrong one"))
    desk.does(Op.CREATE, state=State.UNSURE)
    before = everything()
    assert app.run(shlex.split(typed)) == 2
    assert everything() == before
    assert " is no" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("typed", "reminded", "said"),
    [
        ("--everyone --except finished.csv", ["Ben"], "one more email: 1"),
        ("--from finished.csv", ["Ada"], "nobody can know who has finished"),
        ("--everyone --from finished.csv --except finished.csv", [], "one more email: 0"),
    ],
)
def test_a_reminder_is_one_more_email_to_whoever_was_invited_and_is_in_no_list(
    typed, reminded, said, desk, tmp_path, monkeypatch, capsys
) -> None:
    """The pilot gets none: their email would have to be approved again. Nor does who is held."""
    finished = "Candidate,Email\nAda L,ADA+ok@x.org\nZoe P,zoe@x.org\nEve E,eve@x.org\n"
    (tmp_path / "finished.csv").write_text(finished)
    os.utime(tmp_path / "finished.csv", (0, 0))
    monkeypatch.chdir(tmp_path)
    for invites in ({}, {"pilot": "me@x.org"}):
        desk.take_in("Ada", "Ben", "Cyd", "Dov", "Eve", invites=invites)
        if not invites:  # the list of who has finished names her old address
            desk.call(correct, "eve@x.org", "eva@x.org", By("me"))
        desk.sends()
    desk.call(withdraw, ["cyd@x.org"], By("me", "the wrong day"))
    desk.call(lambda session, _: block(session, ["dov@x.org"], By("me", "asked")))
    command = ["invite", "backend", *typed.split(), "--why", "reminder"]
    assert app.run(command) == 1
    assert app.run([*command, "--yes"]) == app.run([*command, "--yes"]) == 0
    seen = capsys.readouterr().err
    assert 'finished.csv:3: "zoe@x.org" is nobody of this campaign' in seen
    assert said.lower() in seen.lower()
    waiting = [each for each in ("Ada", "Ben", "Dov", "Eve") if desk.state(each)[1] == "waiting"]
    assert waiting == reminded
    with desk.at() as (session, _):
        decided = session.exec(select(Decision).where(Decision.word == "invite")).all()
        assert [each.value for each in decided] == [[]] * len(reminded)


NOT_ALONE = ("ada@x.org (out)", "mailto:ada@x.org", "ada@x.org; ben@x.org", "~ada@x.org")
FOUND = [f'A2: found "{cell}"' for cell in NOT_ALONE]


@pytest.mark.parametrize("says", ["is hidden", "More!A1: an", "B1: this", "C1: this", *FOUND])
def test_a_list_that_is_not_wholly_read_or_has_others_reminds_nobody(
    says: str, desk: Desk, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    desk.take_in("Ada", "Ben")
    desk.sends()
    book = Workbook()
    email = says.split('"')[1] if "@" in says else "ada@x.org"
    for row in (("Email", "Ended", "Name"), (email, "2026-11-28", "Ada L (done)"), ("z@x.org",)):
        book.active.append(row)
    book.active.row_dimensions[2].hidden = "hidden" in says
    book.create_sheet("More").append(("logs in as ben@x.org",))
    book.save(tmp_path / "open.xlsx")
    os.utime(tmp_path / "open.xlsx", (0, 0))
    only = ["--from"] if "1: this" in says else ["--everyone", "--except"]
    typed = ["invite", "backend", *only, str(tmp_path / "open.xlsx")]
    assert app.run([*typed, "--why", "reminder", "--yes"]) == 2
    assert says in capsys.readouterr().err


@pytest.mark.parametrize("stops", ["tasks.forgetting.remove_outputs", "flows.cli.decide.rewrite"])
def test_what_is_left_is_said_at_once_and_the_same_command_does_the_rest(
    stops: str,
    desk: Desk,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)  # the folder of the definition
    desk.take_in("Ada")
    write_file(tmp_path / "links.csv", b"ada@x.org")

    def waits(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(stops, waits)
        assert app.run(["forget", "ada@x.org", "--yes"]) == 130
    assert "remove the row from" in capsys.readouterr().out
    assert app.run(["forget", "ada@x.org", "--yes"]) == 0
    assert not (tmp_path / "links.csv").exists()


def test_a_verdict_at_the_terminal_is_a_whole_word_and_is_kept_at_once(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Enter leaves a doubt as it is, or takes the last reason; anything else is asked again."""
    desk.take_in("Ada", "Ben", "Cyd", "Dee", "Eve", "Fay")
    desk.does(Op.CREATE)
    desk.does(Op.ATTACH)
    desk.does(Op.ADD, "Ada", state=State.UNSURE)
    desk.does(Op.ADD)
    for who in ("Ben", "Cyd", "Dee", "Eve", "Fay"):
        desk.does(Op.INVITE, who, state=State.UNSURE)
    answers = ["skip", "s", "sent", "x", "", " Sent ", "again", "", "again", "lost", "withdraw", ""]

    def typed(*_: object, default: str, **__: object) -> str:
        if not answers:
            raise KeyboardInterrupt
        return answers.pop(0) or default

    monkeypatch.setattr(sys.stdin, "isatty", lambda: True)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setattr(words.typer, "prompt", typed)
    assert app.run(["settle", "backend"]) == 130
    assert desk.state("Ada")[0] == "unsure"
    states = {"Ben": "done", "Cyd": "unsure", "Dee": "waiting", "Eve": "given up", "Fay": "unsure"}
    assert {who: desk.state(who)[1] for who in states} == states
