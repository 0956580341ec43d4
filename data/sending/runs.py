"""Runs: one process at work on one campaign, from its beginning to its end.

`recover` makes unsure what a dead run was sending. `writing` calls it before a person decides.
"""

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from sqlalchemy import select, update
from sqlmodel import Session

from config.errors import CampaignError
from data.campaigns.people import find, known
from data.sending.outcomes import Outcome, record
from data.sending.writer import Running
from data.store import receipts
from data.store.lease import AtWork, Lease, lease
from data.store.ledger import Ledger
from data.store.states import State
from data.store.tables import CAMPAIGN, PART, REQUEST, RUN, Campaign, Run, now

DIED = "died"  # the ending of a run that could not write its own
CUT_SHORT = "The run ended before an answer came."


@contextmanager
def running(
    ledger: Ledger, held: Lease, campaign_id: int, per_second: float | None = None
) -> Iterator[Running]:
    """Begin a run; call `recover` before. Raises NotTheNewest (receipts.py).

    `per_second`: the most invitations a second, of all runs of the ledger together.
    """
    with ledger.reading() as session:
        campaign = session.get_one(Campaign, campaign_id)
    receipts.check(ledger, campaign.key, campaign.service, Path(campaign.file))
    with ledger.writing() as session:
        run = Run(campaign_id=campaign_id, host=socket.gethostname(), pid=os.getpid())
        session.add(run)
    mark = receipts.Mark(ledger, campaign_id, Path(campaign.file))
    at_work = Running(ledger, held, campaign, run.id, mark, per_second)
    try:
        with at_work:
            yield at_work
    finally:
        with suppress(CampaignError):
            if mark.claimed:  # so a copy made during this run is behind
                mark.grow()
        mark.close()
        with suppress(CampaignError), ledger.writing() as session:
            ended = {"ended": now(), "ending": at_work.ending}
            session.execute(update(RUN).where(RUN.c.id == run.id).values(ended))


@contextmanager
def writing(*, create: bool = False) -> Iterator[Session]:
    """Open the ledger for decisions, in one transaction. Raises NoLedger, except with `create`."""
    with Ledger.open(create=create) as ledger:
        recover_all(ledger)
        with receipts.counting_decisions(ledger) as session:
            yield session


@contextmanager
def deciding(key: str) -> Iterator[tuple[Session, Campaign]]:
    """Open the ledger for a decision about this campaign. Raises NoLedger, NoSuchCampaign."""
    with writing() as session:
        yield session, find(session, key)


def recover_all(ledger: Ledger) -> None:
    """Recover each campaign whose run died, so that a person can decide about it at once."""
    begun = select(CAMPAIGN.c.key).join(RUN, RUN.c.campaign_id == CAMPAIGN.c.id)
    with ledger.reading() as session:
        keys = session.scalars(begun.where(RUN.c.ended.is_(None)).distinct()).all()
    for key in keys:
        with suppress(AtWork), lease(ledger, key), ledger.writing() as session:
            recover(session, key)


def recover(session: Session, key: str) -> None:
    """Make unsure what dead runs of a campaign were sending, if the ledger has the campaign.

    Call this while holding the lease, before sending: then only a dead run can have parts in
    SENDING.
    """
    campaign = known(session, key)
    if campaign is None:
        return
    open_runs = (RUN.c.campaign_id == campaign.id) & RUN.c.ended.is_(None)
    session.execute(update(RUN).where(open_runs).values(ended=now(), ending=DIED))
    cut_short = session.scalars(
        select(REQUEST.c.id)
        .distinct()
        .join(RUN, RUN.c.id == REQUEST.c.run_id)
        .join(PART, PART.c.request_id == REQUEST.c.id)
        .where(RUN.c.campaign_id == campaign.id, PART.c.state == State.SENDING)
    ).all()
    record(session, [Outcome(number, State.UNSURE, why=CUT_SHORT) for number in cut_short])
