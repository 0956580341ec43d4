"""Which column of a table holds which field: by the meaning of its header."""

import csv
import dataclasses
import re
import unicodedata
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from config.tables.where import Where, where_of
from config.workbooks.shapes import column_letters

NEEDED = ("first_name", "last_name", "email1")
FULL_NAME = "full_name"
# Such columns may be private, so they are sent as notes only if a person says so.
REMARKS = "remarks"
# Such columns say which people should not get an email.
DO_NOT_CONTACT = "do_not_contact"
OR_RENAME = "or rename the columns of people who are not to be invited, as in Referrer email"
# Each line has a field, headers that mean it, and their language or system. Headers with `beside`
# mean it only in a table that also has one of the headers listed there. A person may add lines.
WORDS = Path(__file__).with_name("headers.csv")

_IN_BRACKETS = re.compile(r"\([^()]*\)|\[[^\[\]]*\]|（[^（）]*）|【[^【】]*】")


@dataclass(frozen=True, slots=True)
class Words:
    """What headers mean, by their spelling: for certain, or only `beside` others (that field, and
    the spellings of which one must be in the same table).
    """

    certain: Mapping[str, str]
    beside: Mapping[str, Sequence[tuple[str, frozenset[str]]]]


@cache
def words() -> Words:
    """Read the file of headers, once in a process."""
    certain: dict[str, str] = {}
    beside: dict[str, list[tuple[str, frozenset[str]]]] = {}
    # Spreadsheet programs write a byte-order mark first, and may leave out the last columns.
    with WORDS.open(encoding="utf-8-sig", newline="") as file:
        for line in csv.DictReader(file, restval=""):
            others = frozenset(filter(None, map(spelling, line["beside"].split("|"))))
            for header in filter(None, map(spelling, line["headers"].split("|"))):
                if others:
                    beside.setdefault(header, []).append((line["field"], others))
                else:
                    certain[header] = line["field"]
    return Words(certain, beside)


@lru_cache(maxsize=1024)
def spelling(header: str) -> str:
    """Reduce a header to its letters and digits: `E-mail ` and `e_mail` are one."""
    decomposed = unicodedata.normalize("NFKD", header).casefold()
    return "".join(c for c in decomposed if c.isalnum())


def meaning(header: str) -> str | None:
    """Return the field that a header names; text in brackets only explains it.

    This does not apply to notes: `Notes (internal)` is not a column to send.
    """
    certain = words().certain
    if (field := certain.get(spelling(header))) is not None:
        return None if field in {REMARKS, DO_NOT_CONTACT} else field
    explained = certain.get(spelling(_IN_BRACKETS.sub("", header)))
    return None if explained in {"notes", REMARKS, DO_NOT_CONTACT} else explained


def may_be_notes(header: str) -> bool:
    """Whether a header names remarks of any kind."""
    return words().certain.get(spelling(_IN_BRACKETS.sub("", header))) in {"notes", REMARKS}


def says_do_not_contact(header: str) -> bool:
    """Whether a column with this header says who should not get an email."""
    return words().certain.get(spelling(_IN_BRACKETS.sub("", header))) == DO_NOT_CONTACT


@dataclass(frozen=True, slots=True)
class Wishes:
    """What a definition says about its table: the columns that are `named` (field to header; None
    if the table has no column for it), whether to split a full name into first and last name, and
    whether to take the first of several addresses.

    Two wishes are equal if they read the columns alike, whichever `sheet` and rows they choose.
    """

    named: Mapping[str, str | None] = dataclasses.field(default_factory=dict)
    split_name: bool = False
    first_address: bool = False
    sheet: str | None = dataclasses.field(default=None, compare=False)
    where: Where = dataclasses.field(default_factory=dict, compare=False)

    @property
    def needed(self) -> tuple[str, ...]:
        """The fields without which nobody can be added."""
        return (FULL_NAME, "email1") if self.split_name else NEEDED


def wishes_of(options: Any) -> Wishes:
    """Read the wishes from a definition's `candidates`; mistakes there are reported elsewhere."""
    if not isinstance(options, Mapping):
        return Wishes()
    columns = options.get("columns")
    columns = columns if isinstance(columns, Mapping) else {}
    named = {field: header for field, header in columns.items() if isinstance(header, str | None)}
    # If you name the column of full names, you want them split.
    split_name = options.get("split_name") is True or bool(named.get(FULL_NAME))
    sheet = options.get("sheet")
    sheet = sheet if isinstance(sheet, str) and sheet.strip() else None
    return Wishes(named, split_name, options.get("several") == "first", sheet, where_of(options))


@dataclass(frozen=True, slots=True)
class Columns:
    """The column (from 0) of each field, the headers that are not used, and what is wrong."""

    by_field: Mapping[str, int]
    unused: tuple[str, ...]
    complaints: tuple[str, ...]


def find_columns(
    header: Sequence[str],
    chosen: Mapping[str, str | None],
    needed: Sequence[str] = NEEDED,
    unfit: Container[int] = (),
) -> Columns:
    """Find the fields in a header row; `chosen` (field to header) wins over the known names, and
    None says that there is no column for the field. Columns that are `unfit` hold no field.

    A needed field that is missing, or found twice, is a mistake whose message lists what there is.
    A full name counts only if it is needed or chosen.
    """
    meant = fields_meant(header, chosen, needed)
    columns_of: dict[str, list[int]] = {}
    unused = []
    for column, field in enumerate(meant):
        if field is not None and column not in unfit:
            columns_of.setdefault(field, []).append(column)
        elif spelling(header[column]):
            unused.append(header[column].strip())
    listed = ", ".join(name.strip() for name in header if name.strip()) or "nothing"
    about_names = _about_names(header, columns_of, chosen)
    # Said once, with what to do.
    covered = {"first_name", "last_name"} if about_names and FULL_NAME not in columns_of else set()
    complaints = [
        f"no column for {field}{_asked_for(field, chosen)}; found {listed}"
        f"{_one_of(unused, field, chosen)}"
        for field in dict.fromkeys((*needed, *filter(chosen.get, chosen)))
        if field not in columns_of and field not in covered
    ]
    beside = _side_by_side(header, columns_of, needed)
    complaints += beside or [
        f"{len(columns)} columns for {field}: {_which(header, field, columns)}"
        for field, columns in columns_of.items()
        if len(columns) > 1
    ]
    complaints += about_names
    by_field = {field: columns[0] for field, columns in columns_of.items()}
    return Columns(by_field, tuple(unused), tuple(complaints))


def fields_meant(
    header: Sequence[str], chosen: Mapping[str, str | None], needed: Sequence[str]
) -> list[str | None]:
    """Return the field of each column."""
    named = {spelling(name): field for field, name in chosen.items() if name}
    beside = _by_their_neighbours(header)
    fields: list[str | None] = []
    for name in header:
        reduced = spelling(name)
        field = named.get(reduced)
        if field is None:
            field = beside.get(reduced) or meaning(name)
            if field in chosen or (field == FULL_NAME and FULL_NAME not in needed):
                field = None
        fields.append(field)
    return fields


def _by_their_neighbours(header: Sequence[str]) -> dict[str, str]:
    """Return what headers mean here that are certain only beside others, by their spelling.

    A field that another header names for certain needs no such header.
    """
    spellings = set(map(spelling, header))
    certain = set(map(meaning, header))
    meant = {}
    for word in spellings & words().beside.keys():
        fields = {field for field, others in words().beside[word] if others & spellings}
        if len(fields) == 1 and not fields & certain:
            (meant[word],) = fields
    return meant


def _asked_for(field: str, chosen: Mapping[str, str | None]) -> str:
    if field not in chosen:
        return ""
    return f' under the header "{chosen[field]}"' if chosen[field] else ", because columns says so"


def _which(header: Sequence[str], field: str, columns: Sequence[int]) -> str:
    """List the columns of one field, and say how to choose: by a header that only one of them has.

    A header names every column whose header is spelled like it.
    """
    spellings = [spelling(header[column]) for column in columns]
    names = [header[column].strip() for column in columns]
    for name, reduced in zip(names, spellings, strict=True):
        if spellings.count(reduced) == 1:
            return f'{", ".join(names)}; say which, as in columns: {{{field}: "{name}"}}'
    return f"{_placed(header, columns)}; rename all but the one to use"


def _placed(header: Sequence[str], columns: Sequence[int]) -> str:
    """List columns with their places: in a spreadsheet they have letters, a text has none."""
    return ", ".join(
        f"{header[at].strip()} (column {at + 1}, {column_letters(at)})" for at in columns
    )


def _side_by_side(
    header: Sequence[str], columns_of: Mapping[str, list[int]], needed: Sequence[str]
) -> list[str]:
    """Say what to do if the same headers name all columns of a person more than once."""
    columns = [columns_of.get(field, [0]) for field in needed if field != "campaign"]
    times = min(map(len, columns), default=0)
    differ = any(len({spelling(header[at]) for at in each}) > 1 for each in columns)
    # Where people are only looked up, their address is needed alone.
    if times < 2 or differ or len(needed) == 1:
        return []
    return [
        f"a row has columns for {times} people: {_placed(header, columns[0])}; put all people "
        f"below one header, {OR_RENAME}"
    ]


def _one_of(unused: Sequence[str], field: str, chosen: Mapping[str, str | None]) -> str:
    """Say how to name a column, if an unused one might be the missing one."""
    likely = [name for name in unused if meaning(name) != FULL_NAME]
    if not likely or field in chosen or field == "campaign":
        return ""
    return f'; if it is one of these: columns: {{{field}: "…"}}'


def _about_names(
    header: Sequence[str], columns_of: Mapping[str, list[int]], chosen: Mapping[str, str | None]
) -> list[str]:
    """Say what to do if one column holds full names, or if names are there twice."""
    if FULL_NAME in columns_of:
        return [
            f"split_name is given, but there is already a column for {field}; leave out split_name"
            for field in ("first_name", "last_name")
            if field in columns_of
        ]
    full = [name.strip() for name in header if meaning(name) == FULL_NAME]
    if (
        full
        and FULL_NAME not in chosen
        and "first_name" not in columns_of
        and "last_name" not in columns_of
    ):
        return [
            f'only full names, in "{full[0]}"; to split them into first and last names, put  '
            "split_name: true  under candidates"
        ]
    return []


def matches(header: Sequence[str], wishes: Wishes) -> int:
    """Count the fields that a header row names: how well a row, or a guessed delimiter, fits."""
    needed = (FULL_NAME,) if wishes.split_name else ()
    return len(find_columns(header, wishes.named, needed).by_field)
