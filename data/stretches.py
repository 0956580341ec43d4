"""Long stretches of a story, summed up: requests by wave, verdicts of one moment together. Pure."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby

from data.events import Decided, Event, Request, Wave
from data.states import AttemptState, Operation

# People in one line, where there are too many requests for a line each.
WAVE = {Operation.ADD: 1000, Operation.INVITE: 100}
FEW = 25  # so many requests of one run and one kind are told one by one


def summed_up(events: Sequence[Event]) -> list[Event]:
    """Tell long stretches of one kind by waves, and verdicts of one moment together."""
    kept = [event for event in events if not isinstance(event, Request)]
    for some in stretches(event for event in events if isinstance(event, Request)):
        kept += some if len(some) <= FEW else waves(some)
    return sorted(together(kept), key=lambda event: event.at)


def stretches(requests: Iterable[Request]) -> list[list[Request]]:
    """The requests of each run by their kind, in the order in which they began."""
    found: dict[tuple[int, Operation], list[Request]] = {}
    for request in requests:
        found.setdefault((request.run, request.operation), []).append(request)
    return list(found.values())


def waves(some: Sequence[Request]) -> list[Wave]:
    """Sum up requests of one run and one kind, by as many people as go in one step.

    Whoever was tried again counts with the wave in which they were tried first, by what the last
    try came to.
    """
    parts: list[list[Request]] = [[]]
    wave_of: dict[int, int] = {}
    full = 0
    for request in some:
        new = [person for person in request.people if person not in wave_of]
        if new and full and full + len(new) > WAVE.get(request.operation, 1):
            parts.append([])
            full = 0
        wave_of |= dict.fromkeys(new, len(parts) - 1)
        full += len(new)
        first = request.people[0] if request.people else None
        parts[wave_of.get(first or 0, len(parts) - 1)].append(request)
    return [_wave(part) for part in parts if part]


def _wave(part: Sequence[Request]) -> Wave:
    last = {person: request.came_to for request in part for person in request.people}
    return Wave(
        at=part[0].at,
        until=part[-1].at,
        run=part[0].run,
        operation=part[0].operation,
        requests=len(part),
        people=len(last),
        came_to=Counter[AttemptState](last.values()),
        reasons=Counter((one.came_to, one.evidence) for one in part if one.evidence),
    )


def together(events: Iterable[Event]) -> Iterator[Event]:
    """Verdicts of one person at one moment, the same for everybody, are told as one."""

    def same(event: Event) -> tuple[object, ...]:
        if not isinstance(event, Decided) or event.value is not None:
            return (id(event),)
        return event.at, event.verdict, event.operation, event.who, event.why

    for _, group in groupby(events, key=same):
        some = list(group)
        first = some[0]
        if isinstance(first, Decided) and len(some) > 1:
            everybody = tuple(row for one in some if isinstance(one, Decided) for row in one.people)
            yield replace(first, people=everybody)
        else:
            yield first
