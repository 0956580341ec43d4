"""The pause that a service asked for, kept in the ledger so that it holds in every run."""

from datetime import datetime, timedelta

from sqlmodel import Session

from data.eligibility.holds import Hold, Kind, Scope
from data.store.tables import Campaign, Pace, Run, now

LONGEST = timedelta(seconds=600)  # of a pause; a later end comes from a clock that was set back


def pause(session: Session, run_id: int, seconds: float) -> datetime:
    """Let nothing leave for this run's service until then: an answer asked for it (429)."""
    campaign = session.get_one(Campaign, session.get_one(Run, run_id).campaign_id)
    wanted = now() + min(timedelta(seconds=seconds), LONGEST)
    until = max(_until(session, campaign) or wanted, wanted)
    session.merge(Pace(service=campaign.service, account=campaign.account, paused_until=until))
    return until


def throttled(session: Session, campaign: Campaign) -> Hold | None:
    """Why nothing may leave for the campaign's service now."""
    at, until = now(), _until(session, campaign)
    if until is None or not at < until <= at + LONGEST:
        return None
    return Hold(Kind.THROTTLED, Scope.CAMPAIGN, "the service asked for a pause", until=until)


def _until(session: Session, campaign: Campaign) -> datetime | None:
    row = session.get(Pace, (campaign.service, campaign.account))
    return row.paused_until if row is not None else None
