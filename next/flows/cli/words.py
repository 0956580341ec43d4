"""What commands say: counts, dates, what is sent, and what to type next."""

import shlex
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from config.definition import Definition, Project
    from config.reading import Campaign
    from tasks.plan import Plan


NAMED = 3


def counted(number: int, noun: str, plural: str = "") -> str:
    """`1 candidate`, `2 candidates`, `1,200 candidates`."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def typed(command: str, *words: object) -> str:
    """A command as it can be typed in any shell: `campaign check 'my file.yaml'`."""
    return shlex.join(["campaign", command, *map(str, words)])


def then(command: str, *words: object) -> str:
    """The line that says what to type next."""
    return f"Then type: {typed(command, *words)}"


def dates(project: "Project") -> str:
    """When a project opens and closes, by the clocks of its zone."""
    if project.id is not None:
        return f"as project {project.id} has them"
    ends = (("opens", project.starttime), ("closes", project.endtime))
    known = [f"{verb} {wall:%Y-%m-%d %H:%M}" for verb, wall in ends if wall]
    left = [verb for verb, wall in ends if not wall]
    zone = f" ({project.timezone})" if known and project.timezone else ""
    open_ = f"; no time given when it {' and '.join(left)}" if left else ""
    return (", ".join(known) + zone + open_).removeprefix("; ")


def described(campaign: "Campaign") -> Iterator[tuple[str, str]]:
    """A campaign that was read, as headings and what they say."""
    definition = campaign.definition
    problem = definition.problem
    what = f"problem {problem.id}" if problem.id else f'problem "{problem.title}"'
    project = definition.project
    yield "project", f"{project.name or f'project {project.id}'}, {what}"
    yield "dates", dates(project)
    yield "people", counted(len(campaign.people), "candidate")
    yield "sent", "; ".join(sent(campaign)) or "nothing"
    yield from invitations(definition)
    reasons = Counter(each.why for each in campaign.left_out)
    for why, number in reasons.most_common():
        names = [each.name or each.key for each in campaign.left_out if each.why == why]
        more = f" and {number - NAMED:,} more" if number > NAMED else ""
        yield (
            "left out",
            f"{counted(number, 'row')}, because {why}: {', '.join(names[:NAMED])}{more}",
        )
    for note in campaign.notes:
        yield "note", note


def planned(plan: "Plan", campaign: "Campaign") -> Iterator[str]:
    """What a run would do, line by line."""
    yield plan.key
    yield f"  project   {plan.project}, {plan.problem}"
    yield f"  dates     {dates(campaign.definition.project)}"
    yield f"  add       {counted(plan.add, 'candidate')}"
    yield f"  invite    {counted(plan.invite, 'email')}"
    for heading, said in invitations(campaign.definition):
        yield f"  {heading:<9} {said}"
    for note in (*campaign.left_out, *campaign.notes, *plan.intake.notes):
        yield f"  note      {note}"
    for person in plan.held:
        yield f"  held      {person.email1}: {person.hold.why}"
    for hold in (*plan.holds, *plan.waits):
        yield f"  waits     {hold.why}"
        if hold.type_this:
            yield f"            {hold.type_this}"


def sent(campaign: "Campaign") -> Iterator[str]:
    """Which field is sent from which column, with the first value: `Vorname as first_name (Ada)`.

    A field that nobody has is not named.
    """
    from config.definition import Candidate

    for field in Candidate.model_fields:
        values = (getattr(each.candidate, field) for each in campaign.people)
        first = next((value for value in values if value not in {"", None}), None)
        if first is not None:
            column = campaign.columns.get(field, field)
            named = field if column == field else f"{column} as {field}"
            yield f"{named} ({first})"


def invitations(definition: "Definition") -> Iterator[tuple[str, str]]:
    """When invitations go out, and who is asked before: only what the definition says."""
    invites = definition.invites
    if not invites.send:
        yield "invites", "none: people are added and get links"
        return
    zone = f" ({invites.timezone})" if invites.timezone else ""
    if invites.approval:
        yield "invites", "once a person has approved the plan"
    if invites.not_before:
        yield "from", f"{invites.not_before:%Y-%m-%d %H:%M}{zone}"
    if invites.not_after:
        yield "until", f"{invites.not_after:%Y-%m-%d %H:%M}{zone}"
    if invites.hours:
        free = counted(len(invites.holidays), "holiday")
        yield "hours", invites.hours + zone + (f", not on {free}" if invites.holidays else "")
    if invites.per_hour:
        yield "rate", f"{invites.per_hour:g} an hour"
    if invites.pilot:
        yield "pilot", f"{invites.pilot} first, then everybody once you approve"
    if invites.waves:
        between = f", {invites.between} between them" if invites.between else ""
        yield "waves", ", ".join([*map(str, invites.waves), "rest"]) + between
    if definition.schedule:
        yield "runs", definition.schedule.cron or f"every {definition.schedule.every}"
