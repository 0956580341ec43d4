"""The people in a table: everybody who is to be invited, or every mistake at its cell."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from config.definition import Candidate, Listed
from config.definition import Table as TableSpec
from config.emails import WANTED, email_key, mailbox
from config.errors import BadInput, Mistake, Place, shown
from config.sheets.cells import address_of, is_error
from config.sheets.files import Source, read_file
from config.sheets.headers import FULL_NAME, spelling
from config.sheets.left_out import called_out
from config.sheets.names import split_name
from config.sheets.table import Table, table_of
from config.sheets.table import missing as missing_column
from config.sheets.where import compared, keep, line

SENT = tuple(Candidate.model_fields)
NAMES = ("first_name", "last_name")


@dataclass(frozen=True, slots=True)
class LeftOut:
    """One row that is not invited because the definition says so; `key` is that of its address."""

    key: str
    name: str
    place: Place
    why: str


@dataclass
class People:
    """What a table says: its people, every mistake, what a person should see, and who is out.

    `columns` are the headers from which each field is sent.
    """

    listed: list[Listed] = field(default_factory=list)
    mistakes: list[Mistake] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    left_out: list[LeftOut] = field(default_factory=list)
    columns: dict[str, str] = field(default_factory=dict)
    digest: str = ""


@dataclass(slots=True)
class Read:
    """One row as it was read: texts by field, and whether all of them could be."""

    row: int
    key: str
    fields: dict[str, str]
    candidate: Candidate | None


def read_people(spec: TableSpec, base: Path, source: Source | None = None) -> People:
    """Read the people of the table that a definition in the folder `base` names.

    `source`: its bytes, if they were read before. Mistakes are returned, never raised.
    """
    split = spec.split_name or FULL_NAME in spec.columns
    try:
        table = table_of(source or read_file(base / spec.file), spec.sheet, spec.columns)
    except BadInput as error:
        return People(mistakes=[*error.mistakes])
    people = People(notes=table.notes, digest=table.digest)
    people.mistakes = [*table.mistakes, *_missing_columns(table, split, spec.columns)]
    sent = {name: name for name in SENT} | (dict.fromkeys(NAMES, FULL_NAME) if split else {})
    people.columns = {
        name: table.headers[table.by_field[held]]
        for name, held in sent.items()
        if held in table.by_field
    }
    if "email1" not in table.by_field or any(
        mistake.field in {*SENT, FULL_NAME} for mistake in people.mistakes
    ):
        return people
    kept = keep(table, spec.where)
    people.notes += kept.notes
    people.mistakes += kept.mistakes
    if kept.mistakes:
        return people
    rows = [int(row) for row in kept.rows.index[kept.rows]]
    out = called_out(table, rows, spec.where, spec.hidden_rows)
    people.notes += out.notes
    people.mistakes += out.mistakes
    reasons = {int(row): why for row, why in kept.why[~kept.rows].items()} | out.skipped
    people.left_out = [*_left_out(table, reasons, spec)]
    each = _read_rows(table, [row for row in rows if row not in out.skipped], spec, people)
    people.listed = _folded(table, each, people)
    if not people.listed and not people.mistakes:
        wanted = "found no candidates, wanted at least one row below the header"
        why = f"{wanted}; {len(reasons):,} rows are left out" if reasons else wanted
        people.mistakes.append(Mistake(table.grid.whole, why, "candidates"))
    return people


def _missing_columns(table: Table, split: bool, columns: Mapping[str, str]) -> Iterator[Mistake]:
    """Say which column of names is missing, and what to write in the definition."""
    place = table.grid.place(table.header)
    missing = [name for name in NAMES if name not in table.by_field and name not in columns]
    if "email1" not in table.by_field:
        return
    if split and not missing:
        why = "there are columns for first and last names already; leave out split_name"
        yield Mistake(place, why, "split_name")
    elif split and FULL_NAME not in table.by_field and FULL_NAME not in columns:
        yield missing_column(place, FULL_NAME, table.headers)
    elif not split and len(missing) == 2 and FULL_NAME in table.by_field:
        title = table.headers[table.by_field[FULL_NAME]]
        why = f"only whole names, under {shown(title)}; to split them, write  split_name: true"
        yield Mistake(place, why, "first_name")
    elif not split:
        for name in missing:
            yield missing_column(place, name, table.headers)


def _left_out(table: Table, reasons: Mapping[int, str], spec: TableSpec) -> Iterator[LeftOut]:
    if not reasons:
        return
    frame = table.frame.loc[list(reasons)]
    names = [name for name in (FULL_NAME, *NAMES) if name in frame]
    whole = frame[names].agg(" ".join, axis=1).map(str.strip) if names else frame["email1"]
    typed = zip(reasons.items(), frame["email1"], whole, strict=True)
    for (row, why), text, name in typed:
        try:
            key = email_key(address_of(text, _link(table, row), first=spec.several == "first"))
        except ValueError:
            key = email_key(text)
        yield LeftOut(key, name, table.place(row), why)


def _link(table: Table, row: int) -> str:
    return table.grid.links.get((row, table.by_field["email1"]), "")


def _read_rows(table: Table, rows: list[int], spec: TableSpec, people: People) -> list[Read]:
    """Check the fields of each row; what is wrong, or worth a word, goes to `people`."""
    frame = table.frame.loc[rows]
    read = []
    spoilt = _spoilt_fields(table)
    for row, values in zip(rows, frame.itertuples(index=False, name=None), strict=True):
        fields = {name: text for name, text in zip(frame.columns, values, strict=True) if text}
        wrong = spoilt.get(row, {}) | {
            name: f"the error {text}"
            for name, text in fields.items()
            if text[0] in "#E" and is_error(text)
        }
        people.mistakes += [
            Mistake(table.place(row, name), f"found {found}, wanted {_wanted(name)}", name)
            for name, found in wrong.items()
        ]
        fields = {name: text for name, text in fields.items() if name not in wrong}
        if "email1" in fields:
            try:
                text, first = fields["email1"], spec.several == "first"
                fields["email1"] = address_of(text, _link(table, row), first=first)
            except ValueError as error:
                place = table.place(row, "email1")
                people.mistakes.append(Mistake(place, "", "email1", text, str(error)))
                wrong["email1"] = ""
        if full := fields.pop(FULL_NAME, None):
            split = split_name(full)
            fields |= {"first_name": split.first, "last_name": split.last}
            if not split.last:
                wrong |= {"last_name": ""}
                wanted = "a first and a last name, as in two columns"
                place = table.place(row, "last_name")
                people.mistakes.append(Mistake(place, "", "last_name", full, wanted))
            elif split.note:
                place = table.place(row, "first_name")
                people.notes.append(f"{place}, full_name: {shown(full)} is {split.note}")
        elif FULL_NAME in wrong:
            wrong |= dict.fromkeys(NAMES, "")
        candidate, refused = _checked(fields, wrong)
        people.mistakes += _complaints(table, row, fields, refused)
        if "email1" in fields and not {"email1"} & {*wrong, *(e["loc"][0] for e in refused)}:
            key = email_key(fields["email1"])
            read.append(Read(row, key, fields, None if wrong or refused else candidate))
    return read


def _spoilt_fields(table: Table) -> dict[int, dict[str, str]]:
    """The cells without a value, by row and field."""
    fields = {column: name for name, column in table.by_field.items()}
    spoilt: dict[int, dict[str, str]] = {}
    for (row, column), why in table.grid.spoilt.items():
        if column in fields:
            spoilt.setdefault(row, {})[fields[column]] = why
    return spoilt


def _checked(
    fields: Mapping[str, str], wrong: Mapping[str, str]
) -> tuple[Candidate | None, list[ErrorDetails]]:
    """Make a candidate of the fields, or say what is against those that are not `wrong` anyway."""
    typed: dict[str, Any] = dict(fields)
    if (stage := typed.get("stage_id", "")) and _is_whole(stage):
        typed["stage_id"] = stage.replace(",", ".").partition(".")[0]
    try:
        return Candidate.model_validate(typed), []
    except ValidationError as error:
        details = error.errors(include_url=False)
        return None, [each for each in details if each["loc"][0] not in wrong]


def _is_whole(text: str) -> bool:
    whole, dot, rest = text.replace(",", ".").partition(".")
    return whole.isdecimal() and bool(dot) and rest in {"", "0", "00"}


def _complaints(
    table: Table, row: int, fields: Mapping[str, str], details: Iterable[ErrorDetails]
) -> Iterator[Mistake]:
    for detail in details:
        name = str(detail["loc"][0])
        context = detail.get("ctx", {})
        place, found = table.place(row, name), fields.get(name)
        message = str(context["message"]) if detail["type"] == "sentence" else ""
        wanted = context["wanted"] if detail["type"] == "wanted" else _wanted(name)
        yield Mistake(place, message, name, found, None if message else str(wanted))


def _wanted(name: str) -> str:
    if name == FULL_NAME:
        return "a first and a last name"
    if name == "email1":
        return WANTED
    text = (Candidate.model_fields[name].description or "").partition(",")[0].rstrip(".")
    return text[:1].lower() + text[1:]


def _folded(table: Table, read: list[Read], people: People) -> list[Listed]:
    """Make one person of the rows of one address; rows that differ are a mistake."""
    import pandas as pd  # noqa: PLC0415

    if not read:
        return []
    names = [name for name in SENT if name != "email1" and name in people.columns]
    frame = pd.DataFrame(
        [[each.key, *(each.fields.get(name, "") for name in names)] for each in read],
        columns=["key", *names],
        dtype=object,
    )
    first = frame.groupby("key", sort=False).cumcount() == 0
    again = frame.index[~first]
    if len(again):
        at = frame["key"].map({frame.at[place, "key"]: place for place in frame.index[first]})
        people.mistakes += [
            mistake
            for place in again
            if (mistake := _differing(table, read[at[place]], read[place], names))
        ]
    listed = [
        Listed(each.candidate, each.key, table.place(each.row))
        for each, is_first in zip(read, first, strict=True)
        if is_first and each.candidate is not None
    ]
    _compare(listed, people)
    return listed


def _differing(table: Table, first: Read, again: Read, names: list[str]) -> Mistake | None:
    """Say how two rows of one address differ in what is sent, and how to choose."""
    typed, other = again.fields["email1"], first.fields["email1"]
    place, row = table.place(again.row), _row(table.place(first.row))
    if typed != other:
        # The login must equal the address (interface 4.7): nobody can say which one it is.
        why = f"found {shown(typed)}, the same person as {shown(other)} at {row}"
        do = "keep the spelling that they log in with"
        if compared(typed) != compared(other):
            do = "if these are two people, put one of them into a campaign of its own"
        return Mistake(place, f"{why}; {do}", "email1", typed)
    differ = [name for name in names if first.fields.get(name, "") != again.fields.get(name, "")]
    if not differ:
        return None
    cells = table.cells.loc[[first.row, again.row]]
    columns = [
        at
        for at, title in enumerate(table.headers)
        if title and cells[at].iloc[0].strip() != cells[at].iloc[1].strip()
    ]
    unsent = [at for at in columns if at not in table.by_field.values()] or columns
    choice = line({table.headers[unsent[0]]: [cells[unsent[0]].iloc[0].strip()]})
    why = (
        f"found {shown(typed)}, the person at {row} with another {', '.join(differ)}; delete one "
        f"of the two rows, or choose by a column, as in  {choice}"
    )
    return Mistake(place, why, "email1", typed)


def _compare(listed: list[Listed], people: People) -> None:
    """Ask about one name with two addresses, and point at two addresses of one mailbox."""
    by_name: dict[tuple[str, str], Listed] = {}
    by_mailbox: dict[str, Listed] = {}
    for each in listed:
        person = each.candidate
        name = (spelling(person.first_name), spelling(person.last_name))
        other = by_name.setdefault(name, each)
        if other is not each and any(name):
            why = (
                f"found {shown(person.email1)}, but {person.first_name} {person.last_name} stands "
                f"at {_row(other.place)} with {shown(other.candidate.email1)}; delete one of the "
                "rows, or choose by a column (where); if they are two people, tell their names "
                "apart, as with an initial"
            )
            people.mistakes.append(Mistake(each.place, why, "email1", person.email1))
        same = by_mailbox.setdefault(mailbox(each.key), each)
        if same is not each and same is not other:
            people.notes.append(
                f"{each.place}, email1: {shown(person.email1)} is probably the same mailbox as "
                f"{shown(same.candidate.email1)} at {_row(same.place)}"
            )


def _row(place: Place) -> str:
    return f"line {place.line}" if place.line else str(place.cell)
