"""A campaign that the ledger knows, for commands about one that was run before."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from flows.words.complaints import UnknownCampaign

if TYPE_CHECKING:
    from data.store.ledger import Ledger
    from data.store.tables import Campaign


@contextmanager
def campaign_as_it_is(key: str) -> "Iterator[tuple[Ledger, Campaign]]":
    """Open the ledger at one campaign; nothing is changed.

    Raises UnknownCampaign, LedgerUnusable, BadSettings.
    """
    from config.settings import load_local
    from data.store.ledger import Ledger
    from data.store.opening import NoLedger

    try:
        ledger = Ledger.open(load_local().database_url, create=False)
    except NoLedger as error:
        raise UnknownCampaign(key, [], error.place) from None
    with ledger:
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


def find_campaign(ledger: "Ledger", key: str) -> "Campaign":
    """Find a campaign by its key. Raises UnknownCampaign, which names the nearest one."""
    from data.campaigns import queries

    row = ledger.read(queries.find_campaign, key)
    if row is None:
        keys = [campaign.key for campaign in ledger.read(queries.every_campaign)]
        raise UnknownCampaign(key, keys, ledger.place)
    return row
