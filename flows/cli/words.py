"""What commands say: counts, dates, what is sent, and what to type next."""

import sys
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any, TextIO, cast

import typer

from config.errors import NAMES, command, plain, printable, some
from data.store.states import OF_PERSON, OPERATIONS

if TYPE_CHECKING:
    from config.definition import Definition, Project
    from config.reading import CampaignFile
    from tasks.plan import Plan

NAMED = 3  # people or rows named as examples
VALUES = 6  # values of a column named in one line


def harmless(stream: TextIO) -> TextIO:
    """The same stream, which escapes what a terminal would obey or hide."""
    return cast("TextIO", _Printable(stream))


class _Printable:
    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        return self._stream.write(printable(text))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def counted(number: int, noun: str, plural: str = "") -> str:
    """`1 candidate`, `2 candidates`, `1,200 candidates`."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def then(*words: object) -> str:
    """The line that says what to type next."""
    return f"Then type: {command(*words)}"


def aside(line: str) -> None:
    """Print to standard error what is not the output of a command."""
    print(line, file=sys.stderr)


def nobody_objects(question: str) -> bool:
    """Ask a person at the terminal. A program that runs the command is not asked: it agrees."""
    return not sys.stdin.isatty() or confirmed(question)


def confirmed(question: str) -> bool:
    """Ask a person. Without a terminal nobody can answer, and the answer is no."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        print("Nobody can be asked here: add --yes.", file=sys.stderr)
        return False
    return typer.confirm(question, err=True)


def dates(project: "Project") -> str:
    """When a project opens and closes, in its timezone."""
    if project.id is not None:
        return f"as project {project.id} has them"
    ends = (("opens", project.starttime), ("closes", project.endtime))
    known = [f"{verb} {wall:%Y-%m-%d %H:%M}" for verb, wall in ends if wall]
    left = [verb for verb, wall in ends if not wall]
    zone = f" ({project.timezone})" if known and project.timezone else ""
    open_ = f"; no time given when it {' and '.join(left)}" if left else ""
    return (", ".join(known) + zone + open_).removeprefix("; ")


def described(campaign: "CampaignFile") -> Iterator[tuple[str, str]]:
    """What `check` says of a campaign, as pairs of a heading and a text."""
    definition = campaign.definition
    problem = definition.problem
    what = f"problem {problem.id}" if problem.id else f'problem "{problem.title}"'
    project = definition.project
    yield "project", f"{project.name or f'project {project.id}'}, {what}"
    yield "dates", dates(project)
    people, first = len(campaign.listed), (vars(it.candidate) for it in campaign.listed[:NAMES])
    yield "people", f"{counted(people, 'candidate')}: {named(first, people) or 'nobody yet'}"
    yield from who(campaign)
    yield "sent", "; ".join(sent(campaign)) or "nothing"
    yield from invitations(definition)
    yield from left_out(campaign)
    for note in campaign.notes:
        yield "note", note
    yield from attention(campaign)


def named(first: Iterable[Mapping[str, Any]], of: int) -> str:
    """The first people of so many, by name."""
    return some(["{first_name} {last_name}".format_map(each) for each in first], NAMES, of)


def who(campaign: "CampaignFile") -> Iterator[tuple[str, str]]:
    """How many people are invited, for each value of the columns in which they differ."""
    for column, counts in campaign.apart.items():
        each = [f"{plain(value)} {people:,}" for value, people in counts.items()]
        yield "who", f"{column}: {some(each, VALUES)}"


def attention(campaign: "CampaignFile") -> Iterator[tuple[str, str]]:
    """Columns and remarks that decide nothing, though they could; commands show these last."""
    if campaign.ignored:
        number, columns = len(campaign.listed), some(campaign.ignored, VALUES)
        everybody = f"All {number:,} are" if number > 1 else "The only person is"
        verb = "says" if len(campaign.ignored) == 1 else "say"
        yield "ATTENTION", f"{everybody} invited, whatever {columns} {verb}."
    for said in campaign.remarks:
        yield "ATTENTION", f"Nobody looked at this: {said}"


def left_out(campaign: "CampaignFile") -> Iterator[tuple[str, str]]:
    """Who of the table is not invited: each reason, with a count and the first names."""
    for why, them in sorted(campaign.left_out.items(), key=lambda item: -len(item[1])):
        yield "left out", f"{counted(len(them), 'row')}, because {why}: {some(them)}"


def planned(plan: "Plan", campaign: "CampaignFile") -> Iterator[str]:
    """What a run would do, line by line."""
    yield plan.key
    yield f"  project   {plan.project}, {plan.problem}"
    yield f"  dates     {dates(campaign.definition.project)}"
    for op in OF_PERSON:
        what = "email" if OPERATIONS[op].emails else "candidate"
        once_more = f", {plan.again:,} of them once more" * bool(what == "email" and plan.again)
        yield f"  {op:<9} {counted(plan.to_do[op], what)}{once_more}"
    coming = max(plan.to_do[op] for op in OF_PERSON)
    yield f"  people    {named([each.fields for each in plan.first], coming) or 'nobody'}"
    more = (*who(campaign), *invitations(campaign.definition), *left_out(campaign))
    for heading, said in more:
        yield f"  {heading:<9} {said}"
    for note in (*campaign.notes, *plan.intake.notes):
        yield f"  note      {note}"
    for email1, held in plan.held.items():
        yield f"  held      {email1}: {held.why}"
    for hold in (*plan.holds, *plan.waits):
        yield f"  waits     {hold.why}"
        if hold.type_this:
            yield f"            {hold.type_this}"
    intake = plan.intake
    for people, what in (
        (intake.gone, "not in this file, or filtered out"),
        (intake.back, "back in the file"),
    ):
        if people:
            many = counted(len(people), "candidate is", "candidates are")
            rest = ", …" if len(people) > NAMED else ""
            yield f"  {many} {what}: {', '.join(people[:NAMED])}{rest}"
    if intake.forgotten:
        many = counted(intake.forgotten, "candidate was", "candidates were")
        yield f"  {many} forgotten on request; remove them from the file as well"
    yield from (f"  {heading} {said}" for heading, said in attention(campaign))


def sent(campaign: "CampaignFile") -> Iterator[str]:
    """Each field that is sent, its column, and its first value: `Vorname as first_name (Ada)`.

    Fields without any value are left out.
    """
    from config.definition import Candidate

    for field in Candidate.model_fields:
        values = (getattr(each.candidate, field) for each in campaign.listed)
        first = next((value for value in values if value not in {"", None}), None)
        if first is not None:
            column = campaign.columns.get(field, field)
            named = field if column == field else f"{column} as {field}"
            yield f"{named} ({first})"


def invitations(definition: "Definition") -> Iterator[tuple[str, str]]:
    """The options of `invites` that the definition sets, and its schedule."""
    if not definition.invites.send:
        yield "invites", "none: people are added and get links"
        return
    for name, value in definition.invites:
        if value != type(definition.invites).model_fields[name].default:
            yield name, option(value)
    if definition.schedule:
        yield "runs", definition.schedule.cron or f"every {definition.schedule.every}"


def option(value: object) -> str:
    """The value of an option as people write it."""
    if isinstance(value, list):
        return ", ".join(map(option, value))
    if isinstance(value, datetime):
        return f"{value:%Y-%m-%d %H:%M}"
    return f"{value:g}" if isinstance(value, float) else str(value)
