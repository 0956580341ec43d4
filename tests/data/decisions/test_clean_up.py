"""What is left over in the web application, as a table: certain, perhaps, or nothing at all."""

import pytest

from data.decisions.clean_up import (
    AddedAgain,
    LeftOver,
    Place,
    SentAgain,
    SteppedBack,
    What,
    left_over,
)
from data.store.states import Operation
from tests.support.ledgers.small_ledger import NOON
from tests.wording import MAY_BE_ADDED, SECOND_PROJECT

HERE = Place("Backend engineer", 101, 42, "Asia/Tokyo")


def person(
    candidate_id: int | None = 5001,
    *,
    added: bool = True,
    invited: bool = False,
    instead: str | None = None,
) -> SteppedBack:
    return SteppedBack(7, "ada@example.com", candidate_id, added, invited, instead)


@pytest.mark.parametrize(
    ("who", "said", "certain"),
    [
        (person(), "candidate 5001 in project 101, withdrawn", True),
        (person(invited=True), "candidate 5001 in project 101, withdrawn, was invited", True),
        (
            person(instead="new@example.com"),
            "candidate 5001 in project 101, corrected to new@example.com",
            True,
        ),
        (person(None), "perhaps in project 101, withdrawn", False),
        (person(None, added=False), None, False),
    ],
)
def test_who_was_ever_added_is_still_there(
    who: SteppedBack, said: str | None, certain: bool
) -> None:
    """With an id for certain; in doubt perhaps; where nothing happened there is nobody."""
    found = left_over(HERE, [], [], [who], ())
    assert [(one.said, one.certain) for one in found] == ([(said, certain)] if said else [])


@pytest.mark.parametrize(
    ("place", "operation", "said"),
    [
        (
            HERE,
            Operation.CREATE,
            f'{SECOND_PROJECT} "Backend engineer": the request of 2026-12-01 21:00 '
            "(Asia/Tokyo) was sent again; project 101 is in use",
        ),
        (
            Place("Backend engineer", None, 42, "Asia/Tokyo"),
            Operation.CREATE,
            f'{SECOND_PROJECT} "Backend engineer": the request of 2026-12-01 21:00 '
            "(Asia/Tokyo) was sent again",
        ),
        (
            HERE,
            Operation.ATTACH,
            "problem 42 may be in project 101 twice: the request of 2026-12-01 21:00 "
            "(Asia/Tokyo) was sent again",
        ),
    ],
)
def test_a_call_that_was_sent_again_may_have_worked_twice(
    place: Place, operation: Operation, said: str
) -> None:
    """Only a person can see whether it did."""
    [found] = left_over(place, [SentAgain(3, operation, NOON)], [], [], ())
    assert (found.said, found.certain, found.email1) == (said, False, None)


def test_what_was_removed_is_not_told_again() -> None:
    """Each thing is known by what it came from, and nothing else is taken for it."""
    call, double = SentAgain(3, Operation.CREATE, NOON), AddedAgain(4, 7, "ada@example.com", 5002)
    everything = left_over(HERE, [call], [double], [person()], ())
    assert [one.mark for one in everything] == [(3, None), (4, 7), (None, 7)]
    for one in everything:
        others = [other for other in everything if other is not one]
        assert left_over(HERE, [call], [double], [person()], {one.mark}) == others


def test_a_program_reads_the_same() -> None:
    """The object in `clean_up` of the status."""
    [found] = left_over(HERE, [], [AddedAgain(4, 7, "ada@example.com", 5002)], [], ())
    assert found == LeftOver(
        What.DOUBLE,
        False,
        f"{MAY_BE_ADDED} 101 more than once; candidate 5002 is in use",
        (4, 7),
        "ada@example.com",
        5002,
    )
    assert found.as_json() == {
        "what": "double",
        "certain": False,
        "email1": "ada@example.com",
        "candidate_id": 5002,
        "why": found.said,
    }
