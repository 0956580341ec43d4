"""Staying for other runs of a campaign: what they are sending belongs to how it ends."""

import asyncio
from collections.abc import Awaitable, Callable

from flows.work import Desk

AGAIN = 1.0  # seconds between two looks


async def others_ended(
    desk: Desk,
    campaign_row: int,
    wait: Callable[[float], Awaitable[bool]],
    run: int = 0,
) -> bool:
    """Stay while runs other than `run` wait for answers, as long as the desk has patience.

    True once there were some, and all have come. Where another run dies, what it was sending is
    said to be unsure as soon as that is known. `wait` answers False when there is no more staying.
    """
    ledger, patience = desk.ledger, desk.patience
    while patience > 0 and await asyncio.to_thread(ledger.sent_beside, campaign_row, run):
        patience -= AGAIN
        if not await wait(AGAIN):
            return False
        await asyncio.to_thread(ledger.recover, campaign_row)
    return 0 < patience < desk.patience
