"""People in rows and columns, whatever file the table came from."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import chain
from typing import Any

from config.email_key import email_key
from config.mistakes import Doubt, Mistake, Place, Unusable, shown
from config.progress import tell
from config.tables.address_cells import address_of
from config.tables.cells import as_text, as_whole_number, is_blank
from config.tables.full_name import split_name
from config.tables.grid import Grid, Rows, TableRow
from config.tables.headers import (
    FULL_NAME,
    Columns,
    Wishes,
    may_be_notes,
    says_do_not_contact,
)
from config.tables.unread import ABOVE, PERSON, SWALLOWED, Unread, is_address, numbered
from config.tables.where import (
    NOT_SO,
    Selection,
    Where,
    compared,
    conditions,
    keeping,
    select,
    text_at,
)
from config.tables.written import People, Row

# Twice as many as anybody invites; a longer file is not a list of candidates.
MOST_ROWS = 250_000
TOLD_EVERY = 1_000


@dataclass(frozen=True, slots=True)
class PeopleTable:
    """The rows of a table below its header, and which column holds which field.

    `remarks` say which columns are not used because of what their cells hold, and which rows are
    not people; `above` are the rows above the header.
    """

    columns: Columns
    rows: Rows
    grid: Grid
    header: int
    titles: Sequence[str]
    wishes: Wishes
    remarks: tuple[str, ...] = ()
    above: Sequence[TableRow] = ()

    def place(self, number: int, field: str | None) -> Place:
        """Find one field of a person, or the person: where the email address is, which is what
        tells people apart.
        """
        column = self.columns.by_field.get(field or "email1")
        if column is None and field in {"first_name", "last_name"}:
            column = self.columns.by_field.get(FULL_NAME)
        return self.grid.cell(number, column or 0)

    def people(self, campaign: str) -> People:
        """Return everybody whom `where` keeps; a person of another campaign is a mistake."""
        where = self.wishes.where
        selection = self._selection(where, self.filled())
        left_out = selection.left_out if selection else frozenset[int]()
        out = self._not_to_contact(self.filled(), left_out, where)
        return self._with_rows(chain(self._people_of(campaign, selection), out), selection)

    def people_by_campaign(
        self, wheres: Mapping[str, Where]
    ) -> tuple[dict[str, People], list[Mistake]]:
        """Return the people by their `campaign` column, and mistakes that belong to no campaign.

        `wheres` says for each campaign which rows it keeps.
        """
        rows: dict[str, list[Row | Mistake]] = {}
        problems: list[Mistake] = []
        selections = self._selections(wheres)
        every = (each.left_out for each in selections.values() if each)
        left_out = frozenset[int]().union(*every)
        for key, kept in self._by_campaign(wheres).items() if self._out() else ():
            problems.extend(self._not_to_contact(kept, left_out, wheres[key], key))
        for row in self._people(left_out):
            if isinstance(row, Mistake):
                problems.append(row)
            elif "campaign" not in row.fields:
                place = self.place(row.number, "campaign")
                problems.append(Mistake(place, "campaign", "nothing", "the key of a campaign"))
            else:
                fields = dict(row.fields)
                key = str(fields.pop("campaign")).strip()
                rows.setdefault(key, []).append(replace(row, fields=fields))
        keys = rows.keys() | selections.keys()
        people = {key: self._with_rows(rows.get(key, ()), selections.get(key)) for key in keys}
        return people, problems

    def _with_rows(self, rows: Iterable[Row | Mistake], selection: Selection | None) -> People:
        people = People(rows, self.place, self.grid.whole, self._notes(), self._sent_from())
        if selection is None:
            return people
        if selection.mistakes:
            rows = ()
        elif selection.unclear:
            rows = chain(self._unclear(selection), rows)
        outside = frozenset(self._keys(selection.left_out))
        return replace(people, rows=rows, selection=selection, left_out=outside)

    def _selection(self, where: Where, rows: Iterable[TableRow]) -> Selection | None:
        if not where:
            return None
        meant, mistakes = conditions(where, self.titles)
        return Selection(0, frozenset(), (), mistakes) if mistakes else select(meant, rows)

    def _selections(self, wheres: Mapping[str, Where]) -> dict[str, Selection | None]:
        """Select the rows of each campaign that has a `where`."""
        rows = self._by_campaign(key for key, where in wheres.items() if where)
        return {key: self._selection(wheres[key], each) for key, each in rows.items()}

    def _by_campaign(self, keys: Iterable[str]) -> dict[str, list[TableRow]]:
        column = self.columns.by_field["campaign"]
        rows: dict[str, list[TableRow]] = {key: [] for key in keys}
        for number, cells in self.filled() if rows else ():
            key = str(as_text(cells[column])).strip() if column < len(cells) else ""
            if key in rows:
                rows[key].append((number, cells))
        return rows

    def filled(self, columns: Collection[int] = ()) -> Iterator[TableRow]:
        """Go through the rows with something in one of these columns, or else in a known one."""
        columns = columns or self.columns.by_field.values()
        for row in self.rows():
            if not isinstance(row, Mistake):
                width = len(row[1])
                if any(column < width and not is_blank(row[1][column]) for column in columns):
                    yield row

    def _keys(self, numbers: frozenset[int]) -> Iterator[str]:
        column = self.columns.by_field["email1"]
        for number, cells in self.filled() if numbers else ():
            if number in numbers and column < len(cells):
                yield email_key(str(self.address(cells[column])))

    def address(self, cell: Any) -> Any:
        return address_of(cell, first=self.wishes.first_address)

    def _unclear(self, selection: Selection) -> Iterator[Mistake]:
        for number, column, text in selection.unclear:
            name = self.titles[column].strip()
            wanted = f"a value, because where compares {name}"
            yield Mistake(self.grid.cell(number, column), "candidates.where", text, wanted)

    def _people_of(self, campaign: str, selection: Selection | None) -> Iterator[Row | Mistake]:
        for row in self._people(selection.left_out if selection else frozenset()):
            if isinstance(row, Mistake) or "campaign" not in row.fields:
                yield row
                continue
            fields = dict(row.fields)
            key = str(fields.pop("campaign")).strip()
            if key == campaign:
                yield replace(row, fields=fields)
            else:
                place, wanted = self.place(row.number, "campaign"), shown(campaign)
                yield Mistake(place, "campaign", shown(key), f"{wanted}, or no such column")

    def _notes(self) -> tuple[str, ...]:
        unused = ", ".join(self.columns.unused)
        notes = (f"{self.grid.whole}: columns not used and never sent: {unused}",) if unused else ()
        person = [at for field, at in self.columns.by_field.items() if field in PERSON]
        return (*notes, *self.remarks, *self._remarks(), *self.grid.remarks(self.header, person))

    def _remarks(self) -> Iterator[str]:
        """Say how to send a column of remarks, which may be private."""
        if "notes" not in self.columns.by_field:
            row = "" if self.grid.sheet is None else "  (a row of a sheet campaign: columns.notes)"
            for name in filter(may_be_notes, self.columns.unused):
                wish = f'columns: {{notes: "{name}"}}{row}'
                yield f"{self.grid.whole}: to send {name} as notes, add  {wish}"

    def _out(self) -> dict[int, str]:
        """Return the headers of the columns that say who should not get an email."""
        used = {*self.columns.by_field.values()}
        titles = {at: title.strip() for at, title in enumerate(self.titles) if at not in used}
        return {at: title for at, title in titles.items() if says_do_not_contact(title)}

    def _not_to_contact(
        self,
        rows: Iterable[TableRow],
        left_out: frozenset[int],
        where: Where,
        key: str | None = None,
    ) -> Iterator[Mistake]:
        """Refuse rows with a value in a column such as `Do not contact` that `where` ignores.

        `key`: of the campaign in a sheet `campaigns` that has these rows.
        """
        named = {*map(compared, where)}
        columns = {at: name for at, name in self._out().items() if compared(name) not in named}
        kept = [row for row in rows if row[0] not in left_out] if columns else []
        for column, name in columns.items():
            texts = [(number, text_at(cells, column)[0].strip()) for number, cells in kept]
            asked = [(number, text) for number, text in texts if compared(text) not in NOT_SO]
            if not asked:
                continue
            number, text = asked[0]
            have = "1 row has" if len(asked) == 1 else f"{len(asked):,} rows have"
            others = (text for _, text in texts if compared(text) in NOT_SO)
            do = keeping(name, others, where, sheet=self.grid.sheet is not None, key=key)
            message = f"{have} a value under {name}, {shown(text)} here; to leave them out, {do}"
            yield Mistake(self.grid.cell(number, column), message=message)

    def _sent_from(self) -> dict[str, str]:
        """The headers of the columns that are sent; both names may come from one column."""
        by_field = self.columns.by_field
        names = {field: self.titles[column].strip() for field, column in by_field.items()}
        return {
            field: name
            for field in ("first_name", "last_name", "email1", "source", "notes", "stage_id")
            if (name := names.get(field) or (names.get(FULL_NAME) if "_name" in field else None))
        }

    def _people(self, left_out: frozenset[int]) -> Iterator[Row | Mistake]:
        readers = {"stage_id": as_whole_number, "email1": self.address}
        by_field = [
            (field, column, readers.get(field, as_text))
            for field, column in self.columns.by_field.items()
        ]
        people, hidden = 0, self.grid.hidden
        unread = self._unread()
        for cell in unread.above(self.above, self.header):
            yield Mistake(self.grid.cell(*cell), message=ABOVE)
        for row in self.rows():
            if isinstance(row, Mistake):
                yield row
                continue
            number, cells = row
            width, titles = len(cells), len(self.titles)
            if width > titles and (problem := self.grid.misfit(number, cells, titles)):
                yield problem
                continue
            yield from self._lost(unread, number, cells)
            if number in left_out:
                continue
            fields = {
                field: read(cells[column])
                for field, column, read in by_field
                if column < width and not is_blank(cells[column])
            }
            # A row with nothing in any known column is blank, or a remark beside the table.
            if not fields:
                continue
            people += 1
            if people % TOLD_EVERY == 0:
                tell("checking", people)
            if people > MOST_ROWS:
                message = f"there are more than {MOST_ROWS:,} rows; split them into several files"
                yield Mistake(self.grid.cell(number), message=message)
                return
            doubt = _split(fields) if FULL_NAME in fields else None
            yield Row(number, fields, doubt, number in hidden)

    def _unread(self) -> Unread:
        untitled = [at for at, title in enumerate(self.titles) if not title.strip()]
        has = cache(self._has_addresses)
        columns = self.columns.by_field
        further = numbered(self.titles, columns)
        return Unread(self.titles, columns, untitled, further, self.wishes, has)

    def _lost(self, unread: Unread, number: int, cells: Sequence[Any]) -> Iterator[Mistake]:
        """Find people in a row whom nobody reads."""
        delimiter = self.grid.delimiter
        if delimiter and unread.swallowed(cells, delimiter):
            yield Mistake(self.grid.cell(number), message=SWALLOWED)
        if lost := unread.in_row(cells):
            yield Mistake(self.grid.cell(number, lost[0]), message=lost[1])

    def _has_addresses(self, column: int) -> bool:
        """Whether people have addresses in a column."""
        rows = (cells for _, cells in self.filled() if column < len(cells))
        return any(is_address(cells[column]) for cells in rows)


def _split(fields: dict[str, Any]) -> Doubt | None:
    """Replace a full name by first and last name; returns what a person should look at."""
    full = fields.pop(FULL_NAME)
    if not isinstance(full, str):
        fields["first_name"] = fields["last_name"] = full
        return None
    names = split_name(full)
    # A single word is shown in the mistake about the missing name.
    fields["first_name"] = names.first or Unusable(shown(full))
    fields["last_name"] = names.last or Unusable(shown(full))
    if not names.doubt:
        return None
    sentence = (
        f"{shown(full)} is split into {shown(names.first)} and {shown(names.last)}{names.doubt}"
    )
    # If a name has two readings, a person has to see them, however many such names there are.
    kind = sentence if names.other else "a title, a degree or another word is dropped"
    return Doubt(kind, sentence, names.left_out)
