"""`campaign plan`: what a run would do, shown beforehand."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

from config.command_line import command
from flows.cli.arguments import DefinitionFile, File, KeepProject, OnlyKeys, Sheet
from flows.cli.ledgers import ledger_if_any, say_whether_current
from flows.cli.prepare.check import notes_of, table_as_json
from flows.cli.reading import TypedFile
from flows.words.complaints import doubtful
from flows.words.speech import answer_program, complain, manner, say

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
) -> None:
    """Show what a run would do, and do nothing.

    Compares the campaign file with the ledger. Sends nothing, records nothing, and asks the
    service nothing unless you add --ask-service.
    """
    from flows.cli.prepare.plan_checks import check_ahead, check_same, looked
    from flows.cli.prepare.plan_words import lines_of

    typed = TypedFile(file, campaign, sheet, only or (), keep_project=keep_project)
    reading, definitions = typed.read_picked()
    check_same(definitions, reading.digest, typed)
    forecasts = forecasts_of(definitions)
    run = typed.words + ["--keep-project"] * keep_project
    check_ahead(definitions, forecasts, campaign or file, command("run", *run))
    if look:
        forecasts = list(looked(definitions, forecasts))
    created = [seen.campaign for seen in forecasts if not seen.create]
    sends = not all(seen.nothing for seen in forecasts)
    notes = notes_of(reading, definitions, created) if sends or manner().as_json else ()
    if sends:
        complain(*(f"Note: {note}" for note in notes))
    complain(*doubtful(reading.warnings))
    if manner().as_json:
        answer_program(_answer(reading, definitions, forecasts, notes))
    for definition, seen in zip(definitions, forecasts, strict=True):
        say(*lines_of(definition, seen))
    say(*_next(forecasts, run))


def _answer(
    reading: "Reading",
    definitions: "list[Definition]",
    forecasts: "list[Forecast]",
    notes: tuple[str, ...],
) -> dict[str, Any]:
    return {
        "campaigns": [
            seen.as_json() | table_as_json(definition)
            for definition, seen in zip(definitions, forecasts, strict=True)
        ],
        "warnings": [warning.as_json() for warning in reading.warnings],
        "notes": list(notes),
    }


def forecasts_of(definitions: "list[Definition]") -> "list[Forecast]":
    """Forecast each campaign. Raises AnotherService, LedgerUnusable, BadSettings."""
    from config.settings import load_address, load_local
    from data.store.clock import now
    from flows.cli.prepare.forecast import forecast
    from tasks.plan.holds import list_file
    from tasks.plan.plan import make_plan
    from tasks.plan.target import Target, beside

    local, service = load_local(), load_address() or ""
    listed = list_file(local)
    forecasts = []
    with ledger_if_any(local.database_url) as ledger:
        if ledger is not None:
            say_whether_current(ledger)
        for definition in definitions:
            if ledger is None:
                target = Target(definition.campaign, "", definition, None, service)
            else:
                target = beside(definition, "", ledger, service)
            plan = make_plan(target, ledger, now(), listed=listed)
            forecasts.append(forecast(plan, local.candidates_per_request, ledger))
    return forecasts


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
