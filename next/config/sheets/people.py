"""The people in a table: everybody who is to be invited, or every mistake at its cell."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import ValidationError

from config.definition import Candidate, Listed
from config.definition import Table as TableSpec
from config.emails import WANTED, email_key, mailbox
from config.errors import BadInput, Mistake, Place, shown
from config.sheets.cells import address_of, error_in
from config.sheets.files import Source, read_file
from config.sheets.left_out import called_out
from config.sheets.names import FULL_NAME, split_name
from config.sheets.table import Table, no_column, table_of
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
    """One row as it was read: its texts by field, what is wrong with it, and what is to be seen."""

    row: int
    fields: dict[str, str]
    mistakes: list[Mistake] = field(default_factory=list)
    note: str = ""
    candidate: Candidate | None = None


def read_people(spec: TableSpec, base: Path, source: Source | None = None) -> People:
    """Read the people of the table that a definition in the folder `base` names.

    `source`: its bytes, if they were read before. Mistakes are returned, never raised.
    """
    columns = {str(name): header for name, header in spec.columns.items()}
    split = spec.split_name or FULL_NAME in columns
    try:
        table = table_of(source or read_file(base / spec.file), spec.sheet, columns)
    except BadInput as error:
        return People(mistakes=[*error.mistakes])
    whole = table.by_field.get(FULL_NAME)
    held = table.by_field | (dict.fromkeys(NAMES, whole) if split and whole is not None else {})
    from_headers = {name: table.headers[held[name]] for name in SENT if name in held}
    people = People(notes=table.notes, digest=table.digest, columns=from_headers)
    unusable = [*_missing_columns(table, split, columns)]
    people.mistakes = [*table.mistakes, *unusable]
    if unusable or "email1" not in table.by_field:
        return people
    kept = keep(table, spec.where)
    people.notes += kept.notes
    people.mistakes += kept.mistakes
    if not kept.mistakes:
        rows = [*map(int, kept.rows.index[kept.rows])]
        _choose(table, rows, kept.why, spec, people)
    return people


def _missing_columns(table: Table, split: bool, columns: Mapping[str, str]) -> Iterator[Mistake]:
    """Say which column of names is missing, and what to write in the definition."""
    if "email1" not in table.by_field:
        return
    place = table.grid.place(table.header)
    missing = [name for name in NAMES if name not in table.by_field and name not in columns]
    if split and not missing:
        why = "there are columns for first and last names already; leave out split_name"
        yield Mistake(place, why, "split_name")
    elif split and FULL_NAME not in {*table.by_field, *columns}:
        yield no_column(place, FULL_NAME, table.headers)
    elif not split and len(missing) == 2 and FULL_NAME in table.by_field:
        title = table.headers[table.by_field[FULL_NAME]]
        why = f"only whole names, under {shown(title)}; to split them, write  split_name: true"
        yield Mistake(place, why, "first_name")
    elif not split:
        yield from (no_column(place, name, table.headers) for name in missing)


def _choose(
    table: Table, rows: list[int], why: dict[int, str], spec: TableSpec, people: People
) -> None:
    """Read the rows that `where` keeps, without those that `hidden_rows` leaves out."""
    skipped, questions, notes = called_out(table, rows, spec.where, spec.hidden_rows)
    people.notes += notes
    people.mistakes += questions
    out_of = why | skipped
    first = spec.several == "first"
    everybody = [row for row in rows if row not in skipped]
    read = [*_rows(table, everybody, first)]
    people.mistakes += [mistake for each in read for mistake in each.mistakes]
    people.notes += [each.note for each in read if each.note]
    people.listed = _folded(table, read, people)
    for each in _rows(table, [*out_of], first, check=False):
        name = " ".join(each.fields.get(part, "") for part in (FULL_NAME, *NAMES)).strip()
        key = email_key(each.fields.get("email1", ""))
        people.left_out.append(LeftOut(key, name, table.place(each.row), out_of[each.row]))
    if not people.listed and not people.mistakes:
        message = "found no candidates, wanted at least one row below the header"
        message += f"; {len(out_of):,} rows are left out" if out_of else ""
        people.mistakes.append(Mistake(table.grid.whole, message, "candidates"))


def _rows(table: Table, rows: list[int], first: bool, *, check: bool = True) -> Iterator[Read]:
    """Read these rows, each with its address as it is sent; `check` says what is wrong with it."""
    frame = table.frame.loc[rows]
    email = table.by_field["email1"]
    names = [*map(str, frame.columns)]
    for row, texts in zip(rows, frame.itertuples(index=False, name=None), strict=True):
        read = Read(row, {name: text for name, text in zip(names, texts, strict=True) if text})
        for name, found in [(n, said) for n, t in read.fields.items() if (said := error_in(t))]:
            del read.fields[name]
            sentence = f"found {found}, wanted {_wanted(name)}"
            read.mistakes.append(Mistake(table.place(row, name), sentence, name))
        if "email1" in read.fields:
            typed, link = read.fields["email1"], table.grid.links.get((row, email), "")
            try:
                read.fields["email1"] = address_of(typed, link, first=first)
            except ValueError as error:
                place = table.place(row, "email1")
                read.mistakes.append(Mistake(place, "", "email1", typed, str(error)))
        if check:
            _check(table, read)
        yield read


def _check(table: Table, read: Read) -> None:
    """Make a candidate of a row, or say what is against that beside what is wrong already."""
    wrong = {mistake.field for mistake in read.mistakes}
    if full := read.fields.pop(FULL_NAME, None):
        split = split_name(full)
        read.fields |= {"first_name": split.first, "last_name": split.last}
        place = table.place(read.row, "first_name")
        if not split.last:
            wrong |= {"last_name"}
            wanted = "a first and a last name, as in two columns"
            read.mistakes.append(Mistake(place, "", "last_name", full, wanted))
        elif split.note:
            read.note = f"{place}, full_name: {shown(full)} is {split.note}"
    wrong |= {*NAMES} if FULL_NAME in wrong else set()
    whole = re.sub(r"^\s*(\d+)[.,]0{0,2}\s*$", r"\1", read.fields.get("stage_id", ""))
    typed = {**read.fields, **({"stage_id": whole} if whole else {})}
    try:
        read.candidate = Candidate.model_validate(typed)
    except ValidationError as error:
        for detail in error.errors(include_url=False):
            name, context = str(detail["loc"][0]), detail.get("ctx", {})
            if name not in wrong:
                meant = context.get("error") or context.get("wanted") or _wanted(name)
                place, found = table.place(read.row, name), read.fields.get(name)
                message = str(context.get("message", ""))
                read.mistakes.append(Mistake(place, message, name, found, str(meant)))


def _wanted(name: str) -> str:
    if name in {"email1", FULL_NAME}:
        return WANTED if name == "email1" else "a first and a last name"
    text = (Candidate.model_fields[name].description or "").partition(",")[0].rstrip(".")
    return text[:1].lower() + text[1:]


def _folded(table: Table, read: list[Read], people: People) -> list[Listed]:
    """Make one person of the rows of one address; rows that differ are a mistake."""
    import pandas as pd  # noqa: PLC0415

    known = [each for each in read if "email1" not in {m.field for m in each.mistakes}]
    keys = [email_key(each.fields["email1"]) for each in known]
    groups = pd.Series(keys, dtype=object).groupby(keys, sort=False).indices
    listed = []
    for key, places in groups.items():
        first, *others = (known[int(at)] for at in places)
        people.mistakes += [m for again in others for m in _differing(table, first, again)]
        if first.candidate is not None and not first.mistakes:
            listed.append(Listed(first.candidate, str(key), table.place(first.row)))
    compare(listed, people)
    return listed


def _differing(table: Table, first: Read, again: Read) -> Iterator[Mistake]:
    """Say how two rows of one address differ in what is sent, and how to choose."""
    typed, other = again.fields["email1"], first.fields["email1"]
    place, row = table.place(again.row), _row(table.place(first.row))
    if typed != other:
        # The login must equal the address (interface 4.7): nobody can say which one it is.
        do = "keep the spelling that they log in with"
        if typed.lower() != other.lower():
            do = "if these are two people, put one of them into a campaign of its own"
        why = f"found {shown(typed)}, the same person as {shown(other)} at {row}; {do}"
        yield Mistake(place, why, "email1", typed)
        return
    differ = [name for name in SENT if first.fields.get(name) != again.fields.get(name)]
    if differ:
        one, two = (table.cells.loc[each.row] for each in (first, again))
        others = [at for at, title in enumerate(table.headers) if title and one[at] != two[at]]
        unsent = [at for at in others if at not in table.by_field.values()] or others
        choice = line({table.headers[unsent[0]]: [str(one[unsent[0]])]})
        why = (
            f"found {shown(typed)}, the person at {row} with another {', '.join(differ)}; delete "
            f"one of the two rows, or choose by a column, as in  {choice}"
        )
        yield Mistake(place, why, "email1", typed)


def compare(listed: list[Listed], people: People) -> None:
    """Ask about one name with two addresses, and point at two addresses of one mailbox."""
    by_name: dict[str, Listed] = {}
    by_mailbox: dict[str, Listed] = {}
    for each in listed:
        person = each.candidate
        name = compared(f"{person.first_name} {person.last_name}")
        namesake = by_name.setdefault(name, each)
        same = by_mailbox.setdefault(mailbox(each.key), each)
        found = shown(person.email1)
        if namesake is not each:
            why = (
                f"found {found}, but {person.first_name} {person.last_name} stands at "
                f"{_row(namesake.place)} with {shown(namesake.candidate.email1)}; delete one of "
                "the rows, or choose by a column (where); if they are two people, tell their names "
                "apart, as with an initial"
            )
            people.mistakes.append(Mistake(each.place, why, "email1", person.email1))
        elif same is not each:
            people.notes.append(
                f"{each.place}, email1: {found} is probably the same mailbox as "
                f"{shown(same.candidate.email1)} at {_row(same.place)}"
            )


def _row(place: Place) -> str:
    return f"line {place.line}" if place.line else str(place.cell)
