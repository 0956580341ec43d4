"""People who are named on the command line by their addresses."""

from collections.abc import Callable, Mapping, Sequence
from difflib import SequenceMatcher, get_close_matches
from typing import TYPE_CHECKING

from config.email_key import email_key
from config.people.email_address import email_address
from data.decisions.verdicts import NotDecided
from flows.words.complaints import Mistyped
from flows.words.speech import complain, counted

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from data.campaigns.changes import Known
    from data.store.ledger import Ledger
    from data.store.tables import Campaign

    Objections = Callable[[Connection, int, Sequence[int]], Mapping[int, str]]

NOBODY = "the campaign has no candidate with this address"
FORGOTTEN = "which was forgotten on request"
ALIKE = 0.7  # of two parts of an address: one letter of three may be another one


def addresses(emails: Sequence[str]) -> dict[str, str]:
    """The addresses as typed, by email key. Raises Mistyped, after saying what is wrong."""
    by_key, wrong = {}, []
    for typed in emails:
        try:
            by_key[email_key(typed)] = email_address(typed)
        except ValueError as error:
            wrong.append(f"{typed}: wanted {error}")
    if wrong:
        complain(*wrong)
        words = counted(len(wrong), "word is not an address", "words are not addresses")
        raise Mistyped(f"{words}, so nothing was done. Correct this and run the command again.")
    return by_key


def rows_of(
    ledger: "Ledger",
    campaign: "Campaign",
    emails: Sequence[str],
    against: "Objections | None" = None,
) -> list[int]:
    """Find everyone who is named. Raises NotDecided, having said what is wrong with each.

    `against` returns the rows that cannot be decided: by position, why not. KEY in it stands for
    the campaign's key.
    """
    from data.campaigns import forgotten, intake
    from data.decisions.withdrawing import FOR_GOOD

    everybody = ledger.read(intake.everybody, campaign.id)
    chosen = {email_key(typed): typed for typed in emails}  # named twice is one person
    people = {key: everybody[key].row for key in chosen if key in everybody}
    rows = list(people.values())
    strange = {key: typed for key, typed in chosen.items() if key not in everybody}
    gone = ledger.read(forgotten.among, strange, campaign.id)
    left = ledger.read(forgotten.for_good, gone, campaign.id)
    wrong = [f"{strange[key]} {FOR_GOOD}" for key in strange if key in left]
    wrong += [f"{strange[key]}: {NOBODY}, {FORGOTTEN}" for key in strange if key in gone - left]
    wrong += [
        f"{typed}: {unknown(typed, emails_of(everybody))}"
        for key, typed in strange.items()
        if key not in gone
    ]
    objections = ledger.read(against, campaign.id, rows) if against else {}
    wrong += [
        f"{chosen[key]} {objections[position].replace(' KEY ', f' {campaign.key} ')}"
        for position, key in enumerate(people)
        if position in objections
    ]
    refuse(wrong)
    return rows


def refuse(wrong: Sequence[str]) -> None:
    """Say what is wrong with each address, if anything is. Raises NotDecided then."""
    if wrong:
        complain(*wrong)
        raise NotDecided(dict(enumerate(wrong)), "address", "addresses")


def emails_of(people: "Mapping[str, Known]") -> dict[str, str]:
    """The addresses as they were typed, by email key."""
    return {key: person.fields[2] for key, person in people.items()}


def unknown(typed: str, emails: Mapping[str, str]) -> str:
    """Say that nobody has this address, and whose of `emails` (by email key) is nearest."""
    near = nearest(email_key(typed), list(emails))
    hint = f"; did you mean {emails[near]}?" if near else ""
    return f"{NOBODY}{hint}"


def nearest(typed: str, keys: Sequence[str]) -> str | None:
    """Which of these email keys is almost the same as `typed`; None if none is.

    The parts before and after the @ are compared separately: many people share a domain.
    """
    for key in get_close_matches(typed, keys, n=1, cutoff=0.8):
        parts = zip(typed.rpartition("@"), key.rpartition("@"), strict=True)
        if all(SequenceMatcher(None, part, other).ratio() >= ALIKE for part, other in parts):
            return key
    return None
