"""Sizes of waves and what holds them: how they are read, and where a campaign stands in them."""

import pytest

from config.timetable.waves import SHARE_WANTED, HoldOn, Waves, in_percent, share, sizes


@pytest.mark.parametrize(
    ("typed", "found"),
    [([5, 50, "rest"], (5, 50)), ([5], (5,)), ([1, 1, " Rest "], (1, 1))],
)
def test_the_rest_always_follows(typed: list[object], found: tuple[int, ...]) -> None:
    """Nobody is forgotten behind the last size, written or not."""
    assert sizes(typed) == found


@pytest.mark.parametrize(
    "typed", [[], ["rest"], [0], [-1, "rest"], ["rest", 5], ["5"], [5.0], [True], [5, None]]
)
def test_sizes_are_whole_people(typed: list[object]) -> None:
    """Anything but whole numbers above 0 is refused."""
    with pytest.raises(ValueError, match="above 0"):
        sizes(typed)


def test_shares_are_percents() -> None:
    """A share without its sign would leave 2 and 0.02 to be guessed."""
    assert share("2%") == 0.02
    assert share("100%") == 1.0
    assert HoldOn(refused=0.02).reached(100, 2, 0) == (
        "2 of 100 invitations refused (hold_on refused: 2%)"
    )
    assert share(" 12.5 % ") == 0.125
    assert in_percent(share("0.5%")) == "0.5%"
    for typed in ("2", "0.02", "0%", "101%", "%", "two%", ""):
        with pytest.raises(ValueError, match=SHARE_WANTED):
            share(typed)


@pytest.mark.parametrize(
    ("tried", "stands"),
    [
        (0, (1, 5, False)),
        (4, (1, 1, False)),
        (5, (2, 50, True)),
        (6, (2, 49, False)),
        (54, (2, 1, False)),
        (55, (3, None, True)),
        (56, (3, None, False)),
        (5_000, (3, None, False)),
    ],
)
def test_where_a_campaign_stands(tried: int, stands: tuple[int, int | None, bool]) -> None:
    """Waves are counted in people, over any number of runs."""
    assert Waves((5, 50)).room(tried) == stands


@pytest.mark.parametrize(
    ("hold_on", "seen", "held"),
    [
        (HoldOn(), (10, 10, 10), False),
        (HoldOn(unsure=1), (10, 10, 0), False),
        (HoldOn(unsure=1), (10, 0, 1), True),
        (HoldOn(unsure=2), (10, 0, 1), False),
        (HoldOn(refused=0.02), (100, 1, 9), False),
        (HoldOn(refused=0.02), (100, 2, 0), True),
        (HoldOn(refused=0.02), (5, 1, 0), True),
        (HoldOn(refused=0.02), (0, 0, 0), False),
        (HoldOn(refused=1.0), (3, 2, 0), False),
        (HoldOn(refused=1.0), (3, 3, 0), True),
    ],
)
def test_what_holds(hold_on: HoldOn, seen: tuple[int, int, int], held: bool) -> None:
    """A bound is reached when it is met; nothing refused never holds."""
    why = hold_on.reached(*seen)
    assert (why is not None) is held
    assert why is None or "hold_on" in why
