"""Histories of one campaign in virtual time: a network, a service, people, and runs that die.

Everything that a seed decides is decided by it alone. Hours pass in milliseconds: the loop's clock
jumps to whatever happens next, once no thread is at work.
"""

import asyncio
import random
import selectors
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from sqlmodel import Session, select

from config.errors import CampaignError
from config.settings import Settings
from data.campaigns.history import events_of
from data.decisions import decisions, doubts
from data.decisions.decisions import By
from data.sending.runs import recover
from data.sending.writer import Running
from data.store import tables
from data.store.lease import AtWork, lease
from data.store.ledger import Ledger
from data.store.states import BRINGS_ID, Op, State
from data.store.tables import Part, Person, Step
from tasks.sending import run as module
from tasks.sending.run import sending
from tests.data.sending import small
from tests.tasks.sending.simulated_service import LONGEST, Client, Killed, Service

BEGAN = datetime(2026, 12, 1, 9, tzinfo=UTC)
ADA = By("Ada", "as the candidate asked")


class Loop(asyncio.SelectorEventLoop):
    """A loop whose clock jumps. `busy` counts threads at work, for which it waits."""

    def __init__(self) -> None:
        self.clock, self.busy = 0.0, 0
        super().__init__(_Selector(self))

    def time(self) -> float:
        return self.clock

    def run_in_executor(self, executor: Any, func: Callable[..., Any], *args: Any) -> Any:
        self.busy += 1
        done = super().run_in_executor(executor, func, *args)
        done.add_done_callback(lambda _: self.rests())
        return done

    def rests(self) -> None:
        self.busy -= 1


class _Selector(selectors.DefaultSelector):  # type: ignore[misc, valid-type]
    def __init__(self, loop: Loop) -> None:
        super().__init__()
        self._loop = loop

    def select(self, timeout: float | None = None) -> Any:
        events = super().select(0)
        if events or timeout == 0:
            return events
        if self._loop.busy:
            return super().select(5)
        assert timeout is not None, "nothing will ever happen"
        self._loop.clock += timeout
        return []


class BusyRun(Running):
    """A run for whose thread the loop waits."""

    async def _ask(self, asked: Any) -> Any:
        loop: Any = asyncio.get_running_loop()
        loop.busy += 1
        try:
            return await super()._ask(asked)
        finally:
            loop.rests()


class Mortal:
    """A ledger as a process has it open: once it is dead, it writes and reads nothing."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger, self.dead = ledger, False

    def __getattr__(self, name: str) -> Any:
        return getattr(self._ledger, name)

    @contextmanager
    def recording(self) -> Iterator[Session]:
        if self.dead:
            raise Killed
        with self._ledger.recording() as session:
            yield session
            if self.dead:
                raise Killed

    reading = writing = recording


class History:
    """One campaign's history: what a seed lets happen to it."""

    def __init__(self, seed: int, ledger: Ledger, folder: Path) -> None:
        self.rng = random.Random(seed)
        self.service = Service(self.rng)
        self.ledger, self.allowed = ledger, Counter[str]()
        self.told: list[tuple[float, str]] = []  # when, and what
        self._runs: list[tuple[asyncio.Task[None], Mortal, ExitStack, asyncio.Event]] = []
        self.people = self.rng.randint(3, 8)
        self.settings = Settings(  # type: ignore[call-arg]
            _env_file=None,
            invites_in_flight=self.rng.randint(1, 4),
            candidates_per_request=self.rng.randint(1, 5),
        )
        with ledger.writing() as session:
            row = small.campaign(session, self.people, project={"name": "x"}, invites={})
            row.file = str(folder / "backend.yaml")
            self.campaign_id = row.id

    async def live(self) -> None:
        """Things happen, and then everything is settled and sent."""
        happens = [self.begin, self.begin, self.time, self.time, self.time, self.kill, self.kill]
        happens += [self.stop, self.locks, self.settle, self.pause, self.resume, self.withdraw]
        happens += [self.undo, self.once_more, self.unlist, self.list_again]
        for _ in range(self.rng.randint(4, 16)):
            what = self.rng.choice(happens)
            self.told.append((asyncio.get_running_loop().time(), what.__name__))
            done = what()
            if done is not None:
                await done
        self.service.trouble = 0.0
        for _ in range(8):
            await self.over()
            self.settle_now()
            if self._all_done():
                return
            self.resume()
            self.undo()
            self.list_again()
            self.begin()
        await self.over()

    def story(self) -> str:
        """All that happened, was written down and reached the service, in order."""
        with self.ledger.reading() as session:
            events = events_of(session, self.campaign_id)
        told = [*self.told]
        for each in events:
            came = f"{each.came or each.who} {each.words}".rstrip()
            what = f"ledger: {each.word} {each.about}, {came}"
            told.append(((each.at - BEGAN).total_seconds(), what))
        for entry in self.service.entries:
            whom = entry["email"] or ", ".join(entry["ids"])
            told.append((entry["at"], f"service: {entry['op']} {whom}, {entry['status']}"))
        return "\n".join(f"{at:9.1f} s  {what}" for at, what in sorted(told))

    def _all_done(self) -> bool:
        with self.ledger.reading() as session:
            return set(session.exec(select(Step.state))) == {State.DONE}

    def begin(self) -> None:
        process, stack, stop = Mortal(self.ledger), ExitStack(), asyncio.Event()
        task = asyncio.get_running_loop().create_task(self._run(process, stack, stop))
        self._runs.append((task, process, stack, stop))

    async def _run(self, process: Mortal, stack: ExitStack, stop: asyncio.Event) -> None:
        opened: Any = process
        with suppress(AtWork, CampaignError, Killed), stack:
            held = stack.enter_context(lease(opened, "backend"))
            with opened.writing() as session:
                recover(session, "backend")
            client: Any = lambda _: Client(self.service, process)  # noqa: E731
            module.Service = client  # type: ignore[misc]
            sends = sending(opened, held, self.campaign_id, self.settings, stop)
            async with sends as run:
                await run.everything()

    async def time(self) -> None:
        await asyncio.sleep(self.rng.choice((0.05, 0.2, 0.5, 1, 3, 20, 60)))

    def kill(self) -> None:
        for task, process, stack, _ in self._runs:
            if not task.done() and self.rng.random() < 0.7:
                process.dead = True
                stack.close()  # the system frees what the dead held
                task.cancel()

    def stop(self) -> None:
        for *_, stop in self._runs:
            stop.set()

    def locks(self) -> None:
        for file in self.ledger.locks.glob("*"):
            if not file.name.startswith("."):
                file.unlink()

    async def over(self) -> None:
        """Every run has ended, and every answer is there or will never be."""
        for task, *_ in self._runs:
            with suppress(asyncio.CancelledError, Killed):
                await task
        self._runs.clear()
        await asyncio.sleep(3 * LONGEST)

    async def settle(self) -> None:
        await self.over()
        self.settle_now()

    def settle_now(self) -> None:
        """A truthful person reads the service; nothing is on its way to it."""
        with self.ledger.writing() as session:
            recover(session, "backend")
        settle(self.ledger, self.service.entries)

    def pause(self) -> None:
        self._decide(lambda s: decisions.pause(s, self.campaign_id, ADA))

    def resume(self) -> None:
        self._decide(lambda s: decisions.pause(s, self.campaign_id, ADA, resume=True))

    def withdraw(self) -> None:
        self._decide(lambda s: decisions.withdraw(s, self.campaign_id, [self._somebody(s)], ADA))

    def undo(self) -> None:
        for name in small.NAMES[: self.people]:
            self._decide(
                lambda s, n=name: decisions.undo(s, self.campaign_id, [f"{n}@example.org"], ADA)
            )

    def once_more(self) -> None:
        def again(session: Session) -> None:
            done = decisions.invite(session, self.campaign_id, [self._somebody(session)], ADA)
            self.allowed.update(k for k, v in done.items() if v == decisions.AGAIN)

        self._decide(again)

    def unlist(self) -> None:
        self._decide(lambda s: self._put(s, listed=False))

    def list_again(self) -> None:
        self._decide(lambda s: self._put(s, listed=True))

    def _put(self, session: Session, *, listed: bool) -> None:
        for person in session.exec(select(Person)):
            if listed or self.rng.random() < 0.2:
                person.listed = listed

    def _somebody(self, session: Session) -> str:
        return self.rng.choice([p.email1 for p in session.exec(select(Person))])

    def _decide(self, decide: Callable[[Session], Any]) -> None:
        with suppress(CampaignError), self.ledger.writing() as session:
            decide(session)


def settle(ledger: Ledger, entries: list[dict[str, Any]]) -> None:
    """A truthful person says of each doubt what the service did; of a refusal, to try again."""
    with ledger.writing() as session:
        for doubt in doubts.doubts(session, 1):
            worked = [e for e in entries if e["op"] == doubt.op and e["worked"]]
            whose = doubt.email1 or "project"
            ids = [e["ids"][whose] for e in worked if whose in e["ids"]]
            mails = [e for e in worked if e["email"] == doubt.email1]
            counted = (Part.step_id == doubt.step_id, Part.state == State.DONE)
            before = session.exec(select(Part).where(*counted)).all()
            there = {Op.ATTACH: bool(worked), Op.INVITE: len(mails) > len(before)}
            happened = there.get(doubt.op, bool(ids))
            number = ids[-1] if happened and doubt.op in BRINGS_ID else None
            word = "sent" if happened else "again"
            verdict = doubts.Settlement(word, doubt.email1, doubt.op, number)
            doubts.settle_all(session, 1, [verdict], ADA)
        refused = select(Person.email1).join(Step, Step.person_id == Person.id)  # type: ignore[arg-type]
        for email1 in session.exec(refused.where(Step.state == State.REFUSED)).all():
            with suppress(CampaignError):
                decisions.invite(session, 1, [email1], ADA)


@contextmanager
def in_virtual_time(loop: Loop) -> Iterator[None]:
    """All clocks of the product are the loop's."""

    def now() -> datetime:
        return BEGAN + timedelta(seconds=loop.clock)

    real, changed = tables.now, []
    for name, each in list(sys.modules.items()):
        if name.startswith(("data.", "tasks.")) and vars(each).get("now") is real:
            changed.append(each)
            vars(each)["now"] = now
    try:
        yield
    finally:
        for each in changed:
            vars(each)["now"] = real
