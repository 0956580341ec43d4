"""A campaign against a service that answers with faults, over real sockets, drawn from one seed.

Sockets, client, ledger and order of the steps are the real ones; time passes only while everybody
waits. After some runs a person who looks at the service's record settles what is unsure, and in
the end the service behaves: then everybody has exactly one invitation.
"""

import asyncio
from collections import Counter
from contextlib import suppress
from random import Random
from typing import Any

from config.definition.model import Candidate, Definition, Invites, ProblemById, Project, Trust
from config.email_key import email_key
from config.errors import CampaignError
from config.mistakes import Place
from config.reading.reading import Reading
from config.settings import LocalSettings
from data.campaigns import queries
from data.store.states import AttemptState, Step
from flows.run.order import RunContext, conduct
from tasks.plan.target import CampaignSource
from tasks.service.client import Service
from tasks.service.verdict import REPEATS
from tests.promise import truthful_person
from tests.promise.histories.virtual_time import HERE, Program
from tests.promise.histories.workshop import Workshop
from tests.promise.promise import BrokenPromise, check_finished, check_promise, open_books
from tests.promise.wire.faulting_service import FaultingService
from tests.promise.wire.socket_time import in_socket_time
from tests.promise.wire.tally import Tally
from tests.support.wire_server import settings_for

KEY = "faulted"


class Faulted:
    """One campaign of one seed, and its service. What the patches of the workshop ask for, too."""

    def __init__(self, place: Workshop, seed: int) -> None:
        self.ledger, self.tally = place.ledger, Tally(campaigns=1)
        self.file = place.folder / "faulted.yaml"  # its receipt goes with the ledger
        self.dice = dice = Random(f"{seed}, the campaign")
        self.people = dice.choice((2, 12, 120, 120, 120))
        self.trust = dice.choice((Trust.STATUS, Trust.WIRE))
        lies = dice.random() < (0.5 if self.trust is Trust.WIRE else 0.2)
        self.fooled = lies and self.trust is Trust.STATUS
        emails = [f"p{n}@example.com" for n in range(self.people)]
        truthful = self.trust is Trust.STATUS and not lies
        unwelcome = frozenset(each for each in emails if truthful and dice.random() < 0.02)
        self.service = FaultingService(Random(f"{seed}, the service"), lies, unwelcome)
        notes = "x" * dice.choice((0, 0, 0, 0, 0, 50_000 if self.people < 20 else 0))
        at = Place(str(self.file))
        self.definition = Definition(
            campaign=KEY,
            project=Project(None, "Backend", "", "open", None, None, None),
            problem=ProblemById(42),
            candidates=tuple(
                Candidate(f"F{n}", f"L{n}", email, "", notes, 1, email_key(email), at)
                for n, email in enumerate(emails)
            ),
            invites=Invites(True, trust=self.trust),
            place=at,
            add_again=dice.random() < 0.3,
        )
        self.local = LocalSettings.model_construct(
            database_url=place.url,
            output_dir=place.folder,
            candidates_per_request=dice.choice((1, 3, 10, 100)),
            invites_in_flight=dice.choice((1, 1, 2, 8)),
            invites_per_second=dice.choice((None, None, None, None, None, None, 5)),
            request_deadline=dice.choice((31.0, 45.0)),
        )

    # -- what the patches ask for -------------------------------------------------------------

    def sources(self) -> "Faulted":
        return self

    digest = "the only version"

    def reading(self, _: Any) -> Reading:
        return Reading((self.definition,), (), (), self.digest)

    def client(self, *args: Any, **more: Any) -> Service:
        return Service(*args, **more)

    def start_of(self, pid: int) -> str:
        return HERE.get().start if pid == HERE.get().pid else ""

    def disk_failed(self, _: Program) -> None: ...

    # -- what happens -------------------------------------------------------------------------

    async def history(self) -> None:
        """Run it in trouble a few times, then in calm until nothing is left to do."""
        dice = self.dice
        async with self.service.open():
            for _ in range(dice.choice((2, 25, 25))):
                self.service.trouble = dice.choice((0.2, 0.7, 0.7, 0.95))
                if not await self.run() and not self.settle():
                    break
                if dice.random() < 0.8:
                    self.settle()
            self.service.trouble = 0.0
            for _ in range(12):
                if not await self.run() and not self.settle():
                    break
            else:
                raise BrokenPromise("the same command never comes to an end")
            self.everybody_once()

    async def run(self) -> bool:
        """The command line's run, and what must hold after it, when all that is late has come.

        Answers whether it asked the service for anything.
        """
        self.tally.runs += 1
        HERE.set(Program(self, "one", self.tally.runs, self.dice))
        settings = settings_for(self.service.url, self.service.url)
        faults, before = self.service.doubtful, self.doubts()
        requests = len(self.service.record.requests)
        with suppress(CampaignError):  # it stopped with words; what it did is judged all the same
            source = CampaignSource(self.file, KEY)
            await conduct(source, RunContext(self.ledger, settings, self.local))
        await asyncio.sleep(2000)
        self.check()
        unsure, faults = self.doubts() - before, self.service.doubtful - faults
        self.tally.unsure += unsure
        if unsure > faults:
            raise BrokenPromise(f"{unsure} in doubt after {faults} faults")
        return len(self.service.record.requests) > requests

    def settle(self) -> int:
        """Let a person look at the service's record and settle what is unsure by it."""
        if self.ledger.read(queries.find_campaign, KEY) is None:
            return 0
        settled = truthful_person.settle(self.ledger, KEY, self.service.record)
        self.tally.settled += settled
        return settled

    # -- what must hold -----------------------------------------------------------------------

    def doubts(self) -> int:
        books = open_books(self.ledger, KEY)
        states = (AttemptState.UNSURE, AttemptState.OVERRULED)
        return sum(each.state in states for each in books.attempts) if books else 0

    def emails(self) -> Counter[str]:
        return Counter(email_key(each.email) for each in self.service.record.invitations)

    def check(self) -> None:
        """Hold the ledger against the service's record.

        Whom statuses that lie have fooled gets two more emails at most (docs/outcomes.md).
        """
        if (most := max(self.emails().values(), default=0)) > (1 + REPEATS if self.fooled else 1):
            raise BrokenPromise(f"somebody got {most} emails")
        if not self.fooled:
            known = self.ledger.read(queries.find_campaign, KEY)
            keys = [person.key for person in self.definition.candidates] if known else []
            check_promise(self.ledger, KEY, self.service.record, keys)

    def everybody_once(self) -> None:
        """In the end everybody was invited, or refused with its evidence."""
        books = check_finished(self.ledger, KEY)
        times = self.emails()
        for person in books.people:
            refused = Step.REFUSED in (person.add_state, person.invite_state) and person.why
            if not times[person.email_key] and not refused:
                raise BrokenPromise(f"{person.email_key} was forgotten: {person.invite_state}")


def play(here: Workshop, seed: int) -> Tally:
    """Let one campaign happen. Raises BrokenPromise, or whatever the product raised."""
    here.empty()
    campaign = Faulted(here, seed)
    in_socket_time(campaign.history())
    campaign.tally.hears(campaign.service)
    return campaign.tally
