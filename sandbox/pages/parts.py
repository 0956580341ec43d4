"""Long lists on a page: the newest first, in parts, and searched."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

T = TypeVar("T")

AT_ONCE = 200
"""Rows in one part."""


@dataclass(frozen=True, slots=True)
class Part(Generic[T]):
    """One part of a list; `number` is the part's number from 1, `many` the number of all rows
    found.
    """

    rows: Sequence[T]
    number: int
    last: int
    many: int
    sought: str

    @property
    def first_row(self) -> int:
        """Where in the list this part begins, from 1."""
        return (self.number - 1) * AT_ONCE + 1


def part(every: Sequence[T], query: Mapping[str, str], words: Callable[[T], str]) -> Part[T]:
    """Take the part that an address asks for: `?part=2`, of the rows whose words hold `?find=`."""
    sought = query.get("find", "").strip()
    rows_found = (
        [row for row in every if sought.casefold() in words(row).casefold()] if sought else every
    )
    last = max(1, -(-len(rows_found) // AT_ONCE))
    asked = query.get("part", "")
    number = min(int(asked), last) if re.fullmatch(r"[1-9][0-9]{0,8}", asked) else 1
    end = len(rows_found) - (number - 1) * AT_ONCE
    rows = rows_found[max(0, end - AT_ONCE) : end][::-1]
    return Part(rows, number, last, len(rows_found), sought)
