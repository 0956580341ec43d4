"""`campaign status`: where each campaign stands, and who needs a person."""

from collections.abc import Iterable, Iterator, Mapping
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from config.command_line import command
from flows.cli.arguments import AsJson, keys
from flows.cli.known_campaign import find_campaign
from flows.words.closing import beside_a_run, counted_out, next_steps, summary, wrote
from flows.words.complaints import UnknownCampaign
from flows.words.speech import counted, print_json, run_again, say, say_table

if TYPE_CHECKING:
    from data.store.ledger import Ledger
    from data.store.tables import Campaign

# Of those who need a person, this many are listed; `--json` lists everyone.
LISTED = 50
CLEANED_SHOWN = 5
NUMBERS = (
    *("candidates", "added", "invited", "waiting", "held", "removed", "sending"),
    *("unsure", "refused", "withdrawn"),
)


def status(
    key: Annotated[
        str | None,
        typer.Argument(
            metavar="KEY", help="Only this campaign; without it, all of them.", autocompletion=keys
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show where each campaign stands.

    Reads only the ledger, and does not contact the service. What a run was sending when its process
    died is recorded as unsure.
    """
    from config.settings import load_local
    from data.store.ledger import Ledger
    from data.store.opening import NoLedger

    try:
        ledger = Ledger.open(load_local().database_url, create=False)
    except NoLedger as error:
        if key is not None:
            raise UnknownCampaign(key, [], error.place) from None
        _nothing_yet(f"There is no ledger at {error.place}.", as_json=as_json)
        return
    with ledger:
        if key is None:
            _show_all(ledger, as_json=as_json)
        else:
            _show_one(ledger, find_campaign(ledger, key), as_json=as_json)


def _nothing_yet(where: str, *, as_json: bool) -> None:
    """Say that no campaign was run, and which ledger was read: its address may be mistyped."""
    from config.reading.starter import free

    if as_json:
        print_json({"campaigns": []})
    say(
        f"No campaign has been run yet. {where}",
        f"Next: {command('new', free(Path('hiring.yaml')))}",
        "  if you ran one: set CAMPAIGN_DATABASE_URL to its ledger",
        as_json=as_json,
    )


def _show_all(ledger: "Ledger", *, as_json: bool) -> None:
    from data.campaigns import queries
    from tasks.status.standing import in_short, standing

    look = standing if as_json else in_short
    campaigns = ledger.read(queries.every_campaign)
    if not campaigns:
        _nothing_yet(f"The ledger {ledger.place} is empty.", as_json=as_json)
        return
    stand = [look(ledger, _with_doubts(ledger, campaign)) for campaign in campaigns]
    if as_json:
        print_json({"campaigns": stand})
        return
    counts = [counted_out(of_one) for of_one in stand]
    shown = [name for name in NUMBERS if any(numbers[name] for numbers in counts)]
    say_table(
        ["campaign", "service", "project", *shown],
        [
            [of_one["campaign"], of_one["service"], _call(of_one, "project")]
            + [numbers[name] for name in shown]
            for of_one, numbers in zip(stand, counts, strict=True)
        ],
    )
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


def _show_one(ledger: "Ledger", campaign: "Campaign", *, as_json: bool) -> None:
    from data.sending import runs
    from flows.cli.prepare.look import seen_doubt
    from tasks.status.standing import in_short, standing

    ahead = ledger.read(runs.ahead, campaign.id)
    campaign = _with_doubts(ledger, campaign)
    if as_json:
        print_json(standing(ledger, campaign))
        return
    stand = in_short(ledger, campaign)
    say(f"{campaign.key} at {campaign.service}")
    say(f"  project   {_call(stand, 'project')}", f"  problem   {_call(stand, 'problem')}")
    if (doubt := seen_doubt(campaign)) is not None:
        say(f"  warning   {doubt}")
    if campaign.why:
        say(f"  why       {campaign.why}")
    say(f"  last run  {_last_run(ledger, campaign)}")
    say(*(f"  clocks    {line}" for line in _apart(ahead, campaign.key)))
    say(*_held(ledger, campaign.key))
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
    _show_clean_up(stand)
    say("", f"{counted(stand['counts']['candidates'], 'candidate')}: {summary(stand)}")
    steps = next_steps(stand, *run_again(campaign))
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


def _show_clean_up(stand: Mapping[str, Any]) -> None:
    """Show what a person must remove by hand in the web application, a few of it."""
    items = stand["clean_up"]
    if items:
        say("", "Remove these by hand in the web application (the service has no call for it):")
        say(*(f"  {clean_up_line(item)}" for item in items[:CLEANED_SHOWN]))
    if len(items) > CLEANED_SHOWN:
        say(f"  and {len(items) - CLEANED_SHOWN:,} more")


def clean_up_line(item: Mapping[str, Any]) -> str:
    """Write one thing to remove: `ada@example.com: candidate 5001 in project 101, withdrawn`."""
    return f"{item['email1']}: {item['why']}" if item["email1"] else str(item["why"])


def _held(ledger: "Ledger", key: str) -> Iterable[str]:
    """Tell what keeps every run from sending, and what to type about it."""
    from config.timetable.moments import in_zone
    from data.campaigns import approvals, pauses, queries
    from data.campaigns.approvals import Standing, code_of
    from tasks.plan.timing import kept_timetable

    for paused in ledger.read(pauses.all_standing, key):
        since = in_zone(paused.since, paused.timezone)
        yield f"  paused    by {paused.who} since {since}; to resume: {command('resume', key)}"
    campaign = ledger.read(queries.find_campaign, key)
    if campaign is not None and campaign.send_invites:
        for word, text in kept_timetable(campaign).in_words():
            yield f"  {word:<10}{text}"
    asked, stands = ledger.read(approvals.look, key)
    if asked is not None and stands is Standing.OPEN:
        yield f"  approval  plan {code_of(asked)} is waiting: {command('approve', key)}"


def needing_a_person(
    candidates: Iterable[Mapping[str, Any]],
) -> Iterable[tuple[str, str, str, str | None]]:
    """Pick who is unsure or refused: email1, the step that stands so, its state, and why."""
    for person in candidates:
        for step in ("add", "invite"):
            if person[step] in ("unsure", "refused"):
                yield person["email1"], step, person[step], person["why"]


def left_out(stand: Mapping[str, Any]) -> Iterable[tuple[str, str, str, str | None]]:
    """Pick who is held, in the columns of `needing_a_person`."""
    held = {hold["email1"] for hold in stand["holds"]}
    for person in stand["candidates"] if held else ():
        if person["email1"] in held:
            step = "invite" if person["add"] == "done" else "add"
            yield person["email1"], step, "held", person["why"].removeprefix("held: ")


def removed(
    candidates: Iterable[Mapping[str, Any]], *, send: bool
) -> Iterator[tuple[str, str, str, str | None]]:
    """Pick who waits and is no longer in the definition, in the columns of `needing_a_person`."""
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
    from data.store.states import SENT_NOTHING

    run = ledger.read(queries.last_run, campaign.id)
    if run is None:
        return "none yet"
    began = f"began {in_zone(run.started_at, campaign.timezone)}"
    if run.ended_at is not None:
        ended = str(run.ending).replace("_", " ")
        if run.process_start == SENT_NOTHING:
            ended = f"sent nothing, {ended}"
        return f"{began}, {ended}" + (f": {run.reason}" if run.reason else "")
    if ledger.read(runs.at_work, campaign.id):
        return f"{began}, in progress"
    return f"{began}, disappeared before its end; what it was sending is unsure"
