"""Small campaigns to break things with: the definition, the ledger and the service of each."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from sqlalchemy import NullPool, create_engine, inspect

from config.email_key import email_key
from config.settings import LocalSettings, ServiceSettings
from data.campaigns import queries
from data.store.ledger import Ledger
from data.store.states import Operation
from flows.run.ending import Finish
from flows.run.order import CampaignSource, RunContext, conduct
from sandbox.faults.faults import Fault
from sandbox.server import Sandbox
from sandbox.service.record import Record
from tests.promise import truthful_person
from tests.promise.promise import (
    check_finished,
    check_nobody_asked,
    check_promise,
    check_times,
    doubts,
)
from tests.support.ledgers.databases import copy_at, ledger_at

KEY = "small"
PEOPLE = ("Ada@Example.com", "grace@example.com", "edsger@example.com", "barbara@example.com")


@dataclass(frozen=True)
class Scenario:
    """A campaign and a service to run it against.

    `doubts` are requests that may end unsure by the service's own doing, crash or none.
    `new_ledger`: the run has to make its ledger first. `per_request`: candidates in one add.
    `deadline` of one request, in seconds, and of the wait for another run's call; of that wait
    alone in a process of its own (child_runs). `add_again`: the definition has people added once
    more whose add is unsure.
    """

    name: str
    people: int = 3
    per_request: int = 2
    in_flight: int = 2
    faults: Callable[[], tuple[Fault, ...]] = tuple
    refused: tuple[str, ...] = ()
    uninvited: tuple[str, ...] = ()
    new_ledger: bool = False
    doubts: int = 0
    deadline: float = 45.0
    add_again: bool = False

    @property
    def emails(self) -> tuple[str, ...]:
        more = tuple(f"person{n}@example.com" for n in range(len(PEOPLE), self.people))
        return (*PEOPLE, *more)[: self.people]

    def sandbox(self, folder: Path | None = None, port: int = 0) -> Sandbox:
        """The service of this scenario, not yet open. In a folder it remembers."""
        return Sandbox(
            folder,
            port=port,
            faults=self.faults(),
            refuse_emails=self.refused,
            refuse_invites=self.uninvited,
        )

    def healed(self, before: Sandbox) -> Sandbox:
        """The same service later on: it remembers everything and does nothing wrong any more."""
        port = urlsplit(before.url).port
        assert before.folder and port
        return Sandbox(
            before.folder,
            port=port,
            refuse_emails=self.refused,
            refuse_invites=self.uninvited,
        )


@dataclass(frozen=True)
class Place:
    """One campaign's place on the disk: its definition, its ledger, its output."""

    folder: Path
    scenario: Scenario

    @property
    def definition(self) -> Path:
        return self.folder / "campaign.yaml"

    @property
    def url(self) -> str:
        """Where the ledger lies."""
        return ledger_at(self.folder)

    @property
    def keys(self) -> list[str]:
        return [email_key(email) for email in self.scenario.emails]

    def set_up(self, template: str) -> None:
        """Write the definition, and the ledger as an earlier campaign would have left it.

        `template` is the address of that one; "" for a ledger that lies elsewhere.
        """
        rows = "".join(
            f"  - {{first_name: F{n}, last_name: L{n}, email1: {email}}}\n"
            for n, email in enumerate(self.scenario.emails)
        )
        again = "  when_unsure: add_again\n  people:\n" if self.scenario.add_again else ""
        self.definition.write_text(
            f"campaign: {KEY}\nproject: {{name: Small}}\nproblem: 42\ncandidates:\n{again}{rows}"
        )
        if template and not self.scenario.new_ledger:
            copy_at(self.folder, template)

    def local(self) -> dict[str, Any]:
        """The fields of this campaign's LocalSettings."""
        return {
            "database_url": self.url,
            "output_dir": self.folder / "out",
            "candidates_per_request": self.scenario.per_request,
            "invites_in_flight": self.scenario.in_flight,
            "invites_per_second": None,
            "request_deadline": self.scenario.deadline,
        }

    def conduct(self, service: Sandbox, ledger: Ledger, **more: Any) -> Finish:
        """Make one run, in this process; `more` is about its Desk."""
        local = LocalSettings.model_construct(**self.local())
        desk = RunContext(ledger, ServiceSettings(**credentials(service)), local, **more)
        return asyncio.run(conduct(CampaignSource(self.definition, KEY), desk))

    def check(self, service: Sandbox) -> int:
        """Hold the promise as it stands now; answers how many requests are in doubt."""
        if not self._is_a_ledger():
            assert not any(map(service.record.of, Operation)), "sent without a ledger"
            return 0
        with Ledger.open(self.url, create=False) as ledger:
            check_promise(
                ledger,
                KEY,
                service.record,
                self.keys if ledger.read(queries.find_campaign, KEY) else (),
            )
            return doubts(ledger, KEY)

    def check_in_the_end(self, service: Sandbox) -> int:
        """Hold everything, once the service is closed and its record final; answers the doubts."""
        with Ledger.open(self.url, create=False) as ledger:
            return self.hold_in_the_end(ledger, service.record)

    def hold_in_the_end(self, ledger: Ledger, record: Record) -> int:
        """The same, of a ledger that is open."""
        check_promise(ledger, KEY, record, self.keys)
        check_finished(ledger, KEY)
        check_times(ledger, KEY, record)
        if self.scenario.add_again:
            check_nobody_asked(ledger, KEY)
        return doubts(ledger, KEY)

    def settle(self, record: Record) -> int:
        """Have a person settle all doubt by what is really there; answers how much there was."""
        with Ledger.open(self.url, create=False) as ledger:
            return truthful_person.settle(ledger, KEY, record)

    def check_everyone_once(self, record: Record) -> None:
        """Hold that there is one project with one problem, and one invitation for each person."""
        refused = {*self.scenario.refused, *self.scenario.uninvited}
        assert [project.problem_ids for project in record.projects] == [[42]]
        added = [each.email1 for each in record.candidates]
        if self.scenario.add_again:
            added = list({*added})  # what is there twice, clean-up lists (tests/promise/promise.py)
        assert sorted(added) == sorted({*self.scenario.emails} - {*self.scenario.refused})
        invited = [each.email for each in record.invitations]
        assert sorted(invited) == sorted({*self.scenario.emails} - refused)

    def _is_a_ledger(self) -> bool:
        engine = create_engine(self.url, poolclass=NullPool)
        return bool(inspect(engine).get_table_names())


def credentials(service: Sandbox) -> dict[str, str]:
    """The fields of the ServiceSettings that lead to a sandbox."""
    return {
        name.removeprefix("ASSESSMENT_").lower(): value
        for name, value in service.environment().items()
    }


def new_ledger(folder: Path) -> str:
    """Make an empty ledger to be copied; answers its address."""
    url = ledger_at(folder, "template")
    Ledger.open(url).close()
    return url
