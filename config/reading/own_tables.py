"""A person's own tables as they are, good or bad: every cell, and where the people are.

Reading for a campaign checks and leaves out rows; this reads a table to write it back.
"""

import csv
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from config.command_line import TYPED, command
from config.errors import BadInput
from config.mistakes import Mistake, Place, shown
from config.reading.campaign_sheets import SHEETS, campaign_alone, campaigns_in, says_how_to_read
from config.reading.sources import TABLES, YAML, Sources, is_text_table, sources_of, suffix_of
from config.reading.yaml_file import read_yaml
from config.tables.cells import as_text, is_blank, unguarded
from config.tables.csv_file import ENCODINGS, Layout, layout_of, lines_of
from config.tables.file_bytes import decoded, file_bytes
from config.tables.grid import Grid, TableRow
from config.tables.header_row import find_table
from config.tables.headers import Wishes, wishes_of
from config.tables.table import PeopleTable
from config.tables.where import conditions, select
from config.tables.workbook import read_book, read_sheets

ONE_TABLE = "candidates"


@dataclass(frozen=True, slots=True)
class OwnTable:
    """One sheet, or a whole text file: rows with the number by which a Place names them, from 1.

    In a sheet this is the row, in a text the line on which the row begins. `delimiter` is None in a
    workbook.
    """

    name: str
    rows: tuple[TableRow, ...]
    delimiter: str | None = None

    def grid(self, path: Path) -> Grid:
        """Where its rows and cells are in that file."""
        return Grid(str(path), None if self.delimiter else self.name, self.delimiter)


@dataclass(frozen=True, slots=True)
class PeopleAt:
    """Where the people are: in the `body` of a table, below its header.

    `doubts` say why people cannot be told apart, such as two columns of email addresses, or why
    `where` cannot choose rows. `left_out` are the rows that `where` leaves out.
    """

    file: str
    table: OwnTable
    body: PeopleTable
    doubts: tuple[str, ...] = ()
    left_out: frozenset[int] = frozenset()

    @property
    def header(self) -> int:
        """The number of the header row."""
        return self.body.header

    @property
    def columns(self) -> Mapping[str, int]:
        """The column (from 0) of each field."""
        return self.body.columns.by_field

    def people(self) -> Iterator[tuple[int, Mapping[str, str]]]:
        """Each row below the header that `where` keeps and that has something in a known column, as
        texts.
        """
        for number, cells in self.body.filled():
            if number in self.left_out:
                continue
            fields = {
                name: str(as_text(cells[column])).strip()
                for name, column in self.columns.items()
                if column < len(cells) and not is_blank(cells[column])
            }
            if "email1" in fields:
                address = self.body.address(cells[self.columns["email1"]])
                fields["email1"] = str(address).strip()
            yield number, fields

    @property
    def width(self) -> int:
        """How many columns are used anywhere in the table."""
        return max(map(_used_width, (cells for _, cells in self.table.rows)), default=0)


@dataclass(frozen=True, slots=True)
class Named:
    """A file of candidates, and what its definition says about reading it, such as its sheet."""

    path: Path
    sheet: str | None = None
    wishes: Wishes = field(default_factory=Wishes)


def named_table(
    file: Path, campaign: Path | None, key: str | None = None, sheet: str | None = None
) -> Named | None:
    """Find the table that a file and its definition mean; None if the people are listed in YAML.

    `key` says which campaign of a workbook is meant, if it has several; `sheet` says which sheet,
    whatever the definition says. Raises BadInput if a definition cannot be read.
    """
    named = _named_table(file, campaign, key)
    return replace(named, sheet=sheet) if named and sheet else named


def _named_table(file: Path, campaign: Path | None, key: str | None) -> Named | None:
    if campaign is None and suffix_of(file) in TABLES:
        return Named(file) if is_text_table(file, file_bytes(file)) else _own_table(file, key)
    sources = sources_of(file, campaign)
    if sources.error is not None:
        raise sources.error
    if sources.people is None:
        return None
    wishes = wishes_of(_fields(sources).get("candidates"))
    return Named(sources.people.path, wishes.sheet, wishes)


def _fields(sources: Sources) -> Mapping[str, Any]:
    """The fields of a definition whose people are in another file. Raises BadInput."""
    file = str(sources.definition)
    if suffix_of(sources.definition) not in YAML:
        return campaign_alone(read_book(sources.data, file, SHEETS), file).fields
    return read_yaml(sources.data, file).fields


def _own_table(file: Path, key: str | None) -> Named:
    """What a workbook's own sheet of campaigns says about its people."""
    try:
        campaigns = campaigns_in(read_book(file_bytes(file), str(file), SHEETS), str(file))
    except BadInput:
        return Named(file)  # a table of people only
    options = {
        str(written.fields.get("campaign")): written.fields.get("candidates", {})
        for written in campaigns
    }
    wishes = wishes_of(next(filter(says_how_to_read, options.values()), {}))
    where = wishes_of(options.get(str(key))).where
    return Named(file, wishes=replace(wishes, where=where))


def own_tables(named: Named, *, strict: bool = False) -> tuple[bytes, tuple[OwnTable, ...]]:
    """Read a workbook or a text: its bytes, and its tables. Raises BadInput; `strict`: also for a
    stray quote in a text.
    """
    path = named.path
    if suffix_of(path) not in TABLES:
        wanted = f"a table of candidates ({', '.join(TABLES)})"
        mistake = Mistake(Place(str(path)), found=shown(path.name), wanted=wanted)
        then = f"To see which files it takes: {command(TYPED, '--help')}"
        raise BadInput([mistake], then=then)
    data = file_bytes(path)
    if is_text_table(path, data):
        text = decoded(data, str(path), ENCODINGS)
        layout = layout_of(text, named.wishes)
        rows = tuple(_text_rows(text, layout, str(path), strict=strict))
        return data, (OwnTable(ONE_TABLE, rows, layout.delimiter),)
    sheets = read_sheets(data, str(path)).values()
    return data, tuple(OwnTable(sheet.name, tuple(sheet.rows())) for sheet in sheets)


def people_at(named: Named, tables: tuple[OwnTable, ...]) -> PeopleAt:
    """Find the people if they can be told apart. Raises BadInput with all doubts about that."""
    at = people_in(named, tables)
    if at.doubts:
        whole = at.table.grid(named.path).whole
        raise BadInput(Mistake(whole, message=doubt) for doubt in at.doubts)
    return at


def people_in(named: Named, tables: tuple[OwnTable, ...]) -> PeopleAt:
    """Find the people: in the named sheet, or else in `candidates`, or else in the only sheet.

    A text has no sheets to choose from. Raises BadInput if no table has a column of email
    addresses, or if several have one.
    """
    sheet = None if tables and tables[0].delimiter else named.sheet
    wanted = (sheet or ONE_TABLE).strip().casefold()
    by_sheet = {table.name: at for table in tables if (at := header_in(named, table))}
    meant = [at for name, at in by_sheet.items() if name.strip().casefold() == wanted]
    if not meant and sheet is None:
        meant = list(by_sheet.values())
    if len(meant) == 1:
        return meant[0]
    more = ("--sheet", next(iter(by_sheet))) if by_sheet and not (meant and sheet) else ()
    names, field = ", ".join(table.name for table in tables) or "none", "email1"
    if meant:
        several = ", ".join(by_sheet)
        message = (
            f"the sheets {several} all have emails; name one with --sheet, or call it candidates"
        )
    elif tables and tables[0].delimiter:
        message = "no column for email1"
    elif sheet and wanted not in (table.name.strip().casefold() for table in tables):
        field, message = "sheet", f"there is no sheet {shown(sheet)}; found the sheets {names}"
    else:
        where = f"the sheet {shown(sheet)}" if sheet else f"the sheets {names}"
        message = f"no column for email1 in {where}"
    raise BadInput([Mistake(Place(str(named.path)), field, message=message)], more=more)


def header_in(named: Named, table: OwnTable) -> PeopleAt | None:
    """Find the header of a table in the same way as a reader; None if it names no email address."""
    wishes = named.wishes
    body = find_table(lambda: iter(table.rows), table.grid(named.path), wishes, ("email1",))
    if body is None or "email1" not in body.columns.by_field:
        return None
    complaints = body.columns.complaints
    doubts = [complaint for complaint in complaints if "columns for email1" in complaint]
    meant, mistakes = conditions(wishes.where, body.titles)
    doubts += [f"candidates.where.{each.name}: {each.message}" for each in mistakes]
    left_out = select(meant, body.filled()).left_out if wishes.where else frozenset()
    return PeopleAt(str(named.path), table, body, tuple(doubts), left_out)


def _text_rows(text: str, layout: Layout, file: str, *, strict: bool) -> Iterator[TableRow]:
    """Go through a text row by row; rows that are too wide are returned as well."""
    reader = csv.reader(lines_of(text, layout), delimiter=layout.delimiter, strict=strict)
    begins = layout.first
    try:
        for row in reader:
            yield begins, unguarded(row)
            begins = layout.first + reader.line_num
    except csv.Error as error:
        raise BadInput.at(
            Place(file, begins),
            "the rows cannot be separated from here on, often because of a stray quote; remove it "
            f"({error})",
        ) from None


def _used_width(cells: Sequence[Any]) -> int:
    return next((n for n in range(len(cells), 0, -1) if not is_blank(cells[n - 1])), 0)
