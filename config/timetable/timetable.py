"""When the invitations of a campaign may go out: everything a definition says about it."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from config.timetable import spans
from config.timetable.hours import Hours
from config.timetable.waves import REST, HoldOn, Waves, in_percent
from config.timetable.window import Window


@dataclass(frozen=True, slots=True)
class Timetable:
    """A rule is None if the definition does not have it; without any rule, all may go at once.

    `gap` is the least time between two invitations, over all runs. `latest` is the last moment
    (UTC) at which a person still has `least_time` before the project ends; `advised` is the same
    moment if `least_time` only warns. `pilot` is the email key of the person who gets the first
    invitation and confirms it before anybody else is invited.
    """

    window: Window | None = None
    hours: Hours | None = None
    gap: timedelta = timedelta(0)
    latest: datetime | None = None
    advised: datetime | None = None
    pilot: str | None = field(default=None, repr=False)
    waves: Waves | None = None
    hold_on: HoldOn | None = None

    def in_words(self) -> Iterator[tuple[str, str]]:
        """Write each rule for people, as a word and its meaning; the pilot without an address."""
        if self.window is not None:
            yield "when", str(self.window)
        if self.hours is not None:
            yield "hours", str(self.hours)
        if self.gap:
            rate = 3600 / self.gap.total_seconds()
            yield "rate", f"at most {f'{rate:,.0f}' if rate >= 100 else f'{rate:.3g}'} an hour"
        if self.pilot is not None:
            yield "pilot", "first an invitation to yourself, which you confirm"
        if self.waves is not None:
            sizes = ", ".join([*map(str, self.waves.sizes), REST])
            between = self.waves.between
            yield "waves", f"{sizes}, {spans.in_words(between)} between them" if between else sizes
        if self.hold_on is not None:
            yield "hold on", ", ".join(_bounds(self.hold_on))


def _bounds(hold_on: HoldOn) -> Iterator[str]:
    if hold_on.refused is not None:
        yield f"{in_percent(hold_on.refused)} refused"
    if hold_on.unsure is not None:
        yield f"{hold_on.unsure} unsure"
