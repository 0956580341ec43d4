"""What a person decides against somebody in a history: the list, withdrawals, corrections."""

from collections import Counter
from random import Random
from typing import Any

from config.email_key import email_key
from data.campaigns import queries
from data.decisions import withdrawing
from data.decisions.verdicts import NotDecided
from data.holds import do_not_contact
from data.store.ledger import Ledger
from data.store.states import By
from sandbox.service.record import Record
from tests.promise.promise import BrokenPromise


class Decisions:
    """Takes them one at a time, while nothing is under way, and remembers who gets nothing more."""

    def __init__(self, ledger: Ledger, dice: Random, situations: Counter[str]) -> None:
        self.ledger, self.dice, self.situations = ledger, dice, situations
        self.listed: dict[str, int] = {}  # by email key, the emails of this person until then
        self.left_out: dict[str, int] = {}
        self.corrections = 0

    def decide(self, campaign: Any, record: Record) -> None:
        """Decide something about somebody, by the dice."""
        person = self.dice.choice(list(queries.candidates(self.ledger, campaign.id)))
        times = emails(record)[person.email_key]
        match self.dice.choice(("list", "list", "withdraw", "correct")):
            case "list":
                self._list(person, times)
            case "withdraw":
                self._withdraw(campaign.id, person, times)
            case "correct":
                self._correct(campaign.id, person, times)

    def _list(self, person: Any, times: int) -> None:
        if person.email_key in self.listed:
            self.ledger.write(do_not_contact.lift, [person.email_key], By("Pat", "asked back"))
            del self.listed[person.email_key]
            return
        self.ledger.write(
            do_not_contact.block, {person.email_key: person.email1}, By("Pat", "asked us to stop")
        )
        self.listed[person.email_key] = times
        self.situations["listed"] += 1

    def _withdraw(self, campaign: int, person: Any, times: int) -> None:
        try:
            self.ledger.write(
                withdrawing.withdraw, campaign, [person.id], By("Pat", "took another job")
            )
        except NotDecided:
            self.situations["not withdrawn"] += 1
            return
        self.left_out[person.email_key] = times
        self.situations["withdrawn by a person"] += 1

    def _correct(self, campaign: int, person: Any, times: int) -> None:
        """To an address that is new, or back to the one before."""
        before = [
            one
            for one in queries.candidates(self.ledger, campaign)
            if one.corrected_to == person.id
        ]
        if before and self.dice.random() < 0.5:
            new = before[0].email1
        else:
            self.corrections += 1
            new = f"right{self.corrections}@example.com"
        try:
            self.ledger.write(
                withdrawing.correct, campaign, person.id, (new, email_key(new)), By("Pat", "a typo")
            )
        except NotDecided:
            self.situations["not corrected"] += 1
            return
        self.left_out[person.email_key] = times
        self.left_out.pop(email_key(new), None)
        self.situations["corrected"] += 1

    def check(self, record: Record) -> None:
        """Nobody gets an email after somebody decided against it."""
        now = emails(record)
        for kept in (self.listed, self.left_out):
            for key, times in kept.items():
                if now[key] != times:
                    raise BrokenPromise(f"{key} got an email after a decision against it")


def emails(record: Record) -> Counter[str]:
    """How many invitations each person got, by email key."""
    return Counter(email_key(one.email) for one in record.invitations)
