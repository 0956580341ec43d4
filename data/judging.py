"""The ledger's transactions about whom not to send to: holds, corrections, what is left over."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import Row

from data import allowing, cleaning, do_not_contact, holding, withdrawing
from data.clean_up import LeftOver
from data.doubts import By
from data.held import Held, ListFile, Terms
from data.part import LedgerPart


class Judging(LedgerPart):
    """A part of the ledger; `at` of each is its own clock's."""

    # -- who is held -----------------------------------------------------------------------

    def held(self, campaign_row: int) -> dict[int, Held]:
        """Who of those a campaign has still to add or to invite is held, by ledger row."""
        with self._reading() as connection:
            return holding.held_in(connection, campaign_row, self._now())

    def held_people(
        self,
        own: int | None,
        terms: Terms,
        keys: Iterable[str],
        listed: ListFile | None = None,
    ) -> dict[str, Held]:
        """Who of these people a campaign would hold that goes by `terms`, by email key.

        `listed` is the file of the do-not-contact list, where it is to count before `follow`.
        """
        with self._reading() as connection:
            return holding.held_people(connection, own, terms, keys, self._now(), listed)

    def held_rows(self, rows: Collection[int]) -> dict[int, Held]:
        """What holds these candidates, wherever they stand."""
        with self._reading() as connection:
            return holding.held_rows(connection, rows, self._now())

    def against_allowing(self, campaign_row: int, rows: Sequence[int]) -> dict[int, str]:
        """Who cannot be let through and why, by position in `rows`; changes nothing."""
        with self._reading() as connection:
            return allowing.objections(connection, campaign_row, rows, self._now())

    def allow(self, campaign_row: int, rows: Sequence[int], who: str, why: str) -> None:
        """Let these candidates through, whatever holds them now. Raises NotDecided."""
        with self._writing() as connection:
            allowing.allow(connection, campaign_row, rows, By(who, why, self._now()))

    # -- the do-not-contact list --------------------------------------------------------------

    def do_not_contact(self) -> Sequence[Row[Any]]:
        """The entries that stand, oldest first."""
        with self._reading() as connection:
            return do_not_contact.standing(connection)

    def block(self, addresses: Mapping[str, str], who: str, why: str) -> set[str]:
        """List addresses (typed, by email key); answers the keys that were not listed before."""
        with self._writing() as connection:
            return do_not_contact.block(connection, addresses, By(who, why, self._now()))

    def lift(self, keys: Collection[str], who: str, why: str) -> set[str]:
        """Take addresses off the list; answers the keys that were on it."""
        with self._writing() as connection:
            return do_not_contact.lift(connection, keys, By(who, why, self._now()))

    def follow(self, listed: ListFile) -> None:
        """Have the entries of a file stand as they are in it now; writes only what differs."""
        with self._reading() as connection:
            if not do_not_contact.differs(connection, listed.file, listed.addresses.keys()):
                return
        with self._writing() as connection:
            do_not_contact.follow(connection, listed.file, listed.addresses, self._now())

    # -- withdrawing, correcting, cleaning up --------------------------------------------------

    def against_withdrawing(self, campaign_row: int, rows: Sequence[int]) -> dict[int, str]:
        """Who cannot be withdrawn now and why, by position in `rows`; changes nothing."""
        with self._reading() as connection:
            return withdrawing.against_withdrawing(connection, campaign_row, rows)

    def withdraw(self, campaign_row: int, rows: Sequence[int], who: str, why: str) -> None:
        """Send nothing more to these candidates. Raises NotDecided: then none is withdrawn."""
        with self._writing() as connection:
            withdrawing.withdraw(connection, campaign_row, rows, By(who, why, self._now()))

    def correct(
        self, campaign_row: int, row: int, address: tuple[str, str], who: str, why: str
    ) -> None:
        """Reach a person at another address, as typed and as its email key. Raises NotDecided."""
        with self._writing() as connection:
            by = By(who, why, self._now())
            withdrawing.correct(connection, campaign_row, row, *address, by)

    def clean_up(self, campaign_row: int) -> list[LeftOver]:
        """What a person must remove by hand in the web application."""
        with self._reading() as connection:
            return cleaning.find(connection, campaign_row)

    def cleaned(self, campaign_row: int, items: Sequence[LeftOver], who: str, why: str) -> None:
        """Keep that a person has removed these."""
        with self._writing() as connection:
            cleaning.write_cleaned(connection, campaign_row, items, By(who, why, self._now()))
