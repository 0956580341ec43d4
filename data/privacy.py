"""The ledger's transactions about what is held of a person: telling it, and forgetting it."""

from collections.abc import Collection
from datetime import datetime
from typing import Any

from sqlalchemy import Connection

from data import disclosure, forgetting, forgotten
from data.doubts import By
from data.forgetting import AtTheService
from data.part import LedgerPart, reading, writing


class Privacy(LedgerPart):
    """A part of the ledger."""

    @reading
    def about(self, connection: Connection, key: str) -> dict[str, Any]:
        """Everything that is held about the person at an email key (data/disclosure.py)."""
        return disclosure.about(connection, key)

    @writing
    def forget(
        self, connection: Connection, keys: Collection[str], who: str, why: str
    ) -> list[AtTheService]:
        """Forget people for good; answers what the service still has. Raises NotDecided."""
        return forgetting.forget(connection, keys, By(who, why, self._now()))

    @writing
    def forget_campaign(self, connection: Connection, campaign_row: int, who: str, why: str) -> int:
        """Forget everybody in one campaign; answers how many people that were."""
        return forgetting.forget_campaign(connection, campaign_row, By(who, why, self._now()))

    @reading
    def still_since(self, connection: Connection, moment: datetime) -> list[tuple[int, str]]:
        """Campaigns that nothing has moved since then and that still name people: row and key."""
        return forgetting.still_since(connection, moment)

    @reading
    def forgotten(
        self, connection: Connection, keys: Collection[str], campaign_row: int | None = None
    ) -> set[str]:
        """Who of these email keys must not be taken in again, by any campaign or by this one."""
        return forgotten.among(connection, keys, campaign_row)

    @reading
    def forgotten_there(self, connection: Connection, campaign_row: int) -> int:
        """How many people whom this campaign had added were forgotten since."""
        return forgotten.added(connection, campaign_row)

    @writing
    def let_in_again(self, connection: Connection, keys: Collection[str]) -> set[str]:
        """Let forgotten addresses be taken in again; answers those that were forgotten."""
        return forgotten.lift(connection, keys)
