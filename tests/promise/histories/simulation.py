"""A campaign's whole history in one process, drawn from one seed and repeatable to the byte.

Programs run, several at once, on one host or on several; they die or stand still at any point.
The service fails in every way it can, disks fill up, clocks jump, definitions change, and a
person who looks at the service's record settles doubts and sends invitations once more.

    make simulate SEEDS=100000 [FIRST=0]         that many histories, on all cores
    make simulate SEEDS=1 FIRST=4711             the history of seed 4711 again, to the byte
"""

import asyncio
import hashlib
import json
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from contextvars import copy_context
from datetime import timedelta
from functools import partial
from random import Random
from types import SimpleNamespace
from typing import Any

from config.definition.model import (
    Candidate,
    Definition,
    Invites,
    ProblemById,
    ProblemByTitle,
    Project,
    Trust,
)
from config.email_key import email_key
from config.errors import CampaignError
from config.mistakes import Place
from config.reading.reading import Reading
from config.settings import LocalSettings, ServiceSettings
from data.campaigns import queries
from data.decisions import adding_again, resending, settling
from data.decisions.verdicts import PATIENCE, Decided, Doubt, NotDecided
from data.receipts import receipt_doubts
from data.sending.processes import HEARTBEAT_EXPIRES
from data.store.states import AttemptState, By, Ending, Operation, Step, Word
from flows.run.ending import Finish
from flows.run.interrupts import INTERRUPTED
from flows.run.order import RunContext, conduct
from tasks.plan.receipts import receipts_at
from tasks.plan.target import CampaignSource
from tasks.service.messages import Request
from tests.promise.histories.simulated_decisions import Decisions
from tests.promise.histories.simulated_service import FAR_TOO_LATE, Assessment, Client
from tests.promise.histories.virtual_time import HERE, Program, VirtualLoop
from tests.promise.histories.workshop import Workshop
from tests.promise.promise import (
    Books,
    BrokenPromise,
    check_finished,
    check_nobody_asked,
    check_promise,
    open_books,
)

KEY = "sim"
SERVICE = ServiceSettings(
    auth_url="https://auth.example.com",
    base_url="https://api.example.com",
    app_url="https://app.example.com",
    client_id="id",
    client_secret="secret",
    audience="audience",
)
NAMES = ("Ada", "Bo", "Cy", "Dee", "Eli", "Fay")
TROUBLE = (0.0, 0.0, 0.05, 0.2, 0.5, 1.0)
STOPS = (1.0, 40.0, 200.0, 400.0, 1500.0)  # seconds; the last three outlive a heartbeat


class World:
    """Everything around the product in one history."""

    def __init__(self, workshop: Workshop, seed: int) -> None:
        self.workshop, self.ledger = workshop, workshop.ledger
        self.dice = Random(seed)
        self.situations: Counter[str] = Counter()  # those that were met, by name (situations.py)
        self.add_again = Random(f"{seed}, whether people are added once more").random() < 0.5
        self.one_name = Random(f"{seed}, whether two machines have one name").random() < 0.3
        dice = self.dice
        names = [f"{name}@example.com" for name in NAMES]
        # Where no status is believed, nothing is to be noticed of any lie. There a truthful no is a
        # doubt as well, each time somebody has it sent again.
        self.trust = Trust.WIRE if dice.random() < 0.25 else Trust.STATUS
        lies = self.trust is Trust.WIRE
        self.assessment = Assessment(
            dice,
            unwelcome={k.casefold() for k in names if dice.random() < 0.05 and not lies},
            uninvitable=frozenset(k.casefold() for k in names if dice.random() < 0.05 and not lies),
            most=None if lies else dice.choice((None, None, None, 1, 2)),
            lies=lies,
            situations=self.situations,
            is_overruled=self.is_overruled,
        )
        # A short deadline: while one run waits for another, time is work even here.
        self.local = LocalSettings.model_construct(
            database_url=workshop.url,
            output_dir=workshop.folder,
            candidates_per_request=dice.randint(1, 4),
            invites_in_flight=dice.randint(1, 4),
            invites_per_second=dice.choice((None, None, 0.5, 20)),
            request_deadline=5.0,
        )
        self.programs: dict[tuple[str, int], Program] = {}
        self.definitions: dict[str, Definition] = {}
        self.rows: list[str] = []
        self.send = True
        self.digest = ""
        self.saved_beside = 0.05  # how often somebody saves a file just after it was read
        self.doubt_allowed = 0  # requests that may be in doubt for another reason than a fault
        self.set_back = timedelta()  # by how much the clock went back, all in all
        self.resent: Counter[str] = Counter()
        self.log: list[str] = []
        self.decisions = Decisions(self.ledger, self.dice, self.situations)

    # -- what the patches ask for ---------------------------------------------------------

    def start_of(self, pid: int) -> str:
        program = self.programs.get((HERE.get().host, pid))
        return program.start if program is not None and program.alive else ""

    def sources(self) -> Any:
        """Read the file; now and then somebody saves another version just afterwards."""
        read = SimpleNamespace(digest=self.digest)
        if self.dice.random() < self.saved_beside:
            self.situations["a file that is saved just after it was read"] += 1
            self.write_definition()
        return read

    def reading(self, read: Any) -> Reading:
        return Reading((self.definitions[read.digest],), (), (), read.digest)

    def client(self, *args: Any, **more: Any) -> Client:
        program = HERE.get()
        return Client(
            self.assessment, lambda request: self.leaving(program, request), *args, **more
        )

    def disk_failed(self, program: Program, when: str) -> None:
        """Let each request in flight be in doubt, once for a program's bad disk."""
        self.situations[f"a disk that fails {when} a commit is written"] += 1
        if not program.disk_failed:
            program.disk_failed = True
            self.doubt_allowed += self.local.invites_in_flight

    def is_overruled(self, attempt: int) -> bool:
        """Whether somebody had it sent once more, or decided that it is not to be."""
        return self.workshop.ask("SELECT state FROM attempt WHERE id = ?", attempt) == [
            (AttemptState.OVERRULED,)
        ]

    # -- what people do -------------------------------------------------------------------

    def write_definition(self, among: Sequence[str] = NAMES) -> None:
        """Add, remove, bring back and reword rows, in any order of rows."""
        dice = self.dice
        [(unsure,)] = self.workshop.ask("SELECT count(*) FROM attempt WHERE state = 'unsure'")
        if unsure:
            self.situations["a definition that changes while a call is unsure"] += 1
        for name in among:
            if name in self.rows:
                if dice.random() < 0.1:
                    self.rows.remove(name)
            elif dice.random() < 0.35:
                self.rows.append(name)
        if not self.rows:
            self.rows.append(dice.choice(NAMES))
        dice.shuffle(self.rows)
        self.send = dice.random() < 0.9
        self.digest = f"version {len(self.definitions) + 1}"
        self.definitions[self.digest] = Definition(
            campaign=KEY,
            project=Project(None, "Backend", "", "open", None, None, None),
            problem=ProblemById(42) if dice.random() < 0.5 else ProblemByTitle("Two sum"),
            candidates=tuple(self._row(name) for name in self.rows),
            invites=Invites(self.send, trust=self.trust),
            place=Place("sim.yaml"),
            add_again=self.add_again,
        )

    def _row(self, name: str) -> Candidate:
        typed = self.dice.choice((name, name.lower(), name.upper())) + "@example.com"
        notes = self.dice.choice(("", "", "met at the fair"))
        return Candidate(name, "X", typed, "", notes, 1, email_key(typed), Place("sim.yaml"))

    async def settle(self, *, soon: bool = False) -> None:
        """Look at the service's record and settle what is unsure, some of it or all of it.

        `soon`: at once, as far as nothing of it can be on its way to the service any more.
        """
        campaign = self.ledger.read(queries.find_campaign, KEY)
        if campaign is None:
            return
        adding_again.recover(self.ledger, campaign.id)
        doubts = self.ledger.read(settling.find, campaign.id).steps
        now = asyncio.get_running_loop().wall()
        arrived = now - timedelta(seconds=2 * FAR_TOO_LATE)
        some = [one for one in doubts if self.dice.random() < 0.8]
        some = [one for one in some if not soon or one.sent_at < arrived]
        decided = [self._verdict(one) for one in some]
        if not decided:
            return
        early = any(
            verdict.word is Word.AGAIN and (doubt.alive or (not soon and now < doubt.again_from))
            for doubt, verdict in zip(some, decided, strict=True)
        )
        try:
            self.ledger.write(settling.settle, campaign.id, decided, By("Pat", "looked"), soon=soon)
        except NotDecided:
            if not early:
                raise
            self.situations["settled too early"] += 1
        else:
            assert not early, "sent again too early"
            self.situations["settled meanwhile" if soon else "settled"] += 1

    def _verdict(self, doubt: Doubt) -> Decided:
        """Say what the record of the service shows; sometimes, that it is not wanted any more."""
        record = self.assessment.record
        number: int | None = None
        word = Word.AGAIN
        if doubt.operation is Operation.CREATE and record.projects:
            word, number = Word.ID, record.projects[-1].id
        elif doubt.operation is Operation.ATTACH and record.projects[-1].problem_ids:
            word = Word.ATTACHED
        elif doubt.operation is Operation.ADD:
            key = email_key(doubt.email1)
            ids = [c.candidate_id for c in record.candidates if email_key(c.email1) == key]
            if ids:
                word, number = Word.ID, ids[-1]
        elif doubt.operation is Operation.INVITE:
            key = email_key(doubt.email1)
            times = sum(1 for one in record.invitations if email_key(one.email) == key)
            if times > self.resent[key]:
                word = Word.SENT
        if word is Word.AGAIN and doubt.row is not None and self.dice.random() < 0.1:
            word = Word.WITHDRAW
        return Decided(doubt.attempt, doubt.row, word, number)

    async def resend(self) -> None:
        """Want a second invitation for somebody, now and then."""
        campaign = self.ledger.read(queries.find_campaign, KEY)
        if campaign is None:
            return
        chosen = self.dice.choice(list(queries.candidates(self.ledger, campaign.id)))
        try:
            self.ledger.write(
                resending.resend, campaign.id, [chosen.id], By("Pat", "it went astray")
            )
        except NotDecided:
            self.situations["no resend"] += 1
            return
        # Who never got the first one has it still to come: only a sent one is followed by another.
        key = chosen.email_key
        times = sum(1 for o in self.assessment.record.invitations if email_key(o.email) == key)
        self.resent[key] = times
        self.decisions.left_out.pop(key, None)
        self.situations["resent"] += 1

    async def decide_against(self) -> None:
        """Decide that somebody gets nothing more, or that an address was wrong."""
        campaign = self.ledger.read(queries.find_campaign, KEY)
        if campaign is not None:
            adding_again.recover(self.ledger, campaign.id)
            self.decisions.decide(campaign, self.assessment.record)

    # -- programs ---------------------------------------------------------------------------

    def program(self, *, mishaps: bool = True) -> Program:
        """Start a program on one of two hosts, and draw what will happen to it."""
        dice = self.dice
        host = dice.choice(("one", "one", "two"))
        if self.one_name and len({host, *(at for at, _ in self.programs)}) > 1:
            self.situations["a program beside another machine of the same name"] += 1
        program = Program(self, host, 100 + len(self.programs), dice)
        if self.one_name:
            program.host_name = "one"
        self.programs[host, program.pid] = program
        if mishaps and dice.random() < 0.5:
            program.fuse = dice.randint(1, 90)
        if mishaps and dice.random() < 0.2:
            self.stop(program, dice.choice(STOPS))
        if mishaps and dice.random() < 0.15:
            first = dice.randint(1, 30)
            program.bad_disk = {
                number: dice.choice(("before", "after"))
                for number in range(first, first + dice.choice((1, 1, 3, 100)))
            }
        return program

    def stop(self, program: Program, seconds: float) -> None:
        """Let a program stand still at some point, or between a claim and its request."""
        if self.dice.random() < 0.5:
            program.stop_for = {self.dice.randint(1, 90): seconds}
        else:
            program.stop_claimed = {self.dice.randint(1, 8): seconds}
        if seconds > HEARTBEAT_EXPIRES.total_seconds():
            self.doubt_allowed += self.local.invites_in_flight

    async def living(self, program: Program, work: Callable[[], Awaitable[Any]]) -> Any:
        """Let a program do its work to its end, or to its death; its result, or None."""
        HERE.set(program)
        return await work()

    async def see(self, program: Program, work: Callable[[], Awaitable[Any]]) -> Any:
        """Run one program and clear away what is left of it when it dies."""
        loop = asyncio.get_running_loop()
        main = loop.create_task(self.living(program, work), context=copy_context())
        program.tasks.append(main)
        gone = loop.create_task(program.died.wait())
        try:
            await asyncio.wait((main, gone), return_when=asyncio.FIRST_COMPLETED)
            if not main.done():
                self.bury(program)
                await program.clear_away()
                return None
            return main.result()
        finally:
            gone.cancel()
            program.die()

    def bury(self, program: Program) -> None:
        """Count what a death leaves in doubt: at most what was in flight."""
        [(sending,)] = self.workshop.ask(
            "SELECT count(*) FROM attempt JOIN run ON run.id = attempt.run_id"
            " WHERE run.pid = ? AND attempt.state = 'sending'",
            program.pid,
        )
        self.situations[f"a program that dies {program.place}"] += 1
        if any(pid != program.pid and not self._lives(pid) for pid, _ in self._open_calls()):
            self.situations["a second death before the first was recovered from"] += 1
        reach = self.ledger.read(receipt_doubts.reach, KEY).attempt
        receipts = receipts_at(self.workshop.folder.rglob("*.receipt"))
        if any(entry.attempt < reach for _, receipt in receipts for entry in receipt.campaigns):
            self.situations["a receipt of a moment ago at a death"] += 1
        if sending > self.local.invites_in_flight:
            raise BrokenPromise(f"{sending} requests were claimed by one program at its death")
        self.doubt_allowed += sending
        self.situations["died"] += 1
        self.check()

    async def run(self, program: Program, delay: float = 0.0) -> Finish | None:
        """The command line's run: conduct, and whatever a person may meet there."""
        await asyncio.sleep(delay)
        named = KEY if self.dice.random() < 0.7 else None
        # Definitions name the problem by its id or its title, and who types knows that both are it.
        asked = CampaignSource(self.workshop.folder / "sim.yaml", named, keep_project=True)
        desk = RunContext(self.ledger, SERVICE, self.local)
        try:
            finish = await self.see(program, lambda: conduct(asked, desk))
        except CampaignError as error:
            self.situations[type(error).__name__] += 1
            return None
        if finish is not None:
            ended = "SELECT 1 FROM run WHERE pid = ? AND ending = ?"
            taken_over = self.workshop.ask(ended, program.pid, Ending.DIED)
            self.situations["taken over" if taken_over else finish.ending] += 1
        return finish

    def leaving(self, program: Program, request: Request) -> int:
        """A changing request leaves: its claim is on the disk. Returns the attempt's number."""
        number = int(path[-2]) if (path := request.path.split("/"))[-1] == "invite" else None
        found = self.workshop.ask(
            "SELECT a.id, a.state, a.rows FROM attempt a JOIN run r ON r.id = a.run_id"
            " LEFT JOIN candidate c ON c.id = a.candidate_row"
            " WHERE r.pid = ? AND a.operation = ? AND coalesce(c.candidate_id, 0) = ?"
            " ORDER BY a.id DESC LIMIT 1",
            *(program.pid, str(request.operation), number or 0),
        )
        if not found:
            raise BrokenPromise(f"a request left without a claim: {request.path}")
        [(attempt, state, rows)] = found
        if request.operation is Operation.ADD and rows != (left := len(json.loads(request.body))):
            raise BrokenPromise(f"{left} people left, {rows} were claimed")
        if state != AttemptState.SENDING:
            raise BrokenPromise(f"a request left whose attempt {attempt} is {state}")
        others = {pid for pid, operation in self._open_calls() if operation == request.operation}
        if any(self._lives(pid) for pid in others - {program.pid}):
            self.situations["two runs that send at the same time"] += 1
        self.log.append(f"{asyncio.get_running_loop().time():.3f} {program.pid} {request.path}")
        return int(attempt)

    def _open_calls(self) -> list[tuple[int, str]]:
        """The process of each call that was claimed and has no outcome, and what it asks for."""
        return self.workshop.ask(
            "SELECT run.pid, attempt.operation FROM attempt JOIN run ON run.id = attempt.run_id"
            " WHERE attempt.state = 'sending'"
        )

    def _lives(self, pid: int) -> bool:
        return any(program.alive for (_, at), program in self.programs.items() if at == pid)

    # -- what must hold -------------------------------------------------------------------

    def check(self) -> None:
        """Hold the ledger against the service's record."""
        read = self.workshop.ask("SELECT digest FROM reading ORDER BY id")
        versions = [int(digest.removeprefix("version ")) for (digest,) in read]
        if versions != sorted(versions):
            raise BrokenPromise(f"an older version took the place of a newer one: {versions}")
        [(known,)] = self.workshop.ask("SELECT max(digest) FROM campaign")
        keys = [person.key for person in self.definitions[known].candidates] if known else []
        record = self.assessment.record
        if (books := check_promise(self.ledger, KEY, record, keys)) is None:
            return
        unsure = 0
        settled = {one.attempt_id for one in books.decisions}
        for one in books.attempts:
            entry = self.assessment.received.get(one.id)
            happened = entry is not None and entry.effect
            if one.state in (AttemptState.NOT_SENT, AttemptState.REFUSED) and happened:
                raise BrokenPromise(f"attempt {one.id} is {one.state}, and it happened")
            if one.state == AttemptState.DONE and one.id not in settled and not happened:
                raise BrokenPromise(f"attempt {one.id} is done, and it did not happen")
            unsure += one.state in (AttemptState.UNSURE, AttemptState.OVERRULED)
        if unsure > self.assessment.faults + self.doubt_allowed:
            raise BrokenPromise(f"{unsure} requests in doubt are more than were at risk")
        self.decisions.check(record)
        # A person who looks before saying "again" never causes a second email.
        for key, times in Counter(email_key(i.email) for i in record.invitations).items():
            if times > 1 + self.resent[key]:
                raise BrokenPromise(f"{key} got {times} emails")

    # -- the history --------------------------------------------------------------------------

    async def history(self) -> None:
        """A few rounds of anything, and then the calm in which everything is to be finished."""
        dice = self.dice
        for _ in range(dice.choice((1, 1, 2, 3))):
            if not self.definitions or dice.random() < 0.6:
                self.write_definition()
            self.assessment.trouble = dice.choice(TROUBLE)
            await self.several(dice.choice((1, 1, 1, 2, 3)))
            if self._open_calls() and dice.random() < 0.3:
                await self.die_early()
            self.check()
            if dice.random() < 0.5:
                await asyncio.sleep(dice.choice((20.0, 300.0, 1000.0)))
            if dice.random() < 0.4:
                await self.by_person(self.settle)
            if dice.random() < 0.2:
                await self.by_person(self.resend)
            if dice.random() < 0.2:
                await self.by_person(self.decide_against)
        await self.calm()

    async def end(self) -> None:
        """Leave nobody at work, also where a history broke off."""
        for program in self.programs.values():
            program.die()
            await program.clear_away()

    async def several(self, number: int) -> None:
        """Run some programs at the same time; send one a signal, move the clock, now and then."""
        dice = self.dice
        programs = [self.program() for _ in range(number)]
        if visited := dice.random() < 0.25:
            self.stop(programs[0], STOPS[-1])
        try:
            async with asyncio.TaskGroup() as group:
                for program in programs:
                    group.create_task(self.run(program, dice.choice((0.0, 0.0, 0.1, 5.0))))
                if dice.random() < 0.2:
                    await asyncio.sleep(dice.choice((0.1, 1.0, 5.0)))
                    for gate in programs[0].gates:
                        if programs[0].alive:
                            self.situations["an interrupt amid the work"] += 1
                        gate.stop(INTERRUPTED)
                if visited:
                    group.create_task(self.meanwhile())
                elif dice.random() < 0.1:
                    await asyncio.sleep(dice.choice((0.1, 1.0, 5.0)))
                    self.move_the_clock(number)
        except ExceptionGroup as together:
            # A history breaks at one place; the groups around it would hide which rule that was.
            broken: BaseException = together
            while isinstance(broken, BaseExceptionGroup):
                broken = broken.exceptions[0]
            raise broken from None

    async def die_early(self) -> None:
        """Once a death can be seen, begin the next run, and let it die on its first steps."""
        await asyncio.sleep(self.dice.choice((0.0, 200.0)))
        program = self.program(mishaps=False)
        program.fuse = self.dice.randint(1, 20)
        await self.run(program)

    async def meanwhile(self) -> None:
        """While some programs stand still, a person comes by, settles and runs the campaign."""
        for _ in range(self.dice.choice((1, 2, 3))):
            await asyncio.sleep(self.dice.choice((210.0, 300.0, 500.0)))
            await self.see(self.program(mishaps=False), partial(self.settle, soon=True))
            await self.run(self.program(mishaps=False))

    def move_the_clock(self, programs: int) -> None:
        """A day either way. Forward, programs on another host look dead until their next beat."""
        days = self.dice.choice((1, -1))
        self.situations[f"a clock that is set {'forward' if days > 0 else 'back'} by a day"] += 1
        asyncio.get_running_loop().skew += timedelta(days=days)
        if days < 0:
            self.set_back += timedelta(days=1)
        else:
            self.doubt_allowed += programs * self.local.invites_in_flight
            for program in self.programs.values():
                program.lost_sight_of = True

    async def by_person(self, act: Callable[[], Awaitable[None]]) -> None:
        """A person's command is a program too, typed once nothing is under way any more."""
        await asyncio.sleep(2 * FAR_TOO_LATE)
        await self.see(self.program(mishaps=False), act)

    async def calm(self) -> None:
        """With nothing in the way the same command finishes, and then it has nothing to do."""
        self.assessment.trouble = self.saved_beside = 0.0
        # Where the clock was set back, a dead program on another host seems to beat until then.
        patience = PATIENCE + HEARTBEAT_EXPIRES + self.set_back
        await asyncio.sleep(patience.total_seconds())
        for _ in range(40):
            before = self.made()
            finish = await self.run(self.program(mishaps=False))
            stopped = finish is not None and finish.ending is Ending.STOPPED
            if stopped and self.assessment.unwelcome:
                self.situations["refused alike"] += 1
                self.assessment.unwelcome.clear()  # somebody mends what the service told them
            if self.made() == before:
                if self.add_again:
                    check_nobody_asked(self.ledger, KEY)
                if not self._doubts():
                    break
                await asyncio.sleep(PATIENCE.total_seconds())
                await self.by_person(self.settle)
        else:
            raise BrokenPromise("the same command never comes to an end")
        self.check()
        self._everybody_has_what_was_asked_for(finish, check_finished(self.ledger, KEY))

    def _doubts(self) -> bool:
        books = open_books(self.ledger, KEY)
        assert books is not None
        steps = {books.campaign.project_state, books.campaign.problem_state}
        steps |= {state for one in books.people for state in (one.add_state, one.invite_state)}
        return Step.UNSURE in steps

    def _everybody_has_what_was_asked_for(self, finish: Finish | None, books: Books) -> None:
        """Everyone whom the service takes has the invitations that were wanted, and no other."""
        assert finish is not None
        times = Counter(email_key(one.email) for one in self.assessment.record.invitations)
        for one in books.people:
            refused = Step.REFUSED in (one.add_state, one.invite_state)
            withdrawn = Step.WITHDRAWN in (one.add_state, one.invite_state)
            held = one.email_key in self.decisions.listed
            if refused or withdrawn or held or not one.listed or not self.send:
                continue
            if times[one.email_key] != 1 + self.resent[one.email_key]:
                raise BrokenPromise(f"{one.email_key} got {times[one.email_key]} emails")
        if finish.ending not in (Ending.COMPLETED, Ending.NEEDS_ATTENTION):
            raise BrokenPromise(f"all is done, and the run says {finish.ending}: {finish.reason}")

    def made(self) -> tuple[int, int, int]:
        """How many calls of each kind the service has answered so far."""
        return (
            len(self.assessment.record.requests),
            self.assessment.listings,
            self.assessment.tokens,
        )

    def fingerprint(self) -> str:
        """A digest of all that the service saw and all that the ledger holds."""
        told = hashlib.sha256()
        for request in self.assessment.record.requests:
            told.update(repr(request.as_json()).encode())
        for name in self.workshop.tables:
            for row in self.workshop.ask(f"SELECT * FROM {name} ORDER BY id"):
                told.update(repr(row).replace(str(self.workshop.folder), "").encode())
        return told.hexdigest()


def play(workshop: Workshop, seed: int) -> World:
    """Let one history happen. Raises BrokenPromise, or whatever the product raised."""
    workshop.empty()
    world = World(workshop, seed)
    loop = VirtualLoop()
    asyncio.set_event_loop(loop)
    try:
        loop.run_until_complete(world.history())
    finally:
        loop.run_until_complete(world.end())
        asyncio.set_event_loop(None)
        loop.close()
    return world
