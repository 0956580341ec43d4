"""Somebody whose address was edited in the sheet is somebody new: pointed at, before any email."""

from dataclasses import replace

import pytest

from config.definition import Candidate
from data.remaining import Known, fields_of
from data.second_addresses import second_addresses
from data.states import Step
from tests.small_ledger import definition

[ADA] = definition("ada").candidates


def person(email1: str, first: str = "Ada", last: str = "Lovelace") -> Candidate:
    return replace(ADA, first_name=first, last_name=last, email1=email1, key=email1)


def known(candidate: Candidate, invite: Step = Step.DONE) -> Known:
    return Known(1, candidate.key, fields_of(candidate), Step.DONE, invite)


def pointed_at(before: Known, *listed: Candidate) -> list[tuple[str, str]]:
    """Who is pointed at, and what they share with whoever was invited before."""
    now = replace(definition("ada"), candidates=listed)
    return [(one.person.email1, one.same) for one in second_addresses(now, {before.key: before})]


@pytest.mark.parametrize(
    ("new", "same"),
    [
        (person("ada@new.example"), ["name"]),
        (person("ada@new.example", "LOVELACE", " Ada"), ["name"]),
        (person("a.da+jobs@googlemail.com", "A.", "L."), ["mailbox"]),
        (person("ada@new.example", "Adam"), []),
    ],
)
def test_an_edited_address_is_not_taken_for_somebody_else(new: Candidate, same: list[str]) -> None:
    """The same name or mailbox as somebody who was invited and has left the sheet."""
    before = known(person("ada@gmail.com"))
    assert pointed_at(before, new) == [(new.email1, one) for one in same]


@pytest.mark.parametrize("invite", list(Step))
def test_only_who_was_invited_can_be_invited_twice(invite: Step) -> None:
    """Also where that is not certain; a second row beside the first is another matter."""
    before, new = person("ada@old.example"), person("ada@new.example")
    may_have_been = invite in {Step.DONE, Step.UNSURE, Step.SENDING}
    assert bool(pointed_at(known(before, invite), new)) is may_have_been
    assert not pointed_at(known(before, invite), before, new)
