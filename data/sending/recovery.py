"""Recovery: what dead runs left behind is unsure from here on."""

from sqlalchemy import select, update
from sqlmodel import Session

from data.campaigns.people import known
from data.sending.outcomes import Outcome, record
from data.store.ledger import Ledger
from data.store.states import State
from data.store.tables import PART, REQUEST, RUN, now

DIED = "died"  # the ending of a run that could not write its own
CUT_SHORT = "The run ended before an answer came."


def take_over(ledger: Ledger, key: str) -> None:
    """`recover` for a campaign by its key, which may be new; with its lease, before its plan."""
    with ledger.writing() as session:
        if (campaign := known(session, key)) is not None:
            recover(session, campaign.id)


def recover(session: Session, campaign_id: int) -> int:
    """Make unsure what dead runs were sending. Returns how many requests that were.

    Whoever holds the campaign's lease and sends nothing yet may call it: whatever is still being
    sent is then nobody's.
    """
    open_runs = (RUN.c.campaign_id == campaign_id) & RUN.c.ended.is_(None)
    session.execute(update(RUN).where(open_runs).values(ended=now(), ending=DIED))
    cut_short = session.scalars(
        select(REQUEST.c.id)
        .distinct()
        .join(RUN, RUN.c.id == REQUEST.c.run_id)
        .join(PART, PART.c.request_id == REQUEST.c.id)
        .where(RUN.c.campaign_id == campaign_id, PART.c.state == State.SENDING)
    ).all()
    record(session, [Outcome(number, State.UNSURE, why=CUT_SHORT) for number in cut_short])
    return len(cut_short)
