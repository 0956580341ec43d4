"""Finished people are only counted, and a plan says just what it would say with them."""

from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import Connection, update

from config.definition.model import Definition, Invites
from config.definition.sent_fields import FIELDS
from data.campaigns import intake
from data.campaigns.changes import Unfinished, compare
from data.campaigns.intake import KEPT, everybody
from data.store.states import Step
from data.store.tables import candidate
from flows.cli.prepare.forecast import Forecast, forecast
from tasks.plan.plan import Plan, make_plan
from tasks.plan.target import beside
from tests.support.ledgers.small_ledger import NOON, Small, definition

NAMES = ("ada", "bo", "cy", "di", "eli")
ZONES = (None, "Asia/Tokyo")
D, W = Step.DONE, Step.WAITING

# Mostly finished, as in a campaign that has run.
steps = st.sampled_from((*Step, *[D] * 6))
states = st.fixed_dictionaries(
    {
        "add_state": steps,
        "invite_state": steps,
        "listed": st.sampled_from((True, True, True, False)),
        "notes": st.sampled_from(("", "", "", "tall")),
        "timezone": st.sampled_from((None, None, *ZONES)),
    }
)
people = st.tuples(*[states] * len(NAMES))
# Who is whom after a correction; only somebody later, so that it ends.
corrections = st.dictionaries(st.integers(0, 3), st.integers(1, 4), max_size=2).map(
    lambda pairs: {old: new for old, new in pairs.items() if new > old}
)


@st.composite
def definitions(draw: st.DrawFn) -> Definition:
    names = draw(st.lists(st.sampled_from((*NAMES, "zoe")), unique=True, min_size=1))
    asked = definition(*names, send=draw(st.booleans()))
    zones = draw(st.tuples(*[st.sampled_from((None, None, *ZONES))] * len(names)))
    rows = zip(asked.candidates, zones, strict=True)
    return replace(
        asked,
        candidates=tuple(replace(person, timezone=zone) for person, zone in rows),
        guard=draw(st.sampled_from((None, 0.2, 0.5))),
        add_again=draw(st.booleans()),
    )


def with_everybody(connection: Connection, row: int, asked: Definition) -> Unfinished:
    return Unfinished(asked, everybody(connection, row))


def planned(small: Small, asked: Definition) -> tuple[Plan, Forecast]:
    plan = make_plan(beside(asked, "", small.ledger, ""), small.ledger, NOON)
    return plan, forecast(plan, per_request=100, ledger=small.ledger)


def put(small: Small, states: Any, corrections: dict[int, int]) -> None:
    """Write these states of the people, whatever led to them."""
    rows = list(small.rows().values())

    def write(connection: Connection) -> None:
        for number, (row, values) in enumerate(zip(rows, states, strict=True)):
            now = corrections.get(number)
            to = None if now is None else rows[now]
            there = update(candidate).where(candidate.c.id == row)
            connection.execute(there.values(**values, corrected_to=to))

    small.ledger.write(write)


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory):
    small = Small.at(tmp_path_factory.mktemp("ledger"), *NAMES)
    with small.ledger:
        yield small


@settings(max_examples=150)
@given(states=people, corrections=corrections, asked=definitions())
def test_a_plan_says_what_it_would_say_with_everybody(
    small: Small, states: Any, corrections: dict[int, int], asked: Definition
) -> None:
    """Whatever the ledger has, and whatever a definition asks for: to the last word."""
    put(small, states, corrections)
    plan, seen = planned(small, asked)
    with patch.object(intake, "unfinished", with_everybody):
        whole, of_everybody = planned(small, asked)
    assert replace(plan, known={}, finished=0) == replace(whole, known={})
    assert seen == of_everybody
    left = small.ledger.read(intake.unfinished, small.begun.campaign, asked)
    in_ledger = small.ledger.read(everybody, small.begun.campaign)
    assert compare(left.definition, left.people) == compare(asked, in_ledger)


def test_who_is_finished(tmp_path: Path) -> None:
    """Invited people just as the definition has them; added ones are, once nobody is invited."""
    names = (
        "same",
        *FIELDS,
        *KEPT,
        "removed",
        "added",
    )  # one differs in each field, as it is called
    small = Small.at(tmp_path, *names)
    other = {name: 7 if name == "stage_id" else "Asia/Tokyo" for name in (*FIELDS, *KEPT)}
    states = {name: {name: value} for name, value in other.items()}
    states |= {"removed": {"listed": False}, "added": {"invite_state": W}}
    with small.ledger:
        for name, row in small.rows().items():
            there = update(candidate).where(candidate.c.id == row)
            done = {"add_state": D, "invite_state": D}
            small.ledger.write(Connection.execute, there.values(done | states.get(name, {})))

        def finished(asked: Definition) -> set[str]:
            left = small.ledger.read(intake.unfinished, small.begun.campaign, asked)
            unfinished = {key.partition("@")[0] for key in left.people}
            assert left.finished == len(names) - len(unfinished)
            return set(names) - unfinished

        asked = definition(*names)
        assert finished(asked) == {"same"}
        assert finished(replace(asked, invites=Invites(send=False))) == {"same", "added"}
        assert finished(definition("removed")) == set()
