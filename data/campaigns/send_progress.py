"""How far a campaign has got with its invitations, which the next turn depends on
(data/campaigns/whose_turn.py)."""

from datetime import datetime

from sqlalchemy import ColumnElement, Connection, and_, func, insert, not_, select, true

from config.definition.model import PILOT
from data.campaigns.whose_turn import SendProgress
from data.store.states import By, Operation, Step
from data.store.tables import attempt, candidate, decision, pauses

_FORMER_PILOT = and_(
    candidate.c.listed.is_(False),
    candidate.c.first_name == PILOT[0],
    candidate.c.last_name == PILOT[1],
    candidate.c.source == PILOT[2],
)
CONFIRMED = "pilot-confirmed"  # the decision's verdict


def send_progress(connection: Connection, row: int, key: str, pilot: str | None) -> SendProgress:
    """Count who was tried. `pilot` is an email key; `key` is the campaign's. Former pilots count
    no more than this one, unless they are in the table.

    Once a person has resumed the campaign, only later claims count for `hold_on`.
    """
    released = connection.scalar(
        select(func.max(pauses.c.resumed_at)).where(pauses.c.campaign_key == key)
    )
    tried = and_(candidate.c.invite_attempt.is_not(None), candidate.c.invite_state != Step.WAITING)
    mine = and_(candidate.c.campaign_id == row, tried)
    judged: ColumnElement[bool] = true()
    if released is not None:
        judged = attempt.c.claimed_at > released
    counted = connection.execute(
        select(
            func.count().label("tried"),
            func.count().filter(judged).label("judged"),
            func.count().filter(judged, candidate.c.invite_state == Step.REFUSED).label("refused"),
            func.count().filter(judged, candidate.c.invite_state == Step.UNSURE).label("unsure"),
        )
        .select_from(candidate)
        .join(attempt, attempt.c.id == candidate.c.invite_attempt)
        .where(mine, candidate.c.email_key != (pilot or ""), not_(_FORMER_PILOT))
    ).one()
    return SendProgress(
        **counted._mapping,
        last=last_claimed(connection, row),
        confirmed=pilot is not None and confirmation(connection, row, pilot) is not None,
    )


def last_claimed(connection: Connection, row: int) -> datetime | None:
    """When the latest invitation of a campaign was claimed."""
    return connection.scalar(
        select(attempt.c.claimed_at)
        .where(attempt.c.campaign_id == row, attempt.c.operation == Operation.INVITE)
        .order_by(attempt.c.id.desc())
        .limit(1)
    )


def confirmation(connection: Connection, row: int, pilot: str) -> By | None:
    """Who first confirmed the invitation of the `pilot` (an email key). It holds, whatever becomes
    of that person later.
    """
    first = connection.execute(
        select(decision.c.who, decision.c.why, decision.c.decided_at)
        .join(candidate, candidate.c.id == decision.c.candidate_row)
        .where(
            decision.c.campaign_id == row,
            decision.c.verdict == CONFIRMED,
            candidate.c.email_key == pilot,
        )
        .order_by(decision.c.id)
        .limit(1)
    ).one_or_none()
    return None if first is None else By(*first)


def confirm(connection: Connection, row: int, pilot: int, by: By) -> None:
    """Record that a person confirmed the invitation of the `pilot` (a candidate's row)."""
    connection.execute(
        insert(decision).values(
            campaign_id=row,
            candidate_row=pilot,
            verdict=CONFIRMED,
            who=by.who,
            why=by.why,
            decided_at=by.at,
        )
    )
