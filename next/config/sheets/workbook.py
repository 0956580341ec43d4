"""The sheets of a workbook or of a web page, read in a process of its own.

Such a file may be built to use up a machine. So `python -m config.sheets.workbook` reads it under
limits of memory and time, from standard input, and answers with pickled grids.
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
from pathlib import Path
from typing import Any

from config.errors import BadInput, Place
from config.sheets.cells import MOST_CELLS, MOST_COLUMNS, Grid, Unfit, letters, text_of
from config.sheets.files import TOO_LARGE, Source
from config.sheets.page import PARTLY_STRUCK, page_grids

MEMORY = 640 * 2**20
SECONDS = 60  # of the child's own work
PATIENCE = 600  # seconds, on a machine that gives it hardly any time
# 100,000 people unpack to 40 MB; a few kilobytes can unpack to gigabytes.
MOST_UNPACKED = 256 * 2**20
MOST_CHARACTERS = 64 * 2**20

DAMAGED = "this file is damaged; open it in a spreadsheet program and save it as .xlsx"
FAR_AWAY = "this cell is far away from any table; delete it, or its column"
NEVER_CALCULATED = (
    "a formula that was never calculated (open the file in a spreadsheet program and save it)"
)


def read_grids(source: Source) -> list[Grid]:
    """Read every sheet of a workbook, or every table of a web page. Raises BadInput."""
    home = str(Path(__file__).parents[2])
    path = os.pathsep.join(filter(None, (home, os.environ.get("PYTHONPATH"))))
    answer: list[Grid] | Unfit = Unfit(TOO_LARGE)
    with suppress(subprocess.TimeoutExpired):
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
        if done.returncode == 0:
            answer = pickle.loads(done.stdout)  # noqa: S301 - from our own program
    if isinstance(answer, Unfit):
        why, sheet, cell = (*answer.args, None, None)[:3]
        raise BadInput.at(Place(source.file, sheet=sheet, cell=cell), why)
    for grid in answer:
        grid.file = source.file
        if grid.concealed:
            grid.notes = [f"{grid.whole}: this sheet is hidden, but it is read like any other"]
    return answer


def main() -> None:
    """Read the file on standard input, and write its sheets, or why not, to standard output."""
    with suppress(ImportError, ValueError, OSError):  # not every system can limit a process
        import resource  # noqa: PLC0415

        resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    data = sys.stdin.buffer.read()
    answer: list[Grid] | Unfit
    try:
        answer = [*(page_grids(data) if sys.argv[1] == "page" else _sheets(data))]
    except Unfit as error:
        answer = error
    except MemoryError:
        answer = Unfit(TOO_LARGE)
    except Exception:  # noqa: BLE001 - a damaged file raises anything at all
        answer = Unfit(DAMAGED)
    sys.stdout.buffer.write(pickle.dumps(answer))


def _sheets(data: bytes) -> Iterator[Grid]:
    """Go through the sheets of a workbook. Raises Unfit, or whatever openpyxl raises."""
    from openpyxl.packaging.relationship import get_dependents, get_rels_path  # noqa: PLC0415
    from openpyxl.reader.excel import ExcelReader  # noqa: PLC0415
    from openpyxl.styles.stylesheet import apply_stylesheet  # noqa: PLC0415
    from openpyxl.worksheet._reader import WorkSheetParser  # noqa: PLC0415

    # openpyxl's own steps, without what no table needs: pictures, charts, a style for each cell.
    reader = ExcelReader(io.BytesIO(data), read_only=True, data_only=True)
    reader.rich_text = _may_be_struck(reader.archive)
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
            grid = _sheet(parser, reader.wb, Grid(Path(), [], sheet.name))
        grid.concealed = sheet.state != "visible"
        rels = get_rels_path(part.target)
        if parser.hyperlinks.hyperlink and rels in reader.valid_files:
            relations = get_dependents(reader.archive, rels)
            targets = {each.Id: each.Target or "" for each in relations}
            _add_links(
                grid, [(each.ref, targets.get(each.id, "")) for each in parser.hyperlinks.hyperlink]
            )
        yield grid


def _may_be_struck(archive: zipfile.ZipFile) -> bool:
    """Whether a part of some text may be struck through. Raises Unfit for what is no workbook."""
    members = archive.infolist()
    names = {member.filename for member in members}
    if sum(member.file_size for member in members) > MOST_UNPACKED:
        raise Unfit(TOO_LARGE)
    if any(member.flag_bits & 1 for member in members):
        raise Unfit("this workbook is protected by a password; save it without one")
    if "xl/workbook.bin" in names:
        raise Unfit("this is a binary workbook (.xlsb); save it as .xlsx")
    if "[Content_Types].xml" not in names or not any(name.startswith("xl/") for name in names):
        raise Unfit("this is not a workbook; save the table as .xlsx or .csv")
    if "xl/workbook.xml" in names and b"purl.oclc.org/ooxml" in archive.read("xl/workbook.xml"):
        raise Unfit("this is a Strict Open XML workbook; save it as Excel Workbook (.xlsx)")
    texts = [name for name in names if re.search(r"sharedStrings|worksheets/[^/]*\.xml$", name)]
    return any(b"strike" in archive.read(name) for name in texts)


def _sheet(parser: Any, book: Any, grid: Grid) -> Grid:
    """Take over the cells of a sheet, row by row."""
    from openpyxl.styles.numbers import BUILTIN_FORMATS  # noqa: PLC0415
    from openpyxl.worksheet._reader import FORMULA_TAG  # noqa: PLC0415

    own = {164 + at: text for at, text in enumerate(book._number_formats)}
    formats = {**BUILTIN_FORMATS, **own}
    shows = [formats.get(style.numFmtId, "General") for style in book._cell_styles]
    strikes = [bool(book._fonts[style.fontId].strike) for style in book._cell_styles]
    rows: dict[int, dict[int, str]] = {}
    number_of_cells = characters = 0
    parse = parser.parse_cell
    parser.parse_cell = lambda cell: parse(cell) | {"formula": cell.findtext(FORMULA_TAG)}
    for number, cells in parser.parse():
        for cell in cells:
            at, style = (number, cell["column"] - 1), cell["style_id"]
            text = text_of(_value(cell, at, grid), shows[style])
            if text.strip() or at in grid.spoilt:
                _put(grid, rows, at, text)
                characters += len(text)
                if strikes[style]:
                    grid.struck.add(at)
        number_of_cells += len(cells)
        if number_of_cells > MOST_CELLS or characters > MOST_CHARACTERS:
            raise Unfit(TOO_LARGE, grid.sheet)
    for number, attributes in parser.row_dimensions.items():
        if attributes.get("hidden") in {"1", "true"} or attributes.get("ht") == "0":
            grid.hidden.add(int(number))
    if parser.merged_cells is not None:
        _fill_down(rows, [area.ref for area in parser.merged_cells.mergeCell])
    return _with_rows(grid, rows)


def _put(grid: Grid, rows: dict[int, dict[int, str]], at: tuple[int, int], text: str) -> None:
    number, column = at
    if column >= MOST_COLUMNS:
        raise Unfit(FAR_AWAY, grid.sheet, f"{letters(column)}{number}")
    rows.setdefault(number, {})[column] = text


def _with_rows(grid: Grid, rows: dict[int, dict[int, str]]) -> Grid:
    for number, cells in sorted(rows.items()):
        grid.rows.append((number, [cells.get(at, "") for at in range(max(cells) + 1)]))
    return grid


def _value(cell: dict[str, Any], at: tuple[int, int], grid: Grid) -> Any:
    """The value of a cell, whose oddities are noted."""
    value, formula = cell["value"], cell["formula"]
    if cell["data_type"] == "e":
        grid.spoilt[at] = f"the error {value}"
    elif formula is not None and value is None and cell["data_type"] not in {"s", "str"}:
        # An empty text is a result; an empty result of another kind was never calculated.
        grid.spoilt[at] = NEVER_CALCULATED
    elif isinstance(value, list):  # text in several fonts
        parts = [(str(part), getattr(part, "font", None)) for part in value]
        struck = {bool(font and font.strike) for text, font in parts if text.strip()}
        grid.spoilt |= {at: PARTLY_STRUCK} if len(struck) == 2 else {}
        grid.struck |= {at} if struck == {True} else set()
        return "".join(text for text, _ in parts)
    return value


def _fill_down(rows: dict[int, dict[int, str]], areas: list[str]) -> None:
    """Put the value of cells that are merged over several rows into each of these rows."""
    numbers = sorted(rows)
    for area in areas:
        left, top, _, bottom = _bounds(area)
        if text := rows.get(top, {}).get(left, ""):
            for number in numbers[bisect_right(numbers, top) : bisect_right(numbers, bottom)]:
                rows[number].setdefault(left, text)


def _add_links(grid: Grid, links: list[tuple[str, str]]) -> None:
    """Note where the texts of cells lead, if that is an address."""
    numbers = [number for number, _ in grid.rows]
    for area, target in links:
        if target.lower().startswith("mailto:"):
            left, top, right, bottom = _bounds(area)
            for number, cells in grid.rows[
                bisect_left(numbers, top) : bisect_right(numbers, bottom)
            ]:
                columns = range(left, min(right + 1, len(cells)))
                grid.links |= {(number, column): target for column in columns if cells[column]}


def _bounds(area: str) -> tuple[int, int, int, int]:
    """The first column (from 0) and row of an area such as A1:C7, and the last."""
    from openpyxl.utils import range_boundaries  # noqa: PLC0415

    left, top, right, bottom = range_boundaries(area)
    return left - 1, top, right - 1, bottom


if __name__ == "__main__":
    # Under its own name, so that what is pickled here can be unpickled by whoever asked.
    from config.sheets.workbook import main as run

    run()
