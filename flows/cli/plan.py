"""`campaign plan`: what a run would do, said beforehand."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from flows.cli.arguments import AsJson, DefinitionFile, File, OnlyKeys, as_typed
from flows.cli.check import problem_in_words, project_in_words
from flows.cli.complaints import doubtful
from flows.cli.speech import answering, command, complain, counted, print_json, say

if TYPE_CHECKING:
    from config.definition import Definition
    from data.ledger import Ledger
    from data.tables import Campaign
    from flows.cli.forecast import Forecast

# Of the people a run would leave alone, this many are named.
NAMED = 20


def plan(
    file: File,
    campaign: DefinitionFile = None,
    only: OnlyKeys = None,
    look: Annotated[
        bool,
        typer.Option("--look", help="Ask the service whether the problem is there and open."),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Say what a run would do, and do nothing.

    Compares the campaign file with the ledger. Asks no service but for --look, sends nothing and
    records nothing.
    """
    from flows.cli.foreseen import check_ahead
    from flows.cli.look import looked
    from flows.cli.only import check_only, picked
    from flows.cli.reading import read_shown

    keys = only or ()
    with answering(as_json):
        reading = read_shown(file, campaign)
        check_only(keys, {each.campaign: file for each in reading.definitions}, [file])
        definitions = picked(reading.definitions, keys)
        forecasts = _forecasts(definitions)
        check_ahead(definitions, forecasts, campaign or file)
        if look:
            forecasts = list(looked(definitions, forecasts))
    complain(*doubtful(reading.warnings))
    if as_json:
        warnings = [warning.as_json() for warning in reading.warnings]
        print_json({"campaigns": [seen.as_json() for seen in forecasts], "warnings": warnings})
    for definition, seen in zip(definitions, forecasts, strict=True):
        say(*lines_of(definition, seen), as_json=as_json)
    say(*_next(forecasts, as_typed(file, campaign, keys)), as_json=as_json)


def _forecasts(definitions: "list[Definition]") -> "list[Forecast]":
    """Decide for each campaign. Raises AnotherService, LedgerUnusable, BadSettings."""
    from config.settings import load_address, load_local
    from data.ledger import Ledger, now
    from data.opening import NoLedger
    from flows.cli.forecast import forecast
    from tasks.asked import AnotherService, without_forgotten
    from tasks.held import held_by, held_by_file, list_file

    local = load_local()
    per_request = local.candidates_per_request
    listed = list_file(local)
    service = load_address()
    try:
        ledger = Ledger.open(local.database_url, create=False)
    except NoLedger:
        return [
            forecast(
                definition,
                None,
                {},
                per_request=per_request,
                run_lives=False,
                held=held_by_file(definition, listed),
                at=now(),
            )
            for definition in definitions
        ]
    forecasts = []
    with ledger:
        for definition in definitions:
            found = ledger.campaign(definition.campaign)
            if found and service and found.service != service:
                raise AnotherService(
                    f"The ledger has {found.key} at {found.service}, but ASSESSMENT_BASE_URL is "
                    f"{service}: a run would stop and send nothing. Set the address back, or give "
                    "the campaign for the other service a key of its own."
                )
            known = ledger.known(found.id) if found else {}
            listed_now, gone = without_forgotten(definition, found, ledger)
            seen = forecast(
                listed_now,
                found,
                known,
                per_request=per_request,
                run_lives=found is not None and last_run_lives(ledger, found),
                held=held_by(listed_now, found, ledger, service or "", listed),
                ledger=ledger,
                at=now(),
            )
            forecasts.append(replace(seen, forgotten=gone))
    return forecasts


def last_run_lives(ledger: "Ledger", campaign: "Campaign") -> bool:
    """Whether a run is at work on this campaign now, here or on another machine."""
    from data.ledger import now
    from data.processes import Process, is_alive

    run = ledger.last_run(campaign.id)
    if run is None or run.ended_at is not None:
        return False
    return is_alive(Process(run.host, run.pid, run.process_start), run.heartbeat_at, now())


def lines_of(definition: "Definition", seen: "Forecast") -> list[str]:
    """Write one campaign's plan, a line for each kind of thing."""
    where = f" at {seen.service}" if seen.service else ", not run yet"
    lines = [f"{seen.campaign}{where}"]
    for word, said in _told(definition, seen):
        lines.append(f"  {word:<11} {said}")
    return lines


def _told(definition: "Definition", seen: "Forecast") -> Iterator[tuple[str, str]]:
    from flows.cli.when import when

    yield "project", _project(definition, seen)
    yield "problem", _problem(definition, seen)
    if seen.problem_doubt or seen.looked:
        yield (
            ("look at", seen.problem_doubt) if seen.problem_doubt else ("looked", str(seen.looked))
        )
    if seen.add:
        people, requests = counted(seen.add, "candidate"), counted(seen.requests, "request")
        yield "add", f"{people} in {requests}"
    else:
        yield "add", "nobody"
    if not definition.invites.send:
        yield "invite", "nobody: the definition says  invites: {send: false}"
    else:
        yield "invite", counted(seen.invite, "email") if seen.invite else "nobody"
        yield from definition.invites.timetable.in_words()
        yield from when(definition.invites.timetable, definition.project.timezone, seen.ahead)
    if seen.gone:
        yield "guard", f"{seen.gone}: a run would stop, unless told  --accept-removed"
    if definition.invites.approval is not None and not seen.nothing:
        yield "approval", "a run shows this plan, and sends nothing before a person approves it"
    yield from _twice(seen)
    yield from _left_alone(seen)


def _twice(seen: "Forecast") -> Iterator[tuple[str, str]]:
    """Point at those who were most likely invited before, under another address."""
    for one in seen.second[:NAMED]:
        yield "twice?", str(one)
    if len(seen.second) > NAMED:
        yield "twice?", f"and {len(seen.second) - NAMED:,} more"


def _project(definition: "Definition", seen: "Forecast") -> str:
    from data.states import Step

    if seen.create:
        return f"create {project_in_words(definition)}"
    if seen.project is Step.DONE:
        return f"{seen.project_id}, nothing to do"
    return f"{_waits(str(seen.project))}; nothing else can go before that"


def _problem(definition: "Definition", seen: "Forecast") -> str:
    from data.states import Step

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
        "unsure": "unsure whether the service has it: a person must settle this",
        "sending": "being sent by a run right now",
        "withdrawn": "withdrawn by a person's decision",
    }.get(state, state)


def _left_alone(seen: "Forecast") -> Iterator[tuple[str, str]]:
    """Tell what a run would not touch, and why."""
    from flows.cli.forecast import differing, email1_of
    from tasks.asked import left_out

    changes = seen.changes
    if seen.forgotten:
        yield "forgotten", left_out(seen.forgotten)
    yield from _some("held", [f"{email1}: {one.why}" for email1, one in seen.held.items()])
    yield from _some(
        "corrected",
        [f"{old.email1}: {email1_of(now)} is used instead" for old, now in changes.corrected],
    )
    if seen.differs:
        fields = ", ".join(seen.differs)
        yield "changed", f"{fields}: the service has no update, so this is not applied"
    yield from _some(
        "changed",
        [
            f"{person.email1} ({', '.join(differing(known, person))}): already added, so this is "
            "not applied"
            for known, person in changes.changed
        ],
    )
    yield from _some(
        "removed",
        [
            f"{email1_of(known)}: no longer in the definition, left alone"
            for known in changes.removed
        ],
    )
    if changes.returned:
        yield "returned", f"{counted(len(changes.returned), 'candidate')}, in the definition again"
    if seen.sending:
        yield "sending", f"{counted(seen.sending, 'candidate')}, by a run right now"
    if seen.unsure:
        yield "unsure", f"{counted(seen.unsure, 'candidate')}: never sent again by itself"
    if seen.refused:
        yield "refused", f"{counted(seen.refused, 'candidate')}, by the service: skipped"
    if seen.withdrawn:
        yield "withdrawn", f"{counted(seen.withdrawn, 'candidate')}, by a person's decision"


def _some(word: str, lines: Sequence[str]) -> Iterator[tuple[str, str]]:
    """A few lines of a kind, and how many more there are."""
    yield from ((word, line) for line in lines[:NAMED])
    if len(lines) > NAMED:
        yield word, f"and {len(lines) - NAMED:,} more"


def _next(forecasts: "list[Forecast]", typed: list[str]) -> list[str]:
    from data.held import Cause

    steps = [
        f"Unsure: {command('settle', seen.campaign)}" for seen in forecasts if seen.needs_a_person
    ]
    steps += [
        f"Held: {command('status', seen.campaign)}"
        for seen in forecasts
        if seen.service is not None
        and any(one.cause is not Cause.LISTED for one in seen.held.values())
    ]
    if all(seen.nothing for seen in forecasts):
        return ["Nothing to send: a run would make no request.", *steps]
    return [*steps, f"Next: {command('run', *typed)}"]
