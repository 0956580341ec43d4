"""The ledger of the settings, opened for a command, and a campaign that it knows."""

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from flows.words.complaints import UnknownCampaign
from flows.words.speech import complain

if TYPE_CHECKING:
    from data.store.ledger import Ledger
    from data.store.tables import Campaign


def open_ledger() -> "Ledger":
    """Open the ledger that is there. Raises NoLedger, LedgerUnusable, BadSettings."""
    from config.settings import load_local
    from data.store.ledger import Ledger

    ledger = Ledger.open(load_local().database_url, create=False)
    try:
        say_whether_current(ledger)
    except BaseException:
        ledger.close()
        raise
    return ledger


def say_whether_current(ledger: "Ledger") -> None:
    """Note that a closed ledger shows how things were. Raises LedgerClosed for an unfinished copy,
    which may show anything.
    """
    from data.store import closed

    if (address := ledger.read(closed.where_it_moved)) is not None:
        complain(
            f"Note: this ledger is closed. It shows how things were when it moved to {address}"
        )


@contextmanager
def ledger_if_any(address: str) -> "Iterator[Ledger | None]":
    """Open the ledger at an address; None where none was made yet. Raises LedgerUnusable."""
    from data.store.ledger import Ledger
    from data.store.opening import NoLedger

    opened: Ledger | None = None
    with suppress(NoLedger):
        opened = Ledger.open(address, create=False)
    with opened or nullcontext() as ledger:
        yield ledger


@contextmanager
def ledger_with_plan(key: str) -> "Iterator[Ledger]":
    """Open the ledger that knows a campaign, or the plan of one that is not begun yet.

    Raises UnknownCampaign, LedgerUnusable, BadSettings.
    """
    from data.campaigns import approvals

    with _ledger_of(key) as ledger:
        if ledger.read(approvals.look, key)[0] is None:
            find_campaign(ledger, key)
        yield ledger


@contextmanager
def campaign_as_it_is(key: str) -> "Iterator[tuple[Ledger, Campaign]]":
    """Open the ledger at one campaign; nothing is changed.

    Raises UnknownCampaign, LedgerUnusable, BadSettings.
    """
    with _ledger_of(key) as ledger:
        yield ledger, find_campaign(ledger, key)


@contextmanager
def known_campaign(key: str) -> "Iterator[tuple[Ledger, Campaign]]":
    """Open the ledger at one campaign; what dead runs left behind becomes unsure first.

    Raises UnknownCampaign, LedgerUnusable, BadSettings.
    """
    from data.decisions import adding_again

    with campaign_as_it_is(key) as (ledger, campaign):
        adding_again.recover(ledger, campaign.id)
        yield ledger, find_campaign(ledger, key)


def _ledger_of(key: str) -> "Ledger":
    from data.store.opening import NoLedger

    try:
        return open_ledger()
    except NoLedger as error:
        raise UnknownCampaign(key, [], error.place) from None


def find_campaign(ledger: "Ledger", key: str) -> "Campaign":
    """Find a campaign by its key. Raises UnknownCampaign, which names the nearest one."""
    from data.campaigns import queries

    row = ledger.read(queries.find_campaign, key)
    if row is None:
        keys = [campaign.key for campaign in ledger.read(queries.every_campaign)]
        raise UnknownCampaign(key, keys, ledger.place)
    return row


def files_read(ledger: "Ledger") -> list[Path]:
    """The files that campaigns were last read from: definitions, workbooks and tables."""
    from data.campaigns import queries

    return [
        Path(name)
        for campaign in ledger.read(queries.every_campaign)
        for name in (campaign.definition, campaign.belongs_to)
        if name
    ]
