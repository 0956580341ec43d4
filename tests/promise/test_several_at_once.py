"""Any number of processes may run one campaign on one ledger: claims keep them apart, no locks."""

import os
import signal
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import update

from config.email_key import email_key
from data.campaigns import queries
from data.sending import runs
from data.sending.processes import HEARTBEAT_EXPIRES
from data.sending.recovery import OWN_RUNS, TakenOver
from data.store import tables
from data.store.ledger import Ledger
from data.store.states import Ending, Step
from flows.run.ending import BESIDE, finish
from sandbox.server import Sandbox
from sandbox.service.record import Record
from tasks.plan.timing import WAITING
from tests.promise.crashes.child_runs import ChildRuns
from tests.promise.crashes.crash_cases import Crashes, child_run, crashes
from tests.promise.crashes.small_campaigns import KEY, Place, Scenario
from tests.support.ledgers.small_ledger import Small

MANY = Scenario("many", people=12, per_request=3, in_flight=4)
# Of several in flight one may be in the middle of a commit when its run is stopped, and would keep
# the others out: whoever stands still here sends one after another.
STANDS = Scenario("stands still", people=12, per_request=3, in_flight=1)
# A run waits this long for another one that creates the project: not long, where that one stands.
IMPATIENT = Scenario("impatient", people=4, deadline=2.0, in_flight=1)
OPERATIONS = ("create_project", "attach_problem", "add_candidates", "invite")


pytestmark = pytest.mark.usefixtures("each_database")


@pytest.fixture(scope="module")
def tried(each_database: str, child_runs: ChildRuns) -> Iterator[Crashes]:
    with crashes(child_runs) as tried:
        yield tried


def emails_invited(record: Record) -> list[str]:
    return sorted(email_key(each.email) for each in record.invitations)


def steps(place: Place) -> Counter[str]:
    """How many candidates stand where with their invitation."""
    with Ledger.open(place.url, create=False) as ledger:
        campaign = ledger.read(queries.find_campaign, KEY)
        assert campaign is not None
        return Counter(each.invite_state for each in queries.candidates(ledger, campaign.id))


def stop_at(tried: Crashes, place: Place, service: Sandbox, boundary: str) -> int:
    """Start a run that is stopped at a boundary; answers its process id once it stands still."""
    run = child_run(place, service, at=boundary, by=signal.SIGSTOP)
    pid = tried.runs.start(run)
    assert tried.runs.wait(pid).stopped
    return pid


@pytest.mark.parametrize("processes", [2, 3, 5, 8])
def test_processes_that_start_together_send_each_thing_once(tried: Crashes, processes: int) -> None:
    """However many run at the same moment: one project, one problem, everyone once, no doubt."""
    place = tried.place(MANY)
    with MANY.sandbox() as service:
        run = child_run(place, service, together=True)
        pids = [tried.runs.start(run) for _ in range(processes)]
        tried.runs.go()
        ends = [tried.runs.wait(pid) for pid in pids]
        assert [end.error for end in ends] == [None] * processes
    record = service.record
    assert place.check_in_the_end(service) == 0
    assert emails_invited(record) == sorted(place.keys)
    assert [len(record.of(operation)) for operation in ("create_project", "attach_problem")] == [
        1,
        1,
    ]
    assert len(record.of("invite")) == MANY.people
    added = [row["email1"] for request in record.of("add_candidates") for row in request.body]
    assert sorted(added) == sorted(MANY.emails)


def test_a_run_beside_another_one_says_so(tried: Crashes) -> None:
    """A run that leaves the rest to another one does not call the campaign complete."""
    place = tried.place(STANDS)
    with STANDS.sandbox() as service:
        first = stop_at(tried, place, service, "invite called")
        end = tried.runs.run(child_run(place, service))
        assert end.finish["ending"] == Ending.STOPPED
        assert "Another run" in end.finish["reason"]
        os.kill(first, signal.SIGCONT)
        assert tried.runs.wait(first).finish["ending"] == Ending.COMPLETED


def test_what_a_run_that_dies_beside_leaves_is_told_as_doubt(tried: Crashes) -> None:
    """Killed while another one is at work: that one sends the rest, and says what is unsure."""
    place = tried.place(STANDS)
    with STANDS.sandbox() as service, Ledger.open(place.url) as ledger:
        first = stop_at(tried, place, service, "invite called")

        async def begins(key: str, number: int) -> None:
            os.kill(first, signal.SIGKILL)
            assert tried.runs.wait(first).signal == signal.SIGKILL

        end = place.conduct(service, ledger, shares=begins)
        assert end.ending is Ending.NEEDS_ATTENTION, end.reason
        assert end.counts["invited"] + end.counts["unsure"] == STANDS.people
        assert 1 <= end.counts["unsure"] <= STANDS.in_flight
    place.check_in_the_end(service)


@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize("moment", ["called", "sent"])
def test_a_stopped_run_that_wakes_up_sends_nothing_twice(
    tried: Crashes, operation: str, moment: str
) -> None:
    """Stopped between claim and answer, another run does the rest, and it wakes up: all once."""
    place = tried.place(IMPATIENT)
    with IMPATIENT.sandbox() as service:
        first = stop_at(tried, place, service, f"{operation} {moment}")
        other = tried.runs.run(child_run(place, service))
        assert other.as_asked, other.error
        assert place.check(service) >= 1
        os.kill(first, signal.SIGCONT)
        assert tried.runs.wait(first).as_asked
        assert tried.runs.run(child_run(place, service)).as_asked
    place.check_in_the_end(service)
    assert len(emails_invited(service.record)) == len(set(emails_invited(service.record)))


def test_a_stopped_run_finds_its_invitation_recorded_late(tried: Crashes) -> None:
    """Woken after all others are invited, it sends what it had claimed, and nobody is in doubt."""
    place = tried.place(STANDS)
    with STANDS.sandbox() as service:
        first = stop_at(tried, place, service, "invite called")
        assert tried.runs.run(child_run(place, service)).as_asked
        held_back = STANDS.people - len(service.record.invitations)
        assert 1 <= held_back <= STANDS.in_flight
        assert steps(place) == {Step.DONE: STANDS.people - held_back, Step.SENDING: held_back}
        os.kill(first, signal.SIGCONT)
        assert tried.runs.wait(first).as_asked
    assert place.check_in_the_end(service) == 0
    assert emails_invited(service.record) == sorted(place.keys)


def test_a_late_answer_clears_the_doubt_of_a_run_taken_for_dead(tried: Crashes) -> None:
    """A machine that was cut off comes back: its invitation lands, and was never sent again.

    What it had not sent is left to the next run.
    """
    one_by_one = Scenario("one by one", in_flight=1)
    place = tried.place(one_by_one)
    with one_by_one.sandbox() as service:
        first = stop_at(tried, place, service, "invite sent")
        move_away(place, silent_for=HEARTBEAT_EXPIRES + timedelta(seconds=1))
        assert tried.runs.run(child_run(place, service)).as_asked
        assert steps(place)[Step.UNSURE] == 1
        os.kill(first, signal.SIGCONT)
        woken = tried.runs.wait(first)
        assert woken.finish["ending"] == Ending.STOPPED
        assert woken.finish["reason"] == str(TakenOver(timedelta(minutes=3)))
        assert steps(place)[Step.UNSURE] == 0
        assert tried.runs.run(child_run(place, service)).as_asked
    assert place.check_in_the_end(service) == 0
    assert emails_invited(service.record) == sorted(place.keys)


@pytest.mark.parametrize(
    ("silent_for", "left"),
    [
        (timedelta(0), Step.SENDING),
        (HEARTBEAT_EXPIRES / 3, Step.SENDING),  # the next run has two minutes until it looks
        (HEARTBEAT_EXPIRES + timedelta(seconds=1), Step.UNSURE),
    ],
)
def test_a_run_elsewhere_is_dead_when_its_heartbeat_expired_and_not_before(
    tried: Crashes, silent_for: timedelta, left: Step
) -> None:
    """Of another machine only the heartbeat is known: until it expires, its claims are its own."""
    scenario = Scenario("one left", people=1, in_flight=1)
    place = tried.place(scenario)
    with scenario.sandbox() as service:
        assert tried.runs.run(child_run(place, service, at="invite called")).killed
        move_away(place, silent_for=silent_for)
        assert tried.runs.run(child_run(place, service)).as_asked
        assert steps(place) == {left: 1}
        assert not service.record.of("invite")


def move_away(place: Place, *, silent_for: timedelta) -> None:
    """Make the runs in the ledger those of another machine, last heard of so long ago."""
    table = tables.runs
    heard = datetime.now(UTC) - silent_for
    with Ledger.open(place.url) as ledger, ledger._transactions.writing() as connection:
        connection.execute(update(table).values(host="elsewhere", heartbeat_at=heard))


@pytest.mark.parametrize("others", [1, 3])
def test_one_of_several_is_killed_and_the_others_finish(tried: Crashes, others: int) -> None:
    """Killed in the middle of a wave, it leaves doubt about what it had in flight, no more."""
    place = tried.place(MANY)
    with MANY.sandbox() as service:
        dies = child_run(place, service, together=True, at="invite returned")
        lives = child_run(place, service, together=True)
        pids = [tried.runs.start(run) for run in (dies, *[lives] * others)]
        tried.runs.go()
        for end in [tried.runs.wait(pid) for pid in pids]:
            assert end.as_asked, end.error
        place.check(service)
        assert tried.runs.run(child_run(place, service)).as_asked
    assert place.check_in_the_end(service) <= MANY.in_flight


def test_a_run_with_nothing_to_do_beside_another_says_so(tmp_path: Path) -> None:
    """Who waits has their turn in the run that is at work, until that one has ended."""
    small = Small.at(tmp_path, "ada")
    with small.ledger as ledger:
        OWN_RUNS.discard(small.begun.run)  # as another process has it
        told = finish(ledger, "a", None)
        assert (told.ending, told.reason) == (Ending.STOPPED, BESIDE)
        runs.end(ledger, small.begun.run, Ending.STOPPED, None)
        assert finish(ledger, "a", None).reason == WAITING
