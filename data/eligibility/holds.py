"""Why something is not sent now: the only answer, for plan, claim, status and pages.

A claim asks `kept_back` in its own transaction, where everything that another campaign has sent
or claimed is already there. `campaign_holds` says what keeps back all of a campaign, `holds` what
keeps back single people; only a run waits for the next wave (due.py) and a pause (pace.py).
"""

from collections.abc import Collection
from datetime import datetime, timedelta

from sqlalchemy import BigInteger, and_, bindparam, exists, or_, select, true
from sqlmodel import Session

from config.errors import command
from config.timetable import NEVER, may_send, next_by_rate, on_the_wall
from data.campaigns.history import last_word
from data.campaigns.people import invites_of, own_steps
from data.eligibility.evidence import Hold, Kind, Scope, holds
from data.eligibility.pilot import pilot_hold
from data.eligibility.still_approved import approval_hold
from data.store.states import OPEN, Op, State
from data.store.tables import CAMPAIGN, PART, REQUEST, RUN, STEP, Campaign, Step, now


def kept_back(
    session: Session,
    campaign: Campaign,
    op: Op,
    people: Collection[int],
    per_second: float | None = None,
) -> dict[int, Hold]:
    """Who of these people (0: the project itself) may not have this operation now, and why.

    Invitations at a rate, the campaign's `per_hour` or the ledger's `per_second`, are let through
    one at a time.
    """
    at = now()
    kept: dict[int, Hold] = {}
    for hold in campaign_holds(session, campaign, at, per_second):
        kept |= {who: hold for who in people if who not in kept and hold.keeps(op, who)}
    free = [who for who in people if who not in kept]
    if asked := [who for who in free if who]:
        kept |= holds(session, campaign, asked, op)
    next_turn = _rate(session, campaign, at, per_second, taken=True)
    if op is Op.INVITE and next_turn is not None:
        kept |= dict.fromkeys([who for who in free if who not in kept][1:], next_turn)
    return kept


def campaign_holds(
    session: Session,
    campaign: Campaign,
    at: datetime | None = None,
    per_second: float | None = None,
    code: str = "",
) -> list[Hold]:
    """What keeps back all of a campaign now, the strongest first.

    `code` is that of a whole plan, which alone knows whether somebody else is left out by now.
    """
    at = at or now()
    own = own_steps(session, campaign.id)
    found = (
        _paused(session, campaign),
        _unsure(campaign, own),
        _project(session, campaign, own),
        approval_hold(session, campaign, code),
        _time(campaign, at),
        pilot_hold(session, campaign),
        _rate(session, campaign, at, per_second),
    )
    return [hold for hold in found if hold is not None]


def _paused(session: Session, campaign: Campaign) -> Hold | None:
    last = last_word(session, ("pause", "resume"), campaign.id)
    if last is None or last.word == "resume":
        return None
    since = on_the_wall(last.at, invites_of(campaign).timezone)
    typed = command("resume", campaign.key)
    return Hold(Kind.PAUSED, Scope.CAMPAIGN, f"paused since {since}", type_this=typed)


def _unsure(campaign: Campaign, own: dict[Op, Step]) -> Hold | None:
    """Nobody is added to a project that may be another one, or may have no problem yet."""
    if State.UNSURE not in (step.state for step in own.values()):
        return None
    what = "was created" if own[Op.CREATE].state is State.UNSURE else "has its problem"
    why = f"it is not known whether the project {what}"
    return Hold(Kind.UNSURE, Scope.CAMPAIGN, why, type_this=command("settle", campaign.key))


def _project(session: Session, campaign: Campaign, own: dict[Op, Step]) -> Hold | None:
    """Nobody is invited together with another campaign's people.

    Unless a request of this campaign, or of theirs, made the project, several definitions may name
    one project, if they name one problem.
    """
    create, attach = own[Op.CREATE], own[Op.ATTACH]
    if create.service_id is None:
        return None
    of = {"service": campaign.service, "campaign": campaign.id, "project": create.service_id}
    of |= {"made": create.part_id, "problem": attach.service_id}
    other = session.scalar(_THEIRS, of)
    if other is None:
        return None
    why = f"project {create.service_id} belongs to the campaign {other}"
    return Hold(Kind.PROJECT, Scope.CAMPAIGN, why, type_this=command("history", other))


def _time(campaign: Campaign, at: datetime) -> Hold | None:
    invites = invites_of(campaign)
    when = may_send(invites, at)
    if when is None:
        return None
    if when == NEVER:
        return Hold(Kind.WINDOW, Scope.INVITES, "the time for invitations is over (not_after)")
    why = f"no invitation goes out before {on_the_wall(when, invites.timezone)}"
    return Hold(Kind.HOURS, Scope.INVITES, why, until=when)


def _rate(
    session: Session,
    campaign: Campaign,
    at: datetime,
    per_second: float | None,
    *,
    taken: bool = False,
) -> Hold | None:
    """Nobody is invited before the next turn at each rate; `taken`: somebody has this one."""
    of_all = per_second * 3600 if per_second is not None else None
    rates = ((invites_of(campaign).per_hour, RUN.c.campaign_id == campaign.id), (of_all, true()))
    holds = []
    for per_hour, theirs in rates:
        if per_hour is None:
            continue
        last = at if taken else session.scalars(_LAST_INVITED.where(theirs)).first()
        free = next_by_rate(per_hour, last, at)
        # A clock that was ahead has written what is further off than that.
        if at < free <= at + 2 * timedelta(hours=1) / per_hour:
            why = f"at most {per_hour:,.10g} invitations an hour"
            holds.append(Hold(Kind.RATE, Scope.INVITES, why, until=free))
    return max(holds, key=lambda hold: hold.until or at, default=None)


_problem = STEP.alias()
_THEIRS = (
    select(CAMPAIGN.c.key)
    .join(STEP, and_(STEP.c.campaign_id == CAMPAIGN.c.id, STEP.c.person_id == 0))
    .where(CAMPAIGN.c.service == bindparam("service"), CAMPAIGN.c.id != bindparam("campaign"))
    .where(STEP.c.op == Op.CREATE, STEP.c.service_id == bindparam("project"))
    .where(
        or_(
            bindparam("made", type_=BigInteger).is_not(None),
            STEP.c.part_id.is_not(None),
            exists().where(
                _problem.c.campaign_id == CAMPAIGN.c.id,
                _problem.c.op == Op.ATTACH,
                _problem.c.state.not_in(OPEN[Op.ATTACH]),
                _problem.c.service_id.is_distinct_from(bindparam("problem")),
            ),
        )
    )
    .order_by(CAMPAIGN.c.id)
    .limit(1)
)
_LAST_INVITED = (
    select(REQUEST.c.claimed_at)
    .join(RUN, RUN.c.id == REQUEST.c.run_id)
    .join(PART, PART.c.request_id == REQUEST.c.id)
    .where(REQUEST.c.op == Op.INVITE, PART.c.state != State.WAITING)
    .order_by(REQUEST.c.id.desc())
    .limit(1)
)

__all__ = ["Hold", "Kind", "Scope", "campaign_holds", "holds", "kept_back"]
