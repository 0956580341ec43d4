"""What `campaign new` writes: a definition to fill in, whose placeholders `check` refuses."""

import json
import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any
from unicodedata import normalize

from config.errors import BadInput, Place, command
from config.field_names import FIELDS
from config.own_outputs import check_output
from config.reading import YAML, who_reads
from config.sheets.left_out import in_cell, in_yaml, proposal
from config.sheets.table import NO_HEADER, Table, read_table
from config.sheets.text import ASK
from config.yaml_file import read_yaml

TEMPLATE = Path(__file__).with_name("starter.yaml")
PEOPLE = """\
candidates:                 # or  candidates: {file: export.csv}
  - first_name: <first name>
    last_name: <last name>
    email1: <address they log in with>
"""
CONFIRM = "<delete this once the line is right>"
OPTIONAL = ("stage_id", "invites.hours", "invites.pilot")  # empty rows of a workbook


def write_starter(
    path: Path,
    export: Path | None = None,
    sheet: str | None = None,
    encoding: str | None = None,
    *,
    force: bool = False,
) -> None:
    """Write a definition, `.yaml` or `.xlsx`, which reads the export, or a sheet of it, if any.

    Its key comes from its name. Raises BadInput: the export cannot be read, or another
    definition already reads it; the file exists.
    """
    suffix, key = path.suffix.lower(), _key(path.stem)
    if suffix not in {*YAML, ".xlsx"}:
        raise BadInput.at(Place(path), "wanted a name that ends in .yaml or .xlsx")
    if not path.parent.is_dir():
        raise BadInput.at(Place(path), f"there is no folder {path.parent}; create it first")
    check_output(path, force=force)
    table = _read(export, sheet, path, encoding) if export else None
    people = PEOPLE
    if export and table:
        reader = None if force else who_reads(export, path.parent, sheet=table.grid.sheet)
        if reader:
            why = f"{reader} already reads this table; a second one would invite everybody again"
            refusal = BadInput.at(Place(export), f"{why}; to write it all the same, add --force")
            refusal.then = f"Then type: {command('check', reader)}"
            raise refusal
        named = os.path.relpath(export.resolve(), path.resolve().parent)
        file = f"  file: {in_yaml(Path(named).as_posix())}"
        people = "\n".join(["candidates:", file, *_options(table), ""])
    check = command("check", path.name)
    text = TEMPLATE.read_text("utf-8").format(key=in_yaml(key), candidates=people, check=check)
    if suffix == ".xlsx":
        if table and table.grid.mistakes:  # whoever reads the copy would not see them
            raise BadInput(table.grid.mistakes)
        _workbook(read_yaml(text.encode(), path).fields, table).save(path)
    else:
        path.write_text(text, "utf-8")


def _read(export: Path, sheet: str | None, path: Path, encoding: str | None) -> Table:
    """Read an export. Raises BadInput; if it must be told how, with the line to type."""
    try:
        table = read_table(export, sheet, encoding=encoding or "")
    except BadInput as error:
        wrong = error.mistakes[0]
        asks, option = ASK in wrong.message, f"--{wrong.field}"
        if not asks and (wrong.field != "sheet" or not wrong.wanted):
            raise
        why = wrong.message.replace(ASK, "").partition(". Say which")[0]
        do = ", or say which is right, with" if asks else ". Say which, with"
        refusal = BadInput.at(wrong.place, f"{why}{do} {option}")
        new = command("new", path, "--from", export, option, wrong.wanted or "NAME")
        refusal.then = f"Then type: {new}"
        raise refusal from None
    if no_header := [each for each in table.mistakes if each.message == NO_HEADER]:
        raise BadInput(no_header)
    return table


def _options(table: Table) -> Iterator[str]:
    """The lines below `file` of a definition that reads a table."""
    if table.grid.encoding:
        yield f"  encoding: {in_yaml(table.grid.encoding)}"
    if table.grid.sheet:
        yield f"  sheet: {in_yaml(table.grid.sheet)}"
    missing = [name for name in ("first_name", "last_name", "email1") if name not in table.by_field]
    if "full_name" in table.by_field:
        yield "  split_name: true          # into first and last name; check shows how"
        missing = [name for name in missing if name == "email1"]
    if missing:
        columns = {name: f"<header of {name}>" for name in missing}
        yield f"  columns: {json.dumps(columns)}    # it has {', '.join(table.headers)}"
    proposed, marked = proposal(table)
    if marked:
        yield "  hidden_rows: <skip or read>   # of rows that are hidden or struck through"
    if proposed:
        yield "  # The table says of some people that they are out. This keeps the others:"
        yield "  where:"
    for header, values in proposed.items():
        yield f"    {in_yaml(header)}: {json.dumps([*values, CONFIRM], ensure_ascii=False)}"


def _workbook(fields: dict[str, Any], table: Table | None) -> Any:
    """The same as a workbook: a sheet `campaign` to fill in, and the people beside it."""
    from openpyxl import Workbook  # noqa: PLC0415
    from openpyxl.styles import Font  # noqa: PLC0415

    book = Workbook()
    sheet, people = book.active, book.create_sheet("candidates")
    sheet.title = "campaign"
    rows = {**dict(_rows(fields)), **dict.fromkeys(OPTIONAL, "")}
    _write(sheet, 1, ("field", "value", "help"))
    for at, (name, value) in enumerate(rows.items(), start=2):
        _write(sheet, at, (name, value, _help(name)))
    sample = fields["candidates"][0] if table is None else {}
    for number, texts in table.grid.rows if table else enumerate((sample, sample.values()), 1):
        _write(people, number, texts)
        people.row_dimensions[number].hidden = bool(table and number in table.grid.hidden)
    for row, column in table.grid.struck if table else ():
        people.cell(row, column + 1).font = Font(strike=True)
    for (row, column), link in table.grid.links.items() if table else ():
        people.cell(row, column + 1).hyperlink = link
    for each, width in (("A", 24), ("B", 34), ("C", 80)):
        sheet.column_dimensions[each].width = width
        people.column_dimensions[each].width = 24
    return book


def _rows(fields: dict[str, Any], around: str = "") -> Iterator[tuple[str, str]]:
    """The fields of a definition as rows, but for the people, who are in the workbook itself."""
    for name, value in fields.items():
        if isinstance(value, dict):
            yield from _rows(value, "" if name == "candidates" else f"{around}{name}.")
        elif name not in {"candidates", "file", "sheet", "encoding"}:
            yield around + name, in_cell(value) if isinstance(value, list) else value


def _write(sheet: Any, row: int, cells: Iterable[str]) -> None:
    for column, text in enumerate(cells, start=1):
        if text:
            cell = sheet.cell(row, column, text)
            # Text, also what begins with =, so that no program makes a number or a date of it.
            cell.data_type, cell.number_format = "s", "@"


def _help(name: str) -> str:
    """What a field is, from the line below it in the model."""
    of_table = f"candidates.table.{name}"
    names = (name, of_table, of_table.rpartition(".")[0])
    return next((FIELDS[each] for each in names if each in FIELDS), "")


def _key(name: str) -> str:
    """Make a campaign's key of the name of its file: `Hiring (Zürich)` is hiring-zurich."""
    plain = normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9._]+", "-", plain).strip("-._")[:100] or "my-campaign"
