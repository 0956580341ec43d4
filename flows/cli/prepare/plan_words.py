"""A plan in words: what a run would do and when, and whom it would leave alone."""

from collections.abc import Iterator, Sequence

from config.definition.model import Definition
from config.definition.sent_fields import sent
from config.timetable.moments import in_zone, on_the_wall
from config.timetable.timetable import Timetable
from data.campaigns.forecast import Leg
from data.campaigns.whose_turn import Wait
from data.store.states import Step
from flows.cli.prepare.check import (
    kept_in_words,
    problem_in_words,
    project_in_words,
    scheduled,
)
from flows.cli.prepare.forecast import Forecast, differing, email1_of
from flows.words.speech import counted
from tasks.plan.foreseen import Foreseen
from tasks.plan.target import left_out
from tasks.plan.timing import clock_of

STANDING = {
    Step.SENDING: ", by a run right now",
    Step.UNSURE: ": not sent again until you settle it",
    Step.REFUSED: ", by the service; not sent again",
    Step.WITHDRAWN: ", by a person's decision",
}
NAMED = 20  # of each kind of people; `--json` names everyone
SHOWN = 6  # so many of the times to send are shown, and the last one


def lines_of(definition: Definition, seen: Forecast) -> list[str]:
    """Write one campaign's plan, a line for each kind of thing."""
    where = f" at {seen.service}" if seen.service else ", not run yet"
    lines = [f"{seen.campaign}{where}"]
    for word, text in _parts(definition, seen):
        lines.append(f"  {word:<11} {text}")
    return lines


def _parts(definition: Definition, seen: Forecast) -> Iterator[tuple[str, str]]:
    if seen.stop is not None:
        yield "stops", f"a run would send nothing now: {seen.stop.why}"
    yield "project", _project(definition, seen)
    yield "problem", _problem(definition, seen)
    if seen.problem_doubt or seen.looked:
        word = "warning" if seen.problem_doubt else "checked"
        yield word, str(seen.problem_doubt or seen.looked)
    yield from kept_in_words(definition)
    if seen.add:
        people, requests = counted(seen.add, "candidate"), counted(seen.requests, "request")
        yield "add", f"{people} in {requests}"
        yield "sent", ", ".join(map(str, sent(definition, seen.adding)))
    else:
        yield "add", "nobody"
    if not definition.invites.send:
        yield "invite", "nobody: the definition says  invites: {send: false}"
    else:
        emails = seen.invite - seen.never
        hidden = f", {seen.hidden:,} of them to people in hidden rows" if seen.hidden else ""
        yield "invite", counted(emails, "email") + hidden if emails else "nobody"
        yield from definition.invites.timetable.in_words()
        if seen.waits and emails:
            yield "waits", seen.waits
        yield from _when(definition.invites.timetable, definition.timezone, seen.ahead)
    if definition.invites.approval is not None and not seen.nothing:
        yield "approval", "if nobody has approved this plan yet, a run shows it and sends nothing"
    yield from _left_alone(seen, send=definition.invites.send)
    yield from scheduled(definition)


def _project(definition: Definition, seen: Forecast) -> str:
    if seen.create:
        return f"create {project_in_words(definition)}"
    if seen.project is Step.DONE:
        return f"{seen.project_id}, nothing to do"
    return f"{_waits(str(seen.project))}; nothing else can be sent before that"


def _problem(definition: Definition, seen: Forecast) -> str:
    if definition.problem is None:
        return problem_in_words(definition)
    if seen.attach:
        return f"attach {problem_in_words(definition)}"
    if seen.problem is Step.DONE:
        return "attached, nothing to do"
    if seen.problem is Step.WAITING:
        return "waits for the project"
    return f"{_waits(str(seen.problem))}; nobody is added or invited before that"


def _waits(state: str) -> str:
    return {
        "unsure": "unsure whether the service has it: you must settle this first",
        "sending": "being sent by a run right now",
        "withdrawn": "withdrawn by a person's decision",
    }.get(state, state)


def _left_alone(seen: Forecast, *, send: bool) -> Iterator[tuple[str, str]]:
    """Write people by kind: for each line its first word, and the rest."""
    if seen.service is not None:  # before the first run everybody is new
        new = [person.email1 for person in seen.changes.new]
        yield from _first("new", [email1 for email1 in new if email1 not in seen.held])
    if seen.done:
        yield "done", f"{counted(seen.done, 'candidate')}, {'invited' if send else 'added'}"
    if seen.forgotten:
        yield "forgotten", left_out(seen.forgotten)
    yield from _first("held", [f"{email1}: {hold.why}" for email1, hold in seen.held.items()])
    yield from _changes(seen)
    for step, why in STANDING.items():
        if number := seen.standing[step]:
            yield step, f"{counted(number, 'candidate')}{why}"


def _changes(seen: Forecast) -> Iterator[tuple[str, str]]:
    """Tell what differs from what was sent, and is not applied: there is no update and no delete
    (interface 4).
    """
    changes = seen.changes
    yield from _first(
        "corrected",
        [f"{old.email1}: {email1_of(now)} is used instead" for old, now in changes.corrected],
    )
    if seen.differs:
        fields = ", ".join(seen.differs)
        yield "changed", f"{fields}: the service has no update, so this is not applied"
    yield from _first(
        "changed",
        [
            f"{person.email1} ({', '.join(differing(before, person))}): already added, so this is "
            "not applied"
            for before, person in changes.changed
        ],
    )
    yield from _first(
        "removed",
        [
            f"{email1_of(before)}: no longer in the definition; nothing is changed"
            for before in (*changes.removed, *seen.struck)
        ],
    )
    if changes.returned:
        yield "returned", f"{counted(len(changes.returned), 'candidate')}, in the definition again"


def _first(word: str, lines: Sequence[str]) -> Iterator[tuple[str, str]]:
    """A few lines of a kind, and how many more there are."""
    yield from ((word, line) for line in lines[:NAMED])
    if len(lines) > NAMED:
        yield word, f"and {len(lines) - NAMED:,} more"


def _when(table: Timetable, zone: str | None, seen: Foreseen | None) -> Iterator[tuple[str, str]]:
    """Say when the invitations would go, by the clocks of the campaign's `zone`.

    Nothing where all go at once.
    """
    if seen is None or table == Timetable():
        return
    clock = clock_of(table, zone)
    legs = seen.legs.legs
    for number, leg in enumerate(legs):
        if number == seen.legs.asked:
            yield (
                "confirm",
                "the pilot's invitation; the times below assume that you confirm it at once",
            )
        if number < SHOWN or number == len(legs) - 1:
            yield "sending", _leg(leg, table, clock)
        elif number == SHOWN:
            yield "sending", f"and {len(legs) - SHOWN - 1:,} more times"
    if legs:
        yield "ends", in_zone(legs[-1].ends, clock)
    if seen.legs.left:
        yield "not invited", f"{counted(len(seen.legs.left), 'person', 'people')}: {_why(seen)}"
    if seen.hurried:
        who = counted(seen.hurried, "person", "people")
        yield "short time", f"{who} with less time left than invites.least_time advises"


def _leg(leg: Leg, table: Timetable, clock: str | None) -> str:
    what = counted(len(leg.rows), "invitation")
    if leg.wave == 0:
        what = "the pilot's invitation"
    elif table.waves is not None:
        what = f"wave {leg.wave}, {what}"
    begins, ends = (on_the_wall(at, clock) for at in (leg.begins, leg.ends))
    until = f" to {ends:%H:%M}" if ends.date() == begins.date() else f" to {ends:%Y-%m-%d %H:%M}"
    span = until if (begins.hour, begins.minute) != (ends.hour, ends.minute) else ""
    return f"{begins:%Y-%m-%d %H:%M}{span}: {what}"


def _why(seen: Foreseen) -> str:
    """Say why some would not be invited at all."""
    return {
        Wait.OVER: "invites.not_after has passed by then",
        Wait.TOO_LATE: "less than invites.least_time is left by then",
        Wait.HELD: f"held: {seen.legs.why}",
        Wait.HOURS: "no working hours within a year",
    }.get(seen.legs.wait or Wait.HOURS, "too far ahead to plan")
