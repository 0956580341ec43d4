"""What is left to do: definitions beside the ledger, decided without either."""

import pytest

from data.remaining import Known, Remaining, after, compare, fields_of, remaining
from data.states import Step
from tests.small_ledger import definition

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
    changes = compare(definition("ada", notes="new"), beside(known("ada", add)))
    assert bool(changes.reworded) is (add in (W, R))
    assert bool(changes.changed) is (add not in (W, R))


def test_after_the_changes_everyone_listed_counts_once() -> None:
    """Removed people drop out, returned ones count, reworded ones wait, new ones come last."""
    people = [known("ada", D, U), known("bo", D, D), known("cy", R), known("di", D, listed=False)]
    there = beside(*people)
    changes = compare(definition("ada", "cy", "di", "eli"), there)
    assert after(changes, there.values()) == [(D, U), (R, W), (D, W), (W, W)]
    reworded = compare(definition("cy", notes="mended"), there)
    assert after(reworded, there.values()) == [(W, W)]


EVERYONE = [(W, W), (D, W), (D, D), (U, W), (R, W), (D, U), (D, R), (X, X), (S, W), (D, S)]


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
    assert remaining(project, problem, EVERYONE, send=True) == left


@pytest.mark.parametrize("add", list(Step))
@pytest.mark.parametrize("invite", list(Step))
def test_who_is_left_to_add_and_to_invite(add: Step, invite: Step) -> None:
    """Added is who waits; invited is who waits for that and is, or will be, added."""
    left = remaining(D, D, [(add, invite)], send=True)
    assert left.add == (add is W)
    assert left.invite == (invite is W and add in (W, D))


def test_without_invites_people_are_only_added() -> None:
    """`invites: {send: false}` adds and links."""
    assert remaining(D, D, EVERYONE, send=False) == Remaining(False, False, 1, 0)


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
