"""Decisions as they are typed: what cannot be taken back is asked for first."""

import sys

import pytest
from sqlmodel import select

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
