"""The command that sends: `run` shows the plan, asks, and runs the flow."""

import asyncio
import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr
from itertools import chain
from pathlib import Path

import typer

from config.errors import BadInput, command
from config.reading import CampaignFile
from config.settings import Settings, service_settings
from data.campaigns.intake import Allowed, Elsewhere, EndsLater, KeyInUse
from data.campaigns.people import known
from data.store.ledger import Ledger
from data.store.states import OPERATIONS
from flows.cli import words
from flows.cli.prepare import read_all
from flows.ending import End, Ending
from flows.server import is_away, prefect_server
from tasks.plan import Plan, make_plan
from tasks.status import needs, progress, status_of

WORST_FIRST = (130, 2, 1, 3, 0)


def run(
    files: list[Path] = typer.Argument(..., help="Definitions, or folders of them."),
    yes: bool = typer.Option(False, "--yes", "-y", help="Send without asking, as a script does."),
    accept_removed: bool = typer.Option(
        False, "--accept-removed", help="Go on although many people are gone from the file."
    ),
    keep_project: bool = typer.Option(
        False, "--keep-project", help="Go on although its project is renamed or ends later."
    ),
    rehearse: bool = typer.Option(
        False, "--rehearse", help="Only in a sandbox, with invented addresses: say what would be."
    ),
    as_json: bool = typer.Option(False, "--json", help="Print a JSON list of statuses."),
) -> int:
    """Send campaigns: show the plan, ask, and do what is left to do. Safe to repeat at any time.

    Example: campaign run hiring.yaml
    """
    campaigns, wrong = _read(files)
    if rehearse:
        from flows.rehearse import rehearsed

        rehearsed(campaigns, as_json=as_json)
        return 2 if wrong else 0
    settings = service_settings()
    allowed = Allowed(settings.who, accept_removed, keep_project)
    with prefect_server() as ready, Ledger.open(settings.database_url) as ledger:
        folders = all(place.is_dir() for place in files)
        planned = [*_plans(campaigns, ledger, settings, allowed, all_or_none=not folders)]
        plans, wrong = [plan for plan, _ in planned], wrong or len(planned) < len(campaigns)
        if not (yes and plans[1:]):  # of several with --yes, only the endings are shown
            for line in chain.from_iterable(lines for _, lines in planned):
                words.aside(line)
        del campaigns  # campaigns take memory; each flow reads its file again
        asks = not yes and not all(plan.nothing_due or plan.holds for plan in plans)
        if asks and not words.nobody_objects("Send this?"):
            words.aside(f"Nothing was sent. {words.then('run', *files)}")
            return 1
        if sys.stderr.isatty():
            words.aside("Getting Prefect ready …")  # getting ready takes seconds
        ready()
        endings = [_sent(plan, ledger, allowed) for plan in plans]
        from flows.steps import started_task_runs
        from flows.this_run import everything_recorded

        asyncio.run(everything_recorded(started_task_runs))
        if as_json:
            with ledger.reading() as session:
                found = [status_of(session, each.key) for each in plans if known(session, each.key)]
            print(json.dumps(found, ensure_ascii=False, indent=2))
    codes = [ending.kind.exit_code for ending in endings] + [2] * wrong
    return min(codes, key=WORST_FIRST.index, default=0)


def _read(places: list[Path]) -> tuple[list[CampaignFile], bool]:
    """Read campaigns. Mistakes raise BadInput, unless all places are folders and a file is good."""
    good, mistakes = read_all(places)
    if mistakes and not (good and all(place.is_dir() for place in places)):
        raise BadInput(mistakes)
    for mistake in mistakes:
        words.aside(str(mistake))
    return good, bool(mistakes)


def _plans(
    campaigns: list[CampaignFile],
    ledger: Ledger,
    settings: Settings,
    allowed: Allowed,
    *,
    all_or_none: bool,
) -> Iterator[tuple[Plan, list[str]]]:
    """Plan each campaign, with what a person sees of it. One that is refused is told, or raises."""
    for each in campaigns:
        try:
            plan = make_plan(each, ledger, settings, allowed=allowed, dry=True)
        except (KeyInUse, Elsewhere, EndsLater) as error:
            if all_or_none:
                raise
            words.aside(f"{error}\n{error.then}")
        else:
            yield plan, [*words.planned(plan, each)]


def _sent(plan: Plan, ledger: Ledger, allowed: Allowed) -> Ending:
    """Run the flow of one campaign, and say how it ended and who needs a person."""
    with _progress(plan.key, ledger):
        ending = asyncio.run(_flow(plan, allowed))
    for wrote in ending.service_words:
        words.aside(f'{plan.key}: the service wrote: "{wrote}"')
    words.aside(f"{plan.key}: {ending.first_line}")
    with ledger.reading() as session:
        in_ledger = known(session, plan.key) is not None  # false if the run stopped early
        needed = list(needs(session, plan.key)) if in_ledger else []
    for need in needed:
        words.aside(f"  {need.why}" + (f"\n    {need.type_this}" if need.type_this else ""))
    later = ending.kind is End.NOT_YET
    goes_on = command("run", plan.file) if later else command("links", plan.key)
    next_step = ending.next_step or goes_on
    if next_step not in {need.type_this for need in needed}:
        is_command = next_step.startswith("campaign ")
        words.aside(f"Then type: {next_step}" if is_command else next_step)
    return ending


async def _flow(plan: Plan, allowed: Allowed) -> Ending:
    """Run the flow, and return how it ended."""
    from flows.campaign import run_campaign, typed_endings

    asked = (plan.file, plan.key, plan.digest, allowed.removed, allowed.project)
    try:
        await run_campaign(*asked, return_state=True)
    except Exception:
        if not await is_away():
            raise
    no_word = "a signal came as it began or ended, or Prefect's server is gone."
    unknown = Ending(plan.key, End.STOPPED, no_word, command("status", plan.key))
    return typed_endings.pop() if typed_endings else unknown


@contextmanager
def _progress(key: str, ledger: Ledger) -> Iterator[None]:
    """Show at a terminal how many people are added and invited so far."""
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console
    from rich.live import Live

    def counts() -> str:
        them = progress(ledger, key).items()
        said = [f"{key}: {OPERATIONS[op].doing} {done:,} of {all_:,}" for op, (done, all_) in them]
        return "\n".join(said) or f"{key}: starting"

    # `Live` moves the cursor, so it needs the raw stream; lines printed above it are escaped.
    console = Console(file=sys.__stderr__, markup=False)
    with (
        Live(get_renderable=counts, console=console, transient=True, redirect_stdout=False),
        redirect_stderr(words.harmless(sys.stderr)),
    ):
        yield
