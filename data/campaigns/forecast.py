"""When a campaign's invitations will be sent: the same rules as now, with the clock moved on."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from config.timetable.timetable import Timetable
from data.campaigns.whose_turn import SendProgress, Turn, Wait, Waiting, allowed_now

# How many runs a forecast looks ahead; nobody plans further.
FARTHEST = 500


@dataclass(frozen=True, slots=True)
class Leg:
    """Invitations that go out one after another: their wave, and when the first and the last go.

    Wave 0 is the pilot. `rows` are the people's, in the order in which they are invited.
    """

    wave: int
    rows: tuple[int, ...]
    begins: datetime
    ends: datetime


@dataclass(frozen=True, slots=True)
class Foresight:
    """All legs, if nothing goes wrong and the pilot is confirmed at once.

    `left` are the rows of people who will not be invited, and `wait` says why. `asked` counts the
    legs before somebody has to confirm the pilot; None: nobody has to.
    """

    legs: tuple[Leg, ...] = ()
    left: tuple[int, ...] = ()
    wait: Wait | None = None
    why: str | None = None
    asked: int | None = None


def foresee(
    table: Timetable,
    pilot: Waiting | None,
    people: Sequence[Waiting],
    so_far: SendProgress,
    at: datetime,
) -> Foresight:
    """Say when each person will be invited if a run begins `at` a moment, and again whenever one
    may.

    A request is assumed to take no time.
    """
    legs: list[Leg] = []
    waiting = list(people)
    answer = Turn()
    asked: int | None = None
    while waiting or pilot is not None:
        answer = allowed_now(table, pilot, waiting, so_far, at)
        leg, at = _leg(table.gap, answer, so_far.last, at)
        if leg is not None:
            legs.append(leg)
            people_of_wave = 0 if leg.wave == 0 else len(leg.rows)
            tried, judged = so_far.tried + people_of_wave, so_far.judged + people_of_wave
            so_far = replace(so_far, tried=tried, judged=judged, last=leg.ends)
            pilot = None if leg.wave == 0 else pilot
            gone = set(leg.rows)
            waiting = [person for person in waiting if person.row not in gone]
        elif answer.wait is Wait.PILOT:
            so_far, asked = replace(so_far, confirmed=True), len(legs)
        elif not answer.now:
            if answer.again is None or len(legs) >= FARTHEST:
                break
            at = answer.again
    left = ([pilot] if pilot else []) + waiting
    if not left:
        return Foresight(tuple(legs), asked=asked)
    rows = tuple(person.row for person in left)
    return Foresight(tuple(legs), rows, answer.wait, answer.why, asked)


def _leg(
    gap: timedelta, answer: Turn, last: datetime | None, at: datetime
) -> tuple[Leg | None, datetime]:
    """Send what a turn allows, one invitation per `gap`; whoever would come too late is left out.

    Also returns the moment at which the turn is over.
    """
    rows: list[int] = []
    moment = at if last is None else max(at, last + gap)
    begins = ends = moment
    for row, until in answer.now:
        if until is not None and moment > until:
            continue
        rows.append(row)
        ends = moment
        moment += gap
    if not rows:
        return None, max(at, moment) if answer.now else at
    return Leg(answer.wave, tuple(rows), begins, ends), ends
