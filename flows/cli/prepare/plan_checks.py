"""What would stop a run before any request, for `campaign plan` to say beforehand, and what speaks
against a campaign's problem: as last seen, or in the service's list as it is now.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy.engine import make_url

from config.definition.model import Definition, ProblemById, ProblemByTitle
from config.mistakes import Mistake
from config.settings import load_address, load_local
from config.timetable.moments import in_zone
from data.campaigns import queries
from data.campaigns.same_campaign import AnotherCampaign, refuse_another
from data.receipts.receipt import Reach
from data.receipts.receipt_file import places
from data.store.ledger import Ledger
from data.store.opening import place_of
from data.store.states import Step
from data.store.tables import Campaign
from flows.cli.ledgers import ledger_if_any
from flows.cli.prepare.problems import list_problems
from flows.cli.reading import TypedFile
from tasks.plan.problem_doubts import doubt_about
from tasks.plan.receipts import doubts_of, in_doubt, receipts_at, refusal
from tasks.plan.target import only_problem
from tasks.service.problem import Problem

if TYPE_CHECKING:
    from flows.cli.prepare.forecast import Forecast


def check_same(definitions: Sequence[Definition], digest: str, typed: TypedFile) -> None:
    """Refuse definitions whose key has a campaign with another project or problem, unless a person
    keeps that project. `digest` is that of the bytes that were read.

    Raises AnotherCampaign with all of them, BadSettings, LedgerUnusable.
    """
    if typed.keep_project:
        return
    problems: list[Mistake] = []
    of_key = {definition.campaign: definition for definition in definitions}
    for before in _in_ledger(definitions):
        try:
            refuse_another(
                of_key[before.key], before, digest, typed.file, typed.campaign, typed.sheet
            )
        except AnotherCampaign as error:
            problems += error.problems
    if problems:
        raise AnotherCampaign(problems)


def created(definitions: Sequence[Definition]) -> list[str]:
    """The keys of those whose project was created, or may have been; nobody asks for it again.

    Raises BadSettings, LedgerUnusable.
    """
    return [each.key for each in _in_ledger(definitions) if each.project_state != Step.WAITING]


def _in_ledger(definitions: Sequence[Definition]) -> list[Campaign]:
    """The campaigns of those definitions whose key the ledger knows."""
    with ledger_if_any(load_local().database_url) as ledger:
        rows = [
            ledger.read(queries.find_campaign, definition.campaign) if ledger else None
            for definition in definitions
        ]
    return [row for row in rows if row is not None]


def check_ahead(
    definitions: Sequence[Definition], forecasts: "Sequence[Forecast]", beside: Path, run: str
) -> None:
    """Look at the receipt beside a file, and for a second problem of one project.

    `run` is the command that runs them. Unlike a run, this records nothing. Raises BadInput,
    AnotherLedger, OlderLedger, UnreadableReceipt, BadSettings, LedgerUnusable.
    """
    local, service = load_local(), load_address()
    with ledger_if_any(local.database_url) as ledger:
        for definition, seen in zip(definitions, forecasts, strict=True):
            if ledger is not None:
                only_problem(definition, ledger)
            if service is not None and not seen.nothing:
                _receipts(beside, definition, service, ledger, run)


def _receipts(
    beside: Path, definition: Definition, service: str, ledger: Ledger | None, run: str
) -> None:
    key = definition.campaign
    receipts = receipts_at(places(beside, key, service).every)
    if ledger is None:
        # A ledger that does not exist yet has no name that a receipt could know.
        place, reach = place_of(make_url(load_local().database_url)), Reach("", 0)
        doubts = doubts_of(receipts, key, service, reach)
    else:
        place = ledger.place
        reach, doubts = in_doubt(receipts, key, service, ledger)
    if doubts:
        raise refusal(doubts, key, place, reach, definition.timezone, run)


def kept_doubt(definition: Definition, campaign: Campaign | None) -> str | None:
    """Say what the last run saw, and when; nothing where another problem is meant by now."""
    if campaign is None:
        return None
    if campaign.problem_state in (Step.WAITING, Step.REFUSED) and not _same(definition, campaign):
        return None
    return seen_doubt(campaign)


def seen_doubt(campaign: Campaign) -> str | None:
    """Say what the last run saw against the campaign's problem, and when."""
    if campaign.problem_doubt is None or campaign.problem_seen_at is None:
        return None
    seen = in_zone(campaign.problem_seen_at, campaign.timezone)
    return f"{campaign.problem_doubt} (as of {seen})"


def _same(definition: Definition, campaign: Campaign) -> bool:
    match definition.problem:
        case ProblemById(id=number):
            return number == campaign.problem_id
        case ProblemByTitle(title=title):
            return title == campaign.problem_title
    return False


def looked(
    definitions: Sequence[Definition], forecasts: "Sequence[Forecast]"
) -> "Iterator[Forecast]":
    """Ask the service now, changing nothing: the same plans, with what its list says.

    Raises BadInput for a problem that the list does not have, as the run would; BadSettings,
    CampaignError where the service does not answer.
    """
    from tasks.plan.preflight import find_problem  # it imports what speaks HTTP

    listed = list_problems()
    for definition, seen in zip(definitions, forecasts, strict=True):
        number = seen.problem_id
        if seen.problem is Step.WAITING and definition.problem is not None:
            number = find_problem(listed, definition.problem, definition.place)
        doubt = doubt_about(number, listed) if number is not None else None
        yield replace(seen, problem_doubt=doubt, looked=_nothing_against(number, listed))


def _nothing_against(number: int | None, listed: Sequence[Problem]) -> str:
    """Say what was looked at, for whoever asked for a look."""
    if number is None:
        return "the project was made in the web application; only there you can see its problem"
    title = next((f' "{problem.title}"' for problem in listed if problem.id == number), "")
    return f"problem {number}{title} looks fine in the service's list"
