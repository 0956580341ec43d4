"""Files that come, change, break or go while they are served: their deployments follow.

What was switched off in Prefect's pages stays there when its file goes, so that it is still off
when the file comes back. So do runs that are under way or were asked for, such as a campaign's next
wave: whoever waits for it is invited then, or somebody is told that the file is not there.
"""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from prefect.client.orchestration import PrefectClient, get_client
from prefect.client.schemas.actions import ArtifactCreate, DeploymentUpdate
from prefect.client.schemas.responses import DeploymentResponse
from prefect.logging import get_logger
from prefect.schedules import Schedule

from config.errors import BadInput
from config.reading.folder import Entry
from config.reading.sources import WORKBOOKS, YAML, suffix_of
from config.timetable.moments import in_zone
from flows.pages.markdown import artifact_key, table, text
from flows.pages.wrong_places import bad_files, left_out_files
from flows.serving.deployments import Planned, next_unfinished, planned_of
from flows.serving.kept_schedules import kept
from flows.serving.registering import name_of, undefined
from tasks.inbox import Traces, traces

EVERY = 5.0  # seconds between two looks; a file is read once it is the same twice


@dataclass(frozen=True, slots=True)
class Given:
    """What is served: files and folders, and the schedule of what has none of its own."""

    places: Sequence[Path]
    schedule: Schedule | None = None

    @property
    def folders(self) -> list[Path]:
        return [place.resolve() for place in self.places if place.is_dir()]

    def read(self) -> tuple[list[Planned], list[Entry]]:
        """Their deployments, and what is bad. Raises BadInput: a folder that cannot be read."""
        return planned_of(self.places, self.schedule)

    def look(self) -> Traces:
        """The traces of the files, by which a change is noticed."""
        files = [file for place in self.places for file in _definitions(place)]
        return {file: trace for file, trace in traces(files).items() if trace is not None}


def _definitions(place: Path) -> list[Path]:
    if not place.is_dir():
        return [place]
    try:
        return [file for file in place.iterdir() if suffix_of(file) in (*YAML, *WORKBOOKS)]
    except OSError:
        return []


Register = Callable[[PrefectClient, Sequence[Planned]], Awaitable[Sequence[str]]]
Tell = Callable[[Sequence[str]], None]


class FolderChanges:
    """Keeps deployments in step with files. `register` renews some, `tell` says what happened."""

    def __init__(self, given: Given, register: Register, tell: Tell) -> None:
        self._given = given
        self._register = register
        self._tell = tell
        self._planned: dict[str, Planned] = {}
        self._read = self._seen = given.look()

    async def begin(self, client: PrefectClient) -> list[str]:
        """Register what is there; returns what a person should know of it. Raises BadInput."""
        planned, bad = await asyncio.to_thread(self._given.read)
        self._planned = {each.full_name: each for each in planned}
        return [*await self._register(client, planned), *await self._tidy(client, bad)]

    async def keep(self) -> None:
        """Follow the files, until this is cancelled."""
        warned = False
        while True:
            await asyncio.sleep(EVERY)
            try:
                await self.look()
                warned = False
            except Exception as error:  # noqa: BLE001 - Prefect may fail in ways of its own
                if not warned:
                    get_logger("campaign").warning(
                        "Changed files could not be registered (%s). Trying again every few "
                        "seconds.",
                        type(error).__name__,
                    )
                warned = True

    async def look(self) -> None:
        """Register what has changed, once nobody is writing it any more."""
        seen, before = await asyncio.to_thread(self._given.look), self._seen
        self._seen = seen
        if seen == self._read or seen != before:
            return
        try:
            planned, bad = await asyncio.to_thread(self._given.read)
        except BadInput:
            return  # the folder cannot be read now: its deployments stay as they are
        fresh = [each for each in planned if self._planned.get(each.full_name) != each]
        async with get_client() as client:
            words = [f"Now served: {each.full_name}: {each.when}" for each in fresh]
            words += await self._register(client, fresh)
            self._planned = {each.full_name: each for each in planned}
            self._tell([*words, *await self._tidy(client, bad), *left_out_files(bad)])
        self._read = seen  # at the end: what fails is done at the next look

    async def _tidy(self, client: PrefectClient, bad: Sequence[Entry]) -> list[str]:
        """Take away what no file describes any more, and write the page of each folder.

        Returns what was taken away.
        """
        gone = []
        unreadable = {entry.file.resolve() for entry in bad}
        planned, places = self._planned.values(), self._given.places
        for deployment in await undefined(client, planned, places, unreadable):
            if not deployment.paused and any(each.active for each in deployment.schedules):
                gone.append(await _let_go(client, deployment))
        for folder in self._given.folders:
            wrong = [each for each in bad if folder in each.file.resolve().parents]
            served = [each for each in planned if folder == each.folder]
            # MarkdownArtifact warns where no run is under way.
            artifact = ArtifactCreate(
                type="markdown",
                key=artifact_key("folder", folder.name.lower()),
                description=_in_short(served, wrong),
                data=page(folder.name, served, wrong),
            )
            await client.create_artifact(artifact)
        return gone


async def _let_go(client: PrefectClient, deployment: DeploymentResponse) -> str:
    """Take away a deployment that no file describes, or only its schedule if a run is unfinished.

    Returns what a person should know. Prefect deletes the scheduled runs of what it deletes.
    """
    # The version first: else a schedule that is missing counts as removed by a person if this is
    # interrupted, and stays off when the file comes back.
    version = kept(None, None).version
    await client.update_deployment(deployment.id, DeploymentUpdate(version=version))
    for schedule in deployment.schedules:
        await client.delete_deployment_schedule(deployment.id, schedule.id)
    words = f"No longer served: {name_of(deployment)}: no file has it any more"
    run = await next_unfinished(client, deployment.id)
    if run is None:
        await client.delete_deployment(deployment.id)
    elif run.start_time is None and run.expected_start_time is not None:
        zones = (getattr(each.schedule, "timezone", None) for each in deployment.schedules)
        at = in_zone(run.expected_start_time, next(zones, None))
        words += f". Its run of {at} stays: put the file back before it begins."
    return words


def page(name: str, served: Collection[Planned], bad: Sequence[Entry]) -> str:
    """What a folder has, as Markdown: its campaigns and when they run, and its bad files."""
    rows = [
        (each.name, Path(each.parameters["file"]).name, each.when)
        for each in sorted(served, key=lambda each: each.name)
    ]
    parts = [
        f"# {text(name)}",
        _in_short(served, bad),
        table(("campaign", "file", "when"), rows),
        *(f"**{text(file.name)}**: {text(where)}" for file, where in bad_files(bad).items()),
    ]
    return "\n\n".join(parts) + "\n"


def _in_short(served: Collection[Planned], bad: Sequence[Entry]) -> str:
    files = len({entry.file for entry in bad})
    words = [f"{len(served):,} served"] + ([f"{files:,} with mistakes"] if bad else [])
    return ", ".join(words)
