"""What is sent to the service, as a person sees it: which column is sent as which field."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from config.definition.model import Candidate, Definition
from config.mistakes import shown
from config.people.doubts import is_sample

FIELDS = ("first_name", "last_name", "email1", "source", "notes", "stage_id")  # interface 4.5
NAMED = 3
EXAMPLES = 3


@dataclass(frozen=True, slots=True)
class Sent:
    """One field that at least one person has: the header of its column, and a few different values.

    `column` is None if the people are listed in the definition itself, and for a stage_id that
    everybody gets.
    """

    field: str
    column: str | None
    examples: tuple[str | int, ...]

    def __str__(self) -> str:
        """Write it as one of a list: `Vorname as first_name (Ada)`."""
        same = self.column is None or self.column == self.field
        return f"{self.field if same else f'{self.column} as {self.field}'} ({self.examples[0]})"


def sent(definition: Definition, people: Sequence[Candidate] = ()) -> list[Sent]:
    """List which fields of a definition's people are sent, with the first values as examples: of
    these `people`, if there are any.
    """
    # The pilot was put before them, and is in no column.
    pilot = definition.invites.timetable.pilot
    people = people or definition.candidates
    people = [person for person in people if person.key != pilot] or people
    listed = []
    for field in FIELDS:
        examples: list[str | int] = []
        for value in (getattr(person, field) for person in people):
            if value != "" and value not in examples:
                examples.append(value)
                if len(examples) == EXAMPLES:
                    break
        if examples:
            listed.append(Sent(field, definition.columns.get(field), tuple(examples)))
    return listed


def notes(definition: Definition, *, creates: bool = True) -> Iterator[str]:
    """Say what a person should know about a definition before it is sent, each kind once.

    `creates`: whether its project may still have to be created.
    """
    yield from _samples(definition)
    yield from _capitals(definition)
    yield from _one_name(definition)
    if creates:
        yield from _times_left_out(definition)


def _capitals(definition: Definition) -> Iterator[str]:
    """The login must equal the address; whether capitals count is left open (interface 4.7)."""
    them = [person for person in definition.candidates if person.email1 != person.email1.lower()]
    if them:
        more = len(them) - 1
        have = f"and {more:,} more have capitals, and are" if more else "has capitals, and is"
        yield (
            f"{them[0].place}, email1: {shown(them[0].email1)} {have} sent as written; people must "
            "log in with the same capitals, because the log-in may tell them apart"
        )


def _one_name(definition: Definition) -> Iterator[str]:
    """Report people with the same name: they may be one person, who would be invited twice."""
    first: dict[tuple[str, str], Candidate] = {}
    twice: list[tuple[Candidate, Candidate]] = []
    for person in definition.candidates:
        name = (person.first_name.casefold(), person.last_name.casefold())
        before = first.setdefault(name, person)
        if before is not person:
            twice.append((before, person))
    if twice:
        before, person = twice[0]
        named = shown(f"{person.first_name} {person.last_name}")
        more = f"; the same goes for {len(twice) - 1:,} more" if len(twice) > 1 else ""
        yield (
            f"{person.place}, email1: {named} has {person.email1} here and {before.email1} at "
            f"{before.place}; if this is one person, keep only the address they log in with{more}"
        )


def _times_left_out(definition: Definition) -> Iterator[str]:
    """Report times left out: the interface does not say which fields are required (interface 2)."""
    project = definition.project
    times = {"starttime": project.starttime, "endtime": project.endtime}
    left_out = [name for name, time in times.items() if time is None]
    if project.id is None and left_out:
        sent = "both are" if len(left_out) == 2 else "it is"
        yield (
            f"{definition.place.file}: the project of {definition.campaign} has no "
            f"{' and no '.join(left_out)}; when it is created, {sent} sent as empty text, and the "
            "service decides what that means"
        )


def _samples(definition: Definition) -> Iterator[str]:
    """Report made-up addresses, such as the samples in a starter."""
    people = [person for person in definition.candidates if is_sample(person.key)]
    if not people:
        return
    addresses = [person.email1 for person in people]
    more = f" and {len(addresses) - NAMED:,} more" if len(addresses) > NAMED else ""
    what = "a sample address" if len(addresses) == 1 else f"{len(addresses):,} sample addresses"
    named = ", ".join(addresses[:NAMED])
    where = people[0].place.file
    yield f"{where}: {what} that nobody reads: {named}{more}; use your own people instead"
