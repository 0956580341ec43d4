"""What a run leaves behind when its process goes away is doubt, and only that."""

from datetime import timedelta
from functools import partial
from pathlib import Path

import pytest
from sqlalchemy import select, update

from data.campaigns import queries
from data.decisions import adding_again
from data.sending import processes, recovery
from data.sending import runs as campaign_runs
from data.sending.claims import Claimed
from data.sending.processes import HEARTBEAT_EXPIRES, Process, is_alive, this_process
from data.sending.recovery import TakenOver
from data.store import tables
from data.store.clock import now
from data.store.ledger import Ledger
from data.store.states import AttemptState, Ending, Operation, Step
from tests.support.ledgers.databases import ledger_at
from tests.support.ledgers.small_ledger import Small, definition, intent, outcome

pytestmark = pytest.mark.usefixtures("each_database")


@pytest.fixture
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(recovery, "OWN_RUNS", set())
    small = Small.at(tmp_path, "ada", "bo", "cy")
    with small.ledger:
        yield small


def die(small: Small) -> None:
    """The process of the run is gone: this one is another."""
    recovery.OWN_RUNS.clear()


def recover(small: Small) -> int:
    return adding_again.recover(small.ledger, small.begun.campaign)


def test_a_request_of_a_dead_run_is_in_doubt_and_what_was_answered_stays(small: Small) -> None:
    """`sending` without its run becomes unsure; everything else stays as it was recorded."""
    small.add_everybody()
    ada, bo, _ = small.rows().values()
    small.land(Operation.INVITE, small.claim(Operation.INVITE, ada), Step.DONE)
    small.claim(Operation.INVITE, bo)
    die(small)
    assert recover(small) == 1
    assert [small.end_of(name)[1] for name in ("ada", "bo", "cy")] == [
        Step.DONE,
        Step.UNSURE,
        Step.WAITING,
    ]
    assert small.attempts()[-1].evidence == recovery.LEFT_BY_DEAD_RUN
    assert small.ledger.read(queries.last_run, small.begun.campaign).ending == Ending.DIED


@pytest.mark.parametrize("operation", [Operation.CREATE, Operation.ATTACH, Operation.ADD])
def test_every_operation_of_a_dead_run_is_in_doubt(small: Small, operation: Operation) -> None:
    """A bulk add is one request: all its people are in doubt, and one call."""
    rows = small.rows().values() if operation is Operation.ADD else ()
    small.claim(operation, *rows)
    die(small)
    assert recover(small) == 1
    campaign = small.campaign()
    stands = {
        Operation.CREATE: [campaign.project_state],
        Operation.ATTACH: [campaign.problem_state],
        Operation.ADD: [one.add_state for one in small.people()],
    }
    assert set(stands[operation]) == {Step.UNSURE}
    assert small.attempts()[0].state == AttemptState.UNSURE


def test_recovering_twice_changes_nothing(small: Small) -> None:
    """A recovery that dies and is repeated finds nothing left to doubt."""
    small.claim(Operation.CREATE)
    die(small)
    assert [recover(small), recover(small)] == [1, 0]


def test_a_living_run_is_left_alone(small: Small) -> None:
    """What a run has under way is its own as long as its process lives."""
    small.claim(Operation.CREATE)
    assert recover(small) == 0
    assert small.campaign().project_state == Step.SENDING


def on_another_host(small: Small, silent_for: timedelta, monkeypatch: pytest.MonkeyPatch) -> None:
    """The run is another machine's, and its last sign of life is so long ago."""
    monkeypatch.setattr(processes.socket, "gethostname", lambda: "another")
    monkeypatch.setattr("data.store.clock.shared_now", lambda *_: now() + silent_for)


@pytest.mark.parametrize(
    ("silent_for", "doubted"),
    [
        (HEARTBEAT_EXPIRES - timedelta(seconds=5), 0),
        (HEARTBEAT_EXPIRES + timedelta(seconds=5), 1),
        (timedelta(days=1), 1),
        (-timedelta(days=1), 0),  # the clock was set back: no proof of anything
    ],
)
def test_another_hosts_run_is_dead_once_its_heartbeat_expired(
    small: Small, silent_for: timedelta, doubted: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a process on another machine only the heartbeat tells."""
    small.claim(Operation.CREATE)
    on_another_host(small, silent_for, monkeypatch)
    heard = small.ledger.read(queries.last_run, small.begun.campaign).heartbeat_at
    monkeypatch.setattr("data.store.clock.shared_now", lambda *_: heard + silent_for)
    assert recover(small) == doubted


@pytest.mark.parametrize("lives", [True, False])
def test_a_heartbeat_from_the_future_is_judged_by_whether_another_one_follows(
    small: Small, lives: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """This clock was set back two days: who is dead is known in minutes, not in two days."""
    small.claim(Operation.CREATE)
    back = timedelta(days=-2)
    with monkeypatch.context() as elsewhere:
        on_another_host(small, back, elsewhere)
        [(_, far)] = small.ledger.read(campaign_runs.ahead, small.begun.campaign)
        assert timedelta(days=1, hours=23) < far <= timedelta(days=2)
        assert recover(small) == 0
        assert small.ledger.read(campaign_runs.ahead, small.begun.campaign) == []
    if lives:
        campaign_runs.heartbeat(small.ledger, small.begun.run)
    with monkeypatch.context() as elsewhere:
        on_another_host(small, back + HEARTBEAT_EXPIRES + timedelta(seconds=5), elsewhere)
        assert recover(small) == (0 if lives else 1)


def taken_for_dead(small: Small, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another machine hears nothing of the run for a quarter of an hour."""
    with small.ledger._transactions.writing() as connection:
        long_ago = now() - timedelta(minutes=14)
        connection.execute(update(tables.runs).values(heartbeat_at=long_ago))
    with monkeypatch.context() as elsewhere:
        on_another_host(small, timedelta(0), elsewhere)
        recover(small)


def test_a_run_that_was_taken_for_dead_claims_nothing_more(
    small: Small, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Awake again, it hears so with its next sign of life, look or claim, whichever is first."""
    small.claim(Operation.CREATE)
    taken_for_dead(small, monkeypatch)
    before = small.ledger.read(queries.last_run, small.begun.campaign)
    assert isinstance(small.claim(Operation.ATTACH), TakenOver)
    for look in (
        partial(campaign_runs.heartbeat, small.ledger),
        partial(campaign_runs.see_that_it_stands, small.ledger),
    ):
        with pytest.raises(TakenOver) as over:
            look(small.begun.run)
        assert str(over.value) == (
            "This run gave no sign of life for 14 minutes, and another run took over. This one "
            "sends nothing more. Run it again."
        )
    campaign_runs.end(small.ledger, small.begun.run, Ending.STOPPED, "woke")
    assert small.ledger.read(queries.last_run, small.begun.campaign) == before
    assert (before.ending, small.campaign().problem_state) == (Ending.DIED, Step.WAITING)


def test_beside_a_run_that_was_taken_for_dead_others_claim(
    small: Small, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the two wish for in one commit is judged by the run; outcomes land in any case."""
    ada, bo, cy = small.rows().values()
    claimed = small.claim(Operation.ADD, ada)
    assert claimed is not None
    taken_for_dead(small, monkeypatch)
    other = campaign_runs.begin(small.ledger, "a", None, None).run
    wishes = [
        small.wish(Operation.ADD, bo),
        small.wish(Operation.ADD, cy, run=other),
        small.wish(Operation.CREATE),
    ]
    landing = outcome(Operation.ADD, claimed, Step.WAITING)
    first, second, third = small.ledger.write_beside(
        campaign_runs.commit, [landing], wishes, small.ledger.gone
    )
    assert isinstance(first, TakenOver) and isinstance(third, TakenOver)
    assert isinstance(second, Claimed) and second.rows == (cy,)
    stands = {name: small.end_of(name)[0] for name in ("ada", "bo", "cy")}
    assert stands == {"ada": Step.WAITING, "bo": Step.WAITING, "cy": Step.SENDING}


def test_what_an_earlier_version_let_a_dead_run_claim_is_recovered(
    small: Small, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was taken for dead, woke, claimed more and died: nobody stays on sending."""
    small.claim(Operation.CREATE)
    taken_for_dead(small, monkeypatch)
    with monkeypatch.context() as earlier:
        earlier.setattr("data.sending.claims.no_claims", lambda *_: None)
        small.claim(Operation.ATTACH)
    die(small)
    assert recover(small) == 1
    assert small.campaign().problem_state == Step.UNSURE


def test_a_late_answer_lands_on_what_was_doubted(small: Small) -> None:
    """An answer that comes after its run was taken for dead settles the doubt it left."""
    claimed = small.claim(Operation.CREATE)
    die(small)
    recover(small)
    small.land(Operation.CREATE, claimed, Step.DONE, project_id=101)
    assert (small.campaign().project_state, small.campaign().project_id) == (Step.DONE, 101)
    assert small.attempts()[0].state == AttemptState.DONE


def test_a_run_that_ends_leaves_doubt_only_where_no_answer_was_recorded(small: Small) -> None:
    """Ending gives up what is still under way, and says so in its own words."""
    small.claim(Operation.CREATE)
    assert campaign_runs.end(small.ledger, small.begun.run, Ending.STOPPED, "why") == 1
    assert small.campaign().project_state == Step.UNSURE
    assert small.attempts()[0].evidence == recovery.LEFT_BY_OWN_RUN
    assert recover(small) == 0


HERE = this_process()


@pytest.mark.parametrize(
    ("run", "lives"),
    [
        (HERE, True),
        (Process(HERE.host, HERE.pid, "another start"), False),  # the number was used again
        (Process(HERE.host, HERE.pid, ""), False),
        (Process(HERE.host, 2**22 + 1, HERE.start), False),  # beyond every process number
    ],
)
def test_a_process_is_told_by_its_number_and_its_start(run: Process, lives: bool) -> None:
    """A number alone is not a process: they are used again."""
    assert is_alive(run, now(), now()) is lives


@pytest.mark.parametrize(
    ("silent_for", "doubted"),
    [(timedelta(0), 0), (HEARTBEAT_EXPIRES + timedelta(seconds=5), 1)],
)
def test_another_machine_of_the_same_name_is_known_by_its_heartbeat(
    small: Small, silent_for: timedelta, doubted: int
) -> None:
    """Its process is not here, so only its sign of life can tell; and so after a restart of this
    machine, whose earlier runs look the same.
    """
    small.claim(Operation.CREATE)
    with small.ledger._transactions.writing() as connection:
        heard = {"process_start": "0000aaaa/4711", "heartbeat_at": now() - silent_for}
        connection.execute(update(tables.runs).values(heard))
    assert recover(small) == doubted


def test_a_sign_of_life_from_the_future_counts_for_another_machine_of_the_same_name(
    small: Small,
) -> None:
    """Otherwise, once the clock was set back, a dead one would be waited for until then."""
    small.claim(Operation.CREATE)
    with small.ledger._transactions.writing() as connection:
        heard = {"process_start": "0000aaaa/4711", "heartbeat_at": now() + timedelta(days=2)}
        connection.execute(update(tables.runs).values(heard))
    assert len(small.ledger.read(campaign_runs.ahead, small.begun.campaign)) == 1
    assert recover(small) == 0
    assert small.ledger.read(campaign_runs.ahead, small.begun.campaign) == []


def test_only_the_campaigns_own_runs_are_looked_at(small: Small, tmp_path: Path) -> None:
    """A campaign that never ran has no dead runs."""
    die(small)
    with Ledger.open(ledger_at(tmp_path)) as ledger:
        assert adding_again.recover(ledger, small.begun.campaign + 1) == 0
        assert (
            adding_again.recover(ledger, small.begun.campaign) == 0
        )  # one dead run, nothing under way


def test_who_is_at_work_on_a_campaign(small: Small) -> None:
    """Any run that lives and has not ended, also the first of several; none of another campaign."""
    ledger, campaign = small.ledger, small.begun.campaign
    other = campaign_runs.begin(ledger, "b", definition("di", key="b"), intent("two"))
    assert (
        ledger.read(campaign_runs.at_work, campaign),
        ledger.read(campaign_runs.at_work, other.campaign),
    ) == (True, True)
    campaign_runs.end(ledger, other.run, Ending.COMPLETED, None)
    assert (
        ledger.read(campaign_runs.at_work, campaign),
        ledger.read(campaign_runs.at_work, other.campaign),
    ) == (True, False)
    second = campaign_runs.begin(ledger, "a", None, None)
    campaign_runs.end(ledger, second.run, Ending.COMPLETED, None)
    assert ledger.read(campaign_runs.at_work, campaign)  # the first one goes on
    campaign_runs.end(ledger, small.begun.run, Ending.COMPLETED, None)
    assert not ledger.read(campaign_runs.at_work, campaign)
    third = campaign_runs.begin(ledger, "a", None, None)
    assert ledger.read(campaign_runs.at_work, campaign)
    recovery.OWN_RUNS.discard(third.run)
    assert not ledger.read(campaign_runs.at_work, campaign)  # the last one is gone
    assert not ledger.read(campaign_runs.at_work, 4711)


def test_who_began_before_is_at_work_beside(small: Small) -> None:
    """Runs of this campaign that live and have not ended, and none that began later."""
    ledger, campaign = small.ledger, small.begun.campaign
    campaign_runs.begin(ledger, "b", definition("di", key="b"), intent("two"))
    runs = [small.begun.run, *(campaign_runs.begin(ledger, "a", None, None).run for _ in range(3))]
    before = [ledger.read(campaign_runs.at_work_before, campaign, run) for run in runs]
    assert before == [0, 1, 2, 3]
    campaign_runs.end(ledger, runs[0], Ending.COMPLETED, None)
    recovery.OWN_RUNS.discard(runs[1])
    assert ledger.read(campaign_runs.at_work_before, campaign, runs[3]) == 1


def test_a_run_on_another_machine_is_at_work_while_its_heart_beats(small: Small) -> None:
    """What is not of this machine is known by its last sign of life alone."""
    ledger, campaign = small.ledger, small.begun.campaign

    def seen(**values: object) -> tuple[bool, int]:
        with ledger._transactions.writing() as connection:
            connection.execute(update(tables.runs).values(host="elsewhere", **values))
        return ledger.read(campaign_runs.at_work, campaign), ledger.read(
            campaign_runs.at_work_before, campaign, small.begun.run + 1
        )

    assert seen() == (True, 1)
    assert seen(heartbeat_at=now() - 2 * HEARTBEAT_EXPIRES) == (False, 0)


def test_of_two_runs_only_the_dead_one_leaves_doubt(small: Small) -> None:
    """What the living one is sending is its own affair, and it has not ended."""
    ledger, campaign = small.ledger, small.begun.campaign
    ada, bo, _ = small.rows().values()
    living = campaign_runs.begin(ledger, "a", None, None).run
    small.claim(Operation.ADD, ada)
    small.claim(Operation.ADD, bo, run=living)
    recovery.OWN_RUNS.discard(small.begun.run)
    assert recover(small) == 1
    ends = {name: small.end_of(name)[0] for name in ("ada", "bo", "cy")}
    assert ends == {"ada": Step.UNSURE, "bo": Step.SENDING, "cy": Step.WAITING}
    whys = {one.first_name: one.why for one in small.people()}
    assert whys == {"ada": recovery.LEFT_BY_DEAD_RUN, "bo": None, "cy": None}
    with ledger._transactions.reading() as connection:
        dead, other = connection.execute(select(tables.runs).order_by(tables.runs.c.id)).all()
    assert (dead.ending, dead.reason) == (Ending.DIED, "its process disappeared")
    assert dead.ended_at is not None
    assert (other.id, other.ending, other.ended_at) == (living, None, None)
    assert small.attempts()[0].ended_at is not None
    assert ledger.read(campaign_runs.at_work, campaign)
