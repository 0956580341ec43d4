"""A step as a Prefect task run: Prefect shows and times it, but never caches or retries it.

What a step gets and returns stays out of Prefect, because it names people. From an error, Prefect
gets the words meant for people, or its class name; never a traceback.
"""

import re
import traceback
from collections import Counter
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeVar, cast

from prefect import Task
from prefect.cache_policies import NO_CACHE
from prefect.client.schemas.objects import State
from prefect.runtime import flow_run
from prefect.states import Failed

from config.errors import CampaignError

T = TypeVar("T")

# How many steps each run in this process has made, by the run's id in Prefect.
made: Counter[str] = Counter()


def in_words(error: Exception) -> str:
    """Say what went wrong without any text that might name a person or a secret."""
    if isinstance(error, CampaignError):
        return str(error)
    if type(error).__module__.startswith("prefect"):
        return (
            f"Prefect failed ({type(error).__name__}), and the run ended: its server may be busy "
            "with other runs. The ledger is intact; the next run continues from there."
        )
    frames = traceback.extract_tb(error.__traceback__)
    where = f" at {Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else ""
    return (
        f"A fault in this program ({type(error).__name__}{where}) ended the run. The ledger is "
        "intact; the next run continues from there."
    )


async def as_task(name: str, step: Callable[[], Awaitable[T]], /) -> T:
    """Run a step as a task run called `name`. Raises what the step raised."""
    results: list[T] = []
    errors: list[Exception] = []

    async def seen_by_prefect() -> State[Any] | None:
        try:
            results.append(await step())
        except Exception as error:  # noqa: BLE001 - raised again below, out of Prefect's sight
            errors.append(error)
            return Failed(message=in_words(error))
        return None

    task = Task(
        seen_by_prefect,
        name=re.sub(r" [\d,-]+ of [\d,]+$", "", name),
        task_run_name=name.replace("{", "").replace("}", ""),
        cache_policy=NO_CACHE,
        persist_result=False,
        retries=0,
    )
    made[str(flow_run.id)] += 1
    await cast(Awaitable[object], task(return_state=True))
    if errors:
        raise errors[0]
    return results[0]
