"""Summaries of long parts of a story: requests by wave, simultaneous verdicts together. Pure."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby

from config.timetable.waves import Waves
from data.history.events import Decided, Event, Request, Wave
from data.store.states import AttemptState, Operation

# How many people go in one line, if there are too many requests for a line each.
WAVE = {Operation.ADD: 1000, Operation.INVITE: 100}
FEW = 25  # up to this many requests of one run and kind are shown singly


def summed_up(events: Sequence[Event], numbers: Mapping[int, int]) -> list[Event]:
    """Summarise long parts of one kind by wave, and simultaneous verdicts in one line.

    `numbers` are those of `wave_numbers`.
    """
    kept = [event for event in events if not isinstance(event, Request)]
    for stretch in stretches(event for event in events if isinstance(event, Request)):
        kept += stretch if len(stretch) <= FEW else waves(stretch, numbers)
    return sorted(together(kept), key=lambda event: event.at)


def stretches(requests: Iterable[Request]) -> list[list[Request]]:
    """The requests of each run by their kind, in the order in which they began."""
    by_run: dict[tuple[int, Operation], list[Request]] = {}
    for request in requests:
        by_run.setdefault((request.run, request.operation), []).append(request)
    return list(by_run.values())


def wave_numbers(
    requests: Iterable[Request], declared: Waves | None, pilots: Collection[int]
) -> dict[int, int]:
    """Number the waves of a definition, by the row of everybody who was invited in them.

    `pilots` are wave 0: the definition's, and those that it named before.
    """
    invited = (request.people[0] for request in requests if request.operation is Operation.INVITE)
    tried = dict.fromkeys(person for person in invited if person not in pilots)
    return dict.fromkeys(pilots, 0) | {
        person: declared.room(before)[0] if declared else 1 for before, person in enumerate(tried)
    }


def waves(requests: Sequence[Request], numbers: Mapping[int, int]) -> list[Wave]:
    """Summarise requests of one run and one kind, by as many people as go in one step.

    A person who was tried again counts in the wave of the first try, with the outcome of the last.
    """
    parts: list[list[Request]] = [[]]
    wave_of: dict[int, int] = {}
    full, number = 0, None
    for request in requests:
        new = [person for person in request.people if person not in wave_of]
        before, number = number, _number(request, numbers) if new else number
        too_many = full + len(new) > WAVE.get(request.operation, 1)
        if new and full and (too_many or number != before):
            parts.append([])
            full = 0
        wave_of |= dict.fromkeys(new, len(parts) - 1)
        full += len(new)
        first = request.people[0] if request.people else None
        parts[wave_of.get(first or 0, len(parts) - 1)].append(request)
    return [_wave(part, numbers) for part in parts if part]


def _number(request: Request, numbers: Mapping[int, int]) -> int | None:
    if request.operation is not Operation.INVITE or request.generation > 1:
        return None
    return numbers.get(request.people[0])


def _wave(part: Sequence[Request], numbers: Mapping[int, int]) -> Wave:
    last = {person: request.came_to for request in part for person in request.people}
    return Wave(
        at=part[0].at,
        until=part[-1].at,
        number=_number(part[0], numbers),
        run=part[0].run,
        operation=part[0].operation,
        requests=len(part),
        people=len(last),
        came_to=Counter[AttemptState](last.values()),
        reasons=Counter(
            (request.came_to, request.evidence) for request in part if request.evidence
        ),
        service_wrote=Counter(request.service_wrote for request in part if request.service_wrote),
    )


def together(events: Iterable[Event]) -> Iterator[Event]:
    """Merge verdicts of one decider at one moment, if they are the same for everybody."""

    def same(event: Event) -> tuple[object, ...]:
        if not isinstance(event, Decided) or event.value is not None:
            return (id(event),)
        return event.at, event.verdict, event.operation, event.who, event.why

    for _, group in groupby(events, key=same):
        alike = list(group)
        first = alike[0]
        if isinstance(first, Decided) and len(alike) > 1:
            everybody = tuple(
                row for event in alike if isinstance(event, Decided) for row in event.people
            )
            yield replace(first, people=everybody)
        else:
            yield first
