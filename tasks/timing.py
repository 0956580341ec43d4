"""Whether it is time: the window of a campaign's invitations beside the clock, in words."""

from datetime import datetime

from config.window import Phase, Window
from data.tables import Campaign
from data.timetables import timetable
from tasks.asked import Wanted


def window_of(wanted: Wanted) -> Window | None:
    """The window that a definition asks for now; None: invitations may go out at any time."""
    if wanted.definition is not None:
        return wanted.definition.invites.window
    return kept_window(wanted.known) if wanted.known else None


def kept_window(campaign: Campaign) -> Window | None:
    """The window as the ledger has it of the definition last read."""
    return timetable(campaign.timetable).window


def not_yet(window: Window | None, at: datetime) -> str | None:
    """Say that invitations wait for their time; None where they do not."""
    if window is None or not window.not_before or window.phase(at) is not Phase.EARLY:
        return None
    begin = window.wall(window.not_before)
    return (
        f"Everything is prepared; invitations go out from {begin} ({window.timezone}) on "
        "(invites.not_before). Then type the same command, or let a schedule do it."
    )


def over(window: Window | None, at: datetime) -> str | None:
    """Say that the time of the invitations is over; None where it is not."""
    if window is None or not window.not_after or window.phase(at) is not Phase.LATE:
        return None
    end = window.wall(window.not_after)
    return (
        f"Invitations were to go out until {end} ({window.timezone}) (invites.not_after), so "
        "nothing more is sent. To invite the others: give a later not_after, then the same command."
    )


def over_for(campaign: Campaign, at: datetime) -> str | None:
    """Say that the time of a campaign's invitations is over, where it sends any."""
    return over(kept_window(campaign), at) if campaign.send_invites else None
