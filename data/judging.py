"""The ledger's transactions about whom not to send to: holds, corrections, what is left over."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, Row

from data import (
    adding_again,
    allowing,
    cleaning,
    do_not_contact,
    holding,
    typed_ids,
    withdrawing,
)
from data.clean_up import LeftOver
from data.doubts import By, Decided, Doubt, Word
from data.held import Held, ListFile, Terms
from data.part import LedgerPart, reading, writing
from data.settling import write_down
from data.states import Step


class Judging(LedgerPart):
    """A part of the ledger; `at` of each is its own clock's."""

    # -- who is held -----------------------------------------------------------------------

    @reading
    def held(self, connection: Connection, campaign_row: int) -> dict[int, Held]:
        """Who of those a campaign has still to add or to invite is held, by ledger row."""
        return holding.held_in(connection, campaign_row, self._now())

    @reading
    def held_people(
        self,
        connection: Connection,
        own: int | None,
        terms: Terms,
        keys: Collection[str],
        listed: ListFile | None = None,
    ) -> dict[str, Held]:
        """Who of these people a campaign would hold that goes by `terms`, by email key.

        `listed` is the file of the do-not-contact list, where it is to count before `follow`.
        """
        return holding.held_people(connection, own, terms, keys, self._now(), listed)

    @reading
    def held_rows(self, connection: Connection, rows: Collection[int]) -> dict[int, Held]:
        """What holds these candidates, wherever they stand."""
        return holding.held_rows(connection, rows, self._now())

    @reading
    def against_allowing(
        self, connection: Connection, campaign_row: int, rows: Sequence[int]
    ) -> dict[int, str]:
        """Who cannot be let through and why, by position in `rows`; changes nothing."""
        return allowing.objections(connection, campaign_row, rows, self._now())

    @writing
    def allow(
        self, connection: Connection, campaign_row: int, rows: Sequence[int], who: str, why: str
    ) -> None:
        """Let these candidates through, whatever holds them now. Raises NotDecided."""
        allowing.allow(connection, campaign_row, rows, By(who, why, self._now()))

    # -- the do-not-contact list --------------------------------------------------------------

    @reading
    def do_not_contact(self, connection: Connection) -> Sequence[Row[Any]]:
        """The entries that stand, oldest first."""
        return do_not_contact.standing(connection)

    @writing
    def block(
        self, connection: Connection, addresses: Mapping[str, str], who: str, why: str
    ) -> set[str]:
        """List addresses (typed, by email key); answers the keys that were not listed before."""
        return do_not_contact.block(connection, addresses, By(who, why, self._now()))

    @writing
    def lift(self, connection: Connection, keys: Collection[str], who: str, why: str) -> set[str]:
        """Take addresses off the list; answers the keys that were on it."""
        return do_not_contact.lift(connection, keys, By(who, why, self._now()))

    def follow(self, listed: ListFile) -> None:
        """Have the entries of a file stand as they are in it now; writes only what differs."""
        if self._differs(listed):
            self._follow(listed)

    @reading
    def _differs(self, connection: Connection, listed: ListFile) -> bool:
        return do_not_contact.differs(connection, listed.file, listed.addresses.keys())

    @writing
    def _follow(self, connection: Connection, listed: ListFile) -> None:
        do_not_contact.follow(connection, listed.file, listed.addresses, self._now())

    # -- ids that a person typed ---------------------------------------------------------------

    @reading
    def refused_ids(self, connection: Connection, campaign_row: int) -> list[Doubt]:
        """The steps with an id that a person typed, and that was refused: it may be replaced."""
        return typed_ids.find(connection, campaign_row, self._now(), (Step.REFUSED,))

    # -- withdrawing, correcting, cleaning up --------------------------------------------------

    @reading
    def against_withdrawing(
        self, connection: Connection, campaign_row: int, rows: Sequence[int]
    ) -> dict[int, str]:
        """Who cannot be withdrawn now and why, by position in `rows`; changes nothing."""
        return withdrawing.against_withdrawing(connection, campaign_row, rows)

    @writing
    def accept_removed(self, connection: Connection, campaign_row: int, who: str, why: str) -> None:
        """Keep that a person had a run go on although the guard would have stopped it."""
        decided = [Decided(None, None, Word.REMOVED)]
        write_down(connection, campaign_row, decided, By(who, why, self._now()))

    @writing
    def withdraw(
        self, connection: Connection, campaign_row: int, rows: Sequence[int], who: str, why: str
    ) -> None:
        """Send nothing more to these candidates. Raises NotDecided: then none is withdrawn."""
        withdrawing.withdraw(connection, campaign_row, rows, By(who, why, self._now()))

    @writing
    def correct(
        self,
        connection: Connection,
        campaign_row: int,
        row: int,
        address: tuple[str, str],
        who: str,
        why: str,
    ) -> None:
        """Reach a person at another address, as typed and as its email key. Raises NotDecided."""
        by = By(who, why, self._now())
        withdrawing.correct(connection, campaign_row, row, *address, by)

    # -- adding once more ----------------------------------------------------------------------

    def add_again(self, campaign_row: int, wanted: bool | None = None) -> int:
        """Have people wait for another add whose add is unsure; answers how many these are.

        If that is `wanted`; None: as the definition said when it was taken over.
        """
        found = self._to_add_again(campaign_row, wanted)
        return self._add_again(campaign_row) if found else 0

    @reading
    def _to_add_again(self, connection: Connection, campaign_row: int, wanted: bool | None) -> bool:
        if wanted is None:
            wanted = adding_again.wanted(connection, campaign_row)
        return wanted and bool(adding_again.find(connection, campaign_row))

    @writing
    def _add_again(self, connection: Connection, campaign_row: int) -> int:
        by = By(adding_again.THE_DEFINITION, "", self._now())
        return adding_again.decide(connection, campaign_row, by)

    @writing
    def wait_again(self, connection: Connection, rows: Sequence[int]) -> None:
        """Have these candidates, whose add was refused, wait for another one."""
        adding_again.wait_again(connection, rows)

    @reading
    def clean_up(self, connection: Connection, campaign_row: int) -> list[LeftOver]:
        """What a person must remove by hand in the web application."""
        return cleaning.find(connection, campaign_row)

    @writing
    def cleaned(
        self,
        connection: Connection,
        campaign_row: int,
        items: Sequence[LeftOver],
        who: str,
        why: str,
    ) -> None:
        """Keep that a person has removed these."""
        cleaning.write_cleaned(connection, campaign_row, items, By(who, why, self._now()))
