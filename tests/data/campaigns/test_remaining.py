"""What is left to do: definitions beside the ledger, decided without either."""

import re
from collections.abc import Iterable
from dataclasses import replace

import pytest

from data.campaigns.changes import Known, compare, fields_of, meant, too_many_gone
from data.campaigns.remaining import Due, Remaining, by_row, due, remaining
from data.store.states import Step
from tests.support.ledgers.small_ledger import definition

W, S, D, R, U, X = (
    Step.WAITING,
    Step.SENDING,
    Step.DONE,
    Step.REFUSED,
    Step.UNSURE,
    Step.WITHDRAWN,
)


def known(
    name: str, add: Step = W, invite: Step = W, *, listed: bool = True, notes: str = ""
) -> Known:
    [person] = definition(name, notes=notes).candidates
    return Known(ord(name[0]), person.key, fields_of(person), add, invite, listed)


def beside(*people: Known) -> dict[str, Known]:
    return {person.key: person for person in people}


def test_rows_in_another_order_are_the_same_people() -> None:
    """Row numbers identify nothing: a sorted sheet changes nothing."""
    there = beside(known("ada"), known("bo"), known("cy"))
    changes = compare(definition("cy", "ada", "bo"), there)
    assert not any((changes.new, changes.reworded, changes.changed, changes.removed))


def test_new_removed_and_returned_people_are_told_apart() -> None:
    """Who is new is added, who is gone is left alone, who is back is listed again."""
    there = beside(known("ada"), known("bo"), known("cy", listed=False), known("di", listed=False))
    changes = compare(definition("ada", "cy", "eli"), there)
    assert [person.first_name for person in changes.new] == ["eli"]
    assert [person.key for person in changes.removed] == ["bo@example.com"]
    assert [person.key for person in changes.returned] == ["cy@example.com"]


@pytest.mark.parametrize("add", list(Step))
def test_other_words_are_sent_only_while_nothing_was(add: Step) -> None:
    """The service has no update (interface 4): after the add other wording is only reported."""
    before, listed = known("ada", add), definition("ada", notes="new")
    changes = compare(listed, beside(before))
    both = [(before, *listed.candidates)]
    assert changes.reworded == (both if add in (W, R) else [])
    assert changes.changed == ([] if add in (W, R) else both)


def steps(people: Iterable[Due]) -> list[tuple[str, bool, bool]]:
    """Who is added and who invited, by first name, which the email key begins with as well."""
    whole = list(people)
    assert [person.key for person in whole] == [f"{one.first_name}@example.com" for one in whole]
    return [(person.first_name, person.add, person.invite) for person in whole]


def test_once_taken_over_everyone_listed_is_due_once() -> None:
    """Removed people drop out, returned ones count, reworded ones wait, in the sheet's order."""
    people = [known("ada", D, U), known("bo", D, W), known("cy", R), known("di", D, listed=False)]
    there = beside(*people)
    listed = definition("eli", "ada", "cy", "di")
    assert steps(due(listed, there, send=True)) == [("eli", True, True), ("di", False, True)]
    assert steps(by_row(due(listed, there, send=True))) == [
        ("di", False, True),
        ("eli", True, True),
    ]
    mended = definition("cy", notes="mended")
    assert steps(due(mended, there, send=True)) == [("cy", True, True)]
    assert steps(due(None, there, send=True)) == [("bo", False, True)]


@pytest.mark.parametrize(
    ("project", "problem", "left"),
    [
        (W, W, Remaining(True, True, 1, 2)),
        (R, W, Remaining(True, True, 1, 2)),  # a refused project may be asked for again
        (U, W, Remaining()),  # in doubt: nothing else can go
        (S, W, Remaining()),  # another run is at it
        (D, W, Remaining(False, True, 1, 2)),
        (D, R, Remaining(False, True, 1, 2)),
        (D, U, Remaining()),
        (D, S, Remaining()),
        (D, D, Remaining(False, False, 1, 2)),
        (W, D, Remaining(True, False, 1, 2)),
        (W, U, Remaining(True, False, 0, 0)),
    ],
)
def test_each_call_waits_for_the_one_before_it(
    project: Step, problem: Step, left: Remaining
) -> None:
    """Nobody is invited to a project that may not be, or may be empty."""
    assert remaining(project, problem, 1, 2) == left


@pytest.mark.parametrize("send", [True, False])
@pytest.mark.parametrize("add", list(Step))
@pytest.mark.parametrize("invite", list(Step))
def test_who_is_left_to_add_and_to_invite(add: Step, invite: Step, send: bool) -> None:
    """Added is who waits; invited is who waits for that and is, or will be, added."""
    adds, invites = add is W, send and invite is W and add in (W, D)
    there = beside(known("ada", add, invite))
    for listed in (None, definition("ada")):
        people = steps(due(listed, there, send=send))
        assert people == ([("ada", adds, invites)] if adds or invites else [])


@pytest.mark.parametrize(
    ("left", "nothing"),
    [
        (Remaining(), True),
        (Remaining(create=True), False),
        (Remaining(attach=True), False),
        (Remaining(add=1), False),
        (Remaining(invite=1), False),
    ],
)
def test_a_run_with_nothing_to_do_knows_it(left: Remaining, nothing: bool) -> None:
    """Nothing to do means no request at all, not even for a token."""
    assert left.nothing is nothing


# -- a corrected address, a clock that changed, and who waits ---------------------------------


def test_a_corrected_address_means_whoever_has_it_now() -> None:
    """Its row in the sheet stands for the new person, also where both are listed; nobody twice."""
    old, new = known("ada", D, X, listed=False), known("eve", D, W)
    old = replace(old, instead=new.key)
    there = beside(old, new)
    for names in (("ada",), ("ada", "eve"), ("eve", "ada")):
        changes = compare(definition(*names), there)
        assert not any((changes.new, changes.removed, changes.returned))
        told = [(one.key, now.key) for one, now in changes.corrected]
        assert told == [(old.key, new.key)] * ("ada" in names)
        people = [(one.key, one.email1, now) for one, now in meant(definition(*names), there)]
        assert people == [(new.key, "eve@example.com", new)]
    assert [one.key for one in compare(definition("bo"), there).removed] == [new.key]
    twice = there | beside(replace(known("zoe", D, X, listed=False), instead=new.key))
    assert [now for _, now in meant(definition("ada", "zoe"), twice)] == [new]


def test_a_corrected_address_keeps_the_words_of_its_row() -> None:
    """Name and notes come from the sheet, the address from the person who corrected it."""
    old, new = known("ada", D, X, listed=False), known("eve", D, W)
    there = beside(replace(old, instead=new.key), new)
    [(candidate, now)] = meant(definition("ada", notes="tall"), there)
    assert (candidate.first_name, candidate.notes, candidate.email1) == (
        "ada",
        "tall",
        now.fields[2],
    )


def test_a_clock_that_changed_is_noted() -> None:
    """It is sent nowhere, so it may change at any time."""
    there = beside(replace(known("ada", D, W), timezone="Asia/Tokyo"), known("bo", D, W))
    [(before, now)] = compare(definition("ada", "bo"), there).noted
    assert (before.key, before.timezone, now.timezone) == ("ada@example.com", "Asia/Tokyo", None)


def test_who_waits_for_an_invitation() -> None:
    """In the ledger's order, who is new behind; each with the clock that the definition names."""
    people = [
        replace(known("ada", D, W), timezone="Asia/Tokyo"),
        known("bo", W, W),
        known("cy", D, D),
        known("di", U, W),
        known("eli", R, W, notes="old"),
        known("fay", D, W),  # gone from the sheet
        known("gus", D, W, listed=False),  # back in it
        known("hal", D, W, listed=False),
        known("ina", D, W),  # held
        known("jo", R, W),
    ]
    there = beside(*people)
    named = ("kim", "gus", "eli", "ada", "bo", "cy", "di", "ina", "jo", "lea")
    sought = definition(*named)
    asked = by_row(person for person in due(sought, there, send=True) if person.invite)
    assert [one.first_name for one in asked] == ["ada", "bo", "eli", "gus", "ina", "kim", "lea"]
    assert {person.timezone for person in asked} == {None}
    clocks = replace(sought, candidates=(replace(sought.candidates[0], timezone="Asia/Tokyo"),))
    assert [person.timezone for person in due(clocks, {}, send=True)] == ["Asia/Tokyo"]
    assert next(due(None, there, send=True)).timezone == "Asia/Tokyo"


TEN = [known(name) for name in ("ada", "bo", "cy", "di", "eli", "fay", "gus", "hal", "ina", "jo")]
NAMES = [person.fields[0] for person in TEN]


@pytest.mark.parametrize(
    ("removed", "gone", "stops"),
    [
        (0.2, 0, False),
        (0.2, 1, False),
        (0.2, 2, True),
        (0.2, 3, True),
        (1.0, 9, False),
        (1.0, 10, True),
        (0.0, 0, False),
        (0.0, 1, True),
        (None, 10, False),
    ],
)
def test_a_share_of_those_who_are_listed(removed: float | None, gone: int, stops: bool) -> None:
    """The share itself is too many; who left earlier counts neither way."""
    there = beside(*TEN, known("kim", listed=False))
    changes = compare(definition(*NAMES[gone:]), there)
    assert bool(too_many_gone(removed, changes, there)) is stops


def test_whoever_is_asked_sees_how_many_are_gone() -> None:
    """Whoever is asked sees how many of how many, and what was allowed."""
    there = beside(*TEN)
    said = too_many_gone(0.2, compare(definition("ada"), there), there)
    assert re.findall(r"\d+%?", said or "") == ["9", "10", "20%"]
