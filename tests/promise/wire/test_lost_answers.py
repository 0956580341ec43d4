"""What each answer, or its loss, does to a whole campaign: every row of the table, end to end.

The campaign has three people, two in the first add, one invitation at a time. The first request
of one operation meets a fault; the run, the ledger and a second run are then held against what
the table of answers says.
"""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from data.campaigns import queries
from data.decisions import settling
from data.store.ledger import Ledger
from data.store.states import AttemptState, Ending, Step
from sandbox.faults.faults import Fault
from sandbox.server import Sandbox
from sandbox.service.record import Record, Request
from tasks.service.connection import Conversation
from tasks.service.evidence import Phase
from tests.promise.crashes.small_campaigns import KEY, Place, Scenario, new_ledger
from tests.promise.promise import check_promise, check_rest, check_times
from tests.support.ledgers.databases import on_both
from tests.support.ledgers.journal import attempts
from tests.support.session import PATIENCE

CREATE, ATTACH, ADD, INVITE = "create_project", "attach_problem", "add_candidates", "invite"
OPERATIONS = (CREATE, ATTACH, ADD, INVITE)
CHANGING = frozenset(OPERATIONS)
DONE, NOT_SENT = AttemptState.DONE, AttemptState.NOT_SENT
UNSURE, REFUSED = AttemptState.UNSURE, AttemptState.REFUSED
ALL = {CREATE: [DONE], ATTACH: [DONE], ADD: [DONE, DONE], INVITE: [DONE, DONE, DONE]}


@dataclass(frozen=True)
class Story:
    """What comes of a campaign when the first request of one operation meets a fault.

    `journal` holds that operation's attempts. `counts` are those of the closing line; what is
    not named is 0. `again`: a second run finds something to do that this one stopped before.
    """

    journal: list[AttemptState]
    ending: Ending = Ending.COMPLETED
    counts: dict[str, int] = field(default_factory=lambda: {"added": 3, "invited": 3})
    again: bool = False


STOPPED, LOOK = Ending.STOPPED, Ending.NEEDS_ATTENTION

# Nothing came of it but a delay.
AS_EVER = {operation: Story(ALL[operation]) for operation in OPERATIONS}
SENT_AGAIN = {operation: Story([NOT_SENT, *ALL[operation]]) for operation in OPERATIONS}
# Only a person can tell; what does not hang on it goes on.
IN_DOUBT = {
    CREATE: Story([UNSURE], LOOK, {"waiting": 3}),
    ATTACH: Story([UNSURE], LOOK, {"waiting": 3}),
    ADD: Story([UNSURE, DONE], LOOK, {"added": 1, "invited": 1, "unsure": 2}),
    INVITE: Story([UNSURE, DONE, DONE], LOOK, {"added": 3, "invited": 2, "unsure": 1}),
}
# The same, and somebody else may have answered in the service's place.
DOUBT_AND_STOP = {
    CREATE: Story([UNSURE], STOPPED, {"waiting": 3}),
    ATTACH: Story([UNSURE], STOPPED, {"waiting": 3}),
    ADD: Story([UNSURE], STOPPED, {"unsure": 2, "waiting": 1}, again=True),
    INVITE: Story([UNSURE], STOPPED, {"added": 3, "unsure": 1, "waiting": 2}, again=True),
}
# Nothing happened, and it is not the row's fault.
NO = {
    CREATE: Story([REFUSED], STOPPED, {"waiting": 3}, again=True),
    ATTACH: Story([REFUSED], STOPPED, {"waiting": 3}, again=True),
    ADD: Story([REFUSED], STOPPED, {"waiting": 3}, again=True),
    INVITE: Story([REFUSED], STOPPED, {"added": 3, "waiting": 3}, again=True),
}
NO_TO_THIS_INVITATION = Story([REFUSED, DONE, DONE], LOOK, {"added": 3, "invited": 2, "refused": 1})
HALVED = Story([REFUSED, DONE, DONE, DONE])
# Added, and the answer does not say under which id.
ONE_WITHOUT_ID = Story([DONE, DONE], LOOK, {"added": 2, "invited": 2, "unsure": 1})
TWO_WITHOUT_ID = Story([DONE, DONE], LOOK, {"added": 1, "invited": 1, "unsure": 2})
A_STRANGER = Story([DONE], STOPPED, {"added": 2, "waiting": 3}, again=True)

MISSING_IDS = {**IN_DOUBT, ATTACH: AS_EVER[ATTACH], INVITE: AS_EVER[INVITE]}
NO_ROW_IS_TO_BLAME = {**NO, INVITE: NO_TO_THIS_INVITATION}
ROWS_ARE_TO_BLAME = {**NO, ADD: HALVED, INVITE: NO_TO_THIS_INVITATION}
TOO_LARGE = {**NO, ADD: HALVED}

pytestmark = pytest.mark.usefixtures("hasty")

Table = dict[str, tuple[dict[str, Any], dict[str, Story]]]


def both(name: str, fault: dict[str, Any], stories: dict[str, Story]) -> Table:
    """The same fault before and after the service did its work: nobody here can tell them apart."""
    return {
        f"{name} before the work": ({**fault, "after_work": False}, stories),
        f"{name} after the work": ({**fault, "after_work": True}, stories),
    }


def statuses(codes: list[int], stories: dict[str, Story]) -> Table:
    """Statuses that a truthful service gives without having done the work."""
    return {f"{code}": ({"kind": "status", "status": code}, stories) for code in codes}


TABLE: Table = {
    # No answer, or not the whole of it.
    **both("lost", {"kind": "lost"}, IN_DOUBT),
    **both("reset", {"kind": "reset"}, IN_DOUBT),
    **both("silence", {"kind": "hang"}, IN_DOUBT),
    "half an answer": ({"kind": "half"}, MISSING_IDS),
    "cut without a length": ({"kind": "cut"}, MISSING_IDS),
    "headers, then silence": ({"kind": "stall"}, MISSING_IDS),
    # The right answer.
    "slow": ({"kind": "slow", "seconds": 0.05}, AS_EVER),
    "closed after it": ({"kind": "closing"}, AS_EVER),
    "more fields": ({"kind": "extra_keys"}, AS_EVER),
    "another order": ({"kind": "reordered"}, AS_EVER),
    "lower case": ({"kind": "lowered"}, AS_EVER),
    # An answer of another kind.
    "202": ({"kind": "accepted"}, MISSING_IDS),
    "204": ({"kind": "status", "status": 204, "after_work": True}, MISSING_IDS),
    "a page": ({"kind": "html"}, DOUBT_AND_STOP),
    "None": ({"kind": "body", "body": "None"}, MISSING_IDS),
    "not JSON": ({"kind": "body", "body": "{"}, MISSING_IDS),
    "another shape": ({"kind": "body", "body": {"ok": True}}, MISSING_IDS),
    "no ids": ({"kind": "no_ids"}, MISSING_IDS),
    "ids as text": ({"kind": "string_ids"}, AS_EVER),
    "a yes that says no": ({"kind": "body", "body": {"success": False}}, IN_DOUBT),
    "ids and names of others": ({"kind": "shuffled"}, {**AS_EVER, ADD: TWO_WITHOUT_ID}),
    "ids true": ({"kind": "bool_ids"}, MISSING_IDS),
    "a row missing": ({"kind": "partial"}, {**AS_EVER, ADD: ONE_WITHOUT_ID}),
    "a row twice": ({"kind": "doubled"}, {**AS_EVER, ADD: ONE_WITHOUT_ID}),
    "a stranger": ({"kind": "stranger"}, {**AS_EVER, ADD: A_STRANGER}),
    # By status, one of each kind: what each of them proves is in test_wire_matrix.py.
    **statuses([401, 429], SENT_AGAIN),
    **statuses([403], NO),
    **statuses([404], NO_ROW_IS_TO_BLAME),
    **statuses([422], ROWS_ARE_TO_BLAME),
    **statuses([413], TOO_LARGE),
    **{
        name: row
        for code in (409, 504)
        for name, row in both(f"{code}", {"kind": "status", "status": code}, IN_DOUBT).items()
    },
    **both("307", {"kind": "status", "status": 307, "location": "/else"}, DOUBT_AND_STOP),
}

CASES = [
    pytest.param(operation, fault, stories[operation], id=f"{operation}: {name}")
    for operation in OPERATIONS
    for name, (fault, stories) in TABLE.items()
]


# What is decided from answers alone, before any statement: the table is on the server as well.
IN_A_FILE = pytest.mark.parametrize("each_database", ["sqlite"], indirect=True, scope="module")


@pytest.fixture(scope="module")
def template(each_database: str, tmp_path_factory: pytest.TempPathFactory) -> str:
    return new_ledger(tmp_path_factory.mktemp("ledger"))


@contextmanager
def open_place(folder: Path, template: str, scenario: Scenario) -> Iterator[tuple[Place, Ledger]]:
    """A campaign's place and its ledger, which is opened once for all that is done and looked at.

    A fresh one composes each statement anew, which would be half of the time.
    """
    place = Place(folder, scenario)
    place.set_up(template)
    with Ledger.open(place.url) as ledger:
        yield place, ledger


def campaign_with(*faults: Fault, **more: Any) -> Scenario:
    return Scenario("one fault", faults=lambda: faults, **{"in_flight": 1, **more})


@contextmanager
def silence_given_up(service: Sandbox, scenario: Scenario) -> Iterator[None]:
    """Let the deadline of the one call that meets silence be over: once the service has fallen
    silent and all that it said has come, and not before, however slow the machine is."""
    [fault] = scenario.faults()
    if fault.kind not in ("hang", "stall"):
        yield
        return
    awaited = Phase.SENT if fault.kind == "hang" else Phase.ANSWERED
    really, watches, came = Conversation.reach, list[asyncio.Task[None]](), asyncio.Event()

    def silent(record: Record) -> bool:
        return any(each.fault and each.finished for each in record.requests)

    async def give_up() -> None:
        await asyncio.to_thread(service.wait_for, silent, PATIENCE)
        await came.wait()
        loop = asyncio.get_running_loop()
        passes = loop.time
        loop.time = lambda: passes() + scenario.deadline  # type: ignore[method-assign]

    def reach(self: Conversation, phase: Phase) -> None:
        really(self, phase)
        if phase is Phase.SENDING:
            came.clear()
            if not watches:
                watches.append(asyncio.ensure_future(give_up()))
        elif phase is awaited:
            came.set()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Conversation, "reach", reach)
        yield
    assert [watch.exception() for watch in watches] == [None]


def journal(ledger: Ledger, operation: str) -> list[AttemptState]:
    campaign = ledger.read(queries.find_campaign, KEY)
    assert campaign is not None
    requests = ledger.read(attempts, campaign.id)
    return [AttemptState(each.state) for each in requests if each.operation == operation]


def check(place: Place, ledger: Ledger, service: Sandbox) -> None:
    """Hold the promise, with no run at work."""
    check_promise(ledger, KEY, service.record, place.keys)
    check_rest(ledger, KEY)
    check_times(ledger, KEY, service.record)


def after(record: Record, first: Request) -> list[Request]:
    """What came in after a request that changes something: the next such one, and all before it."""
    found = []
    for request in record.requests[first.number :]:
        found.append(request)
        if request.operation in CHANGING:
            return found
    return []


@pytest.mark.parametrize(
    ("each_database", "operation", "fault", "story"),
    on_both(CASES, 5),
    indirect=["each_database"],
    scope="module",
)
def test_an_answer_means_what_the_table_says(
    tmp_path: Path, template: str, operation: str, fault: dict[str, Any], story: Story
) -> None:
    """Attempts, steps, counts and the end of the run are the table's; a rerun repeats nothing."""
    scenario = campaign_with(Fault(operation=operation, **fault))
    with open_place(tmp_path, template, scenario) as (place, ledger):
        with scenario.sandbox() as service:
            with silence_given_up(service, scenario):
                end = place.conduct(service, ledger)
            check(place, ledger, service)
            assert journal(ledger, operation) == story.journal
            assert end.ending == story.ending, end.reason
            counts = {name: number for name, number in end.counts.items() if number}
            assert counts == {"candidates": 3, **story.counts}

            met = next(each for each in service.record.of(operation) if each.fault)
            if story.journal[0] is UNSURE and (then := after(service.record, met)):
                asked = [each for each in then if each.operation == "list_problems"]
                assert [each.status for each in asked] == [200], "sent on without asking"

            before = service.api_requests()
            place.conduct(service, ledger)
            assert (service.api_requests() > before) is story.again
        place.hold_in_the_end(ledger, service.record)


@IN_A_FILE
@pytest.mark.parametrize("operation", OPERATIONS)
def test_a_second_401_stops_the_campaign(tmp_path: Path, template: str, operation: str) -> None:
    """One refresh of the token, one replay, each in the journal; then it is in doubt."""
    scenario = campaign_with(Fault("status", operation, count=2, status=401))
    with open_place(tmp_path, template, scenario) as (place, ledger), scenario.sandbox() as service:
        end = place.conduct(service, ledger)
        assert end.ending == STOPPED
        assert journal(ledger, operation) == [NOT_SENT, UNSURE]
        assert len(service.record.of("token")) == 2
        check(place, ledger, service)


@IN_A_FILE
@pytest.mark.parametrize(("status", "runs"), [(401, 1), (403, 3)])
def test_a_no_to_these_credentials_names_the_next_step(
    tmp_path: Path, template: str, status: int, runs: int
) -> None:
    """Else each run leaves one more in doubt; what is kept for settling it is the answer alone."""
    scenario = campaign_with(Fault("status", INVITE, count=None, status=status), people=1)
    with open_place(tmp_path, template, scenario) as (place, ledger), scenario.sandbox() as service:
        *_, end = [place.conduct(service, ledger) for _ in range(runs)]
        assert end.counts["unsure"] == 1
        assert "campaign doctor" in (end.reason or "")
        [campaign] = ledger.read(queries.every_campaign)
        [doubt] = ledger.read(settling.find, campaign.id).steps
        assert "doctor" not in (doubt.evidence or "")


@IN_A_FILE
@pytest.mark.parametrize("fault", [{"kind": "lost"}, {"kind": "status", "status": 504}])
def test_three_unclear_answers_in_a_row_end_the_run(
    tmp_path: Path, template: str, fault: dict[str, Any]
) -> None:
    """With a service that loses every invitation, three are in doubt and the others wait."""
    lost = Fault(operation=INVITE, count=None, after_work=True, **fault)
    scenario = campaign_with(lost, people=8)
    with open_place(tmp_path, template, scenario) as (place, ledger), scenario.sandbox() as service:
        end = place.conduct(service, ledger)
        assert end.ending == STOPPED
        assert (end.counts["unsure"], end.counts["waiting"]) == (3, 5)
        assert len(service.record.of(INVITE)) == 3
        assert len(service.record.of("list_problems")) == 3  # before the run, and between
        check(place, ledger, service)


@IN_A_FILE
def test_a_clear_answer_ends_the_row_of_unclear_ones(tmp_path: Path, template: str) -> None:
    """Two unclear, one clear, two unclear: that is not three in a row."""
    lost = [Fault("lost", INVITE, skip=skip) for skip in (0, 1, 3, 4)]
    scenario = campaign_with(*lost, people=6)
    with open_place(tmp_path, template, scenario) as (place, ledger), scenario.sandbox() as service:
        end = place.conduct(service, ledger)
        assert (end.ending, end.counts["unsure"], end.counts["invited"]) == (LOOK, 4, 2)
        check(place, ledger, service)


@IN_A_FILE
@pytest.mark.parametrize("status", [404, 405, 400, 422])
def test_three_refused_invitations_in_a_row_end_the_run(
    tmp_path: Path, template: str, status: int
) -> None:
    """One refused row is that row's fault; three in a row are not."""
    scenario = campaign_with(Fault("status", INVITE, count=None, status=status), people=5)
    with open_place(tmp_path, template, scenario) as (place, ledger), scenario.sandbox() as service:
        end = place.conduct(service, ledger)
        assert (end.ending, end.counts["refused"], end.counts["waiting"]) == (STOPPED, 3, 2)
        check(place, ledger, service)


@pytest.mark.parametrize("in_flight", [1, 2, 5, 8])
def test_a_failing_service_costs_what_was_in_flight(
    tmp_path: Path, template: str, in_flight: int
) -> None:
    """When nothing answers any more, the requests on their way are in doubt and none besides."""
    fails = (
        Fault("reset", INVITE, count=None, after_work=True),
        Fault("status", "list_problems", count=None, skip=1, status=403),
    )
    scenario = campaign_with(*fails, people=20, per_request=20, in_flight=in_flight)
    with open_place(tmp_path, template, scenario) as (place, ledger), scenario.sandbox() as service:
        end = place.conduct(service, ledger)
        assert end.ending == STOPPED
        assert 1 <= end.counts["unsure"] <= in_flight
        assert len(service.record.of(INVITE)) == end.counts["unsure"]
        assert end.counts["waiting"] == 20 - end.counts["unsure"]
        check(place, ledger, service)


def test_bad_rows_are_found_by_halving_and_everyone_else_is_added(
    tmp_path: Path, template: str
) -> None:
    """A batch that is refused as a whole is halved until the bad rows stand alone."""
    scenario = Scenario(
        "two bad rows",
        people=9,
        per_request=9,
        in_flight=1,
        refused=("grace@example.com", "person7@example.com"),
    )
    with open_place(tmp_path, template, scenario) as (place, ledger):
        with scenario.sandbox() as service:
            end = place.conduct(service, ledger)
            assert (end.ending, end.counts["refused"], end.counts["invited"]) == (LOOK, 2, 7)
            check(place, ledger, service)
        assert place.hold_in_the_end(ledger, service.record) == 0
        campaign = ledger.read(queries.find_campaign, KEY)
        assert campaign is not None
        refused = {
            p.email1 for p in queries.candidates(ledger, campaign.id) if p.add_state == Step.REFUSED
        }
    assert refused == set(scenario.refused)
