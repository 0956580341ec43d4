"""Recovery: what dead runs left behind is unsure from here on."""

from contextlib import suppress

from sqlalchemy import select, update
from sqlmodel import Session

from data.campaigns.people import known
from data.sending.outcomes import Outcome, record
from data.store.lease import AtWork, lease
from data.store.ledger import Ledger
from data.store.states import State
from data.store.tables import CAMPAIGN, PART, REQUEST, RUN, now

DIED = "died"  # the ending of a run that could not write its own
CUT_SHORT = "The run ended before an answer came."


def recover_all(ledger: Ledger) -> None:
    """Recover each campaign whose run is gone, so that a person can decide about it at once."""
    begun = select(CAMPAIGN.c.key).join(RUN, RUN.c.campaign_id == CAMPAIGN.c.id)
    with ledger.reading() as session:
        keys = session.scalars(begun.where(RUN.c.ended.is_(None)).distinct()).all()
    for key in keys:
        with suppress(AtWork), lease(ledger, key), ledger.writing() as session:
            recover(session, key)


def recover(session: Session, key: str) -> int:
    """Make unsure what dead runs of a campaign were sending; the ledger may not know it yet.

    Whoever holds the campaign's lease and sends nothing yet may call it: whatever is still being
    sent is then nobody's. Returns how many requests that were.
    """
    campaign = known(session, key)
    if campaign is None:
        return 0
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
    return len(cut_short)
