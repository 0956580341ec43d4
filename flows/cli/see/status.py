"""Where each campaign stands, and who needs a person: `status`, and `metrics` for a monitor."""

from collections.abc import Iterable, Iterator, Mapping
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from config.command_line import command
from flows.cli.arguments import keys
from flows.cli.ledgers import campaign_as_it_is, find_campaign, open_ledger
from flows.cli.outputs import check_output, output_option
from flows.words.closing import (
    COUNTED,
    beside_a_run,
    clean_up_line,
    counted_out,
    next_steps,
    summary,
    wrote,
)
from flows.words.speech import answer_program, counted, manner, run_again, say, say_table

if TYPE_CHECKING:
    from data.store.ledger import Ledger
    from data.store.tables import Campaign

# Of those who need a person, this many are listed; `--json` lists everyone.
LISTED = 50
CLEANED_SHOWN = 5
Row = tuple[str, str, str, str | None]  # email1, a step of the person, its state, and why


def status(
    key: Annotated[
        str | None,
        typer.Argument(
            metavar="KEY", help="Only this campaign; without it, all of them.", autocompletion=keys
        ),
    ] = None,
) -> None:
    """Show where each campaign stands.

    Reads only the ledger, and does not contact the service. What a run was sending when its process
    died is recorded as unsure.
    """
    from data.store.opening import NoLedger

    if key is not None:
        with campaign_as_it_is(key) as (ledger, campaign):
            _show_one(ledger, campaign)
        return
    try:
        ledger = open_ledger()
    except NoLedger as error:
        _nothing_yet(f"There is no ledger at {error.place}.")
        return
    with ledger:
        _show_all(ledger)


def _nothing_yet(where: str) -> None:
    """Say that no campaign was run, and which ledger was read: its address may be mistyped."""
    from config.reading.starter import free

    answer_program({"campaigns": []})
    say(
        f"No campaign has been run yet. {where}",
        f"Next: {command('new', free(Path('hiring.yaml')))}",
        "  if you ran one: set CAMPAIGN_DATABASE_URL to its ledger",
    )


def _show_all(ledger: "Ledger") -> None:
    from data.campaigns import queries
    from tasks.status.standing import in_short, standing

    look = standing if manner().as_json else in_short
    campaigns = ledger.read(queries.every_campaign)
    if not campaigns:
        _nothing_yet(f"The ledger {ledger.place} is empty.")
        return
    stand = [look(ledger, _with_doubts(ledger, campaign)) for campaign in campaigns]
    if manner().as_json:
        answer_program({"campaigns": stand})
        return
    counts = [counted_out(of_one) for of_one in stand]
    shown = [name for name in COUNTED if any(numbers[name] for numbers in counts)]
    say_table(
        ["campaign", "service", "project", *shown],
        [
            [of_one["campaign"], of_one["service"], _call(of_one, "project")]
            + [numbers[name] for name in shown]
            for of_one, numbers in zip(stand, counts, strict=True)
        ],
    )
    for campaign in campaigns:
        say(*(f"{campaign.key}: {line}" for line in _asked(ledger, campaign.key)))
    say(f"Next: {command('status', 'KEY')}")


def _with_doubts(ledger: "Ledger", campaign: "Campaign") -> "Campaign":
    """The campaign, after the claims of dead runs have become doubts."""
    from data.decisions import adding_again
    from data.store.opening import LedgerUnusable

    try:
        left = adding_again.recover(ledger, campaign.id)
    except LedgerUnusable:
        return campaign  # nothing can be written now: shown as it was recorded
    return find_campaign(ledger, campaign.key) if left else campaign


def _show_one(ledger: "Ledger", campaign: "Campaign") -> None:
    from data.sending import runs
    from flows.cli.prepare.plan_checks import seen_doubt
    from tasks.status.asking import before_a_run
    from tasks.status.standing import in_short, standing

    ahead = ledger.read(runs.ahead, campaign.id)
    campaign = _with_doubts(ledger, campaign)
    if manner().as_json:
        answer_program(standing(ledger, campaign))
        return
    stand = in_short(ledger, campaign)
    parts = [
        ("project", _call(stand, "project")),
        ("problem", _call(stand, "problem")),
        ("warning", seen_doubt(campaign)),
        ("why", campaign.why),
        ("last run", _last_run(ledger, campaign)),
        *(("clocks", line) for line in _apart(ahead, campaign.key)),
        *_held(ledger, campaign),
    ]
    say(f"{campaign.key} at {campaign.service}")
    say(*(f"  {word:<9} {text}" for word, text in parts if text))
    waiting_for_a_person = [
        *needing_a_person(stand["candidates"]),
        *left_out(stand),
        *removed(stand["candidates"], send=bool(campaign.send_invites)),
    ]
    if waiting_for_a_person:
        say("")
        say_table(["email1", "step", "state", "why"], waiting_for_a_person[:LISTED])
    if len(waiting_for_a_person) > LISTED:
        more = counted(len(waiting_for_a_person) - LISTED, "more candidate")
        say(f"and {more}, listed by: {command('status', campaign.key, '--json')}")
    if quotations := wrote(stand):
        say("", *quotations)
    if items := stand["clean_up"]:
        say("", "Remove these by hand in the web application (the service has no call for it):")
        say(*(f"  {clean_up_line(item)}" for item in items[:CLEANED_SHOWN]))
    if len(items) > CLEANED_SHOWN:
        say(f"  and {len(items) - CLEANED_SHOWN:,} more")
    say("", f"{counted(stand['counts']['candidates'], 'candidate')}: {summary(stand)}")
    steps = next_steps(stand, *run_again(campaign), instead=before_a_run(ledger, campaign))
    if ledger.read(runs.at_work, campaign.id):
        steps = beside_a_run(steps, campaign.key)
    say(*(f"  {step}" for step in steps))


def _apart(ahead: Iterable[tuple[str, timedelta]], key: str) -> Iterable[str]:
    """Say whose clock is ahead of this one, so that nobody knows yet whether their run lives."""
    for host, by in ahead:
        far = counted(by.days, "day") if by.days else counted(by.seconds // 60, "minute")
        yield (
            f"The clock of {host} is {far} ahead of this machine's. Set the clock that is wrong. "
            "In 3 minutes you can see whether its run is still in progress: "
            f"{command('status', key)}"
        )


def _held(ledger: "Ledger", campaign: "Campaign") -> Iterator[tuple[str, str]]:
    """Tell what keeps every run from sending, and what to type about it."""
    from config.timetable.moments import in_zone
    from data.campaigns import pauses
    from data.campaigns.whose_turn import timetable

    key = campaign.key
    for paused in ledger.read(pauses.all_standing, key):
        since = in_zone(paused.since, paused.timezone)
        yield "paused", f"by {paused.who} since {since}; to resume: {command('resume', key)}"
    if campaign.send_invites:
        yield from timetable(campaign.timetable).in_words()
    yield from (("approval", line) for line in _asked(ledger, key))


def _asked(ledger: "Ledger", key: str) -> Iterator[str]:
    """Say that a plan waits for an answer, and until when."""
    from data.campaigns import approvals
    from data.campaigns.approvals import Standing, code_of, until

    asked, stands = ledger.read(approvals.look, key)
    if asked is not None and stands is Standing.OPEN:
        by = f" until {until(asked)}" if asked.answer_by else ""
        yield f"plan {code_of(asked)} is waiting{by}: {command('approve', key)}"


def needing_a_person(candidates: Iterable[Mapping[str, Any]]) -> Iterator[Row]:
    """Pick who is unsure or refused."""
    for person in candidates:
        for step in ("add", "invite"):
            if person[step] in ("unsure", "refused"):
                yield person["email1"], step, person[step], person["why"]


def left_out(stand: Mapping[str, Any]) -> Iterator[Row]:
    """Pick who is held."""
    held = {hold["email1"] for hold in stand["holds"]}
    for person in stand["candidates"] if held else ():
        if person["email1"] in held:
            step = "invite" if person["add"] == "done" else "add"
            yield person["email1"], step, "held", person["why"].removeprefix("held: ")


def removed(candidates: Iterable[Mapping[str, Any]], *, send: bool) -> Iterator[Row]:
    """Pick who waits and is no longer in the definition."""
    for person in candidates:
        step = "invite" if send and person["add"] == "done" else "add"
        if not person["listed"] and person[step] == "waiting":
            yield person["email1"], step, "removed", person["why"]


def _call(stand: Mapping[str, Any], name: str) -> str:
    """Write the project or the problem with its id, and its state where that is not done."""
    state, number = stand[name], stand[f"{name}_id"]
    if state == "done":
        return str(number) if number is not None else "the project's own"
    return state if number is None else f"{number}, {state}"


def _last_run(ledger: "Ledger", campaign: "Campaign") -> str:
    from config.timetable.moments import in_zone
    from data.campaigns import queries
    from data.sending import runs
    from data.store.states import SENT_NOTHING, Ending

    run = ledger.read(queries.last_run, campaign.id)
    if run is None:
        return "none yet"
    began = f"began {in_zone(run.started_at, campaign.timezone)}"
    if run.ended_at is not None:
        ended = str(run.ending).replace("_", " ")
        if run.process_start == SENT_NOTHING:
            ended = f"sent nothing, {ended}"
        # Whatever an answer was wanted for is told as it stands now.
        reason = None if run.ending == Ending.AWAITS_APPROVAL else run.reason
        return f"{began}, {ended}" + (f": {reason}" if reason else "")
    if ledger.read(runs.at_work, campaign.id):
        return f"{began}, in progress"
    return f"{began}, disappeared before its end; what it was sending is unsure"


def metrics(
    output: Annotated[
        Path | None,
        output_option("The file to write, for a collector that reads files."),
    ] = None,
) -> None:
    """Write the numbers of every campaign as OpenMetrics text.

    People by where they stand, requests and runs by how they ended. Names nobody. Reads only the
    ledger.
    """
    from data.own_files import write_whole
    from tasks.status.metrics import open_metrics

    with open_ledger() as ledger:
        check_output(output, ledger)
        text = open_metrics(ledger)
    if output is None:
        print(text, end="")
    else:
        # A collector runs as somebody else, and nobody is named.
        write_whole(output, text.encode(), mode=0o644)
        say(f"{output} is written.")
