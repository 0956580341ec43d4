"""Runs: one process at work on one campaign, with everything that it writes down with."""

import asyncio
import os
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from sqlalchemy import update

from config.errors import CampaignError
from data.campaigns.people import own_steps
from data.sending.writer import Writer
from data.store import receipts
from data.store.lease import Lease
from data.store.ledger import Ledger
from data.store.states import Op
from data.store.tables import RUN, Campaign, Run, Step, now

T = TypeVar("T")


@contextmanager
def running(
    ledger: Ledger, lease: Lease, campaign_id: int, per_second: float | None = None
) -> Iterator["Running"]:
    """Begin a run, after `recover`. Raises where receipts do not fit.

    `per_second`: the most invitations of all runs of the ledger.
    """
    with ledger.reading() as session:
        campaign = session.get_one(Campaign, campaign_id)
    receipts.check(ledger, campaign.key, campaign.service, Path(campaign.file))
    with ledger.writing() as session:
        run = Run(campaign_id=campaign_id, host=socket.gethostname(), pid=os.getpid())
        session.add(run)
    mark = receipts.Mark(ledger, campaign_id, Path(campaign.file))
    writer = Writer(ledger, campaign_id, run.id, lease, mark, per_second)
    at_work = Running(ledger, lease, campaign, writer)
    try:
        with at_work.writer:
            yield at_work
    finally:
        with suppress(CampaignError):
            if mark.claimed:  # a copy made in the midst of this run is behind it
                mark.grow()
        mark.close()
        with suppress(CampaignError), ledger.writing() as session:
            ended = {"ended": now(), "ending": at_work.ending}
            session.execute(update(RUN).where(RUN.c.id == run.id).values(ended))


@dataclass(eq=False)
class Running:
    """A run of a campaign. `ending` is how it ends, as the ledger keeps it."""

    ledger: Ledger
    lease: Lease
    campaign: Campaign
    writer: Writer
    ending: str = "failed"

    def ask(self, question: Callable[..., T], *of: Any) -> T:
        """What the ledger says of the campaign now, such as who is `due`."""
        with self.ledger.reading() as session:
            return question(session, self.campaign.id, *of)

    def own_step(self, op: Op) -> Step:
        """A step of the project itself."""
        return self.ask(own_steps)[op]

    async def still_ours(self) -> None:
        """The last look before a request leaves. Raises LeaseLost."""
        if self.ledger.on_a_server:
            await asyncio.to_thread(self.lease.check)
        else:
            self.lease.check()
