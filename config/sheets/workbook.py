"""Read the sheets of a workbook or a web page, in a process of its own.

Such a file may be built to exhaust a machine. So `python -m config.sheets.workbook` reads it from
standard input, under limits of memory and time, and writes pickled grids to standard output.
"""

import io
import os
import pickle
import re
import subprocess
import sys
import zipfile
from collections import defaultdict
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from config.errors import BadInput, Place
from config.sheets.cells import MOST_CELLS, MOST_COLUMNS, UNCALCULATED, Grid, Unfit, text_of
from config.sheets.files import SAVE_AS, TOO_LARGE, Format, Source
from config.sheets.text import decoded

MEMORY = 640 * 2**20
SECONDS = 60  # of processor time
PATIENCE = 600  # seconds to wait for the process on a busy machine
MOST_UNPACKED = 256 * 2**20  # 100,000 people unpack to 40 MB; a few kilobytes may to gigabytes

DAMAGED = f"this file is damaged, or no workbook of a kind that can be read; {SAVE_AS}"
HARD = (  # cells that span rows, are hidden or struck through
    "//table//*[@rowspan > 1 or normalize-space() and (@hidden or self::s or self::strike or "
    "self::del or contains(translate(@style, ' ', ''), 'display:none'))]"
)
OURS = "campaign"  # the author of the comments that we write into our copy
WHITE = (("rgb", "FFFFFFFF"), ("rgb", "00FFFFFF"), ("theme", 0), ("indexed", 9))
RED = re.compile("rgb..(?:[89AB].[0-3].[0-3].|[C-F].[0-7].[0-7].)|indexed(?:2|10)")
MERGED = re.compile(rb'<(?:\w+:)?mergeCell [^<>]*?\bref="([^"]+)"')


def read_grids(source: Source) -> list[Grid]:
    """Read every sheet of a workbook, or every table of a web page. Raises BadInput."""
    data = decoded(source).encode() if source.format is Format.PAGE else source.data
    home = str(Path(__file__).parents[2])
    path = os.pathsep.join(filter(None, (home, os.environ.get("PYTHONPATH"))))
    answer: list[Grid] | Unfit = Unfit(TOO_LARGE)
    with suppress(subprocess.TimeoutExpired):
        done = subprocess.run(  # noqa: S603 - our own program
            [sys.executable, "-P", "-m", "config.sheets.workbook", source.format.value],
            input=data,
            stdout=subprocess.PIPE,
            # A library's messages may contain what people wrote in cells.
            stderr=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": path, "OPENBLAS_NUM_THREADS": "1"},
            start_new_session=True,  # Ctrl-C stops the command, not this child
            timeout=PATIENCE,
            check=False,
        )
        if done.returncode == 0:
            answer = pickle.loads(done.stdout)  # noqa: S301 - from our own program
    if isinstance(answer, Unfit):
        raise BadInput.at(Place(source.file), str(answer))
    for grid in answer:
        grid.file, grid.encoding = source.file, source.encoding
    return answer


def main() -> None:
    """Read the file on standard input; write its sheets, or an Unfit, to standard output."""
    with suppress(ImportError, ValueError, OSError):  # not every system can limit a process
        import resource  # noqa: PLC0415

        resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    data = sys.stdin.buffer.read()
    answer: list[Grid] | Unfit
    try:
        answer = [*(_pages(data) if sys.argv[1] == "page" else _sheets(data))]
    except Unfit as error:
        answer = error
    except MemoryError:
        answer = Unfit(TOO_LARGE)
    except Exception:  # noqa: BLE001 - a damaged file raises anything at all
        answer = Unfit(DAMAGED)
    sys.stdout.buffer.write(pickle.dumps(answer))


def _sheets(data: bytes) -> Iterator[Grid]:
    """Read every sheet of a workbook. Raises Unfit, or whatever openpyxl raises."""
    from openpyxl import load_workbook  # noqa: PLC0415

    formulas = _formulas(data)
    book = load_workbook(io.BytesIO(data), data_only=True, rich_text=True)
    if not book.worksheets:
        raise Unfit(DAMAGED)
    fills = {number for number, each in enumerate(book._fills) if _is_seen(each)}
    for sheet in book.worksheets:
        grid = Grid(Path(), [], sheet.title)
        rows: dict[int, dict[int, str]] = defaultdict(dict)
        for number, column in sorted(sheet._cells):
            cell = sheet._cells.pop((number, column))  # frees its memory
            at, value = (number, column - 1), cell.value
            if not (ours := cell.comment and cell.comment.author == OURS):
                grid.comments |= {at: cell.comment.text} if cell.comment else {}
            if not ours and cell._style.fillId in fills:
                grid.fills[at] = cell._style.fillId
            text = text_of(value)
            # A result may be an empty text. A formula without any result was never calculated.
            if value is None and cell.data_type == "n" and (sheet.title, *at) in formulas:
                text = UNCALCULATED
            if text.strip():
                if column > MOST_COLUMNS:
                    raise Unfit(TOO_LARGE)
                rows[number][column - 1] = text
                grid.struck |= {at} if _is_struck(cell) else set()
        grid.hidden = {n for n, row in sheet.row_dimensions.items() if row.hidden or row.ht == 0}
        for area in sheet.merged_cells.ranges:  # each row in it that is not empty gets the value
            text = rows[area.min_row].get(area.min_col - 1, "") if area.min_row in rows else ""
            for number in [n for n in rows if text and area.min_row < n <= area.max_row]:
                rows[number].setdefault(area.min_col - 1, text)
        for number, cells in sorted(rows.items()):
            grid.rows.append((number, [cells.get(at, "") for at in range(max(cells) + 1)]))
        yield grid


def _formulas(data: bytes) -> set[tuple[str, int, int]]:
    """The sheet, row and column (from 0) of each formula.

    Raises Unfit for a workbook that is damaged, or takes too much time or memory.
    """
    from openpyxl import load_workbook  # noqa: PLC0415
    from openpyxl.worksheet.cell_range import CellRange  # noqa: PLC0415

    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        if sum(member.file_size for member in archive.infolist()) > MOST_UNPACKED:
            raise Unfit(TOO_LARGE)
        if archive.testzip() is not None:
            raise Unfit(DAMAGED)
        names = [name for name in archive.namelist() if re.search(r"sheets/[^/]*\.xml$", name)]
        texts = [archive.read(name) for name in names]
    # Each merged cell takes time and memory, even if it is empty.
    areas = (CellRange(ref.decode()).size for text in texts for ref in MERGED.findall(text))
    if sum(area["rows"] * area["columns"] for area in areas) > MOST_CELLS:
        raise Unfit(TOO_LARGE)
    has_any = any(b"<f" in text for text in texts)
    sheets = load_workbook(io.BytesIO(data), read_only=True).worksheets if has_any else ()
    return {
        (sheet.title, cell.row, cell.column - 1)
        for sheet in sheets
        for row in sheet.rows
        for cell in row
        if cell.data_type == "f"
    }


def _is_seen(fill: Any) -> bool:
    color = getattr(fill, "fgColor", None)
    is_white = color and (color.type, color.value) in WHITE and not color.tint
    return fill.fill_type is not None and not is_white


def _is_struck(cell: Any) -> bool:
    """Whether a cell's text, or a part of it, is struck through, or red."""
    parts = cell.value if isinstance(cell.value, list) else ()
    fonts = [getattr(part, "font", None) for part in parts]
    fonts += [cell.font] if cell.has_style else []
    colors = [f"{font.color.type}{font.color.value}" for font in fonts if font and font.color]
    return any(font and font.strike for font in fonts) or any(map(RED.fullmatch, colors))


def _pages(data: bytes) -> list[Grid]:
    """Read every table of a page. Raises Unfit."""
    from lxml import etree, html  # noqa: PLC0415

    page = html.fromstring(re.sub(r"^\ufeff?\s*<\?xml[^>]*>", "", data.decode()))
    etree.strip_elements(page, "script", "style", "template", etree.Comment, with_tail=False)
    if page.xpath(HARD) or b"line-through" in data:
        raise Unfit(f"cells of this page are hidden, struck or over several rows; {SAVE_AS}")
    for each in page.iter("br", "p", "div", "li"):
        each.tail = " " + (each.tail or "")
    grids: list[Grid] = []
    for number, table in reversed([*enumerate(page.xpath("//table"), 1)]):
        grids.insert(0, grid := Grid(Path(), [], f"Table {number}"))
        for at, row in enumerate(table.iter("tr"), 1):
            cells: list[str] = []
            for cell in row.iter("td", "th"):
                across = re.fullmatch("[1-9][0-9]{0,2}", cell.get("colspan", ""))
                cells.append(" ".join(cell.text_content().split()))
                cells += [""] * (int(across[0]) - 1 if across else 0)
                if len(cells) > MOST_COLUMNS:
                    raise Unfit(TOO_LARGE)
            if any(cells):
                grid.rows.append((at, cells))
        table.clear(keep_tail=True)  # a table inside a cell is read by itself
    if not grids:
        raise Unfit("this is a web page without a table; export the table as .xlsx or .csv")
    return grids


if __name__ == "__main__":
    # Run as a module with its own name: what is pickled must not be named `__main__`.
    from config.sheets import workbook

    workbook.main()
