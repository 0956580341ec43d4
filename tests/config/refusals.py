"""What a person has to fix, when something cannot be read."""

from collections.abc import Callable, Sequence
from itertools import zip_longest

import pytest

from config.errors import BadInput
from config.mistakes import Mistake
from tests.support.documents import fits


def mistakes(read: Callable[..., object], *given: object) -> tuple[Mistake, ...]:
    """Read it: every mistake for which it is refused, as the command line would."""
    with pytest.raises(BadInput) as refused:
        read(*given)
    assert refused.value.exit_code == 2
    return refused.value.problems


def messages(read: Callable[..., object], *given: object) -> list[str]:
    """The same in words."""
    return list(map(str, mistakes(read, *given)))


def shortened(said: Sequence[str], shown: Sequence[str]) -> tuple[str, ...]:
    """Write what was said as it is shown, with `…` for words that are not compared, if it fits."""
    pairs = zip_longest(said, shown[: len(said)], fillvalue="")
    return tuple(short if fits(short, whole) else whole for whole, short in pairs)
