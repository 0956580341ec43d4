"""What is told as the last run did happen last: runs that sent nothing are kept as well."""

from datetime import timedelta
from pathlib import Path

import pytest

from data.campaigns import queries
from data.privacy import forgetting
from data.sending import idle_runs, runs
from data.store.clock import now
from data.store.states import SENT_NOTHING, Ending
from tests.support.ledgers.small_ledger import Small

pytestmark = pytest.mark.usefixtures("each_database")
BEFORE = timedelta(minutes=1)


@pytest.fixture
def small(tmp_path: Path):
    small = Small.at(tmp_path, "ada")
    with small.ledger:
        yield small


def note(small: Small, ending: Ending, reason: str | None = None, began=None) -> None:
    small.ledger.write(idle_runs.note, "a", began or now(), ending, reason)


def last(small: Small) -> tuple[str | None, str | None, bool]:
    run = small.ledger.read(queries.last_run, small.begun.campaign)
    return run.ending, run.reason, run.process_start == SENT_NOTHING


def test_the_last_run_is_told_also_where_it_sent_nothing(small: Small) -> None:
    """One that was stopped, then one that had nothing to do: the second one is told."""
    runs.end(small.ledger, small.begun.run, Ending.STOPPED, "the service is out of reach")
    note(small, Ending.COMPLETED)
    assert last(small) == (Ending.COMPLETED, None, True)
    note(small, Ending.STOPPED, "the receipt is another one's")
    assert last(small) == (Ending.STOPPED, "the receipt is another one's", True)


def test_a_schedule_that_finds_nothing_to_do_fills_no_ledger(small: Small) -> None:
    """Alike ones after each other are one row, with the time of the last of them."""
    runs.end(small.ledger, small.begun.run, Ending.COMPLETED, None)
    for _ in range(3):
        note(small, Ending.COMPLETED)
    first = small.ledger.read(queries.last_run, small.begun.campaign)
    began = now()
    note(small, Ending.COMPLETED, began=began)
    again = small.ledger.read(queries.last_run, small.begun.campaign)
    assert (again.id, again.started_at) == (first.id, began)
    assert first.id == small.begun.run + 1


def test_a_run_that_sent_is_told_by_itself(small: Small) -> None:
    """Neither one at work nor one that ended meanwhile is put behind one that did nothing: who
    looks whether somebody is at work looks at the last."""
    note(small, Ending.COMPLETED)
    assert last(small) == (None, None, False)
    began = now() - BEFORE
    runs.end(small.ledger, small.begun.run, Ending.COMPLETED, None)
    note(small, Ending.STOPPED, "another run was at work", began=began)
    assert last(small) == (Ending.COMPLETED, None, False)


def test_of_runs_beside_each_other_the_one_at_work_and_then_the_one_that_ended_last_is_told(
    small: Small,
) -> None:
    """However they began: one that was stopped early does not hide what came after it."""
    first, campaign = small.begun.run, small.begun.campaign
    second = runs.begin(small.ledger, "a", None, None).run
    runs.end(small.ledger, second, Ending.STOPPED, "somebody pressed Ctrl-C")
    assert last(small) == (None, None, False)
    assert small.ledger.read(runs.at_work, campaign)
    runs.end(small.ledger, first, Ending.COMPLETED, None)
    assert last(small) == (Ending.COMPLETED, None, False)
    assert not small.ledger.read(runs.at_work, campaign)


def test_of_an_unknown_campaign_nothing_is_kept(small: Small) -> None:
    """A run that ended before the ledger had its campaign leaves no trace of it."""
    small.ledger.write(idle_runs.note, "b", now(), Ending.STOPPED, "no network")
    assert small.ledger.read(queries.find_campaign, "b") is None


def test_nobody_is_kept_longer_for_a_run_that_sent_nothing(small: Small) -> None:
    """Else a schedule would keep people for ever (CAMPAIGN_KEEP)."""
    runs.end(small.ledger, small.begun.run, Ending.COMPLETED, None)
    [person] = small.rows().values()
    with small.ledger._transactions.writing() as connection:
        connection.exec_driver_sql(
            f"UPDATE candidate SET add_state = 'done', invite_state = 'done' WHERE id = {person}"
        )
    moment = now()
    assert small.ledger.read(forgetting.still_since, moment) == [(small.begun.campaign, "a")]
    note(small, Ending.COMPLETED)
    assert small.ledger.read(forgetting.still_since, moment) == [(small.begun.campaign, "a")]
