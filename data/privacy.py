"""The ledger's transactions about what is held of a person: telling it, and forgetting it."""

from collections.abc import Collection, Iterable
from datetime import datetime
from typing import Any

from data import disclosure, forgetting, forgotten
from data.doubts import By
from data.forgetting import AtTheService
from data.part import LedgerPart


class Privacy(LedgerPart):
    """A part of the ledger."""

    def about(self, key: str) -> dict[str, Any]:
        """Everything that is held about the person at an email key (data/disclosure.py)."""
        with self._reading() as connection:
            return disclosure.about(connection, key)

    def forget(self, keys: Collection[str], who: str, why: str) -> list[AtTheService]:
        """Forget people for good; answers what the service still has. Raises NotDecided."""
        with self._writing() as connection:
            return forgetting.forget(connection, keys, By(who, why, self._now()))

    def forget_campaign(self, campaign_row: int, who: str, why: str) -> int:
        """Forget everybody in one campaign; answers how many people that were."""
        with self._writing() as connection:
            return forgetting.forget_campaign(connection, campaign_row, By(who, why, self._now()))

    def still_since(self, moment: datetime) -> list[tuple[int, str]]:
        """Campaigns that nothing has moved since then and that still name people: row and key."""
        with self._reading() as connection:
            return forgetting.still_since(connection, moment)

    def forgotten(self, keys: Iterable[str], campaign_row: int | None = None) -> set[str]:
        """Who of these email keys must not be taken in again, by any campaign or by this one."""
        with self._reading() as connection:
            return forgotten.among(connection, keys, campaign_row)

    def let_in_again(self, keys: Iterable[str]) -> set[str]:
        """Let forgotten addresses be taken in again; answers those that were forgotten."""
        with self._writing() as connection:
            return forgotten.lift(connection, keys)
