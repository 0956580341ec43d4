"""The parts of a run: the steps that a person watches, each a point where it may be stopped."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from flows.run.context import ActiveRun, check_stop, keep_receipt


async def may_go_on(work: ActiveRun) -> bool:
    """Before each part: nobody objects, and the receipt says how far the ledger has got.

    Look for a stop first: invitations of the previous part may still be leaving.
    """
    await check_stop(work)
    if work.gate.stopped is None:
        await keep_receipt(work)
    return work.gate.stopped is None


@asynccontextmanager
async def at_once() -> AsyncIterator[asyncio.TaskGroup]:
    """Do several things side by side. Raises what the first of them raised, which ends the rest."""
    try:
        async with asyncio.TaskGroup() as group:
            yield group
    except BaseExceptionGroup as several:
        raise several.exceptions[0] from None


def around(number: int, before: int) -> tuple[range, range]:
    """In which order a run takes `number` parts, if `before` runs began earlier.

    It starts where none of the others did and goes up to the end, then from its start down to the
    first part. So it meets another run only once, instead of following it and trying to claim the
    same people.
    """
    golden = 0.618033988749895  # the fractions of its multiples are far apart from each other
    first = int(number * (before * golden % 1))
    return range(first, number), range(first - 1, -1, -1)


def name_of(what: str, start: int, number: int, whole: int) -> str:
    """Name a part for people: `invitations 101-200 of 1,000`."""
    # A hyphen: Prefect's graph has no dash and would show "1–7" as "17".
    return f"{what} {start + 1:,}-{min(start + number, whole):,} of {whole:,}"
