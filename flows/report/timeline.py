"""When a campaign was sent, as pictures: a bar for each stretch of time, in SVG. Pure.

A campaign is sent in sittings, minutes long and weeks apart: each has a picture of its own, or
there would be nothing to see but two thin lines. Many sittings share one picture, day by day.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from html import escape

from data.store.states import AttemptState

APART = timedelta(minutes=30)  # without a request: another sitting begins
MOST = 8  # sittings with a picture each
BARS = 60  # at most, in one picture
LEAST = 12  # as wide as these, where a picture has fewer bars

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
    ("nothing", "came to nothing", (AttemptState.NOT_SENT,)),
)


@dataclass(frozen=True, slots=True)
class Point:
    """So many people were tried at a moment (aware), with this outcome."""

    at: datetime
    came_to: AttemptState
    people: int = 1


@dataclass(frozen=True, slots=True)
class Picture:
    """A drawing with its title, and the same in a sentence for whoever cannot see it."""

    title: str
    svg: str
    said: str


def pictures(points: Iterable[Point], zone: tzinfo | None) -> list[Picture]:
    """Draw every sitting, or all of them in one picture; clocks are those of `zone`."""
    ordered = sorted(points, key=lambda point: point.at)
    if not ordered:
        return []
    parts = sittings(ordered)
    if len(parts) > MOST:
        parts = [ordered]
    return [_picture(part, zone) for part in parts]


def sittings(points: Sequence[Point]) -> list[list[Point]]:
    """Part points, oldest first, where nothing was sent for half an hour."""
    parts: list[list[Point]] = []
    for point in points:
        if parts and point.at - parts[-1][-1].at <= APART:
            parts[-1].append(point)
        else:
            parts.append([point])
    return parts


@dataclass(frozen=True, slots=True)
class Scale:
    """Where bars stand: the first begins at `start`, each is `step` seconds, `number` have room."""

    start: datetime
    step: int
    number: int

    def place(self, at: datetime) -> int:
        """Which bar a moment belongs to, counted from 0."""
        return int((at - self.start).total_seconds()) // self.step

    def begins(self, place: int) -> datetime:
        return self.start + timedelta(seconds=self.step * place)


def scale(first: datetime, last: datetime, zone: tzinfo | None) -> Scale:
    """Choose round stretches of time, so that at most BARS of them hold it all."""
    span = (last - first).total_seconds()
    step = next((seconds for seconds in (*STEPS, *DAYS) if span / seconds < BARS - 1), DAYS[-1])
    if step >= _DAY:
        midnight = first.astimezone(zone).replace(hour=0, minute=0, second=0, microsecond=0)
        start = midnight.astimezone(UTC)
    else:
        # By the wall's clock: there are zones that are half an hour off.
        away = (first.astimezone(zone).utcoffset() or timedelta()).total_seconds()
        wall = first.timestamp() + away
        start = datetime.fromtimestamp(wall // step * step - away, UTC)
    needed = int((last - start).total_seconds()) // step + 1
    return Scale(start, step, max(needed, LEAST))


def _picture(points: Sequence[Point], zone: tzinfo | None) -> Picture:
    chosen = scale(points[0].at, points[-1].at, zone)
    bars: list[Counter[AttemptState]] = [Counter() for _ in range(chosen.number)]
    for point in points:
        bars[chosen.place(point.at)][point.came_to] += point.people
    highest = max(bar.total() for bar in bars)
    title, total = _title(points, zone), sum((bar for bar in bars), Counter[AttemptState]())
    label = f"{title}: {_counted(total)}; at most {highest:,} in {in_words(chosen.step)}"
    return Picture(title, _svg(chosen, bars, highest, zone, label), label)


def _svg(
    chosen: Scale,
    bars: Sequence[Counter[AttemptState]],
    highest: int,
    zone: tzinfo | None,
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
    for place, bar in enumerate(bars):
        if bar:
            x = LEFT + place * width
            drawn.append(_bar(x, width, bar, highest, f"{_clock(chosen, place, zone)}"))
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


def _bar(x: float, width: float, bar: Counter[AttemptState], highest: int, clock: str) -> str:
    room, y = HIGH - BOTTOM - TOP, float(HIGH - BOTTOM)
    gap = min(1.0, width / 5)
    drawn = [f"<g><title>{clock}: {_counted(bar)}</title>"]
    for paint, _, states in KINDS:
        if number := sum(bar[state] for state in states):
            # One among thousands is still seen.
            high = max(room * number / highest, 2.0)
            y -= high
            drawn.append(
                f'<rect class="{paint}" x="{x + gap / 2:.1f}" y="{y:.1f}" '
                f'width="{width - gap:.1f}" height="{high:.1f}"/>'
            )
    return "".join((*drawn, "</g>"))


def _counted(bar: Counter[AttemptState]) -> str:
    numbers = [(sum(bar[state] for state in states), word) for _, word, states in KINDS]
    return ", ".join(f"{number:,} {word}" for number, word in numbers if number)


def _clock(chosen: Scale, place: int, zone: tzinfo | None) -> str:
    # Not as wide a step away as it seems: a clock change may have come in between.
    wall = (chosen.begins(place) + timedelta(hours=2 * (chosen.step >= _DAY))).astimezone(zone)
    if chosen.step >= _DAY:
        return f"{wall:%Y-%m-%d}"
    return f"{wall:%H:%M:%S}" if chosen.step < 60 else f"{wall:%H:%M}"


def _title(points: Sequence[Point], zone: tzinfo | None) -> str:
    first, last = (point.at.astimezone(zone) for point in (points[0], points[-1]))
    if first.date() == last.date():
        begin, end = f"{first:%H:%M:%S}", f"{last:%H:%M:%S}"
        return f"{first:%Y-%m-%d}, {begin}" + (f" to {end}" if end != begin else "")
    return f"{first:%Y-%m-%d %H:%M} to {last:%Y-%m-%d %H:%M}"


def in_words(seconds: int) -> str:
    """Write a step for people: `10 seconds`, `a minute`, `2 hours`, `7 days`."""
    for unit, name in ((_DAY, "day"), (3600, "hour"), (60, "minute"), (1, "second")):
        if seconds % unit == 0:
            number = seconds // unit
            if number == 1:
                return f"an {name}" if name == "hour" else f"a {name}"
            return f"{number} {name}s"
    return f"{seconds} seconds"
