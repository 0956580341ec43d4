"""The ledger: one transaction a method, definitions taken over, and nobody named in an error."""

from dataclasses import fields, replace
from datetime import datetime
from pathlib import Path

import pytest
from sqlalchemy import insert, text
from sqlalchemy.exc import IntegrityError, StatementError

from config.definition.model import Candidate
from data.campaigns import queries
from data.sending import queue, runs
from data.store import tables
from data.store.clock import now
from data.store.ledger import Ledger
from data.store.opening import LedgerUnusable
from data.store.states import Ending, Operation, Step
from tests.support.ledgers.databases import ledger_at
from tests.support.ledgers.small_ledger import FIRST_ID, Small, definition, intent

pytestmark = pytest.mark.usefixtures("each_database")


@pytest.fixture
def small(tmp_path: Path):
    small = Small.at(tmp_path, "ada", "bo", "cy")
    with small.ledger:
        yield small


def listed(small: Small) -> list[str]:
    return [one.first_name for one in small.people() if one.listed]


def test_a_definition_taken_over_adds_and_never_forgets(small: Small) -> None:
    """New rows come behind the others; who is gone stays known, who is back is listed again."""
    small.ledger.write_beside(runs.take_over, definition("cy", "ada", "di"), intent("two"))
    assert [one.first_name for one in small.people()] == ["ada", "bo", "cy", "di"]
    assert listed(small) == ["ada", "cy", "di"]
    small.ledger.write_beside(runs.take_over, definition("bo", "ada"), intent("three"))
    assert listed(small) == ["ada", "bo"]
    assert small.campaign().digest == "three"


def test_all_that_a_definition_says_of_a_person_is_kept(small: Small) -> None:
    """Also what candidates get later: a field that is nowhere in the ledger is named here."""
    given = definition("dora")
    [dora] = given.candidates
    dora = replace(dora, source="fair", notes="left-handed", stage_id=7, timezone="Asia/Tokyo")
    usual = {each.name for each in fields(Candidate) if getattr(dora, each.name) == each.default}
    assert usual == {"hidden"}, "give it a value above"
    small.ledger.write_beside(runs.take_over, replace(given, candidates=(dora,)), intent("two"))
    row = next(person for person in small.people() if person.first_name == "dora")
    columns = {"key": "email_key"}
    lost = {
        each.name
        for each in fields(Candidate)
        if getattr(row, columns.get(each.name, each.name), None) != getattr(dora, each.name)
    }
    assert lost == {"place", "hidden"}


def test_other_words_replace_what_was_never_sent_and_nothing_else(small: Small) -> None:
    """A refused row that was mended waits again; an added one stays as the service has it."""
    ada, bo, _ = small.rows().values()
    small.land(Operation.ADD, small.claim(Operation.ADD, ada), Step.DONE, ids={ada: FIRST_ID})
    small.land(Operation.ADD, small.claim(Operation.ADD, bo), Step.REFUSED, why="a bad row")
    small.ledger.write_beside(
        runs.take_over, definition("ada", "bo", "cy", notes="mended"), intent("two")
    )
    found = {one.first_name: (one.notes, one.add_state, one.why) for one in small.people()}
    assert found == {
        "ada": ("", Step.DONE, None),
        "bo": ("mended", Step.WAITING, None),
        "cy": ("mended", Step.WAITING, None),
    }


@pytest.mark.parametrize("step", list(Step))
def test_the_project_follows_the_definition_until_it_was_sent(small: Small, step: Step) -> None:
    """What was sent, or may have been, is what the ledger keeps."""
    with small.ledger._transactions.writing() as connection:
        connection.execute(text("UPDATE campaign SET project_state = :step"), {"step": step})
    small.ledger.write_beside(runs.take_over, definition("ada"), intent("two", name="B"))
    assert small.campaign().name == ("B" if step in (Step.WAITING, Step.REFUSED) else "A")


def test_what_is_left_to_send_is_read_in_the_definitions_order(small: Small) -> None:
    """Those to add and those to invite never overlap, and only listed people are in them."""
    ada, bo, cy = small.rows().values()
    assert small.ledger.read(queue.to_add, small.begun.campaign) == [ada, bo, cy]
    small.land(Operation.ADD, small.claim(Operation.ADD, cy, ada), Step.DONE, ids={ada: 5, cy: 4})
    small.ledger.write_beside(runs.take_over, definition("ada", "bo"), intent("two"))
    assert small.ledger.read(queue.to_add, small.begun.campaign) == [bo]
    assert [one.row for one in small.ledger.read(queue.to_invite, small.begun.campaign)] == [ada]
    assert small.ledger.read(queries.counts, small.begun.campaign) == {
        (True, Step.DONE, Step.WAITING): 1,
        (True, Step.WAITING, Step.WAITING): 1,
        (False, Step.DONE, Step.WAITING): 1,
    }


@pytest.mark.parametrize("at_once", [1, 2, 3, 10])
def test_everybody_of_a_campaign_is_read_and_nobody_else(
    small: Small, monkeypatch: pytest.MonkeyPatch, at_once: int
) -> None:
    """However few are read at once, and although the people of campaigns lie among each other."""
    monkeypatch.setattr(queries, "AT_ONCE", at_once)
    other = runs.begin(small.ledger, "b", definition("xi", "yo", key="b"), intent("b")).campaign
    small.ledger.write_beside(
        runs.take_over, definition("ada", "bo", "cy", "di", "ed"), intent("two")
    )
    small.ledger.write_beside(runs.take_over, definition("xi", "yo", "za", key="b"), intent("b2"))
    assert [one.first_name for one in small.people()] == ["ada", "bo", "cy", "di", "ed"]
    assert [one.first_name for one in queries.candidates(small.ledger, other)] == ["xi", "yo", "za"]
    assert list(queries.candidates(small.ledger, other + 1)) == []


def test_a_failed_commit_leaves_nothing_of_itself(small: Small) -> None:
    """Outcomes and claims of one commit are written together or not at all."""
    wishes = [small.wish(Operation.CREATE), small.wish(Operation.ATTACH, run=999)]
    with pytest.raises(LedgerUnusable):
        small.ledger.write_beside(runs.commit, [], wishes, small.ledger.gone)
    assert len(small.attempts()) == 0
    assert small.campaign().project_state == Step.WAITING


def test_an_error_of_the_ledger_names_nobody(small: Small) -> None:
    """Statements fail without showing what they carried: that is people."""
    twice = definition("eli", "eli")
    with pytest.raises(LedgerUnusable) as caught:
        small.ledger.write_beside(runs.take_over, twice, intent("two"))
    assert "eli" not in str(caught.value)
    assert "run again." in str(caught.value)
    assert caught.value.__cause__ is None


def test_two_people_are_never_one_person(small: Small) -> None:
    """The schema holds one row for an email key within a campaign."""
    statement = (
        "INSERT INTO candidate (campaign_id, email_key, first_name, last_name, email1, source,"
        " notes, stage_id, listed, add_state, invite_state, generation,"
        " allowed_attempt, allowed_entry)"
        " SELECT campaign_id, email_key, '', '', '', '', '', 1, true, 'waiting', 'waiting', 1, 0, 0"
        " FROM candidate WHERE first_name = 'ada'"
    )
    with pytest.raises(IntegrityError), small.ledger._engine.begin() as connection:
        connection.execute(text(statement))


def test_a_time_without_a_zone_cannot_enter(small: Small) -> None:
    """It has no instant; and what comes out has one."""
    naive = datetime(2026, 12, 1)  # noqa: DTZ001 - that is the mistake
    row = {
        "campaign_id": small.begun.campaign,
        "host": "h",
        "pid": 1,
        "process_start": "s",
        "started_at": naive,
        "heartbeat_at": naive,
    }
    with pytest.raises(StatementError, match="naive"), small.ledger._engine.begin() as connection:
        connection.execute(insert(tables.runs), [row])
    assert small.ledger.read(queries.last_run, small.begun.campaign).started_at.tzinfo is not None


def test_a_run_is_written_down_from_its_beginning_to_its_end(small: Small) -> None:
    """When it began, that it lives, how it ended and why."""
    began = small.ledger.read(queries.last_run, small.begun.campaign)
    runs.heartbeat(small.ledger, small.begun.run)
    runs.end(small.ledger, small.begun.run, Ending.STOPPED, "a reason")
    ended = small.ledger.read(queries.last_run, small.begun.campaign)
    assert began.started_at <= ended.heartbeat_at <= ended.ended_at <= now()
    assert (ended.ending, ended.reason) == (Ending.STOPPED, "a reason")


def test_two_ledgers_are_two_and_one_stays_itself(tmp_path: Path) -> None:
    """A receipt names the ledger by its identity."""
    with Ledger.open(ledger_at(tmp_path, "a")) as a:
        with Ledger.open(ledger_at(tmp_path, "a")) as again:
            assert a.uuid() == again.uuid()
        with Ledger.open(ledger_at(tmp_path, "b")) as b:
            assert a.uuid() != b.uuid()
