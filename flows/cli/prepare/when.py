"""The forecast of sending in words: which wave goes when, who is left, who has little time."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from flows.words.speech import counted

if TYPE_CHECKING:
    from datetime import tzinfo

    from config.timetable.timetable import Timetable
    from data.campaigns.forecast import Leg
    from tasks.plan.foreseen import Foreseen

SHOWN = 6  # so many of the legs are shown, and the last one


def when(
    table: "Timetable", zone: str | None, seen: "Foreseen | None"
) -> Iterator[tuple[str, str]]:
    """Say when the invitations would go, by the clocks of the campaign's `zone`.

    Nothing where all go at once.
    """
    from config.timetable.moments import in_zone
    from config.timetable.timetable import Timetable
    from flows.report.story import zone_of
    from tasks.plan.timing import clock_of

    if seen is None or table == Timetable():
        return
    name = clock_of(table, zone)
    place = zone_of(name)
    legs = seen.legs.legs
    for number, leg in enumerate(legs):
        if number == seen.legs.asked:
            yield (
                "confirm",
                "the pilot's invitation; the times below assume that you confirm it at once",
            )
        if number < SHOWN or number == len(legs) - 1:
            yield "sending", _leg(leg, table, place)
        elif number == SHOWN:
            yield "sending", f"and {len(legs) - SHOWN - 1:,} more times"
    if legs:
        yield "ends", in_zone(legs[-1].ends, name)
    if seen.legs.left:
        yield "not invited", f"{counted(len(seen.legs.left), 'person', 'people')}: {_why(seen)}"
    if seen.hurried:
        who = counted(seen.hurried, "person", "people")
        yield "short time", f"{who} with less time left than invites.least_time advises"


def _leg(leg: "Leg", table: "Timetable", zone: "tzinfo | None") -> str:
    what = counted(len(leg.rows), "invitation")
    if leg.wave == 0:
        what = "the pilot's invitation"
    elif table.waves is not None:
        what = f"wave {leg.wave}, {what}"
    begins, ends = (at.astimezone(zone) for at in (leg.begins, leg.ends))
    until = f" to {ends:%H:%M}" if ends.date() == begins.date() else f" to {ends:%Y-%m-%d %H:%M}"
    span = until if (begins.hour, begins.minute) != (ends.hour, ends.minute) else ""
    return f"{begins:%Y-%m-%d %H:%M}{span}: {what}"


def _why(seen: "Foreseen") -> str:
    """Say why some would not be invited at all."""
    from data.campaigns.whose_turn import Wait

    return {
        Wait.OVER: "invites.not_after has passed by then",
        Wait.TOO_LATE: "less than invites.least_time is left by then",
        Wait.HELD: f"held: {seen.legs.why}",
        Wait.HOURS: "no working hours within a year",
    }.get(seen.legs.wait or Wait.HOURS, "too far ahead to plan")
