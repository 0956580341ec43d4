"""The sheets of a workbook or of a web page, read in a process of its own.

Such a file may be built to use up a machine. So `python -m config.sheets.workbook` reads it under
limits of memory and time, from standard input, and answers with plain values.
"""

import io
import os
import pickle
import re
import subprocess
import sys
import zipfile
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from config.errors import BadInput, Place
from config.sheets.cells import Grid, text_of
from config.sheets.files import PROTECTED, Source
from config.sheets.text import page_tables

MEMORY = 1024 * 2**20
SECONDS = 60  # of the child's own work
PATIENCE = 600  # seconds, on a machine that gives it hardly any time
# 100,000 people unpack to 40 MB; a few kilobytes can unpack to gigabytes.
MOST_UNPACKED = 256 * 2**20
MOST_CELLS = 5_000_000
MOST_CHARACTERS = 64 * 2**20
MOST_COLUMNS = 1_000

DAMAGED = "this workbook is damaged; open it in a spreadsheet program and save it as .xlsx"
TOO_LARGE = (
    "this file takes more time or memory to read than any campaign needs; "
    "copy its candidates to a new one, or save them as .csv"
)
UNCALCULATED = (
    "a formula that was never calculated (open the file in a spreadsheet program and save it)"
)
PARTLY_STRUCK = "text of which only a part is struck through"


class Unfit(Exception):
    """The file, or one cell of it, cannot be read; the message says why."""

    def __init__(self, why: str, sheet: str | None = None, cell: str | None = None) -> None:
        super().__init__(why, sheet, cell)


@dataclass
class Plain:
    """One sheet as the child sends it: texts by row and column, and what is odd about some."""

    name: str
    visible: bool = True
    rows: dict[int, dict[int, str]] = field(default_factory=dict)
    hidden: set[int] = field(default_factory=set)
    struck: set[tuple[int, int]] = field(default_factory=set)
    spoilt: dict[tuple[int, int], str] = field(default_factory=dict)
    links: dict[tuple[int, int], str] = field(default_factory=dict)


def read_grids(source: Source) -> list[Grid]:
    """Read every sheet of a workbook, or every table of a web page. Raises BadInput."""
    home = str(Path(__file__).parents[2])
    path = os.pathsep.join(filter(None, (home, os.environ.get("PYTHONPATH"))))
    try:
        done = subprocess.run(  # noqa: S603 - our own program
            [sys.executable, "-P", "-m", "config.sheets.workbook", source.kind.value],
            input=source.data,
            stdout=subprocess.PIPE,
            # A library's messages may contain what people wrote in cells.
            stderr=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": path, "OPENBLAS_NUM_THREADS": "1"},
            timeout=PATIENCE,
            check=False,
        )
        sheets = pickle.loads(done.stdout) if done.returncode == 0 else Unfit(TOO_LARGE)  # noqa: S301
    except subprocess.TimeoutExpired:
        sheets = Unfit(TOO_LARGE)
    if isinstance(sheets, Unfit):
        why, sheet, cell = sheets.args
        raise BadInput.at(Place(source.file, sheet=sheet, cell=cell), why)
    return [_grid(source.file, sheet) for sheet in sheets]


def _grid(file: Path, plain: Plain) -> Grid:
    rows = [
        (number, [cells.get(at, "") for at in range(max(cells) + 1)])
        for number, cells in sorted(plain.rows.items())
        if cells
    ]
    odd = (frozenset(plain.hidden), frozenset(plain.struck), plain.spoilt, plain.links)
    grid = Grid(file, rows, plain.name, None, *odd)
    if not plain.visible:
        grid.notes.append(f"{grid.whole}: this sheet is hidden, but it is read like any other")
    return grid


def main() -> None:
    """Read the file on standard input, and write its sheets, or why not, to standard output."""
    with suppress(ImportError, ValueError, OSError):  # not every system can limit a process
        import resource  # noqa: PLC0415

        resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    data = sys.stdin.buffer.read()
    answer: object
    try:
        if sys.argv[1] == "page":
            answer = [_page(name, cells) for name, cells in page_tables(data)]
            answer = answer or Unfit("this is a web page without a table; export it as .xlsx")
        else:
            answer = list(_sheets(data))
    except Unfit as error:
        answer = error
    except MemoryError:
        answer = Unfit(TOO_LARGE)
    except Exception:  # noqa: BLE001 - a damaged file raises anything at all
        answer = Unfit(DAMAGED)
    sys.stdout.buffer.write(pickle.dumps(answer))


def _sheets(data: bytes) -> Iterator[Plain]:
    """Go through the sheets of a workbook. Raises Unfit, or whatever openpyxl raises."""
    from openpyxl.packaging.relationship import get_dependents, get_rels_path  # noqa: PLC0415
    from openpyxl.reader.excel import ExcelReader  # noqa: PLC0415
    from openpyxl.styles.stylesheet import apply_stylesheet  # noqa: PLC0415
    from openpyxl.worksheet._reader import WorkSheetParser  # noqa: PLC0415

    reader = ExcelReader(io.BytesIO(data), read_only=True, data_only=True, rich_text=True)
    reader.rich_text = _is_struck_somewhere(reader.archive)
    reader.read_manifest()
    reader.read_strings()
    reader.read_workbook()
    apply_stylesheet(reader.archive, reader.wb)
    for sheet, part in reader.parser.find_sheets():
        if part.target not in reader.valid_files or part.Type.endswith("/chartsheet"):
            continue
        with reader.archive.open(part.target) as stream:
            parser = WorkSheetParser(
                stream,
                reader.shared_strings,
                data_only=True,
                epoch=reader.wb.epoch,
                date_formats=reader.wb._date_formats,
                timedelta_formats=reader.wb._timedelta_formats,
                rich_text=reader.rich_text,
            )
            plain = _sheet(parser, reader.wb, Plain(sheet.name, sheet.state == "visible"))
        rels = get_rels_path(part.target)
        if parser.hyperlinks.hyperlink and rels in reader.valid_files:
            _add_links(plain, parser.hyperlinks, get_dependents(reader.archive, rels))
        yield plain


def _is_struck_somewhere(archive: zipfile.ZipFile) -> bool:
    """Check the archive, and say whether a part of some text may be struck through."""
    members = archive.infolist()
    unpacked = sum(member.file_size for member in members)
    names = {member.filename for member in members}
    if unpacked > MOST_UNPACKED:
        raise Unfit(f"this workbook unpacks to {unpacked // 2**20:,} MB; {TOO_LARGE}")
    if any(member.flag_bits & 1 for member in members):
        raise Unfit(PROTECTED)
    if "xl/workbook.bin" in names:
        raise Unfit("this is a binary workbook (.xlsb); save it as .xlsx")
    if "[Content_Types].xml" not in names or not any(name.startswith("xl/") for name in names):
        raise Unfit("this is not a workbook; save the table as .xlsx or .csv")
    if "xl/workbook.xml" in names and b"purl.oclc.org/ooxml" in archive.read("xl/workbook.xml"):
        raise Unfit("this is a Strict Open XML workbook; save it as Excel Workbook (.xlsx)")
    texts = (name for name in names if re.search(r"sharedStrings|worksheets/[^/]*\.xml$", name))
    return any(_contains(archive, name, b"strike") for name in texts)


def _contains(archive: zipfile.ZipFile, name: str, wanted: bytes) -> bool:
    before = b""
    with archive.open(name) as stream:
        while piece := stream.read(2**20):
            if wanted in before + piece:
                return True
            before = piece[-len(wanted) :]
    return False


def _sheet(parser: Any, book: Any, plain: Plain) -> Plain:
    """Take over the cells of a sheet, row by row."""
    from openpyxl.styles.numbers import BUILTIN_FORMATS  # noqa: PLC0415
    from openpyxl.utils import get_column_letter  # noqa: PLC0415

    formats = dict(BUILTIN_FORMATS) | {
        164 + at: text for at, text in enumerate(book._number_formats)
    }
    shows = [formats.get(style.numFmtId, "General") for style in book._cell_styles]
    strikes = [bool(book._fonts[style.fontId].strike) for style in book._cell_styles]
    number_of_cells = characters = 0
    parse = parser.parse_cell
    parser.parse_cell = lambda element: _with_formula(parse(element), element)
    for number, cells in parser.parse():
        row = plain.rows.setdefault(number, {})
        for cell in cells:
            value, column, style = cell["value"], cell["column"] - 1, cell["style_id"]
            at = (number, column)
            if cell["data_type"] == "e":
                plain.spoilt[at] = f"the error {value}"
            elif cell["data_type"] == "never":
                plain.spoilt[at], value = UNCALCULATED, ""
            elif not isinstance(value, str | float | int | None):
                value = _rich_text(value, at, plain)
            if link := cell.get("link"):
                plain.links[at] = link
            text = text_of(value, shows[style])
            if text.strip() or at in plain.spoilt:
                row[column] = text
                characters += len(text)
                if strikes[style]:
                    plain.struck.add(at)
                if column >= MOST_COLUMNS:
                    why = "this cell is far away from any table; delete it, or its column"
                    raise Unfit(why, plain.name, f"{get_column_letter(column + 1)}{number}")
        number_of_cells += len(cells)
        if number_of_cells > MOST_CELLS or characters > MOST_CHARACTERS:
            raise Unfit(TOO_LARGE, plain.name)
    for number, attributes in parser.row_dimensions.items():
        if attributes.get("hidden") in {"1", "true"} or attributes.get("ht") == "0":
            plain.hidden.add(int(number))
    if parser.merged_cells is not None:
        _fill_down(plain, [area.ref for area in parser.merged_cells.mergeCell])
    return plain


def _with_formula(cell: dict[str, Any], element: Any) -> dict[str, Any]:
    """Mark a cell whose formula has no result, and one that makes a link to an address."""
    from openpyxl.worksheet._reader import FORMULA_TAG  # noqa: PLC0415

    formula = element.find(FORMULA_TAG)
    if formula is not None:
        # An empty text is a result; an empty result of another kind was never calculated.
        if cell["value"] is None and cell["data_type"] not in {"s", "str"}:
            cell["data_type"] = "never"
        if link := _HYPERLINK.match(formula.text or ""):
            cell["link"] = link[1]
    return cell


def _rich_text(value: Any, at: tuple[int, int], plain: Plain) -> Any:
    """Note whether a text of several fonts, if it is one, is struck through, in part or wholly."""
    if isinstance(value, list):
        parts = [
            (str(part), bool(getattr(getattr(part, "font", None), "strike", False)))
            for part in value
        ]
        struck = {strikes for text, strikes in parts if text.strip()}
        if struck == {True, False}:
            plain.spoilt[at] = PARTLY_STRUCK
        elif struck == {True}:
            plain.struck.add(at)
        return "".join(text for text, _ in parts)
    return value


def _fill_down(plain: Plain, areas: list[str]) -> None:
    """Put the value of cells that are merged over several rows into each of these rows."""
    from openpyxl.utils import range_boundaries  # noqa: PLC0415

    numbers = sorted(number for number, cells in plain.rows.items() if cells)
    for area in areas:
        left, top, _, bottom = range_boundaries(area)
        text = plain.rows.get(top, {}).get(left - 1, "")
        if text and bottom > top:
            for number in numbers[bisect_right(numbers, top) : bisect_right(numbers, bottom)]:
                plain.rows[number].setdefault(left - 1, text)


def _add_links(plain: Plain, hyperlinks: Any, relations: Any) -> None:
    """Note where the texts of cells lead, if that is an address."""
    from openpyxl.utils import range_boundaries  # noqa: PLC0415

    targets = {each.Id: each.Target or "" for each in relations}
    numbers = sorted(plain.rows)
    for each in hyperlinks.hyperlink:
        target = targets.get(each.id, "")
        if target.lower().startswith("mailto:"):
            left, top, right, bottom = range_boundaries(each.ref)
            for number in numbers[bisect_left(numbers, top) : bisect_right(numbers, bottom)]:
                plain.links |= {
                    (number, column): target
                    for column in range(left - 1, right)
                    if column in plain.rows[number]
                }


def _page(name: str, cells: Any) -> Plain:
    """Take over a table of a web page."""
    plain = Plain(name)
    for number, column, text, marks in cells:
        plain.hidden |= {number} if "hidden" in marks else set()
        if column >= MOST_COLUMNS:
            raise Unfit(TOO_LARGE)
        if text:
            plain.rows.setdefault(number, {})[column] = text
            plain.struck |= {(number, column)} if "struck" in marks else set()
            plain.spoilt |= {(number, column): PARTLY_STRUCK} if "partly" in marks else {}
            plain.links |= {(number, column): marks["link"]} if "link" in marks else {}
    return plain


_HYPERLINK = re.compile(r'HYPERLINK\(\s*"(mailto:[^"]*)"', re.IGNORECASE)

if __name__ == "__main__":
    # Under its own name, so that what is pickled here can be unpickled by whoever asked.
    from config.sheets.workbook import main as run

    run()
