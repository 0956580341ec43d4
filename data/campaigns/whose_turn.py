"""Whose turn it is: who may be invited now, until when, and when the others may be.

A run asks this before each part that it sends, and the plan asks it for one moment after another
(data/campaigns/forecast.py): the forecast is what happens, because both ask here.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from functools import cache

from pydantic import TypeAdapter

from config.timetable.timetable import Timetable
from config.timetable.window import Phase

NO_RULES = ""  # the timetable of most campaigns, as the ledger keeps it


class Wait(StrEnum):
    """Why somebody is not invited now, in the order in which the reasons are checked."""

    OVER = "over"  # invites.not_after has passed
    TOO_LATE = "too late"  # less than invites.least_time is left before the project ends
    HELD = "held"  # too many refusals or doubts (invites.hold_on)
    EARLY = "early"  # invites.not_before is ahead
    PILOT = "pilot"  # the invitation to oneself waits to be confirmed
    BETWEEN = "between"  # the time between two waves
    WAVE = "wave"  # the wave is full; the next one begins after it
    HOURS = "hours"  # outside working hours


@dataclass(frozen=True, slots=True)
class Waiting:
    """One person to be invited; `zone` is their own timezone, if it is known."""

    row: int
    zone: str | None = None


@dataclass(frozen=True, slots=True)
class SendProgress:
    """How far a campaign has got with inviting.

    `tried` counts everyone except the pilot whose invitation is sent, unsure or refused. `judged`
    counts those since a person last resumed the campaign, and `refused` and `unsure` how many of
    these were refused or are unsure. `last` is when the latest invitation was claimed.
    """

    tried: int = 0
    last: datetime | None = None
    judged: int = 0
    refused: int = 0
    unsure: int = 0
    confirmed: bool = False


@dataclass(frozen=True, slots=True)
class Turn:
    """Who may be invited now, each `until` a moment (None: no end), and in which wave.

    `wait` says why the others, or all, have to wait, and `again` is the first moment at which to
    ask again; None: only a person can change it.
    """

    now: tuple[tuple[int, datetime | None], ...] = ()
    wave: int = 1
    wait: Wait | None = None
    again: datetime | None = None
    why: str | None = None


def allowed_now(
    table: Timetable,
    pilot: Waiting | None,
    people: Sequence[Waiting],
    so_far: SendProgress,
    at: datetime,
) -> Turn:
    """Say who may be invited `at` a moment (aware). `pilot` while still to be invited.

    `people` are all the others who wait, in the order in which they are to be invited.
    """
    if (stands := _closed(table, so_far, at)) is not None:
        return stands
    if pilot is not None:
        return _open(table, [pilot], at, wave=0)
    if table.pilot is not None and not so_far.confirmed:
        return Turn(wait=Wait.PILOT, wave=0)
    if table.waves is None:
        return _open(table, people, at, wave=1)
    wave, room, begins = table.waves.room(so_far.tried)
    if begins and so_far.last is not None and at < (next_one := so_far.last + table.waves.between):
        return Turn(wait=Wait.BETWEEN, wave=wave, again=next_one)
    answer = _open(table, people, at, wave=wave)
    if room is None or len(answer.now) <= room:
        return answer
    # People who are left out only because the wave is full may go as soon as it is through.
    return Turn(answer.now[:room], wave, Wait.WAVE, None)


def ended(table: Timetable, at: datetime) -> Wait | None:
    """By which rule the time for invitations is over, for everybody and for good."""
    if table.window is not None and table.window.phase(at) is Phase.LATE:
        return Wait.OVER
    if table.latest is not None and at > table.latest:
        return Wait.TOO_LATE
    return None


def _closed(table: Timetable, so_far: SendProgress, at: datetime) -> Turn | None:
    """The rules that apply to everybody."""
    window = table.window
    if (end := ended(table, at)) is not None:
        return Turn(wait=end)
    if table.hold_on is not None:
        why = table.hold_on.reached(so_far.judged, so_far.refused, so_far.unsure)
        if why is not None:
            return Turn(wait=Wait.HELD, why=why)
    if window is not None and window.phase(at) is Phase.EARLY:
        return Turn(wait=Wait.EARLY, again=window.not_before)
    return None


def _open(table: Timetable, people: Sequence[Waiting], at: datetime, *, wave: int) -> Turn:
    """Sort people by their working hours."""
    ends = (table.window.not_after if table.window else None, table.latest)
    end = min((moment for moment in ends if moment is not None), default=None)
    if table.hours is None:
        return Turn(tuple((person.row, end) for person in people), wave)
    closes = {zone: table.hours.closes(at, zone) for zone in {person.zone for person in people}}
    now = tuple(
        (person.row, closing if end is None else min(closing, end))
        for person in people
        if (closing := closes[person.zone]) is not None
    )
    shut = [zone for zone, closing in closes.items() if closing is None]
    if not shut:
        return Turn(now, wave)
    opening = [moment for zone in shut if (moment := table.hours.opens(at, zone)) is not None]
    return Turn(now, wave, Wait.HOURS, min(opening, default=None))


def kept(timetable: Timetable) -> str:
    """Write a timetable as the ledger keeps it: one text, with each definition anew."""
    return NO_RULES if timetable == Timetable() else _adapter().dump_json(timetable).decode()


def timetable(text: str) -> Timetable:
    """Read what `kept` wrote."""
    return Timetable() if text == NO_RULES else _adapter().validate_json(text)


@cache
def _adapter() -> TypeAdapter[Timetable]:
    return TypeAdapter(Timetable)
