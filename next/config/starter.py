"""What `campaign new` writes: a definition to fill in, whose placeholders `check` refuses."""

import json
import os
import re
import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from unicodedata import normalize

from config.definition import Candidate, Definition
from config.errors import BadInput, CampaignError, Place
from config.folder import check_output
from config.reading import YAML, who_reads
from config.sheets.files import read_file
from config.sheets.left_out import proposal
from config.sheets.table import Table, table_of

TEMPLATE = Path(__file__).with_name("starter.yaml")
PEOPLE = """\
candidates:                 # or  candidates: {file: export.csv}
  - first_name: <first name>
    last_name: <last name>
    email1: <address they log in with>
"""
CONFIRM = "<delete this once the line is right>"
SHEET = (
    ("project.name", "<name of the project>"),
    ("project.description", ""),
    ("project.state", "open"),
    ("project.starttime", "<2026-12-01 09:00>"),
    ("project.endtime", "<2026-12-14 18:00>"),
    ("project.timezone", "<Europe/Paris>"),
    ("problem", "<number of the problem>"),
    ("stage_id", "1"),
    ("invites.send", "TRUE"),
    ("invites.hours", ""),
    ("invites.pilot", ""),
)
SAMPLE = ("<first name>", "<last name>", "<address they log in with>")
# A column to choose people by has at most so many values, each so short; so many are shown.
FEW, SHORT, COLUMNS = 8, 60, 6


class AlreadyRead(CampaignError):
    """{definition} already reads {table}. A second definition would invite everybody again.

    Then type: campaign check {typed}
    """

    exit_code = 2


def write_starter(path: Path, export: Path | None = None, *, force: bool = False) -> None:
    """Write a definition, `.yaml` or `.xlsx`, which reads the export if there is one.

    Its key comes from its name. Raises CampaignError: the export cannot be read, or another
    definition already reads it; the file exists.
    """
    suffix, key = path.suffix.lower(), _key(path.stem)
    if suffix not in {*YAML, ".xlsx"}:
        raise BadInput.at(Place(path), "wanted a name that ends in .yaml or .xlsx")
    if not path.parent.is_dir():
        raise BadInput.at(Place(path), f"there is no folder {path.parent}; create it first")
    if export and not force and (reader := who_reads(export, path.parent)):
        typed = shlex.quote(str(reader))
        raise AlreadyRead(definition=reader, table=export, typed=typed)
    if path.exists() and not force and suffix in YAML:
        raise BadInput.at(Place(path), "this file exists already, and was not changed")
    check_output(path, force=force)
    if suffix == ".xlsx":
        _workbook(key, table_of(read_file(export)) if export else None).save(path)
        return
    people = "".join(f"{line}\n" for line in _candidates(path, export)) if export else PEOPLE
    check = shlex.join(["campaign", "check", path.name])
    text = TEMPLATE.read_text("utf-8").format(key=_quoted(key), candidates=people, check=check)
    path.write_text(text, "utf-8")


def _candidates(path: Path, export: Path) -> Iterator[str]:
    """The lines `candidates` of a definition that reads an export."""
    yield "candidates:"
    table_path = os.path.relpath(export.resolve(), path.resolve().parent)
    yield f"  file: {_quoted(Path(table_path).as_posix())}"
    try:
        table = table_of(read_file(export))
    except BadInput as error:
        if error.mistakes[0].field != "sheet":
            raise
        yield f"  sheet: <name of the sheet>    # {error.mistakes[0].message}"
        return
    if table.grid.sheet:
        yield f"  sheet: {_quoted(table.grid.sheet)}"
    columns = {field: f"<header of the {meaning}>" for field, meaning in _missing(table)}
    if columns:
        yield f"  columns: {json.dumps(columns)}    # it has {', '.join(table.headers)}"
    if "full_name" in table.by_field:
        yield "  split_name: true          # into first and last name; check shows how"
    proposed, marked = proposal(table)
    if marked:
        yield "  hidden_rows: <skip or read>   # of rows that are hidden or struck through"
    if proposed:
        yield "  # The table says of some people that they are out. This keeps the others:"
        yield "  where:"
    for header, values in proposed.items():
        yield f"    {_quoted(header)}: {json.dumps([*values, CONFIRM], ensure_ascii=False)}"
    choices = {header: counts for header, counts in _choices(table) if header not in proposed}
    if choices:
        yield "  # To choose among the rows, write some of these below where: (rows of each)"
    for header, counts in choices.items():
        listed = json.dumps(list(counts), ensure_ascii=False)
        yield f"  #   {_quoted(header)}: {listed}   # {', '.join(map(str, counts.values()))}"


def _missing(table: Table) -> Iterator[tuple[str, str]]:
    """The fields for which a table has no column, although everybody needs one."""
    for field, meaning in (("first_name", "first name"), ("last_name", "last name")):
        if not {field, "full_name"} & table.by_field.keys():
            yield field, meaning
    if "email1" not in table.by_field:
        yield "email1", "email address"


def _choices(table: Table) -> Iterator[tuple[str, dict[str, int]]]:
    """The columns that group people, with how many rows have each value."""
    found = 0
    for column, header in enumerate(table.headers):
        if not header or column in table.by_field.values() or found == COLUMNS:
            continue
        counts = table.cells[column].str.strip().value_counts()
        if (
            2 <= len(counts) <= min(FEW, len(table.rows) - 1)
            and max(map(len, counts.index)) < SHORT
        ):
            found += 1
            yield header, {str(value): int(number) for value, number in counts.items()}


def _workbook(key: str, table: Table | None) -> Any:
    """A workbook with a sheet `campaign` to fill in, and the people beside it."""
    from openpyxl import Workbook  # noqa: PLC0415
    from openpyxl.styles import Font  # noqa: PLC0415

    book = Workbook()
    sheet, people = book.active, book.create_sheet("candidates")
    sheet.title = "campaign"
    rows = [("field", "value", "help"), ("campaign", key, _help("campaign"))]
    rows += [(name, value, _help(name)) for name, value in SHEET]
    proposed, marked = proposal(table) if table else ({}, False)
    if marked:
        rows.append(("hidden_rows", "<skip or read>", "some rows are hidden or struck through"))
    for header, values in proposed.items():
        out = "keeps only these people: the table says of the others that they are out"
        rows.append((f"where.{header}", "; ".join([*values, CONFIRM]), out))
    if table and "full_name" in table.by_field:
        rows.append(("split_name", "TRUE", "splits whole names into first and last name"))
    for field, meaning in _missing(table) if table else ():
        rows.append((f"columns.{field}", f"<header of the {meaning}>", "a header in candidates"))
    for at, cells in enumerate(rows, start=1):
        _write(sheet, at, cells)
    names = list(Candidate.model_fields)
    for number, texts in table.grid.rows if table else [(1, names), (2, list(SAMPLE))]:
        _write(people, number, texts)
        people.row_dimensions[number].hidden = bool(table and number in table.grid.hidden)
    for row, column in table.grid.struck if table else ():
        people.cell(row, column + 1).font = Font(strike=True)
    for each, width in (("A", 24), ("B", 34), ("C", 80)):
        sheet.column_dimensions[each].width = width
        people.column_dimensions[each].width = 24
    return book


def _write(sheet: Any, row: int, cells: Sequence[str]) -> None:
    for column, text in enumerate(cells, start=1):
        if text:
            cell = sheet.cell(row, column, text)
            # Text, also what begins with =, so that no program makes a number or a date of it.
            cell.data_type, cell.number_format = "s", "@"


def _help(name: str) -> str:
    """What a field is, from the line below it in the model."""
    fields: Any = Definition.model_fields
    *around, last = name.split(".")
    for step in around:
        fields = fields[step].annotation.model_fields
    return str(fields[last].description)


def _key(name: str) -> str:
    """Make a campaign's key of the name of its file: `Hiring (Zürich)` is hiring-zurich."""
    plain = normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9._]+", "-", plain).strip("-._")[:100] or "my-campaign"


def _quoted(text: str) -> str:
    plain = re.fullmatch(r"[A-Za-z][\w ./-]*[\w]", text)
    words = {"null", "true", "false", "yes", "no", "on", "off"}
    return text if plain and text.lower() not in words else json.dumps(text, ensure_ascii=False)
