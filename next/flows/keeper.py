"""What `campaign up` does beside Prefect's worker, every few seconds.

Runs whose process died go on, files that are new or changed in the folder are run, and notices that
could not be told are told. The ledger is asked first, so that an idle installation writes nothing.
"""

import asyncio
import time
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any

from prefect.client.orchestration import PrefectClient, get_client
from prefect.client.schemas.filters import FlowFilter, FlowRunFilter
from prefect.client.schemas.objects import FlowRun, State
from prefect.logging import get_logger
from prefect.states import AwaitingRetry, Crashed

from config.errors import CampaignError
from config.folder import find
from config.reading import key_of, read_campaign
from data.store.lease import is_free
from data.store.ledger import Ledger
from data.store.tables import SeenFile, now
from flows.deployments import deploy
from flows.runs import CAMPAIGN, run_now
from flows.tell import note, tell_waiting

EVERY = 5.0
QUIET = timedelta(seconds=45)  # a run this long without a word and without its lease is dead
RESTS = 3.0  # seconds without a change, before a file is read
TRIES = 6  # times that the same run begins again


async def keep(ledger: Ledger, folder: Path) -> None:
    """Look after runs, the folder and notices, until cancelled."""
    since, watched = now(), Watched(folder)
    async with get_client() as client:
        while True:
            try:
                await dead_runs_go_on(client, ledger, since)
                await watched.run_what_is_new(client, ledger)
                await tell_waiting(ledger)
            except Exception as error:  # noqa: BLE001 - whatever it is, the next look comes
                get_logger("campaign").warning("The keeper stumbled: %s", type(error).__name__)
                since = now()  # a server that was away heard of no run
            await asyncio.sleep(EVERY)


async def dead_runs_go_on(client: PrefectClient, ledger: Ledger, since: datetime) -> None:
    """Have each run of a campaign whose process is gone begin again, as the same run."""
    for run in await client.read_flow_runs(
        flow_filter=FlowFilter.model_validate({"name": {"any_": [CAMPAIGN]}}),
        flow_run_filter=FlowRunFilter.model_validate(
            {
                "state": {"type": {"any_": ["PENDING", "RUNNING", "CRASHED"]}},
                "expected_start_time": {"after_": datetime.now(UTC) - timedelta(days=1)},
                "deployment_id": {"is_null_": False},
            }
        ),
    ):
        if run.state is None or not _is_dead(ledger, run, since):
            continue
        if run.run_count < TRIES:
            state: State[Any] = AwaitingRetry(message="Its process was gone; it goes on.")
            await client.set_flow_run_state(run.id, state, force=True)
            continue
        text = f"{run.name}: gone. Its process died {TRIES} times; what it sent is in the ledger."
        with ledger.writing() as session:
            note(session, f"{run.id} gone", text)
        if not run.state.is_crashed():
            await client.set_flow_run_state(run.id, Crashed(message=text), force=True)


def _is_dead(ledger: Ledger, run: FlowRun, since: datetime) -> bool:
    """Whether its worker saw it crash, or it is quiet and nobody holds its campaign's lease."""
    if run.state is None or run.state.is_crashed():
        return True
    quiet_since = max(run.state.timestamp, since)
    try:
        key = run.parameters.get("campaign") or key_of(Path(run.parameters["file"]))
    except (CampaignError, KeyError):
        return False
    return now() - quiet_since > QUIET and is_free(ledger, key)


class Watched:
    """The folder of definitions: each is deployed, and run when its content is new."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder.resolve()
        self._last: dict[Path, tuple[int, int, int]] | None = None

    async def run_what_is_new(self, client: PrefectClient, ledger: Ledger) -> None:
        """Read the folder again once something in it has changed and rests."""
        stats = await asyncio.to_thread(self._stats)
        newest = max((each[0] for each in stats.values()), default=0)
        if stats == self._last or time.time() - newest / 1e9 < RESTS:
            return
        found = await asyncio.to_thread(find, self._folder)
        unreadable = [mistake.place.file for mistake in found.mistakes]
        for file in dict.fromkeys([*found.files, *unreadable]):
            await self._run_if_new(client, ledger, file)
        self._last = stats

    async def _run_if_new(self, client: PrefectClient, ledger: Ledger, file: Path) -> None:
        key, scheduled = None, False
        try:
            campaign = await asyncio.to_thread(read_campaign, file)
        except CampaignError as error:
            trace = sha256(str(error.args).encode()).hexdigest()
            with suppress(CampaignError):
                key = key_of(file)
        else:
            key, trace = campaign.definition.campaign, campaign.digest
            scheduled = campaign.definition.schedule is not None
            await deploy(client, file, campaign.definition)
        with ledger.reading() as session:
            seen = session.get(SeenFile, str(file))
        if seen is not None and seen.trace == trace:
            return
        if not scheduled:  # what has a schedule waits for its time
            await run_now(client, file, key, trace)
        with ledger.writing() as session:
            session.merge(SeenFile(path=str(file), trace=trace, at=now()))

    def _stats(self) -> dict[Path, tuple[int, int, int]]:
        stats = {}
        for file in self._folder.iterdir():
            with suppress(OSError):
                seen = file.stat()
                stats[file] = (seen.st_mtime_ns, seen.st_size, seen.st_ino)
        return stats
