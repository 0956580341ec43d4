"""Decisions as they are typed: what cannot be taken back is asked for first."""

import shlex
import sys

import pytest
from sqlalchemy import text
from sqlmodel import SQLModel, select

from data.decisions.decisions import By, withdraw
from data.store.states import Op, State
from data.store.tables import Decision
from flows.cli import app, words
from tests.data.desk import Desk

AGAIN = ["invite", "backend", "ada@x.org", "--why", "It went to spam"]


@pytest.mark.parametrize("typed", [AGAIN, ["forget", "ada@x.org"]], ids=lambda typed: typed[0])
@pytest.mark.parametrize("agreed", [True, False])
def test_a_second_email_and_forgetting_are_asked_for(
    typed: list[str], agreed: bool, desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.take_in("Ada")
    desk.sends()
    for stream in (sys.stdin, sys.stderr):
        monkeypatch.setattr(stream, "isatty", lambda: True)
    monkeypatch.setattr(words.typer, "confirm", lambda *_, **__: agreed)
    assert app.run(typed) == (0 if agreed else 1)
    with desk.at() as (session, _):
        assert len(session.exec(select(Decision)).all()) == agreed


@pytest.mark.parametrize(
    "typed",
    [
        "settle backend --again ''",
        "settle backend --sent '' --why x",
        "settle backend --sent =7 --why x",
        "settle backend --withdraw ' ' --why x",
        "settle backend --project ''",
        "settle backend --problem ''",
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
    """The project and its problem are settled by their own options only."""

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


def test_nothing_is_forgotten_where_nobody_can_be_asked(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    desk.take_in("Ada")
    monkeypatch.setattr(sys.stdin, "isatty", lambda: False)
    assert app.run(["forget", "ada@x.org"]) == 1
    assert "add --yes" in capsys.readouterr().err
    assert desk.state("Ada") == ("waiting", "waiting")


def test_the_question_says_who_is_nowhere(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    desk.take_in("Ada")
    asked: list[str] = []
    for stream in (sys.stdin, sys.stderr):
        monkeypatch.setattr(stream, "isatty", lambda: True)
    monkeypatch.setattr(words.typer, "confirm", lambda question, **_: asked.append(question))
    assert app.run(["forget", "ada@x.org"]) == app.run(["forget", "adda@x.org"]) == 1
    assert ["adda@x.org is in no campaign" in each for each in asked] == [False, True]


def test_a_verdict_at_the_terminal_is_a_whole_word_and_anything_else_is_asked_again(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.take_in("Ada", "Ben")
    desk.adds()
    for who in ("Ada", "Ben"):
        desk.does(Op.INVITE, who, state=State.UNSURE)
    answers = iter(["skip", "abort", "what?", "s", "", " Sent "])
    monkeypatch.setattr(sys.stdin, "isatty", lambda: True)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setattr(words.typer, "prompt", lambda *_, **__: next(answers))
    assert app.run(["settle", "backend"]) == 3
    assert [desk.state(who)[1] for who in ("Ada", "Ben")] == ["unsure", "done"]
