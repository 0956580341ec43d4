"""What `campaign up` does beside Prefect's worker, every few seconds.

Runs whose process died go on, files that are new or changed in the folder are run, and notices that
could not be told are told. The ledger is asked first, so that an idle installation writes nothing.
"""

import asyncio
import logging
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any
from uuid import UUID

import psutil
from prefect.client.orchestration import PrefectClient, get_client
from prefect.client.schemas.filters import FlowFilter, FlowRunFilter, LogFilter
from prefect.client.schemas.objects import FlowRun, State, WorkerStatus
from prefect.client.schemas.sorting import FlowRunSort
from prefect.states import AwaitingRetry, Cancelled, Crashed, Failed
from sqlmodel import func, select

from config.errors import BadInput, CampaignError, Mistake, command
from config.folder import WORKBOOKS, find
from config.reading import YAML, key_of, read_campaign, table_of
from data.store.lease import is_free
from data.store.ledger import Ledger
from data.store.tables import Campaign, Request, Run, SeenFile, now
from flows.deployments import POOL, deploy, deploy_forms, unschedule
from flows.ending import End, Ending
from flows.page import announce
from flows.runs import ASKED_FOR, CAMPAIGN, SCHEDULED, named, run_now
from flows.tell import note, tell_waiting

EVERY = 5.0  # seconds between two looks
QUIET = 45.0  # seconds without lease or worker in which a run on another machine is dead
TRIES = 6  # times that the same run begins again without having sent anything
OUR_WORKERS = f"{socket.gethostname()} "  # how the names of this machine's begin
RECENT = timedelta(days=30)  # runs that ended earlier are left alone
LEFT_OUT = "Deployment concurrency"  # how Prefect says that another run was at work
A_WHILE = timedelta(minutes=5)
OVERWRITTEN = "Flow run was cancelled successfully."  # by Prefect's worker
ITS_TURN = "Another run was at work; it goes on now."
MISSED = "missed: another run of the same campaign does its work."
LONGEST = 300.0  # seconds between two tries to tell a notice
CANCELLED = "interrupted: it was cancelled while nothing of it was at work."
GOES_ON = "Its process was gone; it goes on."
NEVER_BEGAN = (
    f"{End.BAD_INPUT}: it could not begin: its parameters are wrong, or its deployment names a "
    "module that is not there.\nThe log of the run says which. Correct it, and start a new run."
)
GONE = "Its process died again and again. What it sent is in the ledger."


async def keep(ledger: Ledger, folder: Path, say: Callable[[str], None]) -> None:
    """Look after runs, the folder and notices, until cancelled."""
    runs, watched, notices = Runs(ledger), Watched(folder, ledger, say), Notices(ledger)
    complaint = ""
    async with get_client() as client:  # one for all looks: each new one writes a CSRF token
        while True:
            stumbled = ""
            for look in (*LOOKS, runs.go_on, watched.run_what_is_new, notices.tell):
                try:
                    await look(client)
                except Exception as error:  # noqa: BLE001 - whatever it is, the next look comes
                    where = (f"({which})" for which in getattr(error, "__notes__", ()))
                    stumbled = " ".join([type(error).__name__, "in", look.__name__, *where])
            if stumbled != complaint:
                say(f"Trying again: {stumbled}" if stumbled else "Everything answers again.")
                complaint = stumbled
            await asyncio.sleep(EVERY)


@contextmanager
def _stops_no_other(name: str, failed: list[Exception]) -> Iterator[None]:
    """Keep what goes wrong with one for when the others had their turn."""
    try:
        yield
    except Exception as error:  # noqa: BLE001 - whatever it is
        error.add_note(name)
        failed.append(error)


class Runs:
    """Runs of campaigns whose process is gone begin again, as the same run."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._gone_since: dict[tuple[object, object], float] = {}  # by run and its state

    async def go_on(self, client: PrefectClient) -> None:
        """Have each run that is dead begin again, or say why it does not."""
        since, self._gone_since = self._gone_since, {}  # a server that is away hears of no run
        here, looked = await asyncio.to_thread(_here), time.monotonic()
        found = await _under_way(client)
        await _begin_what_was_left_out(client, {run.deployment_id for run in found})
        failed: list[Exception] = []
        for run in found:
            with _stops_no_other(run.name, failed):
                if run.state is None:
                    continue
                if run.state.is_crashed():  # its worker saw it
                    await self._end(client, run, await _never_began(client, run))
                elif not await self._is_at_work(client, run, here):
                    which = run.id, run.state.id
                    first = self._gone_since[which] = since.get(which, looked)
                    if looked - first > (0.0 if _is_ours(run) else QUIET):
                        await self._end(client, run)
        if failed:
            raise failed[0]

    async def _end(self, client: PrefectClient, run: FlowRun, why: str | None = None) -> None:
        """Have a dead run begin again, unless that is of no use: `why`, or it died too often."""
        state: State[Any] = AwaitingRetry(message=GOES_ON)
        key = _key_of(run) or run.name
        if run.state is not None and run.state.is_cancelling():  # nobody is left who could end it
            state = Cancelled(message=CANCELLED)
        elif why is not None:
            state = Failed(message=why)
            self._note(f"{key} never began", f"{run.name}: {why}")
            await announce(Ending.read(key, why), {}, run)
        elif await self._tries(client, run) >= TRIES:
            state = Crashed(name="Crashed", message=GONE)
            self._note(f"{run.id} gone", f"{run.name}: gone. {GONE}")
            await announce(Ending.read(key, GONE), {}, run)
        await client.set_flow_run_state(run.id, state, force=True)

    def _note(self, situation: str, text: str) -> None:
        with self._ledger.writing() as session:
            note(session, situation, text)

    async def _tries(self, client: PrefectClient, run: FlowRun) -> int:
        """How often it began again since its campaign last sent something."""
        sent = select(func.max(Request.claimed_at)).join(Run).join(Campaign)
        with self._ledger.reading() as session:
            last = session.exec(sent.where(Campaign.key == _key_of(run))).one()
        states = await client.read_flow_run_states(run.id)
        began = [state.timestamp for state in states if state.message == GOES_ON]
        return sum(last is None or at > last for at in began)

    async def _is_at_work(self, client: PrefectClient, run: FlowRun, here: set[str]) -> bool:
        """Whether its process lives, or its worker if it has not begun: seen, or as far as told."""
        waits, worker = run.state is not None and run.state.is_pending(), _worker_of(run)
        if str(run.id) in here or (waits and worker in here):
            return True
        if _is_ours(run):
            return False
        if waits:
            workers = await client.read_workers_for_work_pool(POOL)
            return worker in {w.name for w in workers if w.status is WorkerStatus.ONLINE}
        key = _key_of(run)
        return key is not None and not is_free(self._ledger, key)


def _here() -> set[str]:
    """The runs whose processes live on this machine, and the names of its workers."""
    found: set[str] = set()
    for process in psutil.process_iter():
        with suppress(psutil.Error):  # it has just ended, or is another user's
            found |= {process.environ().get("PREFECT__FLOW_RUN_ID", ""), *process.cmdline()}
    return found - {""}


def _worker_of(run: FlowRun) -> str:
    return str(run.labels.get("prefect.worker.name", ""))


def _is_ours(run: FlowRun) -> bool:
    """Whether the worker of a `campaign up` on this machine has it."""
    return _worker_of(run).startswith(OUR_WORKERS)


def _key_of(run: FlowRun) -> str | None:
    try:
        key: str = run.parameters.get("campaign") or key_of(Path(run.parameters["file"]))
    except (CampaignError, KeyError):
        return None
    return key


async def _never_began(client: PrefectClient, run: FlowRun) -> str | None:
    """What is wrong with a run that ended before it began, if Prefect's engine knows it."""
    if run.run_count:
        return None
    said = {"flow_run_id": {"any_": [run.id]}, "level": {"ge_": logging.ERROR}}
    return NEVER_BEGAN if await client.read_logs(LogFilter.model_validate(said)) else None


def _lately() -> dict[str, Any]:
    return {"end_time": {"after_": datetime.now(UTC) - RECENT}}


async def _under_way(client: PrefectClient) -> list[FlowRun]:
    # A run that waits for its time is the same one for weeks: when it first began says nothing.
    at_work = await _read(client, "PENDING", "RUNNING", "CANCELLING")
    crashed = await _read(client, "CRASHED", **_lately())
    found = [*at_work, *crashed]
    return [run for run in found if run.state is None or run.state.message != GONE]


async def _read(client: PrefectClient, *states: str, **more: Any) -> list[FlowRun]:
    """Runs of campaigns that nobody typed, the latest first; of planned ones, the next."""
    order = FlowRunSort.EXPECTED_START_TIME_DESC
    if "SCHEDULED" in states:
        order = FlowRunSort.NEXT_SCHEDULED_START_TIME_ASC
    wanted = more | {"state": {"type": {"any_": states}}, "deployment_id": {"is_null_": False}}
    return await client.read_flow_runs(
        flow_filter=FlowFilter.model_validate({"name": {"any_": [CAMPAIGN]}}),
        flow_run_filter=FlowRunFilter.model_validate(wanted),
        sort=order,
    )


async def _begin_what_was_left_out(client: PrefectClient, at_work: set[UUID | None]) -> None:
    """Begin what was asked for while another run of its campaign was at work."""
    asked_for = await _read(client, "CANCELLED", tags={"all_": [ASKED_FOR]}, **_lately())
    left_out = [
        run
        for run in asked_for
        if run.state is not None
        and (run.state.message or "").startswith(LEFT_OUT)
        and run.deployment_id not in at_work
    ]
    for run in await _all_but_missed(client, left_out):
        await client.set_flow_run_state(run.id, AwaitingRetry(message=ITS_TURN), force=True)


async def plan(client: PrefectClient) -> None:
    """Name runs to come, and of late ones of a schedule leave the first, which does all.

    It is the next in Prefect's queue: the latest would lose its place to others again and again.
    """
    for run in (planned := await _read(client, "SCHEDULED")):
        if run.name != (name := named(run.parameters, run.expected_start_time)):
            await client.update_flow_run(run.id, name=name)
    at = datetime.now(UTC)
    late = [run for run in planned if (run.next_scheduled_start_time or at) < at]
    await _all_but_missed(client, [run for run in late if SCHEDULED in run.tags])


async def say_again(client: PrefectClient) -> None:
    """Say how a cancelled run ended: Prefect's worker writes over it."""
    lately = {"after_": datetime.now(UTC) - A_WHILE}
    for run in await _read(client, "CANCELLED", end_time=lately):
        if run.state is not None and run.state.message == OVERWRITTEN:
            for state in await client.read_flow_run_states(run.id):
                if (state.message or "").startswith(End.INTERRUPTED):
                    ours: State[Any] = Cancelled(message=state.message)
                    await client.set_flow_run_state(run.id, ours, force=True)


async def _all_but_missed(client: PrefectClient, runs: list[FlowRun]) -> list[FlowRun]:
    """Keep the first of those that do the same."""
    first: dict[tuple[object, ...], FlowRun] = {}
    for run in runs:
        same = run.deployment_id, str(run.parameters)
        if first.setdefault(same, run) is not run:
            await client.set_flow_run_state(run.id, Cancelled(message=MISSED), force=True)
    return list(first.values())


LOOKS = (deploy_forms, plan, say_again)


class Notices:
    """Notices that were not told yet, with growing waits while their address takes none."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._wait = self._next = 0.0

    async def tell(self, client: PrefectClient) -> None:
        del client
        if time.monotonic() < self._next:
            return
        all_went_out = await tell_waiting(self._ledger)
        self._wait = 0.0 if all_went_out else min(max(EVERY, 2 * self._wait), LONGEST)
        self._next = time.monotonic() + self._wait


class Watched:
    """The folder of definitions: each is deployed, and run when its content is new."""

    def __init__(self, folder: Path, ledger: Ledger, say: Callable[[str], None]) -> None:
        self._folder, self._ledger, self._say = folder.resolve(), ledger, say
        self._tables: set[Path] = set()  # those that definitions read, wherever they are
        self._seen: Stats = {}
        self._read: Stats | None = None

    async def run_what_is_new(self, client: PrefectClient) -> None:
        """Read the folder again once something in it has changed and rests.

        What goes wrong with one file is raised once the others are run.
        """
        before, self._seen = self._seen, await asyncio.to_thread(self._stats)
        if self._seen == self._read or self._seen != before:  # nothing new, or still being written
            return
        found = await asyncio.to_thread(find, self._folder)
        keys: dict[Path, str | None] = dict.fromkeys(self._seen)
        failed: list[Exception] = []
        for mistake in found.mistakes:
            with _stops_no_other(mistake.place.file.name, failed):
                self._report(mistake)
        for file in found.files:
            with _stops_no_other(file.name, failed):
                keys[file] = await self._run_if_new(client, file)
        self._tables = {table for file in found.files if (table := table_of(file)) is not None}
        await unschedule(client, self._folder, keys)
        if failed:
            raise failed[0]
        self._read = self._seen

    async def _run_if_new(self, client: PrefectClient, file: Path) -> str | None:
        """Deploy a definition, and run it if its content is new; gives its key, if it has one."""
        key, scheduled = None, False
        try:
            campaign = await asyncio.to_thread(read_campaign, file)
        except Exception as error:  # noqa: BLE001 - its run says so, and it stops no other file
            wrong = map(str, error.mistakes) if isinstance(error, BadInput) else [str(error)]
            trace = sha256("\n".join(wrong).encode()).hexdigest()
            with suppress(Exception):
                key = key_of(file)
        else:
            key, trace = campaign.definition.campaign, campaign.digest
            scheduled = campaign.definition.schedule is not None
            await deploy(client, file, campaign.definition)
        seen = self._last_seen(file)
        if seen is not None and seen.trace == trace:
            return key
        once = f"{trace} {seen.at if seen else 'new'}"
        if not scheduled and not await run_now(client, file, key, once):
            return key  # switched off: it is run once it is on and the folder changes
        with self._ledger.writing() as session:
            session.merge(SeenFile(path=str(file), trace=trace, at=now()))
        return key

    def _report(self, mistake: Mistake) -> None:
        """Of a file that is no campaign, though it seems to be one: there is nothing to run."""
        file = mistake.place.file
        trace = sha256(mistake.message.encode()).hexdigest()
        seen = self._last_seen(file)
        if seen is not None and seen.trace == trace:
            return
        self._say(str(mistake))
        with self._ledger.writing() as session:
            typed = command("check", file)
            note(session, f"{file} {trace}", f"{file}: bad input. Type: {typed}")
            session.merge(SeenFile(path=str(file), trace=trace, at=now()))

    def _last_seen(self, file: Path) -> SeenFile | None:
        with self._ledger.reading() as session:
            return session.get(SeenFile, str(file))

    def _stats(self) -> "Stats":
        """Of definitions, of what may be one, and of their tables: no file of ours is news."""
        kinds = (*YAML, *WORKBOOKS)
        may_be_one = (each for each in self._folder.iterdir() if each.suffix.lower() in kinds)
        stats = {}
        for file in (*may_be_one, *self._tables):
            with suppress(OSError):
                seen = file.stat()
                stats[file] = (seen.st_mtime_ns, seen.st_size, seen.st_ino)
        return stats


Stats = dict[Path, tuple[int, int, int]]
