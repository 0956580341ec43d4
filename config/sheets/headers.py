"""What the words of a table mean: its headers, and words that exclude people.

A field's own name, except notes, is a header. Other words are in headers.csv, by kind. If
the kind is a field, its words are whole headers. Some other kinds are searched for in a text; in
such kinds `*` stands for the rest of a word, so `reject*` matches Rejected and Rejection.

- `whose`: a first word that says whose field a header names, as in Attendee Email
- `qualifier`: what brackets in the header of a field may hold, as in Email (required)
- `beside` is no kind but a column: the words of a line count only beside one of these headers
- `status`, but not `not_status`: headers whose values may exclude a person
- `out`: excludes a person, as a header, a value, or a remark beside a name; `out_column` only as
  a header or a whole value, `out_title` only as a header of a column, `out_value` only as a
  value; `not_out` says the opposite
- `sent` and so on: likewise; says that a person was sent something, or has taken a test
- `yes`, `no`, `hold`: answers; `not_so`: other words for no, such as false under Rejected
- `negation`: makes a no of another value of the same column, as in `No hire` beside `Hire`
- `duplicate`: a header or value of a row of which another row is kept
- `job`, but not `not_job`: headers that say what somebody applied for
- `harmless`: headers that cannot decide, so `new` does not ask about them
- `total`, with `total_of` beside it, and `footer`: rows that are not people
- `title`: words before a name that are not part of it
- `family_first`: family names that often come first, and that are hardly ever first names;
  `given_last`: first names that come last
"""

import csv
import re
import unicodedata
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import Literal

from config.definition import COLUMNS
from config.sheets.cells import is_address

# Titles, dates and remarks may come first; the header must be among so many rows.
ABOVE_AT_MOST = 50
WordLine = tuple[str, list[str], list[str]]
WORDS = Path(__file__).with_name("headers.csv")


def fields_of(titles: Sequence[str], columns: Mapping[str, str]) -> list[str | None]:
    """Return the field of each column; `columns` of the definition has priority."""
    named = {spelling(title): field for field, title in columns.items()}
    spellings, certain = [*map(spelling, titles)], [*map(_meaning, titles)]
    # Some words name a field only beside certain headers, and only if no other header names it.
    beside = {
        word: kind
        for word, kind, others in _words()
        if kind not in certain and not others.isdisjoint(spellings)
    }
    fields: list[str | None] = []
    for reduced, sure in zip(spellings, certain, strict=True):
        field = beside.get(reduced, sure)
        fields.append(named.get(reduced) or (None if field in columns else field))
    return fields


def is_header(fields: Collection[str | None]) -> bool:
    """Whether a row that names these fields is a header: one is the address, one a name."""
    return "email1" in fields and not {"full_name", "first_name", "last_name"}.isdisjoint(fields)


def header_among(rows: Sequence[Sequence[str]], columns: Mapping[str, str]) -> tuple[int, int]:
    """Find the header, or the row most like one: its index, and how many fields it names."""
    # A row that contains an address is a person, never a header.
    named = [
        set() if any(map(is_address, row)) else {*fields_of(row, columns)} - {None}
        for row in rows[:ABOVE_AT_MOST]
    ] or [set()]
    best = next(filter(is_header, named), max(named, key=len))
    return named.index(best), len(best)


@lru_cache(maxsize=4096)
def spelling(header: str) -> str:
    """Reduce a header to its letters and digits: `E-mail ` and `e_mail` are one."""
    return re.sub("[ *]", "", worded(header))


@lru_cache(maxsize=65536)
def worded(text: str) -> str:
    """Reduce a text to plain words: `applicationStatus` becomes `application status`."""
    apart = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", text).replace("_", " ")
    decomposed = unicodedata.normalize("NFKD", apart).casefold().replace("ł", "l")
    plain = "".join(c for c in decomposed if not unicodedata.combining(c))
    return " ".join(re.findall(r"[\w*]+", plain))


def says(
    kind: Literal["out", "sent"],
    text: str,
    how: Literal["search", "match", "fullmatch"] = "search",
    *,
    title: bool = False,
) -> bool:
    """Whether a value, or the `title` of a column, says `out` or `sent`.

    `how`: anywhere in the text, at its beginning, or as the whole text.
    """
    words = worded(text)
    where = ("never", "column", "title") if title else ("never", "value")
    where = ("never", "column", "value") if how == "fullmatch" else where
    said = getattr(pattern(kind, *(f"{kind}_{each}" for each in where)), how)(words)
    return bool(said) and not (listed(f"not_{kind}") and pattern(f"not_{kind}").search(words))


def excludes(text: str) -> bool:
    """Whether a text says that somebody is excluded, or was sent something already."""
    each = (text, without_figures(text))  # as in `sent 12/11`
    alone = any(says("out", it, "fullmatch") or says("sent", it, "fullmatch") for it in each)
    return alone or says("out", text) or says("sent", text)


def calls_out(sheet: str) -> bool:
    """Whether the title of a sheet says, as a header or a value does, that its people are out."""
    titled = says("out", sheet, title=True) or pattern("sent", "sent_column").search(worded(sheet))
    is_answer = len(sheet) > 1 and answer(sheet) in {"no", "hold"}
    return bool(titled) or excludes(sheet) or is_answer


def is_titled(title: str, kind: Literal["status", "job", "harmless", "remarks"]) -> bool:
    """Whether a header is of this kind. Remarks may be private; harmless columns cannot decide."""
    words, but = worded(title), listed(f"not_{kind}")
    return bool(pattern(kind).search(words) and not (but and pattern(f"not_{kind}").search(words)))


def is_not_so(value: str) -> bool:
    """Whether a value means no, as `false` does under the header Rejected."""
    return (_meant(value) or _meant(without_figures(value))) in {"no", "not_so"}


def answer(value: str) -> str:
    """The answer in a value such as "No, 12/11": `yes`, `no`, `hold` or `not_so`; else ""."""
    bare = without_figures(value)
    first = _ASIDE.split(bare)[0]
    meant = _meant(value) or (_meant(bare) if _FIGURES.search(value) else "")
    # A single letter in front may be an initial, as in N. Ortiz, so it is no answer.
    return meant or (_meant(first) if len(first) > 1 else "")


def without_figures(value: str) -> str:
    """A value without its dates, numbers and addresses: `No hire 2.0/5` becomes `No hire`."""
    return _FIGURES.sub("", value).strip(" -–—.,:;()/")


def _meant(value: str) -> str:
    # A phone writes a tick with an invisible sign behind it.
    seen = "".join(c for c in value if unicodedata.category(c) != "Cf" and c not in "\ufe0e\ufe0f")
    word = unicodedata.normalize("NFKC", seen.strip().casefold())
    return next((kind for kind in ("yes", "no", "hold", "not_so") if word in listed(kind)), "")


def is_nobody(cells: Iterable[str]) -> bool:
    """Whether a row has no word, is a total (`Total | 11`), or says who exported it, or when."""
    texts = [cell.strip() for cell in cells if cell.strip()]
    first = worded(next((text for text in texts if _LETTER.search(text)), ""))
    words = {word for word in first.split() if not word.isdecimal()}
    known = {part for word in listed("total") for part in worded(word).split()}
    counts = all(worded(text) == first or _COUNT.search(text) for text in texts)
    is_total = bool(words & known) and words <= known | listed("total_of") and counts
    is_footer = bool(pattern("footer").match(first)) and (counts or len(texts) < 3)
    return not first or is_total or is_footer


@cache
def listed(kind: str) -> frozenset[str]:
    """All words of a kind, casefolded."""
    return frozenset(w.casefold() for each, words, _ in _lines() if each == kind for w in words)


@cache
def pattern(*kinds: str) -> re.Pattern[str]:
    """A pattern that finds the words of these kinds in a text made by `worded`."""
    phrases = (worded(phrase) for kind in kinds for phrase in sorted(listed(kind)))
    each = "|".join(re.escape(phrase).replace(r"\*", r"\w*") for phrase in phrases)
    return re.compile(rf"(?<!\w)(?:{each})(?!\w)")


@cache
def _lines() -> list[WordLine]:
    """Read headers.csv, once in a process: kind, words, and headers beside which they count."""
    # Spreadsheet programs write a byte-order mark first.
    with WORDS.open(encoding="utf-8-sig", newline="") as file:
        return [
            (line["kind"], _EACH.findall(line["words"]), _EACH.findall(line["beside"]))
            for line in csv.DictReader(file)
        ]


@cache
def _words() -> list[tuple[str, str, frozenset[str]]]:
    """Each spelling that names a field, the field, and spellings beside which it counts."""
    own: list[WordLine] = [(name, [name], []) for name in COLUMNS if not is_titled(name, "remarks")]
    return [
        (spelling(word), kind, frozenset(map(spelling, beside)))
        for kind, words, beside in (*own, *_lines())
        if kind in COLUMNS
        for word in words
    ]


@lru_cache(maxsize=4096)
def _meaning(header: str) -> str | None:
    """The field that a header names, also after a `whose` or before a `qualifier`; else None."""
    certain = {word: kind for word, kind, beside in _words() if not beside}
    whose, _, own = worded(header).partition(" ")
    own = own.removeprefix("s ") if whose in listed("whose") else ""
    if field := certain.get(spelling(header)) or certain.get(spelling(own)):
        return field
    bare, brackets = _BRACKETS.sub("", header), _BRACKETS.findall(header)
    known = {*map(spelling, brackets)} <= {*map(spelling, listed("qualifier"))}
    return certain.get(spelling(bare)) if brackets and known else None


_EACH = re.compile(r"[^|\s](?:[^|]*[^|\s])?")  # one of several words with bars between them
_LETTER = re.compile(r"[^\W\d_]")
_COUNT = re.compile(r"\d|^\W")  # also a dash, or an error such as #N/A
_FIGURES = re.compile(r"[^\s,;:()]*(?:\d|@|://)[^\s,;()]*")
_ASIDE = re.compile(r"[,;:.!]+(?:\s|$)|\s+[-–—(]")
_BRACKETS = re.compile(r"\([^()]*\)|\[[^\[\]]*\]|（[^（）]*）|【[^【】]*】")
