"""Campaigns crashed or stopped at every boundary, and the promise checked after each of them.

A case is one scenario and the boundaries, one run after the other, at which the run is killed;
then the campaign is run again until a run has nothing more to do, and what is in doubt is
settled. Enumeration needs no list of
boundaries: the number goes up until a run lives through.

A run that is stopped stands still until everything is settled and sent without it; then it wakes.
"""

import os
import shutil
import signal
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

from sqlalchemy import NullPool, create_engine, make_url, text, update
from sqlalchemy.exc import OperationalError

from data.sending.processes import HEARTBEAT_EXPIRES
from data.store import tables
from data.store.clock import now
from data.store.ledger import Ledger
from sandbox.faults.faults import Fault
from sandbox.server import Sandbox
from tests.promise.crashes.child_runs import ChildRun, ChildRuns, End
from tests.promise.crashes.small_campaigns import (
    KEY,
    PEOPLE,
    Place,
    Scenario,
    credentials,
    new_ledger,
)
from tests.support.ports import own_port

RUNS_AT_MOST = 8
MEMORY = Path("/dev/shm")


@dataclass(frozen=True)
class Outcome:
    """What a case came to: the boundaries reached; `lived`: the last one asked for never was."""

    boundaries: tuple[str, ...]
    lived: bool
    unsure: int


class Crashes:
    """Makes cases: with a server of runs, and one template of a ledger."""

    def __init__(self, runs: ChildRuns, folder: Path) -> None:
        self.runs = runs
        self._folder = folder
        self._template = new_ledger(folder)

    def warm_up(self) -> None:
        """Have one run made where the others come from, so that each of them costs half."""
        database = self._template.partition(":")[0]
        if database in self.runs.warm:
            return
        self.runs.warm.add(database)
        place = self.place(SCENARIOS[0])
        with place.scenario.sandbox() as service:
            self.runs.warm_up(child_run(place, service))
        shutil.rmtree(place.folder)

    def place(self, scenario: Scenario) -> Place:
        """A place of its own for one case."""
        place = Place(Path(tempfile.mkdtemp(dir=self._folder)), scenario)
        place.set_up(self._template)
        return place

    def case(self, scenario: Scenario, *deaths: int | str, mutant: str | None = None) -> Outcome:
        """Crash at `deaths`, one run after the other, then finish. Raises BrokenPromise.

        Then, when the service has come to rest, a person settles by what it really did, the
        campaign is run once more, and everyone has exactly one invitation.
        """
        with own_port() as port:
            return self._case(port, scenario, *deaths, mutant=mutant)

    def _case(
        self, port: int, scenario: Scenario, *deaths: int | str, mutant: str | None
    ) -> Outcome:
        place = self.place(scenario)
        reached: list[str] = []
        known, allowed = 0, scenario.doubts
        with scenario.sandbox(place.folder / "service", port) as service:
            for death in deaths:
                end, now = self._run(place, service, mutant, death)
                if not end.killed:
                    break
                reached.append(end.at or "")
                allowed += min(scenario.in_flight, max(0, now - known))
                known = now
            self._finish(place, service, mutant)
        unsure = place.check_in_the_end(service)
        assert unsure <= allowed, f"{unsure} requests in doubt, {allowed} were in flight"
        with scenario.healed(service) as service:
            if place.settle(service.record):
                self._finish(place, service, mutant)
        assert place.check_in_the_end(service) == 0
        place.check_everyone_once(service.record)
        shutil.rmtree(place.folder)
        return Outcome(tuple(reached), len(reached) < len(deaths), unsure)

    def wakes(
        self, scenario: Scenario, stop: int | str, machines: "Machines", mutant: str | None = None
    ) -> Outcome:
        """Stop a run at a boundary, finish without it, and let it wake. Raises BrokenPromise.

        Meanwhile another run takes over, where it can, and a person settles by what the service
        really did. In the end everyone has exactly one invitation.
        """
        with own_port() as port:
            return self._wakes(port, scenario, stop, machines, mutant)

    def _wakes(
        self,
        port: int,
        scenario: Scenario,
        stop: int | str,
        machines: "Machines",
        mutant: str | None,
    ) -> Outcome:
        place = self.place(scenario)
        with scenario.sandbox(place.folder / "service", port) as service:
            how = {"host": machines.first, "slept": machines.slept, "by": signal.SIGSTOP}
            first = self.runs.start(child_run(place, service, at=stop, mutant=mutant, **how))
            end = self.runs.wait(first)
            if end.stopped and not kept_out(place, end.at or ""):
                silent(place, HEARTBEAT_EXPIRES + timedelta(seconds=1))
                self._finish(place, service, None, machines.second)
                if machines.second != machines.first and place.settle(service.record):
                    self._finish(place, service, None, machines.second)
            if end.stopped:
                os.kill(first, signal.SIGCONT)
                woken = self.runs.wait(first)
                assert woken.as_asked, f"the run that woke failed: {woken.error or woken}"
            place.check(service)
            self._finish(place, service, None, machines.second)
        unsure = place.check_in_the_end(service)
        with scenario.healed(service) as service:
            if place.settle(service.record):
                self._finish(place, service, None, machines.second)
        assert place.check_in_the_end(service) == 0
        place.check_everyone_once(service.record)
        shutil.rmtree(place.folder)
        return Outcome((end.at,) if end.stopped and end.at else (), not end.stopped, unsure)

    def _run(
        self,
        place: Place,
        service: Sandbox,
        mutant: str | None,
        death: int | str | None = None,
        host: str = "",
    ) -> tuple[End, int]:
        """Make one run and hold the promise; answers how it ended and how much is in doubt."""
        end = self.runs.run(child_run(place, service, at=death, mutant=mutant, host=host))
        doubt = place.check(service)
        assert end.as_asked, f"the run failed: {end.error or end}"
        return end, doubt

    def _finish(self, place: Place, service: Sandbox, mutant: str | None, host: str = "") -> None:
        """Run until a run makes no request any more: what is left is for people."""
        for _ in range(RUNS_AT_MOST):
            before = service.api_requests()
            self._run(place, service, mutant, host=host)
            if service.api_requests() == before:
                return
        raise AssertionError(f"run {RUNS_AT_MOST} of a campaign still makes requests")


@dataclass(frozen=True)
class Machines:
    """Where the run that is stopped is at work, and the others; how long its machine slept.

    0 seconds: it was paused with all its clocks, and no clock of its own tells.
    """

    first: str
    second: str
    slept: float


ONE, SLEPT, PAUSED = Machines("", "", 900), Machines("one", "two", 900), Machines("one", "two", 0)
MACHINES = {"one machine": ONE, "two, one slept": SLEPT, "two, one paused": PAUSED}


def kept_out(place: Place, at: str) -> bool:
    """Whether a run that stands still keeps a commit or a file to itself.

    Then others wait, and end: nobody else sends until it wakes.
    """
    if at.startswith("file "):
        return True
    url = make_url(place.url)
    on_a_server = url.get_backend_name() == "postgresql"
    patience = {} if on_a_server else {"timeout": 0}
    engine = create_engine(url, poolclass=NullPool, connect_args=patience)
    try:
        with engine.begin() as connection:
            if on_a_server:
                return bool(connection.scalar(_IN_A_TRANSACTION))
            connection.execute(update(tables.runs).values(id=tables.runs.c.id))
    except OperationalError:
        return True
    return False


_IN_A_TRANSACTION = text(
    "SELECT count(*) FROM pg_stat_activity"
    " WHERE datname = current_database() AND state <> 'idle'"  # or it has not yet come to that
    " AND backend_type = 'client backend' AND pid <> pg_backend_pid()"
)


def silent(place: Place, since: timedelta) -> None:
    """Let the runs in a ledger have been last heard of so long ago."""
    with Ledger.open(place.url) as ledger, ledger._transactions.writing() as connection:
        connection.execute(update(tables.runs).values(heartbeat_at=now() - since))


def child_run(place: Place, service: Sandbox, **more: Any) -> ChildRun:
    """Describe one run of a campaign in a process of its own."""
    local = {**place.local(), "output_dir": str(place.folder / "out")}
    return ChildRun(str(place.definition), KEY, credentials(service), local, **more)


@contextmanager
def crashes(runs: ChildRuns) -> Iterator[Crashes]:
    """Open a place for cases, in memory where there is some."""
    where = MEMORY if os.access(MEMORY, os.W_OK) else None
    with tempfile.TemporaryDirectory(dir=where) as folder:
        place = Crashes(runs, Path(folder))
        place.warm_up()
        yield place


def sample(case: Callable[[int], Outcome], *, start: int, every: int) -> int:
    """Make the case of boundary `start` and of every k-th after it, until a run never reaches it.

    Answers how many were made.
    """
    made = 0
    while not case(start + made * every).lived:
        made += 1
    return made


SCENARIOS = (
    Scenario("all goes well"),
    Scenario("a new ledger", new_ledger=True, people=1),
    Scenario("one by one", people=2, per_request=1),
    Scenario(
        "an answer is lost after the work",
        faults=lambda: (Fault("lost", "invite", after_work=True),),
        doubts=1,
    ),
    Scenario(
        "an add fails before the work",
        faults=lambda: (Fault("status", "add_candidates", status=500),),
        doubts=1,
    ),
    Scenario(
        "the connection is reset",
        faults=lambda: (Fault("reset", "invite", skip=1, after_work=False),),
        doubts=1,
    ),
    Scenario(
        "a pause is asked for",
        faults=lambda: tuple(
            Fault("status", operation, status=429)
            for operation in ("create_project", "attach_problem", "add_candidates", "invite")
        ),
    ),
    Scenario(
        "the token is refused once",
        faults=lambda: tuple(
            Fault("status", operation, status=401)
            for operation in ("create_project", "attach_problem", "add_candidates", "invite")
        ),
    ),
    Scenario("a row is refused", people=4, per_request=4, refused=(PEOPLE[1],)),
    Scenario("an invitation is refused", uninvited=(PEOPLE[2],)),
    Scenario(
        "half an answer, then none",
        faults=lambda: (Fault("half", "add_candidates"), Fault("lost", "attach_problem", skip=1)),
        doubts=1,
    ),
    Scenario(
        "an add is made once more",
        add_again=True,
        faults=lambda: (Fault("lost", "add_candidates", after_work=True),),
        doubts=1,
    ),
    Scenario(
        "the answer comes in another order",
        per_request=3,
        faults=lambda: (Fault("reordered", "add_candidates", count=None),),
    ),
)

# A run that is waited for, and stands still, is not waited for long.
STOPPED = (
    Scenario("stopped: all goes well", people=4, deadline=2.0),
    Scenario("stopped: one by one", people=2, per_request=1, deadline=2.0),
    Scenario(
        "stopped: a pause, a refused token",
        people=2,
        deadline=2.0,
        faults=lambda: (
            Fault("status", "add_candidates", status=429),
            Fault("status", "invite", status=401),
        ),
    ),
)
# Of two in flight the other may be in the middle of a commit, and would keep everybody out.
ALONE = Scenario("stopped: one in flight", people=4, in_flight=1, deadline=2.0)

TWICE = (
    Scenario("killed again: one person", people=1),
    Scenario("killed again: two people", people=2),
    Scenario("killed again: an add is made once more", people=2, add_again=True),
    Scenario(
        "killed again: a pause, a refused token",
        people=1,
        faults=lambda: (
            Fault("status", "add_candidates", status=429),
            Fault("status", "invite", status=401),
        ),
    ),
)
