"""Read the people in a table: everybody to invite, or every mistake at its cell."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

from pydantic import ValidationError

from config.definition import ORDERS, Candidate, Listed, PeopleTable, checked_name
from config.emails import email_key
from config.errors import BadInput, Mistake, Place, shown, some
from config.sheets.cells import addresses_in, error_in, plain_address
from config.sheets.files import read_file
from config.sheets.headers import calls_out, fields_of
from config.sheets.left_out import Counts, choose, in_yaml
from config.sheets.names import FULL_NAME, comparable, split_name
from config.sheets.table import Table, no_column, read_table
from config.validation import meaning, mistake

SENT = tuple(Candidate.model_fields)
NAMES = ("first_name", "last_name")


@dataclass(kw_only=True)
class People:
    """The people that a file lists, every mistake, and what a person should see before sending.

    `left_out` has the names of excluded people by reason. `apart` counts everybody else by columns
    in which they differ. `ignored` lists columns and marks that decide nothing here. `remarks`
    quotes remarks that nobody looked at. `columns` has the header of each sent field. `digest`
    identifies the bytes of the table.
    """

    listed: list[Listed] = field(default_factory=list, repr=False)
    mistakes: list[Mistake] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    left_out: dict[str, list[str]] = field(default_factory=dict, repr=False)
    apart: dict[str, Counts] = field(default_factory=dict)
    ignored: list[str] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    columns: dict[str, str] = field(default_factory=dict)
    digest: str = ""


def read_people(spec: PeopleTable, base: Path) -> People:
    """Read the people of a table; `base` is the definition's folder. Mistakes are not raised."""
    split = spec.split_name or FULL_NAME in spec.columns
    try:
        source = read_file(base / (spec.file or ""), spec.encoding or "")
        table = read_table(source, spec.sheet, spec.columns)
    except BadInput as error:
        return People(mistakes=[*error.mistakes])
    held = {*table.by_field, *(NAMES if split and FULL_NAME in table.by_field else ())}
    from_headers = {name: table.headers[table.column_of(name)] for name in SENT if name in held}
    # From here on, mistakes and notes are added to the lists of the table.
    people = People(mistakes=table.mistakes, notes=table.notes, columns=from_headers)
    people.digest = sha256(source.data).hexdigest()
    if "email1" not in table.by_field:
        return people
    if not spec.sheet and calls_out(title := table.grid.sheet or ""):
        why = f"its title says that these people are out; to invite them:  sheet: {in_yaml(title)}"
        table.mistakes.append(Mistake(table.grid.whole, why, "candidates.sheet"))
    table.mistakes += _missing_columns(table, split, spec.columns)
    rows, words = choose(table, spec, people), from_headers.get("first_name", "").split()
    last_first = [*filter(None, fields_of(words, {}))] == [*reversed(NAMES)]  # Nazwisko i imię
    at = len(table.mistakes)
    people.listed = _folded(table, rows, spec.several == "first", last_first)
    if not {*NAMES} <= held:  # then nobody has a name
        table.mistakes[at:] = [m for m in table.mistakes[at:] if m.field not in {*NAMES, FULL_NAME}]
        return people
    compare(people.listed, people)
    fetched = spec.query or spec.url  # of which nobody may be left
    if not (people.listed or people.mistakes or fetched or str(spec.file).endswith(ORDERS)):
        why = "found no candidates, wanted at least one row below the header that is not left out"
        people.mistakes.append(Mistake(table.grid.whole, why, "candidates"))
    return people


def _missing_columns(table: Table, split: bool, columns: Mapping[str, str]) -> Iterator[Mistake]:
    """Say which column of names is missing, and what to write in the definition."""
    place, known = table.grid.place(table.header), {*table.by_field, *columns}
    missing = [name for name in ([FULL_NAME] if split else NAMES) if name not in known]
    if [*NAMES] == missing and FULL_NAME in table.by_field:
        title = table.headers[table.by_field[FULL_NAME]]
        why = f"only whole names, under {shown(title)}; to split them, write  split_name: true"
        yield Mistake(place, why, "first_name")
    elif not {*NAMES} <= known:
        yield from (no_column(place, name, table.headers) for name in missing)


def _read(
    table: Table, row: int, texts: dict[str, str], first: bool, last_first: bool
) -> Candidate | None:
    """Make a candidate of a row, or add its mistakes; wrong fields are removed from `texts`."""
    wrong: dict[str, Mistake] = {}

    def refuse(name: str, message: str = "", **more: str) -> None:
        wrong.setdefault(name, Mistake(table.place(row, name), message, name, **more))

    for name, text in texts.items():
        if error := error_in(text):
            meant = "a name" if name == FULL_NAME else meaning(f"candidates.list.{name}")
            refuse(name, f"found {error}, wanted {meant}")
    if typed := texts.get("email1"):
        texts["email1"] = plain_address(typed, first=first)
        if first and len(addresses_in(typed)) > 1:
            used = f"{texts['email1']} is used, of {shown(typed)}"
            table.notes.append(f"{table.place(row)}, email1: {used}")
    full = texts.pop(FULL_NAME, "")
    try:
        checked_name(full)
    except ValueError as found:
        refuse(FULL_NAME, found=full, wanted=str(found))
    if full and FULL_NAME not in wrong:
        texts["first_name"], texts["last_name"], note = split_name(full, last_first)
        if not texts["last_name"]:
            why = f"one word only. Write it twice ({full} {full}) or add a column"
            why = 'which of it is the last name? Write it as "Last, First"' if " " in full else why
            refuse("last_name", f"found {shown(full)}, {why}")
        elif note:
            table.notes.append(f"{table.place(row, FULL_NAME)}, full_name: {shown(full)} is {note}")
    candidate = None
    try:
        candidate = Candidate.model_validate(texts)
    except ValidationError as refused:
        for each in refused.errors(include_url=False):
            name = str(each["loc"][0])
            if not (name in NAMES and FULL_NAME in wrong):
                each["loc"] = ("candidates", "list", name)
                wrong.setdefault(name, mistake(each, lambda at: table.place(row, at[-1])))
    for name in wrong:
        texts.pop(name, None)
    table.mistakes += wrong.values()
    return candidate


def _folded(table: Table, rows: list[int], first: bool, last_first: bool) -> list[Listed]:
    """Read rows with the same address as one person; rows that differ are a mistake."""
    listed: list[Listed] = []
    alike: list[str] = []
    earliest: dict[str, tuple[Place, tuple[str, ...]]] = {}
    for row, *cells in table.frame.loc[rows].itertuples(name=None):
        texts = {name: text for name, text in zip(table.by_field, cells, strict=True) if text}
        candidate = _read(table, row, texts, first, last_first)
        if "email1" not in texts:
            continue
        here, key = table.place(row), email_key(texts["email1"])
        sent = tuple(texts.get(name, "") for name in SENT)
        there, before = earliest.setdefault(key, (here, sent))
        if there is here:
            listed += [Listed(candidate, key, here)] if candidate else []
        elif differ := [name for name, a, b in zip(SENT, sent, before, strict=True) if a != b]:
            do = ", or choose by a column (where)"
            if "email1" in differ:  # the login wants the one that is sent (interface 4.7)
                do = f", or write {shown(before[SENT.index('email1')])} as they log in"
            why = (
                f"found {shown(texts['email1'])}, the person at {_row(there)} with another "
                f"{', '.join(differ)}; delete one of the two rows{do}"
            )
            table.mistakes.append(Mistake(here, why, "email1", texts["email1"]))
        else:
            alike.append(f"{_row(here)} is the same person as {_row(there)}")
    table.notes += [f"{table.grid.whole}: {some(alike)}; each is read once"] if alike else []
    return listed


def compare(listed: list[Listed], people: People) -> None:
    """Report each address or name that is listed twice."""
    seen: dict[str, Listed] = {}
    for each in listed:
        person = each.candidate
        name = comparable(f"{person.first_name} {person.last_name}")
        before, namesake = (seen.setdefault(key, each) for key in (each.key, f"name {name}"))
        if before is not each:
            why = f"{person.email1} is listed twice, first at {before.place}"
        elif namesake is not each:
            why = (
                f"found {shown(person.email1)}, but {person.first_name} {person.last_name} stands "
                f"at {_row(namesake.place)} with {shown(namesake.candidate.email1)}; delete one of "
                "the rows, or choose by a column (where); if they are two people, tell their names "
                "apart, as with an initial"
            )
        else:
            continue
        people.mistakes.append(Mistake(each.place, why, "email1", person.email1))


def _row(place: Place) -> str:
    return f"line {place.line}" if place.line else str(place.cell)
