"""Transactions for decisions: what a dead run was sending becomes unsure first."""

from collections.abc import Iterator
from contextlib import contextmanager

from sqlmodel import Session

from data.campaigns.people import find
from data.sending.runs import recover_all
from data.store import receipts
from data.store.ledger import Ledger
from data.store.tables import Campaign


@contextmanager
def writing(*, create: bool = False) -> Iterator[Session]:
    """A transaction for decisions. Raises NoLedger unless it may `create` one."""
    with Ledger.open(create=create) as ledger:
        recover_all(ledger)
        with receipts.counting_decisions(ledger) as session:
            yield session


@contextmanager
def deciding(key: str) -> Iterator[tuple[Session, Campaign]]:
    """A transaction for decisions about one campaign. Raises NoSuchCampaign."""
    with writing() as session:
        yield session, find(session, key)
