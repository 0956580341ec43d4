"""Recovery: what dead runs left behind, and what the service may have of it."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlmodel import Session, col, select

from data.sending.outcomes import Outcome, record
from data.store.ledger import Ledger
from data.store.states import Op, State
from data.store.tables import Campaign, Part, Request, Run, Step, now

DIED = "died"  # the ending of a run that could not write its own
CUT_SHORT = "The run ended before an answer came."


def take_over(ledger: Ledger, key: str) -> int:
    """The same for a campaign by its key, which may be new; with its lease, before its plan."""
    with ledger.writing() as session:
        campaign = session.exec(select(Campaign).where(Campaign.key == key)).first()
        return recover(session, campaign.id) if campaign is not None else 0


def recover(session: Session, campaign_id: int) -> int:
    """Make unsure what dead runs were sending. Returns how many requests that were.

    Whoever holds the campaign's lease and sends nothing yet may call it: whatever is still being
    sent is then nobody's.
    """
    open_runs = select(Run).where(Run.campaign_id == campaign_id, col(Run.ended).is_(None))
    for run in session.exec(open_runs):
        run.ended, run.ending = now(), DIED
        session.add(run)
    cut_short = session.exec(
        select(Request.id)
        .distinct()
        .join(Run, col(Run.id) == Request.run_id)
        .join(Part, col(Part.request_id) == Request.id)
        .where(Run.campaign_id == campaign_id, Part.state == State.SENDING)
    ).all()
    record(session, [Outcome(number, State.UNSURE, why=CUT_SHORT) for number in cut_short])
    return len(cut_short)


@dataclass(frozen=True, slots=True)
class Leftover:
    """A project or a candidate that the service may have besides what is in use."""

    op: Op
    person_id: int
    request_id: int
    service_id: int | None  # None: nobody knows it


def leftovers(session: Session, campaign_id: int) -> Sequence[Leftover]:
    """What a person may want to remove in the web application: work that may have been done and
    does not count."""
    rows = session.exec(
        select(Step.op, Step.person_id, Part.request_id, Part.service_id)
        .join(Part, col(Part.step_id) == Step.id)
        .join(Request, col(Request.id) == Part.request_id)
        .where(
            Step.campaign_id == campaign_id,
            col(Step.op).in_((Op.CREATE, Op.ADD)),
            (col(Part.state) == State.GIVEN_UP)
            | (col(Part.said_yes) & (col(Part.state) != State.DONE)),
        )
        .order_by(col(Part.id))
    )
    return [Leftover(*row) for row in rows]
