"""A full name in one cell, split because the definition says so.

nameparser knows titles, degrees, particles and scripts. Whoever is not exactly two words is shown
to a person, because a name that was sent cannot be changed (interface 4).
"""

import re
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from config.errors import shown
from config.sheets.headers import listed

if TYPE_CHECKING:
    from nameparser import Parser

FULL_NAME = "full_name"  # the field of such a cell, which is not sent itself
# Longer than any name: not worth the time it would take.
LONGEST = 200


class Split(NamedTuple):
    """First and last name, "" if there is only one, and what a person should see if in doubt."""

    first: str
    last: str
    note: str = ""


def split_name(full: str) -> Split:
    """Split a full name at the comma, or else before the last word and its particles."""
    text = " ".join(_ASIDE.sub(" ", full).split())
    if len(text) > LONGEST or not text:
        return Split(text[:LONGEST], "")
    words = text.split()
    name = _parser().parse(text)
    first, last = name.given_names, name.family
    if capitals := _capitals(words):
        first, last = capitals
    if not first or not last:
        # Never a title or a degree for the name that is missing.
        return Split(first or last, "")
    dropped = ", ".join(filter(None, (name.title, name.suffix, name.nickname, name.maiden)))
    before, comma, after = map(str.strip, text.partition(","))
    if not dropped and (first, last) == (after, before) and " " not in before:
        return Split(first, last)
    if not dropped and not comma and not capitals and len(words) == 2 and not _turned(words):
        return Split(first, last)
    without = f", without {shown(dropped)}" if dropped else ""
    note = f"read as first name {first}, last name {last}{without}; "
    if len(words) == 2 and not comma:
        return Split(first, last, f'{note}if it is the other way round, write "{first}, {last}"')
    do = "put them into two columns" if comma else 'write it as "Last, First"'
    return Split(first, last, f"{note}if that is wrong, {do}")


def _turned(words: list[str]) -> bool:
    """Whether the family name may stand first, in a name of two words."""
    first, last = map(_key, words)
    if _EAST_ASIAN.search(words[0]):
        return False  # the parser knows their order
    slavic = _SLAVIC.fullmatch(first) and not _SLAVIC.fullmatch(last)
    marked = _KOREAN.fullmatch(words[1]) or _VIETNAMESE.search(" ".join(words))
    return first in listed("family_first") or last in listed("given_last") or bool(slavic or marked)


def _capitals(words: list[str]) -> tuple[str, str] | None:
    """Read `DUPONT Jean` and `Jean DUPONT`, the form that is usual in France and elsewhere."""
    great = [len(word) > 2 and word.isupper() and "." not in word for word in words]
    count = sum(great)
    if not 0 < count < len(words) or any("," in word for word in words):
        return None
    if all(great[:count]):
        return " ".join(words[count:]), " ".join(words[:count])
    if all(great[-count:]):
        return " ".join(words[:-count]), " ".join(words[-count:])
    return None


def _key(word: str) -> str:
    return word.casefold().strip(".,")


@cache
def _parser() -> "Parser":
    # Imported here: few tables have full names.
    from nameparser import locales, parser_for  # noqa: PLC0415

    return parser_for(locales.RU, locales.TR_AZ)


_ASIDE = re.compile(r"\[[^\[\]]*\]|<[^<>]*>")
_EAST_ASIAN = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]")
_KOREAN = re.compile(r"[A-Z][a-z]+-[a-z]+")  # Joon-ho is a given name
_VIETNAMESE = re.compile("[ăđơưạảấầẩẫậắằẳẵặẹẻẽếềểễệỉịọỏốồổỗộớờởỡợụủứừửữựỳỵỷỹ]", re.IGNORECASE)
_SLAVIC = re.compile(
    r".+(?:ов|ова|ев|ева|ёв|ёва|ин|ина|ский|ская|ський|ська|енко|ук|юк)", re.IGNORECASE
)
