"""The flow that runs every campaign of a folder or workbook, each as a run of its own."""

import asyncio
import re
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from prefect.artifacts import MarkdownArtifact
from prefect.client.schemas.objects import State
from prefect.runtime import flow_run

from config.reading.folder import campaigns_at
from flows.at_work import dropped_beside_another
from flows.pages.final_states import broken_off
from flows.pages.markdown import artifact_key
from flows.pages.notices import our_flow
from flows.pages.seen import name_of
from flows.run.interrupts import Stop, stopping_on_signals
from flows.side_by_side import DEFAULT, Outcome, SideBySide, page, run_all, state_of_all
from tasks.shell import as_task


def named_by_folder() -> str:
    """The name of a run over a folder."""
    return name_of(Path(flow_run.parameters["folder"]).name)


@our_flow("batch", named_by_folder)
@dropped_beside_another
async def run_batch(folder: str, side_by_side: SideBySide = DEFAULT) -> State[Any]:
    """Run every campaign of a folder (or of one workbook), some side by side.

    A campaign that fails does not stop the others, and one without changes makes no request. Safe
    to run again at any time.
    """
    place = Path(folder)
    try:
        with stopping_on_signals(Stop()):  # a signal before the first one stops them all
            look = partial(asyncio.to_thread, campaigns_at, place)
            entries = await as_task("look for campaigns", look)
            # No person has approved these bytes: each run takes its file as it is at its turn.
            unseen = [replace(entry, digest=None) for entry in entries]
            outcomes = await run_all(unseen, asyncio.Semaphore(side_by_side))
            await show("batch", place, outcomes)
        return state_of_all(outcomes)
    except Exception as error:  # noqa: BLE001 - a traceback in Prefect may name people
        return broken_off(error)


async def show(kind: str, place: Path, outcomes: list[Outcome]) -> None:
    """Write the page of them all: a new version of the folder's one artifact."""
    key = artifact_key(kind, re.sub(r"^[^a-z0-9]+", "", place.name.lower()) or "folder")
    await MarkdownArtifact(key=key, markdown=page(place.name, outcomes)).acreate()
