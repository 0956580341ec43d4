"""The pause that a service asked for, kept in the ledger so that it holds in every run."""

from datetime import datetime, timedelta

from sqlalchemy import bindparam, select
from sqlmodel import Session

from data.eligibility.holds import Hold, Kind, Scope
from data.store.tables import PACE, Campaign, Pace, now

LONGEST = timedelta(seconds=600)  # of a pause; a later end comes from a clock that was set back


def pause(session: Session, campaign_id: int, seconds: float) -> datetime:
    """Let nothing leave for this campaign's service until then: an answer asked for it (429)."""
    campaign = session.get_one(Campaign, campaign_id)
    until, before = now() + min(timedelta(seconds=seconds), LONGEST), throttled(session, campaign)
    until = max(until, before.until or until) if before else until
    session.merge(Pace(service=campaign.service, account=campaign.account, paused_until=until))
    return until


def throttled(session: Session, campaign: Campaign) -> Hold | None:
    """Why nothing may leave for the campaign's service now."""
    of = {"service": campaign.service, "account": campaign.account}
    at, until = now(), session.scalar(_UNTIL, of)
    if until is None or not at < until <= at + LONGEST:
        return None
    return Hold(Kind.THROTTLED, Scope.CAMPAIGN, "the service asked for a pause", until=until)


_UNTIL = select(PACE.c.paused_until).where(
    PACE.c.service == bindparam("service"), PACE.c.account == bindparam("account")
)
