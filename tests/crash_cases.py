"""Small campaigns, crashed at every boundary, and the promise checked after each crash.

A case is one scenario and the boundaries, one run after the other, at which the run is killed;
then the campaign is run again until a run has nothing more to do. Enumeration needs no list of
boundaries: the number goes up until a run lives through.
"""

import os
import shutil
import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from child_runs import ChildRun, ChildRuns, End
from promise import check_finished, check_promise, check_times, doubts

from config.email_key import email_key
from data.ledger import Ledger
from data.states import Operation
from sandbox.faults import Fault
from sandbox.server import Sandbox

KEY = "crash"
IN_FLIGHT = 2
RUNS_AT_MOST = 8
MEMORY = Path("/dev/shm")

PEOPLE = ("Ada@Example.com", "grace@example.com", "edsger@example.com", "barbara@example.com")


@dataclass(frozen=True)
class Scenario:
    """A campaign and a service to run it against.

    `doubts` are requests that may end unsure by the service's own doing, crash or none.
    `new_ledger`: the run has to make its ledger first. `per_request`: candidates in one add.
    """

    name: str
    people: int = 3
    per_request: int = 2
    faults: Callable[[], tuple[Fault, ...]] = tuple
    refused: tuple[str, ...] = ()
    uninvited: tuple[str, ...] = ()
    token_lifetime: int = 86400
    new_ledger: bool = False
    doubts: int = 0
    deadline: float = 45.0

    @property
    def emails(self) -> tuple[str, ...]:
        return PEOPLE[: self.people]


@dataclass(frozen=True)
class Outcome:
    """What a case came to: the boundaries reached; `lived`: the last one asked for never was."""

    boundaries: tuple[str, ...]
    lived: bool
    unsure: int


@dataclass
class Desk:
    """One campaign's place on the disk: its definition, its ledger, its output."""

    folder: Path
    scenario: Scenario
    mutant: str | None = None

    @property
    def url(self) -> str:
        return f"sqlite:///{self.folder / 'ledger.db'}"

    @property
    def keys(self) -> list[str]:
        return [email_key(email) for email in self.scenario.emails]

    def set_up(self, template: Path) -> None:
        """Write the definition, and the ledger as an earlier campaign would have left it."""
        rows = "".join(
            f"  - {{first_name: F{n}, last_name: L{n}, email1: {email}}}\n"
            for n, email in enumerate(self.scenario.emails)
        )
        (self.folder / "campaign.yaml").write_text(
            f"campaign: {KEY}\nproject: {{name: Crash}}\nproblem: 42\ncandidates:\n{rows}"
        )
        if not self.scenario.new_ledger:
            shutil.copy(template, self.folder / "ledger.db")

    def run(self, service: Sandbox, at: int | str | None = None, **more: int | bool) -> ChildRun:
        """Describe one run of this campaign."""
        settings = {
            name.removeprefix("ASSESSMENT_").lower(): value
            for name, value in service.environment().items()
        }
        local = {
            "database_url": self.url,
            "output_dir": str(self.folder / "out"),
            "candidates_per_request": self.scenario.per_request,
            "invites_in_flight": IN_FLIGHT,
            "invites_per_second": None,
            "request_deadline": self.scenario.deadline,
        }
        file = str(self.folder / "campaign.yaml")
        return ChildRun(file, KEY, settings, local, at=at, mutant=self.mutant, **more)

    def sandbox(self) -> Sandbox:
        """The service of this scenario, not yet open."""
        return Sandbox(
            faults=self.scenario.faults(),
            refuse_emails=self.scenario.refused,
            refuse_invites=self.scenario.uninvited,
            token_lifetime=self.scenario.token_lifetime,
        )

    def check(self, service: Sandbox) -> int:
        """Hold the promise as it stands now; answers how many requests are in doubt."""
        if not self._is_a_ledger():
            assert not any(map(service.record.of, Operation)), "sent without a ledger"
            return 0
        with Ledger.open(self.url, create=False) as ledger:
            check_promise(ledger, KEY, service.record, self.keys if ledger.campaign(KEY) else ())
            return doubts(ledger, KEY)

    def check_in_the_end(self, service: Sandbox) -> int:
        """Hold everything, once the service is closed and its record final; answers the doubts."""
        with Ledger.open(self.url, create=False) as ledger:
            check_promise(ledger, KEY, service.record, self.keys)
            check_finished(ledger, KEY)
            check_times(ledger, KEY, service.record)
            return doubts(ledger, KEY)

    def _is_a_ledger(self) -> bool:
        file = self.folder / "ledger.db"
        if not file.exists():
            return False
        connection = sqlite3.connect(file)
        try:
            found = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        finally:
            connection.close()
        return bool(found[0])


class Crashes:
    """Makes cases: one server of runs, one template of a ledger, in memory where there is some."""

    def __init__(self, runs: ChildRuns, folder: Path) -> None:
        self.runs = runs
        self._folder = folder
        self._template = folder / "template.db"
        Ledger.open(f"sqlite:///{self._template}").close()

    def desk(self, scenario: Scenario, mutant: str | None = None) -> Desk:
        """A place of its own for one case."""
        desk = Desk(Path(tempfile.mkdtemp(dir=self._folder)), scenario, mutant)
        desk.set_up(self._template)
        return desk

    def case(self, scenario: Scenario, *deaths: int | str, mutant: str | None = None) -> Outcome:
        """Crash at `deaths`, one run after the other, then finish. Raises BrokenPromise."""
        desk = self.desk(scenario, mutant)
        reached: list[str] = []
        known, allowed = 0, scenario.doubts
        with desk.sandbox() as service:
            for death in deaths:
                end, now = self._run(desk, service, death)
                if not end.killed:
                    break
                reached.append(end.at or "")
                allowed += min(IN_FLIGHT, max(0, now - known))
                known = now
            self._finish(desk, service)
        unsure = desk.check_in_the_end(service)
        assert unsure <= allowed, f"{unsure} requests in doubt, {allowed} were in flight"
        shutil.rmtree(desk.folder)
        return Outcome(tuple(reached), len(reached) < len(deaths), unsure)

    def _run(self, desk: Desk, service: Sandbox, death: int | str | None = None) -> tuple[End, int]:
        """Make one run and hold the promise; answers how it ended and how much is in doubt."""
        end = self.runs.run(desk.run(service, death))
        doubt = desk.check(service)
        assert end.as_asked, f"the run failed: {end.error or end}"
        return end, doubt

    def _finish(self, desk: Desk, service: Sandbox) -> None:
        """Run until a run makes no request any more: what is left is for people."""
        for _ in range(RUNS_AT_MOST):
            before = service.api_requests()
            self._run(desk, service)
            if service.api_requests() == before:
                return
        raise AssertionError(f"run {RUNS_AT_MOST} of a campaign still makes requests")


@contextmanager
def crashes() -> Iterator[Crashes]:
    """Open a place for cases, in memory where there is some."""
    where = MEMORY if os.access(MEMORY, os.W_OK) else None
    with tempfile.TemporaryDirectory(dir=where) as folder, ChildRuns() as runs:
        yield Crashes(runs, Path(folder))


def once(
    crashes: Crashes, scenario: Scenario, *, start: int = 1, every: int = 1
) -> Iterator[Outcome]:
    """Crash at every boundary of the first run, or at every k-th from `start`."""
    death = start
    while not (outcome := crashes.case(scenario, death)).lived:
        yield outcome
        death += every


def again(crashes: Crashes, scenario: Scenario, first: int, *, every: int = 1) -> Iterator[Outcome]:
    """Crash at boundary `first`, then at every boundary of the run after that, or at every k-th.

    Nothing at all once the first run has fewer boundaries than `first`.
    """
    second = 1 + first % every  # other ones for each `first`, so that a sample meets all
    while not (outcome := crashes.case(scenario, first, second)).lived:
        yield outcome
        second += every


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
        "the answer comes in another order",
        per_request=3,
        faults=lambda: (Fault("reordered", "add_candidates", count=None),),
    ),
)

TWICE = (
    Scenario("two people, all goes well", people=2),
    Scenario(
        "one person, a pause, a refused token",
        people=1,
        faults=lambda: (
            Fault("status", "add_candidates", status=429),
            Fault("status", "invite", status=401),
        ),
    ),
)
