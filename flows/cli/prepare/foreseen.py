"""What would stop a run before any request, for `campaign plan` to say beforehand."""

from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from config.definition.model import Definition
    from config.mistakes import Mistake
    from config.settings import LocalSettings
    from data.store.ledger import Ledger
    from flows.cli.prepare.forecast import Forecast


def check_same(
    definitions: "Sequence[Definition]",
    digest: str,
    file: Path,
    belongs_to: Path | None,
    sheet: str | None,
) -> None:
    """Refuse definitions whose key has a campaign with another project or problem.

    `digest` is that of the bytes that were read; the rest is what was typed. Raises
    AnotherCampaign with all of them, BadSettings, LedgerUnusable.
    """
    from config.settings import load_local
    from data.campaigns import queries
    from data.campaigns.same_campaign import AnotherCampaign, refuse_another
    from data.store.ledger import Ledger
    from data.store.opening import NoLedger

    problems: list[Mistake] = []
    try:
        with Ledger.open(load_local().database_url, create=False) as ledger:
            for definition in definitions:
                before = ledger.read(queries.find_campaign, definition.campaign)
                try:
                    if before is not None:
                        refuse_another(definition, before, digest, file, belongs_to, sheet)
                except AnotherCampaign as error:
                    problems += error.problems
    except NoLedger:
        return
    if problems:
        raise AnotherCampaign(problems)


def created(definitions: "Sequence[Definition]") -> list[str]:
    """The keys of those whose project was created, or may have been; nobody asks for it again.

    Raises BadSettings, LedgerUnusable.
    """
    from config.settings import load_local
    from data.campaigns import queries
    from data.store.ledger import Ledger
    from data.store.opening import NoLedger
    from data.store.states import Step

    try:
        with Ledger.open(load_local().database_url, create=False) as ledger:
            campaigns = [
                ledger.read(queries.find_campaign, definition.campaign)
                for definition in definitions
            ]
    except NoLedger:
        return []
    return [each.key for each in campaigns if each and each.project_state != Step.WAITING]


def check_ahead(
    definitions: "Sequence[Definition]", forecasts: "Sequence[Forecast]", beside: Path
) -> None:
    """Look at the receipt beside a file, and for a second problem of one project.

    Unlike a run, this records nothing. Raises BadInput, AnotherLedger, OlderLedger,
    UnreadableReceipt, BadSettings, LedgerUnusable.
    """
    from config.settings import load_address, load_local
    from data.store.ledger import Ledger
    from data.store.opening import NoLedger
    from tasks.plan.target import only_problem

    local, service = load_local(), load_address()
    try:
        opened: Ledger | None = Ledger.open(local.database_url, create=False)
    except NoLedger:
        opened = None
    with opened or nullcontext() as ledger:
        for definition, seen in zip(definitions, forecasts, strict=True):
            if ledger is not None:
                only_problem(definition, ledger)
            if service is not None and not seen.nothing:
                _receipts(beside, definition, service, ledger, local)


def _receipts(
    beside: Path,
    definition: "Definition",
    service: str,
    ledger: "Ledger | None",
    local: "LocalSettings",
) -> None:
    from sqlalchemy.engine import make_url

    from data.receipts import receipt_doubts
    from data.receipts.receipt import Reach
    from data.receipts.receipt_file import places
    from data.store.opening import place_of
    from tasks.plan.receipts import doubts_of, receipts_at, refusal

    key = definition.campaign
    receipts = receipts_at(places(beside, key, service).every)
    if ledger is None:
        # A ledger that does not exist yet has no name that a receipt could know.
        place, reach = place_of(make_url(local.database_url)), Reach("", 0)
        accepted = set[str]()
    else:
        place, reach = ledger.place, ledger.read(receipt_doubts.reach, key)
        accepted = ledger.read(receipt_doubts.accepted, key)
    doubts = [
        misfit for misfit in doubts_of(receipts, key, service, reach) if misfit.says not in accepted
    ]
    if doubts:
        raise refusal(doubts, key, place, reach, definition.timezone)
