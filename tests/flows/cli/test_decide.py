"""Decisions as they are typed: what cannot be taken back is asked for first."""

import sys

import pytest
from sqlmodel import select

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
