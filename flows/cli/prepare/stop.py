"""What would keep a whole run from sending anything, for `campaign plan` to say beforehand."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from config.definition.model import Definition
from config.timetable.moments import in_zone
from data.campaigns.remaining import Remaining
from data.store.ledger import Ledger
from tasks.plan.timing import over


class Cause(StrEnum):
    """Why a run would stop before any request, in the order in which a run looks."""

    GUARD = "guard"  # too many people are gone from the definition
    OVER = "over"  # the time of the invitations is over
    PAUSED = "paused"  # by a person, or by invites.hold_on


@dataclass(frozen=True, slots=True)
class Stop:
    """One of these, and what happened in words."""

    cause: Cause
    why: str


def stop(
    definition: Definition, left: Remaining, gone: str | None, ledger: Ledger | None, at: datetime
) -> Stop | None:
    """Say why a run that begins `at` a moment (aware) would send nothing of what is `left`.

    `gone` is what the guard says (data/campaigns/guard.py).
    """
    from data.campaigns import pauses

    if gone is not None:
        return Stop(Cause.GUARD, gone)
    if left.invite and (late := over(definition.invites.timetable, at)) is not None:
        return Stop(Cause.OVER, late)
    paused = (
        ledger.read(pauses.standing, definition.campaign) if ledger and not left.nothing else None
    )
    if paused is None:
        return None
    why = f": {paused.why}" if paused.why else ""
    since = in_zone(paused.since, paused.timezone)
    return Stop(Cause.PAUSED, f"paused by {paused.who} since {since}{why}")
