"""Split the full name in a cell, as `split_name` of a definition asks.

A person sees every split that is in doubt, because what was sent cannot be changed (interface 4).
"""

import re
from collections.abc import Iterable
from functools import cache
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple
from unicodedata import category, combining, normalize

from config.errors import shown
from config.sheets.headers import listed, pattern, worded

if TYPE_CHECKING:
    from nameparser import Parser

FULL_NAME = "full_name"  # the field of such a cell; it is never sent
ALIKE = str.maketrans("łøđ", "lod", "'’‘ʼ`´")  # letters, and no apostrophes
LONGEST = 200  # longer texts are no names, and would take too long to parse


class Split(NamedTuple):
    """First name, last name ("" if there is only one), and a note if the split is in doubt."""

    first: str
    last: str
    note: str = ""


def split_name(full: str, last_first: bool = False) -> Split:
    """Split a full name by capitals (DUPONT Jean), as its header says, or as nameparser does."""
    text = " ".join(_ASIDE.sub(" ", full).split())
    if len(text) > LONGEST or not text:
        return Split(text[:LONGEST], "")
    words = text.split()
    name = _parser().parse(text)
    first, last = name.given_names, name.family
    if (capitals := _capitals(words)) and not (last and name.suffix in capitals):
        first, last = capitals
    if not first or not last:
        # A title or a degree never replaces the missing name.
        return Split(first or last, "")
    dropped = ", ".join(filter(None, (name.title, name.suffix, name.nickname, name.maiden)))
    before, comma, after = map(str.strip, text.partition(","))
    if not dropped and (first, last) == (after, before) and " " not in before:
        return Split(first, last)
    turned = pattern("family_first").fullmatch(worded(words[0]))
    turned = turned or pattern("given_last").fullmatch(worded(words[-1]))
    if last_first and not (comma or dropped or capitals):
        first, last = " ".join(words[1:]), words[0]
    agrees = (first, last) == (words[-1], words[0]) if last_first else not (capitals or turned)
    if agrees and not dropped and not comma and len(words) == 2:
        return Split(first, last)
    without = f", without {shown(dropped)}" if dropped else ""
    note = f"read as first name {first}, last name {last}{without}; "
    do = "put them into two columns" if comma else 'write it as "Last, First"'
    return Split(first, last, f"{note}if that is wrong, {do}")


def comparable(name: str) -> str:
    """The form in which names are compared: their words, sorted, without accents, capitals, dots
    and other signs."""
    alike = normalize("NFKD", name.casefold().translate(ALIKE))
    bare = (" " if category(each)[0] in "PS" else each for each in alike if not combining(each))
    return " ".join(sorted("".join(bare).split()))


def is_test(texts: Iterable[str]) -> bool:
    """Whether names and an address look as if somebody tried a form or a system."""
    return bool(_TEST.search(" ".join(" ".join(texts).casefold().split())))


def _capitals(words: list[str]) -> tuple[str, str] | None:
    """Split `DUPONT Jean` and `Jean DUPONT`: the family name is in capitals."""

    def is_great(word: str) -> bool:
        return len(word) > 2 and word.isupper() and not re.search(r"[.(]", word)

    runs = [(great, " ".join(run)) for great, run in groupby(words, is_great)]
    if len(runs) != 2 or "," in "".join(words):
        return None
    (_, first), (_, last) = sorted(runs)
    return first, last


@cache
def _parser() -> "Parser":
    # Imported here: few tables have full names.
    from nameparser import Lexicon, Parser, locales, parser_for  # noqa: PLC0415

    known = Lexicon.default()
    # Some titles and suffixes are first names as well: Prince, Junior, Cem (CEM: a certificate).
    titles = {word for word in known.titles if word.isascii()} - listed("title")
    words = known.remove(titles=titles, suffix_words={"junior"})
    words = words.add(suffix_acronyms_ambiguous=known.suffix_acronyms - {"phd"})
    return parser_for(locales.RU, locales.TR_AZ, base=Parser(words))


_TEST = re.compile(
    r"^(?:test (?:candidate|applicant|user|test)|(?:max|erika) mustermann) |(?:^|[ <:])test@"
    r"|^j(?:ohn|ane) doe .*@example\."
)
_ASIDE = re.compile(r"\[[^\[\]]*\]|<[^<>]*>")
