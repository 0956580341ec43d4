"""Whose id is which in the answer to a bulk add (interface 4.5): by address, never by position."""

import unicodedata
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from config.email_key import email_key
from tasks.service.answer import parsed, read_id

# Fields in which other services have an id. An id from there is shown to a person, never believed.
_CANDIDATE_ID_ELSEWHERE = ("candidate_id", "candidateId", "id")

NO_ID = "Probably added, but the answer gave no usable candidate id."

Names = tuple[str, str]
"""First and last name."""


@dataclass(frozen=True, slots=True)
class Matched:
    """The answer to a bulk add, by the people who were sent.

    `ids` maps an email key to its candidate_id. `without` has each key that got no usable id, in
    the order sent, with what a person should know. `strangers` are people in the answer who were
    not sent, with their ids.
    """

    ids: dict[str, int]
    without: dict[str, str]
    strangers: dict[str, frozenset[int]]


def read_added(body: bytes | None) -> list[tuple[str, int | None]] | None:
    """Read the answer to add-candidates as (email key, candidate_id or None), in its order.

    None if it is not an array, or if no entry names a person with a usable id.
    """
    added = [(key, read_id(entry.get("candidate_id"))) for key, entry in _people(parsed(body))]
    return added if any(number is not None for _, number in added) else None


def match_answer(body: bytes | None, sent: Mapping[str, Names]) -> Matched:
    """Give each email key that was sent the id it was answered with.

    Match by email, never by position: the interface promises no order (interface 4.5). If one
    person has two ids, or two people one id, nobody concerned gets an id: somebody would get
    another person's invitation. Nor does an address that comes back with somebody else's name.
    """
    answer = parsed(body)
    ids: dict[str, set[int]] = {}
    owners: dict[int, set[str]] = {}
    renamed: set[str] = set()
    for key, entry in _people(answer):
        numbers = ids.setdefault(key, set())
        if (number := read_id(entry.get("candidate_id"))) is not None:
            numbers.add(number)
            owners.setdefault(number, set()).add(key)
        if key in sent and _other_name(sent[key], entry):
            renamed.add(key)
    unique = {
        key: min(numbers)
        for key in sent
        if len(numbers := ids.get(key, set())) == 1 and len(owners[min(numbers)]) == 1
    }
    elsewhere = _ids_elsewhere(answer)
    return Matched(
        ids={key: number for key, number in unique.items() if key not in renamed},
        without={
            key: _without(unique.get(key), elsewhere.get(key), ids.get(key, set()))
            for key in sent
            if key not in unique or key in renamed
        },
        strangers={key: frozenset(ids[key]) for key in ids.keys() - sent.keys()},
    )


def _people(answer: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each entry of an array that names an address, by its email key."""
    for entry in answer if isinstance(answer, list) else ():
        if isinstance(entry, dict) and isinstance(entry.get("email1"), str):
            yield email_key(entry["email1"]), entry


def _other_name(sent: Names, entry: Mapping[str, Any]) -> bool:
    """Whether an entry's name differs from the one sent, ignoring case and blanks."""
    answered = (entry.get("first_name"), entry.get("last_name"))
    return any(
        isinstance(name, str) and name.strip() and _folded(name) != _folded(own)
        for name, own in zip(answered, sent, strict=True)
    )


def _folded(name: str) -> str:
    whole = unicodedata.normalize("NFC", name).casefold()
    return unicodedata.normalize("NFC", " ".join(whole.split()))


def _ids_elsewhere(answer: Any) -> dict[str, int]:
    """Ids by email key in places the interface does not name: another field, or deeper."""
    lists = [answer, *(answer.values() if isinstance(answer, dict) else ())]
    ids: dict[str, set[int | None]] = {}
    for key, entry in (person for each in lists for person in _people(each)):
        numbers = (read_id(entry.get(name)) for name in _CANDIDATE_ID_ELSEWHERE)
        ids.setdefault(key, set()).add(next(filter(None, numbers), None))
    return {key: number for key, (number, *more) in ids.items() if number and not more}


def _without(renamed: int | None, elsewhere: int | None, several: Collection[int]) -> str:
    if len(several) > 1:
        named = " and ".join(map(str, sorted(several)))
        return f"Probably added more than once: the answer has candidates {named} for this address."
    if renamed is not None:
        return (
            f"Probably added as candidate {renamed}, but the answer has another name for this "
            "address."
        )
    if elsewhere is not None:
        return (
            f"Probably added, perhaps as candidate {elsewhere}, an id found elsewhere in the "
            "answer."
        )
    return NO_ID
