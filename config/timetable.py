"""When the invitations of a campaign may go out: everything a definition says about it."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from config.hours import Hours
from config.waves import HoldOn, Waves
from config.window import Window


@dataclass(frozen=True, slots=True)
class Timetable:
    """Each rule is None where the definition has none of it; without any, all may go at once.

    `gap` lies at least between two invitations, over all runs. `latest` is the last moment (UTC)
    at which somebody still has the least time before the project ends, `advised` the same moment
    where it is only warned about. `pilot` is the email key
    of the person who gets the first invitation, and confirms it before anybody else is invited.
    """

    window: Window | None = None
    hours: Hours | None = None
    gap: timedelta = timedelta(0)
    latest: datetime | None = None
    advised: datetime | None = None
    pilot: str | None = None
    waves: Waves | None = None
    hold_on: HoldOn | None = None
