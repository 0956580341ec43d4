"""How many people may be gone from a definition before a run stops and asks."""

import pytest

from config.definition.model import Guard
from data.campaigns.changes import compare
from data.campaigns.remaining import too_many_gone
from tests.data.campaigns.test_remaining import beside, known
from tests.support.ledgers.small_ledger import definition

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
    assert bool(too_many_gone(Guard(removed), changes, there)) is stops


def test_the_numbers_are_told() -> None:
    """Whoever is asked sees how many of how many, and what was allowed."""
    there = beside(*TEN)
    said = too_many_gone(Guard(0.2), compare(definition("ada"), there), there)
    assert said == "9 of 10 people are gone from the definition (guard removed: 20%)"
