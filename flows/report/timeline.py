"""When a campaign was sent, as pictures: a bar for each stretch of time, in SVG. Pure.

A campaign is sent in sittings, minutes long and weeks apart: each has a picture of its own, or
there would be nothing to see but two thin lines. Many sittings share one picture, day by day.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from html import escape
from typing import TYPE_CHECKING, Any, NamedTuple

from config.timetable.moments import on_the_wall
from data.store.states import AttemptState

if TYPE_CHECKING:
    from pandas import DataFrame

APART = timedelta(minutes=30)  # without a request: another sitting begins
MOST = 8  # sittings with a picture each
BARS = 60  # at most, in one picture
LEAST = 12  # a picture with fewer bars leaves room for so many

WIDE, HIGH = 720, 150
LEFT, TOP, BOTTOM = 46, 12, 26  # room for numbers, and for clocks

# How long one bar may stand for, in seconds.
_DAY = 86_400
STEPS = (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10_800, 21_600, 43_200)
DAYS = tuple(_DAY * days for days in (1, 2, 7, 14, 28, 91, 364))

# From the ground up, with the class that paints it and the word that goes with it.
KINDS = (
    ("done", "done", (AttemptState.DONE,)),
    ("doubt", "unsure", (AttemptState.UNSURE, AttemptState.OVERRULED, AttemptState.SENDING)),
    ("refused", "refused", (AttemptState.REFUSED,)),
    ("nothing", "not sent", (AttemptState.NOT_SENT,)),
)
WORDS = {state: word for _, word, states in KINDS for state in states}

Bar = Mapping[Any, int]  # how many people, by the word for what came of them


class Point(NamedTuple):
    """So many people were tried at a moment (aware), with this outcome."""

    at: datetime
    came_to: AttemptState
    people: int = 1


@dataclass(frozen=True, slots=True)
class Picture:
    """A drawing with its title; for whoever cannot see it, the SVG says the same in a sentence."""

    title: str
    svg: str


def pictures(points: Sequence[Point], zone: str | None) -> list[Picture]:
    """Draw every sitting, or all of them in one picture; clocks are those of `zone`."""
    if not points:
        return []
    # Not sooner: a report has read 100,000 people by then, and has not kept them.
    from pandas import DataFrame  # noqa: PLC0415

    tried = DataFrame(points, columns=Point._fields).sort_values("at")
    sitting = (tried["at"].diff() > APART).cumsum()
    if sitting.nunique() > MOST:
        return [_picture(tried, zone)]
    return [_picture(part, zone) for _, part in tried.groupby(sitting)]


@dataclass(frozen=True, slots=True)
class Scale:
    """The bars: the first begins at `start`, each is `step` seconds; there is room for `number`."""

    start: datetime
    step: int
    number: int


def scale(first: datetime, last: datetime, zone: str | None) -> Scale:
    """Choose round stretches of time, so that at most BARS of them hold it all."""
    span = (last - first).total_seconds()
    step = next((seconds for seconds in (*STEPS, *DAYS) if span / seconds < BARS - 1), DAYS[-1])
    if step >= _DAY:
        midnight = on_the_wall(first, zone).replace(hour=0, minute=0, second=0, microsecond=0)
        start = midnight.astimezone(UTC)
    else:
        # By the wall's clock: there are zones that are half an hour off.
        away = (on_the_wall(first, zone).utcoffset() or timedelta()).total_seconds()
        wall = first.timestamp() + away
        start = datetime.fromtimestamp(wall // step * step - away, UTC)
    needed = int((last - start).total_seconds()) // step + 1
    return Scale(start, step, max(needed, LEAST))


def _picture(tried: "DataFrame", zone: str | None) -> Picture:
    first, last = (tried["at"].iloc[end].to_pydatetime() for end in (0, -1))
    chosen = scale(first, last, zone)
    place = (tried["at"] - chosen.start) // timedelta(seconds=chosen.step)
    counts = tried.groupby([place, tried["came_to"].map(WORDS)])["people"].sum()
    bars = counts.unstack(fill_value=0)
    highest = int(bars.sum(axis=1).max())
    title = _title(first, last, zone)
    label = f"{title}: {_counted(dict(bars.sum()))}; at most {highest:,} in {in_words(chosen.step)}"
    return Picture(title, _svg(chosen, bars.to_dict("index"), highest, zone, label))


def _svg(
    chosen: Scale,
    bars: Mapping[Any, Bar],
    highest: int,
    zone: str | None,
    label: str,
) -> str:
    width = (WIDE - LEFT) / chosen.number
    ground = HIGH - BOTTOM
    drawn = [
        f'<line class="axis" x1="{LEFT}" x2="{WIDE}" y1="{ground}" y2="{ground}"/>',
        f'<line class="grid" x1="{LEFT}" x2="{WIDE}" y1="{TOP}" y2="{TOP}"/>',
        f'<text x="{LEFT - 6}" y="{TOP + 5}" text-anchor="end">{highest:,}</text>',
        f'<text x="{LEFT - 6}" y="{ground}" text-anchor="end">0</text>',
    ]
    for place, bar in bars.items():
        drawn.append(_bar(LEFT + place * width, width, bar, highest, _clock(chosen, place, zone)))
    apart = -(-chosen.number // 6)
    for place in range(0, chosen.number, apart):
        x = LEFT + place * width
        drawn.append(
            f'<line class="axis" x1="{x:.1f}" x2="{x:.1f}" y1="{ground}" y2="{ground + 4}"/>'
        )
        drawn.append(f'<text x="{x:.1f}" y="{HIGH - 6}">{_clock(chosen, place, zone)}</text>')
    return (
        f'<svg viewBox="0 0 {WIDE} {HIGH}" role="img" aria-label="{escape(label)}">'
        f"{''.join(drawn)}</svg>"
    )


def _bar(x: float, width: float, bar: Bar, highest: int, clock: str) -> str:
    room, y = HIGH - BOTTOM - TOP, float(HIGH - BOTTOM)
    gap = min(1.0, width / 5)
    drawn = [f"<g><title>{clock}: {_counted(bar)}</title>"]
    for paint, word, _ in KINDS:
        if number := bar.get(word, 0):
            # One among thousands is still seen.
            high = max(room * number / highest, 2.0)
            y -= high
            drawn.append(
                f'<rect class="{paint}" x="{x + gap / 2:.1f}" y="{y:.1f}" '
                f'width="{width - gap:.1f}" height="{high:.1f}"/>'
            )
    return "".join((*drawn, "</g>"))


def _counted(bar: Bar) -> str:
    return ", ".join(f"{bar[word]:,} {word}" for _, word, _ in KINDS if bar.get(word))


def _clock(chosen: Scale, place: int, zone: str | None) -> str:
    # A step of days may be an hour too short or too long, because of a clock change.
    in_days = chosen.step >= _DAY
    begins = chosen.start + timedelta(seconds=chosen.step * place, hours=2 * in_days)
    wall = on_the_wall(begins, zone)
    if in_days:
        return f"{wall:%Y-%m-%d}"
    return f"{wall:%H:%M:%S}" if chosen.step < 60 else f"{wall:%H:%M}"


def _title(begin: datetime, end: datetime, zone: str | None) -> str:
    first, last = on_the_wall(begin, zone), on_the_wall(end, zone)
    if first.date() == last.date():
        clocks = dict.fromkeys(f"{moment:%H:%M:%S}" for moment in (first, last))
        return f"{first:%Y-%m-%d}, {' to '.join(clocks)}"
    return f"{first:%Y-%m-%d %H:%M} to {last:%Y-%m-%d %H:%M}"


def in_words(seconds: int) -> str:
    """Write a step for people: `10 seconds`, `a minute`, `2 hours`, `7 days`."""
    units = ((_DAY, "day"), (3600, "hour"), (60, "minute"), (1, "second"))
    unit, name = next((unit, name) for unit, name in units if seconds % unit == 0)
    number = seconds // unit
    if number == 1:
        return f"an {name}" if name == "hour" else f"a {name}"
    return f"{number} {name}s"
