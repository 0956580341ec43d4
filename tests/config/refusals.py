"""What a person has to fix, when something cannot be read."""

from collections.abc import Callable

import pytest

from config.errors import BadInput
from config.mistakes import Mistake


def mistakes(read: Callable[..., object], *given: object) -> tuple[Mistake, ...]:
    """Read it: every mistake for which it is refused, as the command line would."""
    with pytest.raises(BadInput) as refused:
        read(*given)
    assert refused.value.exit_code == 2
    return refused.value.problems


def messages(read: Callable[..., object], *given: object) -> list[str]:
    """The same in words."""
    return list(map(str, mistakes(read, *given)))
