"""`campaign plan`: what a run would do, shown beforehand."""

from collections.abc import Iterator
from contextlib import nullcontext
from typing import TYPE_CHECKING, Annotated, Any

import typer

from config.command_line import command
from flows.cli.arguments import AsJson, DefinitionFile, File, KeepProject, OnlyKeys, Sheet
from flows.cli.prepare.check import (
    kept_in_words,
    notes_of,
    problem_in_words,
    project_in_words,
    scheduled,
    sent_in_words,
)
from flows.words.complaints import doubtful
from flows.words.speech import as_typed, complain, counted, print_json, say

if TYPE_CHECKING:
    from config.definition.model import Definition
    from config.reading.reading import Reading
    from flows.cli.prepare.forecast import Forecast


def plan(
    file: File,
    campaign: DefinitionFile = None,
    sheet: Sheet = None,
    only: OnlyKeys = None,
    look: Annotated[
        bool,
        typer.Option(
            "--ask-service", help="Ask the service whether the problem exists and is open."
        ),
    ] = False,
    keep_project: KeepProject = False,
    as_json: AsJson = False,
) -> None:
    """Show what a run would do, and do nothing.

    Compares the campaign file with the ledger. Sends nothing, records nothing, and asks the
    service nothing unless you add --ask-service.
    """
    from flows.cli.prepare.foreseen import check_ahead, check_same
    from flows.cli.prepare.look import looked
    from flows.cli.prepare.only import check_only, picked
    from flows.cli.reading import read_shown

    keys = only or ()
    reading = read_shown(file, campaign, sheet)
    check_only(keys, {each.campaign: file for each in reading.definitions}, [file])
    definitions = picked(reading.definitions, keys)
    if not keep_project:
        check_same(definitions, reading.digest, file, campaign, sheet)
    forecasts = forecasts_of(definitions)
    check_ahead(definitions, forecasts, campaign or file)
    if look:
        forecasts = list(looked(definitions, forecasts))
    created = [seen.campaign for seen in forecasts if not seen.create]
    sends = not all(seen.nothing for seen in forecasts)
    notes = notes_of(reading, definitions, created) if sends or as_json else ()
    if sends:
        complain(*(f"Note: {note}" for note in notes))
    complain(*doubtful(reading.warnings))
    if as_json:
        print_json(_answer(reading, definitions, forecasts, notes))
    for definition, seen in zip(definitions, forecasts, strict=True):
        say(*lines_of(definition, seen), as_json=as_json)
    typed = as_typed(file, campaign, keys, sheet=sheet) + ["--keep-project"] * keep_project
    say(*_next(forecasts, typed), as_json=as_json)


def _answer(
    reading: "Reading",
    definitions: "list[Definition]",
    forecasts: "list[Forecast]",
    notes: tuple[str, ...],
) -> dict[str, Any]:
    from config.definition import leaving
    from config.tables import where

    return {
        "campaigns": [
            seen.as_json()
            | {
                "sent": leaving.as_json(definition),
                "rows": definition.rows,
                "people": definition.people,
                "where": where.as_json(definition.selection),
            }
            for definition, seen in zip(definitions, forecasts, strict=True)
        ],
        "warnings": [warning.as_json() for warning in reading.warnings],
        "notes": list(notes),
    }


def forecasts_of(definitions: "list[Definition]") -> "list[Forecast]":
    """Forecast each campaign. Raises AnotherService, LedgerUnusable, BadSettings."""
    from config.settings import load_address, load_local
    from data.store.clock import now
    from data.store.ledger import Ledger
    from data.store.opening import NoLedger
    from flows.cli.prepare.forecast import forecast
    from tasks.plan.holds import list_file
    from tasks.plan.plan import make_plan
    from tasks.plan.target import Target, beside

    local, service = load_local(), load_address() or ""
    listed = list_file(local)
    per_request = local.candidates_per_request
    try:
        opened: Ledger | None = Ledger.open(local.database_url, create=False)
    except NoLedger:
        opened = None
    with opened or nullcontext() as ledger:
        forecasts = []
        for definition in definitions:
            if ledger is None:
                target = Target(definition.campaign, "", definition, None, service)
            else:
                target = beside(definition, "", ledger, service)
            plan = make_plan(target, ledger, now(), listed=listed)
            forecasts.append(forecast(plan, per_request=per_request, ledger=ledger))
    return forecasts


def lines_of(definition: "Definition", seen: "Forecast") -> list[str]:
    """Write one campaign's plan, a line for each kind of thing."""
    where = f" at {seen.service}" if seen.service else ", not run yet"
    lines = [f"{seen.campaign}{where}"]
    for word, text in _parts(definition, seen):
        lines.append(f"  {word:<11} {text}")
    return lines


def _parts(definition: "Definition", seen: "Forecast") -> Iterator[tuple[str, str]]:
    from flows.cli.prepare.left_alone import left_alone
    from flows.cli.prepare.when import when

    if seen.stop is not None:
        yield "stops", f"a run would send nothing now: {seen.stop.why}"
    yield "project", _project(definition, seen)
    yield "problem", _problem(definition, seen)
    if seen.problem_doubt or seen.looked:
        yield (
            ("warning", seen.problem_doubt) if seen.problem_doubt else ("checked", str(seen.looked))
        )
    yield from kept_in_words(definition)
    if seen.add:
        people, requests = counted(seen.add, "candidate"), counted(seen.requests, "request")
        yield "add", f"{people} in {requests}"
        yield "sent", sent_in_words(definition)
    else:
        yield "add", "nobody"
    if not definition.invites.send:
        yield "invite", "nobody: the definition says  invites: {send: false}"
    else:
        emails = seen.invite - seen.never
        hidden = f", {seen.hidden:,} of them to people in hidden rows" if seen.hidden else ""
        yield "invite", counted(emails, "email") + hidden if emails else "nobody"
        yield from definition.invites.timetable.in_words()
        yield from when(definition.invites.timetable, definition.timezone, seen.ahead)
    if definition.invites.approval is not None and not seen.nothing:
        yield "approval", "a run shows this plan, and sends nothing until a person approves it"
    yield from left_alone(seen, send=definition.invites.send)
    yield from scheduled(definition)


def _project(definition: "Definition", seen: "Forecast") -> str:
    from data.store.states import Step

    if seen.create:
        return f"create {project_in_words(definition)}"
    if seen.project is Step.DONE:
        return f"{seen.project_id}, nothing to do"
    return f"{_waits(str(seen.project))}; nothing else can be sent before that"


def _problem(definition: "Definition", seen: "Forecast") -> str:
    from data.store.states import Step

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


def _next(forecasts: "list[Forecast]", typed: list[str]) -> list[str]:
    steps = [step for seen in forecasts for step in _steps(seen, typed)]
    if any(seen.stop is None and not seen.nothing for seen in forecasts):
        return [*steps, f"Next: {command('run', *typed)}"]
    if any(seen.stop is not None for seen in forecasts):
        return steps or ["Nothing would be sent now."]
    return ["Nothing to send: a run would make no request.", *steps]


def _steps(seen: "Forecast", typed: list[str]) -> Iterator[str]:
    """What a person may type about one campaign, besides running it."""
    from data.holds import rule
    from tasks.plan.plan import Cause

    if seen.needs_a_person:
        yield f"Unsure: {command('settle', seen.campaign)}"
    if seen.stop is not None and seen.stop.cause is Cause.GUARD:
        yield f"If they were removed on purpose: {command('run', *typed, '--accept-removed')}"
    if seen.stop is not None and seen.stop.cause is Cause.PAUSED:
        yield f"Resume: {command('resume', seen.campaign)}"
    if any(hold.cause is not rule.Cause.LISTED for hold in seen.held.values()):
        allow = command("allow", seen.campaign, "EMAIL", "--why", "TEXT")
        yield f"Held: a run leaves them out. To invite one anyway, run first, then: {allow}"
    if any(hold.cause is rule.Cause.SECOND for hold in seen.held.values()):
        correct = command("correct", seen.campaign, "OLD", "NEW", "--why", "TEXT")
        yield f"Held: if the earlier address was wrong: {correct}"
