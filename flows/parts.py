"""The parts of a run: the steps that a person watches, and at whose begin it may be stopped."""

from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import TypeVar

from flows.work import Work, heed, keep_receipt

T = TypeVar("T")


async def in_parts(
    work: Work,
    what: str,
    whole: Sequence[T],
    size: int,
    step: Callable[[Sequence[T]], Awaitable[None]],
) -> None:
    """Do one part after another, as far as the run may go on."""
    for start in range(0, len(whole), size):
        if not await may_go_on(work):
            return
        part = whole[start : start + size]
        await work.desk.perform(name_of(what, start, len(part), len(whole)), partial(step, part))


async def may_go_on(work: Work) -> bool:
    """Before each part: nobody objects, and the receipt says how far the ledger has got.

    Whoever objects is heard first: people of the part before may be leaving meanwhile.
    """
    await heed(work)
    if work.gate.stopped is None:
        await keep_receipt(work)
    return work.gate.stopped is None


def name_of(what: str, start: int, number: int, whole: int) -> str:
    """Name a part for people: `invitations 101-200 of 1,000`."""
    # A hyphen: Prefect's graph has no dash and would show "1–7" as "17".
    return f"{what} {start + 1:,}-{start + number:,} of {whole:,}"
