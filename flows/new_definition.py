"""What `campaign new` writes: a definition to fill in. `check` refuses its placeholders."""

import json
import os
import re
from collections.abc import Iterable, Iterator
from io import BytesIO
from itertools import count
from pathlib import Path
from typing import Any
from unicodedata import normalize

from config.errors import BadInput, NotAsTyped, Place, command, shown, some
from config.reading import YAML, who_reads
from config.sheets.files import Format, read_file
from config.sheets.headers import calls_out
from config.sheets.left_out import has_remark_beside, in_yaml, to_decide, values_of
from config.sheets.table import NO_HEADER, Table, grids_of, headers_shown, read_table
from config.sheets.text import ASK
from config.validation import FIELDS
from config.yaml_file import read_yaml
from tasks.outputs.exports import replace_file
from tasks.outputs.overwriting import check_output

TEMPLATE = Path(__file__).with_name("new_definition.yaml")
PEOPLE = """\
candidates:                 # or  candidates: {file: export.csv}
  - first_name: <first name>
    last_name: <last name>
    email1: <address they log in with>
"""
IGNORE = "<name a column here if it decides nothing, or delete this>"
MOST = 100  # definitions that `write_each` makes of one table
OPTIONAL = ("stage_id", "invites.hours", "invites.pilot")  # a new workbook has their rows, empty


class NotAnExport(NotAsTyped):
    says = """{what} is no file of people. Leave --from out, and write into the definition
    candidates: {{url: "…"}}  or  candidates: {{query: …, database: …}}  Nothing was written."""
    then = "campaign new {path}"


def write_definition(
    path: Path,
    export: Path | None = None,
    sheet: str | None = None,
    encoding: str | None = None,
    *,
    force: bool = False,
) -> None:
    """Write a definition: a `.yaml` reads people from the `export`, a `.xlsx` has a copy of them.

    The key comes from the file's name. Raises BadInput and CannotWrite. Without `force` also raises
    NotOurs, and BadInput if another definition reads the export.
    """
    suffix = path.suffix.lower()
    if suffix not in {*YAML, ".xlsx"}:
        raise BadInput.at(Place(path), "wanted a name that ends in .yaml or .xlsx")
    _check(path, force=force)
    again = ["--force"] if force else []
    table = _read(export, sheet, path, encoding, again) if export else None
    if export and table:
        _refuse_second(export, table, path.parent, force=force)
    text = _text(path, table, {})
    if suffix == ".xlsx":
        if table and table.grid.mistakes:  # the copy would not show these mistakes
            raise BadInput(table.grid.mistakes)
        _workbook(read_yaml(text.encode(), path).fields, table).save(book := BytesIO())
        replace_file(path, book.getvalue())
    else:
        replace_file(path, text.encode())


def write_each(
    folder: Path,
    export: Path,
    column: str,
    sheet: str | None = None,
    encoding: str | None = None,
    *,
    force: bool = False,
) -> list[Path]:
    """Write a definition for each value of a column. Each invites the people with its value.

    Raises what `write_definition` raises, all but CannotWrite before anything is written.
    """
    table = _read(export, sheet, folder, encoding, ["--each", column, *["--force"] * force])
    title, values = values_of(table, column)
    why = f"{title} has {len(values):,} values, wanted a column with at most {MOST}"
    if len(values) > MOST:
        raise BadInput.at(Place(export), why)
    if remarks := [*filter(has_remark_beside, values)]:
        said = some([*map(shown, remarks)])
        raise BadInput.at(Place(export), f"{title} has {said}, a remark; correct the sheet")
    files: dict[Path, str] = {}
    for value in values:
        key = _key(value or f"no {title}")
        names = (f"{key}-{number}" if number > 1 else key for number in count(1))
        free = (file for name in names if (file := folder / f"{name}.yaml") not in files)
        files[next(free)] = value
    for file in files:
        _check(file, folder.parent, force=force)
    _refuse_second(export, table, folder if folder.is_dir() else folder.parent, force=force)
    for file, value in files.items():
        replace_file(file, _text(file, table, {title: [value]}).encode())
    return [*files]


def _check(path: Path, folder: Path | None = None, *, force: bool) -> None:
    if not (folder or path.parent).is_dir():
        why = f"there is no folder {folder or path.parent}; create it first"
        raise BadInput.at(Place(path), why)
    check_output(path, force=force)


def _refuse_second(export: Path, table: Table, folder: Path, *, force: bool) -> None:
    """Raise BadInput if another definition reads this table, except with `force`."""
    if not force and (reader := who_reads(export, folder, sheet=table.grid.sheet)):
        why = f"{reader} already reads this table; a second one would invite everybody again"
        refusal = BadInput.at(Place(export), f"{why}; to write it all the same, add --force")
        refusal.then = f"Then type: {command('check', reader)}"
        raise refusal


def _text(path: Path, table: Table | None, where: dict[str, list[str]]) -> str:
    """The text of a definition. If it reads a table, `where` says which people it keeps."""
    people = PEOPLE
    if table:
        named = os.path.relpath(table.grid.file.resolve(), os.path.realpath(path.parent))
        file = f"  file: {in_yaml(Path(named).as_posix())}"
        people = "\n".join(["candidates:", file, *_options(table, where), ""])
    key, check = in_yaml(_key(path.stem)), command("check", Path(path.name))
    return TEMPLATE.read_text("utf-8").format(key=key, candidates=people, check=check)


def _read(
    export: Path, sheet: str | None, path: Path, encoding: str | None, again: list[str]
) -> Table:
    """Read an export. Raises BadInput, with the command to type if an option is missing; `again`
    are the options to repeat."""
    try:
        table = read_table(source := read_file(export, encoding or ""), sheet)
        if not sheet and calls_out(title := table.grid.sheet or ""):
            why = f"the title of {shown(title)} says that its people are out"
            people = [g for g in grids_of(source) if any("@" in "".join(row) for _, row in g.rows)]
            wanted = title if len(people) == 1 else "NAME"
            raise BadInput.at(table.grid.whole, why, field="sheet", wanted=wanted)
    except BadInput as error:
        wrong = error.mistakes[0]
        asks, option = ASK in wrong.message, f"--{wrong.field}"
        if not asks and (wrong.field != "sheet" or not wrong.wanted):
            raise
        why = wrong.message.replace(ASK, "").partition(". Say which")[0]
        do = ", or say which is right, with" if asks else ". Say which, with"
        refusal = BadInput.at(wrong.place, f"{why}{do} {option}")
        new = command("new", path, "--from", export, *again, option, wrong.wanted or "NAME")
        refusal.then = f"Then type: {new}"
        raise refusal from None
    if no_header := [each for each in table.mistakes if each.message == NO_HEADER]:
        raise BadInput(no_header)
    return table


def _options(table: Table, where: dict[str, list[str]]) -> Iterator[str]:
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
        yield f"  columns: {json.dumps(columns)}    # it has {headers_shown(table.headers)}"
    blanks, marked = to_decide(table, where)
    for each in marked:
        yield f"  # {each}"
    if marked:
        yield "  hidden_rows: <skip or read>   # of rows that are hidden, coloured or like a test"
    if blanks:
        yield "  # These columns can decide who is invited. Write the values to keep, or move the"
        yield '  # column into ignore. "" keeps the empty cells.'
    if blanks or where:
        yield "  where:"
    for header, values in {**where, **{name: [each] for name, each in blanks.items()}}.items():
        yield f"    {in_yaml(header)}: {json.dumps(values, ensure_ascii=False)}"
    if blanks:
        yield f"  ignore: {json.dumps([IGNORE])}"


def _workbook(fields: dict[str, Any], table: Table | None) -> Any:
    """A definition as a workbook: a sheet `campaign` to fill in, and a sheet `candidates`.

    An export that is a workbook keeps its colours, comments and other sheets.
    """
    from openpyxl import Workbook, load_workbook  # noqa: PLC0415

    source = read_file(table.grid.file, table.grid.encoding or "") if table else None
    if table and source and source.format is Format.WORKBOOK:
        book = load_workbook(BytesIO(source.data), rich_text=True)
        people = book[str(table.grid.sheet)]
        for other in book:  # openpyxl would number a title that is there already
            other.title = f"{other.title[:15]} (of the export)" if _is_ours(other) else other.title
    else:
        book = Workbook()
        people = book.active
        sample: dict[str, str] = fields["candidates"][0] if table is None else {}
        for number, texts in table.grid.rows if table else [(1, sample), (2, sample.values())]:
            _write(people, number, texts)
    people.title, sheet = "candidates", book.create_sheet("campaign", 0)
    book.active = 0
    rows = {**dict(_rows(fields)), **dict.fromkeys(OPTIONAL, "")}
    _write(sheet, 1, ("field", "value", "help"))
    for at, (name, value) in enumerate(rows.items(), start=2):
        _write(sheet, at, (name, value, _help(name)))
    for each, width in (("A", 24), ("B", 34), ("C", 80)):
        sheet.column_dimensions[each].width = width
    return book


def _is_ours(sheet: Any) -> bool:
    return sheet.title.strip().casefold() in {"campaign", "candidates"}


def _rows(fields: dict[str, Any], around: str = "") -> Iterator[tuple[str, str]]:
    """The fields of a definition as rows (name, value), without its people."""
    for name, value in fields.items():
        if isinstance(value, dict):
            yield from _rows(value, "" if name == "candidates" else f"{around}{name}.")
        elif name not in {"candidates", "file", "sheet", "encoding"}:
            yield around + name, "; ".join(value) if isinstance(value, list) else value


def _write(sheet: Any, row: int, cells: Iterable[str]) -> None:
    for column, text in enumerate(cells, start=1):
        if text:
            # A workbook has no control characters, but a text may.
            cell = sheet.cell(row, column, re.sub(r"[\x00-\x08\x0b\x0c\x0e-\x1f]", " ", text))
            # The cell is a text, even if it begins with =; no program makes a number of it.
            cell.data_type, cell.number_format = "s", "@"


def _help(name: str) -> str:
    """What a field means: the text below the field in its model."""
    if name.startswith("where."):
        return "The values to keep, with semicolons between; a lone ; keeps the empty cells."
    of_table = f"candidates.table.{name}"
    names = (name, of_table, of_table.rpartition(".")[0])
    return next((FIELDS[each] for each in names if each in FIELDS), "")


def _key(name: str) -> str:
    """Make a campaign's key from the name of its file: `Hiring (Zürich)` is hiring-zurich."""
    plain = normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9._]+", "-", plain).strip("-._")[:100] or "my-campaign"
