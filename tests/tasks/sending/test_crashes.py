"""SIGKILL at every boundary, and again in recovery: nobody twice, nobody forgotten, little unsure.

The slow tests are every boundary; the fast ones a tenth of them.
"""

import multiprocessing
from collections import Counter
from collections.abc import Callable
from itertools import count, cycle
from typing import Any

import httpx
import pytest
from sqlmodel import select

from data.sending.runs import recover
from data.store.states import Op, State
from data.store.tables import Request, Step
from sandbox import faults
from tasks.status import status_of
from tests.data.sending import oracle
from tests.tasks.sending import crashing
from tests.tasks.sending.desk import Desk
from tests.tasks.sending.simulation import settle

OPTIONS = {"invites_in_flight": 2, "candidates_per_request": 3}
PEOPLE = 5
BOUNDARIES = 180  # more than a run has, see the test that counts them

PROCESSES = multiprocessing.get_context("forkserver")
PROCESSES.set_forkserver_preload([crashing.__name__])


def run(at: Desk, dies: int = 0) -> bool:
    """One run in a process of its own; says whether it died."""
    given = (at.url, str(at.folder), at.service.settings, OPTIONS, dies)
    process = PROCESSES.Process(target=crashing.run_and_die, args=given)
    process.start()
    process.join()
    assert process.exitcode in (0, -9)
    return process.exitcode != 0


def judged(at: Desk) -> dict[str, Any]:
    """Whether the ledger and the record can both be true."""
    entries = at.service.entries()
    with at.ledger.reading() as session:
        stands = status_of(session, "backend")
        requests = Counter(str(op) for op in session.exec(select(Request.op)))
    assert oracle.unrecorded(entries, requests) == []
    assert oracle.faults(entries, stands) == []
    return stands


def recovered(at: Desk) -> dict[str, Any]:
    httpx.get(f"{at.service.url}/static/x")  # is answered after all that came from who died
    with at.ledger.writing() as session:
        recover(session, "backend")
    return judged(at)


def to_the_end(at: Desk) -> None:
    """Whatever died: settled and run again, everybody has exactly one email."""
    recovered(at)
    settle(at.ledger, at.service.entries())
    run(at)
    stands = judged(at)
    assert stands["counts"]["invited"] == PEOPLE
    assert set(at.emails().values()) == {1}


Make = Callable[..., Desk]
in_a_file = pytest.mark.parametrize("new_url", ["sqlite"], indirect=True)


def crash(at: Desk, dies: int, again: int) -> None:
    at.campaign(PEOPLE)
    if run(at, dies):
        judged_after_a_crash(at)
        if run(at, again):
            recovered(at)
    to_the_end(at)


def judged_after_a_crash(at: Desk) -> None:
    with at.ledger.reading() as session:  # whoever looks sees what was being sent
        sending = session.exec(select(Step).where(Step.state == State.SENDING)).all()
    assert len(sending) <= 3
    assert oracle.in_flight(recovered(at), invites=2, batch=3) == []


def test_the_boundaries_are_known(desk: Make) -> None:
    at = desk(OPTIONS)
    at.campaign(PEOPLE)
    assert not run(at)
    passed = (at.folder / "passed").read_text().splitlines()
    assert len(passed) < BOUNDARIES
    kinds = {name.rpartition(".")[0] for name in passed}
    assert {f"{op} http11.send_request_headers" for op in Op} <= kinds
    assert {f"{op} http11.receive_response_headers" for op in Op} <= kinds
    assert {"before a commit", "after a commit", "before a receipt"} <= set(passed)


@pytest.mark.parametrize("dies", range(4, BOUNDARIES, 10))
def test_a_crash_and_one_in_recovery(desk: Make, dies: int) -> None:
    crash(desk(OPTIONS), dies, again=1 + dies % 40)


@pytest.mark.slow
@in_a_file
@pytest.mark.parametrize("dies", range(1, BOUNDARIES))
def test_every_crash_and_one_in_recovery(desk: Make, dies: int) -> None:
    crash(desk(OPTIONS), dies, again=1 + dies * 7 % 40)


@pytest.mark.slow
@in_a_file
@pytest.mark.parametrize(
    ("dies", "fault"),
    list(zip(range(1, BOUNDARIES, 3), cycle(["lost", "status", "dropped"]))),
)
def test_every_crash_at_a_failing_service(desk: Make, dies: int, fault: str) -> None:
    failing = {
        "lost": {"invite": faults.lost(2), "add": faults.lost(2)},
        "status": {"invite": faults.status(502, at=2), "attach": faults.status(401)},
        "dropped": {"create": faults.dropped(1), "invite": faults.dropped(3)},
    }
    at = desk(OPTIONS, **failing[fault])
    at.campaign(PEOPLE)
    run(at, dies)
    for _ in count():
        recovered(at)
        settle(at.ledger, at.service.entries())
        if not run(at) and judged(at)["counts"]["invited"] == PEOPLE:
            break
    assert set(at.emails().values()) == {1}
