"""A timetable as the ledger keeps it: one text, rewritten whenever the definition is read."""

from functools import cache

from pydantic import TypeAdapter

from config.timetable.timetable import Timetable

# Most campaigns have none of its rules.
NONE = ""


def kept(timetable: Timetable) -> str:
    """Write a timetable as the ledger keeps it."""
    return NONE if timetable == Timetable() else _adapter().dump_json(timetable).decode()


def timetable(text: str) -> Timetable:
    """Read what `kept` wrote."""
    return Timetable() if text == NONE else _adapter().validate_json(text)


@cache
def _adapter() -> TypeAdapter[Timetable]:
    return TypeAdapter(Timetable)
