"""One run as Prefect shows it: its name, its tags, how far it is, and where it stands in the end.

Prefect is asked here as well whether somebody has cancelled the run. Where Prefect does not
answer, the run goes on unseen: it guards nothing.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Mapping
from contextlib import asynccontextmanager, suppress
from itertools import islice
from time import monotonic, thread_time
from typing import TypeVar
from urllib.parse import urlsplit
from uuid import UUID

from prefect.artifacts import MarkdownArtifact, ProgressArtifact
from prefect.client.orchestration import PrefectClient, get_client
from prefect.client.schemas.actions import ArtifactUpdate
from prefect.client.schemas.filters import FlowFilter, FlowFilterId
from prefect.logging import get_run_logger
from prefect.runtime import flow_run
from prefect.settings import get_current_settings

from config.command_line import as_typed
from config.errors import CampaignError
from config.settings import LocalSettings, load_local
from config.timetable.moments import in_zone
from data.campaigns import queries
from data.decisions import settling
from data.store.clock import now
from data.store.ledger import Ledger
from flows.engine.runs import find_runs, flows_named, this_run
from flows.pages import markdown
from flows.pages.wrong_places import to_look_at
from flows.run.ending import Finish
from flows.run.observer import RunObserver, whole
from tasks.plan.target import CampaignSource
from tasks.status.standing import counts_of

EVERY = 3.0  # seconds between two looks at how far it is
LOOKS = 1.0  # seconds between two looks for a cancel: each costs as much as inviting fifteen people
SHARE = 200  # or so many times as long as a look took: with 100,000 people it takes a while
PATIENCE = 10.0  # seconds that Prefect may take; a wave does not wait longer for its answer
LAST = 60.0  # the last page waits for a server that has to be started again
CANCELLED = "It was cancelled in Prefect."
SUSPENDED = "It was suspended in Prefect."
DELETED = "It was deleted in Prefect."

T = TypeVar("T")


class Seen(RunObserver):
    """Keeps Prefect's pages of one run up to date. `host` is the service's."""

    def __init__(self, client: PrefectClient, ledger: Ledger, local: LocalSettings, host: str):
        self._client = client
        self._ledger = ledger
        self._local = local
        self._host = host
        self._run = UUID(str(flow_run.id))
        around = whole.get()
        self._stoppable = [self._run, *([UUID(around)] if around else [])]
        self._key = asyncio.get_running_loop().create_future()
        self._zone: str | None = None
        self._introduced = False
        self._progress: UUID | None = None
        self._shown = ""
        self._one_look = asyncio.Lock()
        self._pause = EVERY
        self._said = set[type[Exception]]()
        self._asking = asyncio.Lock()
        self._looked = float("-inf")

    def on_start(self, key: str, zone: str | None) -> None:
        """Learn which campaign it is, and in which time zone its people read."""
        self._zone = zone
        if not self._key.done():
            self._key.set_result(key)

    def on_warning(self, warning: str) -> None:
        get_run_logger().warning(warning)

    def on_doubtful(self, source: CampaignSource, places: int) -> None:
        typed = as_typed(source.file, source.definition, sheet=source.sheet)
        self.on_warning(to_look_at(places, *typed))

    async def stopped_lately(self) -> str | None:
        """The same as `stopped`, for whoever asks often: Prefect is asked once in LOOKS seconds,
        and only one of them waits for its answer.
        """
        if self._asking.locked() or monotonic() - self._looked < LOOKS:
            return None
        async with self._asking:
            reason = await self.stopped()
            self._looked = monotonic()
            return reason

    async def stopped(self) -> str | None:
        """Say whether somebody has stopped or deleted the run, or the one it is a part of."""
        reasons = [await self._ask(self._stopped(run)) for run in self._stoppable]
        return next((reason for reason in reasons if reason), None)

    async def _stopped(self, run: UUID) -> str | None:
        # Not by its id: a proxy before Prefect may answer 404 to anything.
        runs = await find_runs(self._client, id={"any_": [run]})
        if not runs:
            return DELETED
        if (state := runs[0].state) is None:
            return None
        if state.is_cancelling() or state.is_cancelled():
            return CANCELLED
        return SUSPENDED if state.is_paused() else None

    async def _ask(self, asked: Awaitable[T]) -> T | None:
        """What Prefect answers; None where it does not. Each kind of trouble is said once."""
        try:
            async with asyncio.timeout(PATIENCE):
                return await asked
        except Exception as error:  # noqa: BLE001 - Prefect may fail in ways of its own
            if type(error) not in self._said:
                self._said.add(type(error))
                _unseen(error)
            return None

    async def ended(self, end: Finish) -> None:
        """Show where the campaign stands once the run is over."""
        await tolerantly(self._end(end), LAST)

    async def keep(self) -> None:
        """Show how far the run is, again and again, until this is cancelled."""
        key = await self._key
        await tolerantly(self._introduce(key))
        while True:
            await self._ask(self._advance(key))
            await asyncio.sleep(self._pause)

    async def _introduce(self, key: str) -> None:
        tags = {*flow_run.tags, f"campaign:{key}", self._host}
        # At first only the file was known: neither the key, perhaps, nor the campaign's time zone.
        name = name_of(key, self._zone)
        await self._client.update_flow_run(self._run, name=name, tags=sorted(tags))
        self._introduced = True

    async def _advance(self, key: str) -> None:
        async with self._one_look:  # else an earlier count may be shown after a later one
            line, percent = await asyncio.to_thread(self._how_far, key)
            if line == self._shown:
                return
            if self._progress is None:
                shown = ProgressArtifact(
                    key=markdown.artifact_key("progress", key), description=line, progress=percent
                )
                self._progress = (await shown.acreate(self._client)).id
            else:
                update = ArtifactUpdate(data=percent, description=line)
                await self._client.update_artifact(self._progress, update)
            self._shown = line

    def _how_far(self, key: str) -> tuple[str, float]:
        """Say how far the campaign is, in words and in percent; nothing while it is unknown."""
        begun = thread_time()
        campaign = self._ledger.read(queries.find_campaign, key)
        if campaign is None:
            return "", 0.0
        counts = counts_of(self._ledger, campaign)
        self._pause = max(EVERY, SHARE * (thread_time() - begun))
        send = campaign.send_invites
        return markdown.how_far(counts, send=send), markdown.percent(counts, send=send)

    async def _end(self, end: Finish) -> None:
        if not self._introduced:  # it was over at once
            await self._introduce(end.campaign)
        await self._advance(end.campaign)
        await _show(self._client, self._ledger, self._local, end)


async def show(ledger: Ledger, local: LocalSettings, end: Finish) -> None:
    """Write the campaign's page as it stands: a new version of its one artifact."""
    await tolerantly(_show_alone(ledger, local, end))


async def _show_alone(ledger: Ledger, local: LocalSettings, end: Finish) -> None:
    async with get_client() as client:
        await _show(client, ledger, local, end)


async def _show(client: PrefectClient, ledger: Ledger, local: LocalSettings, end: Finish) -> None:
    page = await asyncio.to_thread(_page, ledger, local, end, await _forms(client))
    if page is not None:
        text, in_short = page
        key = markdown.artifact_key("campaign", end.campaign)
        await MarkdownArtifact(key=key, markdown=text, description=in_short).acreate(client)


async def _forms(client: PrefectClient) -> dict[str, str]:
    """The addresses of the forms that a page names, where they are deployed."""
    named = flows_named([markdown.APPROVE, markdown.SETTLE])
    pages, forms = get_current_settings().ui_url, {}
    for flow in await client.read_flows(flow_filter=named) if pages else []:
        of_it = FlowFilter(id=FlowFilterId(any_=[flow.id]))
        for deployment in await client.read_deployments(flow_filter=of_it, limit=1):
            forms[flow.name] = f"{pages}/deployments/deployment/{deployment.id}/run"
    return forms


def _page(
    ledger: Ledger, local: LocalSettings, end: Finish, forms: Mapping[str, str]
) -> tuple[str, str] | None:
    """A campaign's page, and in a line how far it is and whether it needs somebody.

    A campaign may only be known by its plan so far.
    """
    campaign = ledger.read(queries.find_campaign, end.campaign)
    zone = campaign.timezone if campaign else None
    if end.plan is not None:
        zone = zone if campaign else end.plan.timezone
        page, in_short = markdown.plan(end.plan, forms), markdown.how_it_stands(end.plan)
    elif campaign is not None:
        written = local.output_dir / campaign.key
        page = markdown.summary(
            campaign,
            end,
            [
                *ledger.read(queries.in_need, campaign.id),
                *islice(queries.candidates(ledger, campaign.id), markdown.SHOWN),
            ],
            ledger.read(settling.find, campaign.id).steps,
            written=written if written.is_dir() else None,
            forms=forms,
        )
        in_short = markdown.how_far(end.counts, send=campaign.send_invites)
    else:
        return None
    return markdown.dated(page, now(), zone), in_short


@asynccontextmanager
async def seen(ledger: Ledger, local: LocalSettings, base_url: str) -> AsyncIterator[Seen]:
    """Keep Prefect's pages of the run that is under way."""
    async with get_client() as client:
        pages = Seen(client, ledger, local, urlsplit(base_url).netloc)
        keeping = asyncio.create_task(pages.keep())
        try:
            yield pages
        finally:
            keeping.cancel()
            await asyncio.wait({keeping})


def name_of(what: str, zone: str | None = None) -> str:
    """The name of a run: what it is about, and when it was scheduled. (Its process may
    start a second early, or a night later.) A run of many campaigns, or of one that is not read
    yet, has this machine's timezone, like the lines of `campaign up`.
    """
    run = this_run()
    due = run.expected_start_time if run else None
    return f"{what} {in_zone(due or now(), zone)}"


def named_by_its_clock(what: str, key: str) -> str:
    """The name of a run, in the campaign's timezone if the ledger has the campaign."""
    zone = None
    with (
        suppress(CampaignError),  # the run itself tells what is wrong with the ledger
        Ledger.open(load_local().database_url, create=False) as ledger,
    ):
        campaign = ledger.read(queries.find_campaign, key)
        zone = campaign.timezone if campaign else None
    return name_of(what, zone)


async def tolerantly(showing_it: Awaitable[None], patience: float = PATIENCE) -> None:
    """Do what only concerns Prefect's pages: where that fails, the campaign goes on."""
    try:
        async with asyncio.timeout(patience):
            await showing_it
    except Exception as error:  # noqa: BLE001 - a page that is not shown stops no campaign
        _unseen(error)


def _unseen(error: Exception) -> None:
    # Its class alone: what an error says may name people.
    get_run_logger().warning("Prefect's pages are not up to date (%s).", type(error).__name__)
