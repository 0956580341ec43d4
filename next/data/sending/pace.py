"""The pace at one service and account, kept in the ledger so that it holds in every run."""

from datetime import datetime, timedelta

from sqlmodel import Session

from data.store.tables import Campaign, Pace, Run, now

LONGEST = timedelta(seconds=600)  # of a pause; a later end comes from a clock that was set back
SLACK = timedelta(seconds=0.1)  # a turn missed by less is used, else asking would lower the rate


def pause(session: Session, run_id: int, seconds: float) -> datetime:
    """Let nothing leave for this run's service until then: an answer asked for it (429)."""
    row = _row(session, run_id)
    wanted = now() + min(timedelta(seconds=seconds), LONGEST)
    row.paused_until = max(row.paused_until or wanted, wanted)
    session.add(row)
    return row.paused_until


def paused_until(session: Session, run_id: int) -> datetime | None:
    """When requests may leave again; None: they may."""
    at = now()
    until = _row(session, run_id).paused_until
    return until if until is not None and at < until <= at + LONGEST else None


def take_turn(session: Session, run_id: int, per_second: float) -> datetime:
    """Take the next turn at a rate that a person set, and say when it is."""
    row, at, gap = _row(session, run_id), now(), timedelta(seconds=1 / per_second)
    # Turns further ahead than all runs could take come from a clock that was set back.
    known = row.next_at if row.next_at and row.next_at - at < max(LONGEST, 2 * gap) else None
    turn = known if known is not None and known > at - SLACK else at
    row.next_at = turn + gap
    session.add(row)
    return turn


def _row(session: Session, run_id: int) -> Pace:
    campaign = session.get_one(Campaign, session.get_one(Run, run_id).campaign_id)
    service, account = campaign.service, campaign.account
    return session.get(Pace, (service, account)) or Pace(service=service, account=account)
