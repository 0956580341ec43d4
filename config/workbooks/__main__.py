"""Reads a workbook from standard input and writes its sheets as `frames`, within limits.

The arguments are the names of the wanted sheets, in lower case; if none of them exists, the only
sheet is read. Without arguments every sheet is wanted.
"""

import sys
from collections.abc import Iterator, Sequence
from typing import IO, Any

from config.workbooks import frames
from config.workbooks.content import is_markup, is_xml
from config.workbooks.limits import MOST_CELLS, limit
from config.workbooks.shapes import (
    DAMAGED,
    TABLE_COLUMNS,
    Book,
    Layout,
    RowOfCells,
    Unfit,
    column_letters,
)

CELLS_IN_A_PIECE = 10_000
FAR_AWAY = "this cell lies far outside any table; delete what is in it"
TOO_LARGE = "this workbook is larger than any campaign needs; copy its candidates to a new one"
NO_PART_OF_ONE = "this is an archive without a workbook in it"

# Files of other programs in the same packaging, by a part that only they have.
FOREIGN = {
    "xl/workbook.bin": "a workbook of the binary kind (.xlsb)",
    "word/document.xml": "a text document",
    "ppt/presentation.xml": "a presentation",
    "Index/Document.iwa": "a document of Numbers, Pages or Keynote",
}


def main(wanted: Sequence[str], source: IO[bytes], answer: IO[bytes]) -> None:
    """Write the wanted sheets of a workbook, or why it cannot be read."""
    try:
        send(book_of(source.read()), wanted, answer)
        frames.write(answer, frames.END)
    except Unfit as error:
        frames.write(answer, frames.UNFIT, str(error), error.sheet, error.cell)
    except MemoryError:
        frames.write(answer, frames.UNFIT, TOO_LARGE)
    except Exception:  # noqa: BLE001 - whatever a library meets in a damaged file
        frames.write(answer, frames.UNFIT, DAMAGED)
    answer.flush()


def book_of(data: bytes) -> Book:
    """Open a workbook by its content, whatever its name. Raises Unfit."""
    # Each kind has libraries of its own to load.
    from config.workbooks.container import archive_of, old_format  # noqa: PLC0415

    if old_format(data):
        from config.workbooks.xls import Xls  # noqa: PLC0415

        return Xls(data)
    if is_markup(data):
        if is_xml(data):
            from config.workbooks.xml_2003 import Xml2003  # noqa: PLC0415

            return Xml2003(data)
        from config.workbooks.web_page import WebPage  # noqa: PLC0415

        return WebPage(data)
    archive = archive_of(data)
    members = set(archive.namelist())
    for part, what in FOREIGN.items():
        if part in members:
            raise Unfit(f"this is {what}; save its table as .xlsx")
    if "[Content_Types].xml" in members:
        from config.workbooks.xlsx import Xlsx  # noqa: PLC0415

        return Xlsx(archive)
    if "content.xml" in members:
        from config.workbooks.ods import Ods  # noqa: PLC0415

        return Ods(archive)
    raise Unfit(NO_PART_OF_ONE)


def send(book: Book, wanted: Sequence[str], answer: IO[bytes]) -> None:
    """Write the wanted sheets. Raises Unfit if they hold too much."""
    frames.write(answer, frames.BOOK, book.from_1904, book.names)
    names = [name.strip().casefold() for name, _ in book.names]
    positions = [at for at, name in enumerate(names) if name in wanted or not wanted]
    for position in positions or ([0] if len(names) == 1 else []):
        frames.write(answer, frames.SHEET, position)
        layout = Layout()
        for piece in _pieces(book.rows(position, layout), book.names[position][0]):
            frames.write(answer, frames.ROWS, piece)
        linked = sum((e - t + 1) * (r - l + 1) for t, e, l, r, _ in layout.links)  # noqa: E741
        if max(linked, sum(end - top for top, end, _ in layout.merged)) > MOST_CELLS:
            raise Unfit(TOO_LARGE)
        facts = layout.hidden, layout.merged, layout.links, layout.struck
        frames.write(answer, frames.LAYOUT, *facts)


def _pieces(rows: Iterator[RowOfCells], sheet: str) -> Iterator[list[tuple[int, tuple[Any, ...]]]]:
    piece: list[tuple[int, tuple[Any, ...]]] = []
    cells_in_it, cells_in_all = 0, 0
    for number, cells in rows:
        while cells and (cells[-1] is None or cells[-1] == ""):
            cells.pop()
        if not cells:
            continue
        if len(cells) > TABLE_COLUMNS:
            raise Unfit(FAR_AWAY, sheet, f"{column_letters(len(cells) - 1)}{number}")
        piece.append((number, tuple(cells)))
        cells_in_it += len(cells)
        cells_in_all += len(cells)
        if cells_in_all > MOST_CELLS:
            raise Unfit(TOO_LARGE)
        if cells_in_it >= CELLS_IN_A_PIECE:
            yield piece
            piece, cells_in_it = [], 0
    yield piece


if __name__ == "__main__":
    limit()
    main(sys.argv[1:], sys.stdin.buffer, sys.stdout.buffer)
