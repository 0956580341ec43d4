"""The tables of a web page, as a reader sees them: many systems export one and call it .xls."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from config.sheets.cells import MOST_CELLS, MOST_COLUMNS, Grid, Unfit
from config.sheets.files import TOO_LARGE, encoding_of

PARTLY_STRUCK = "text of which only a part is struck through"
_UNSEEN = {"script", "style", "template", "table"}  # a table inside a cell is one of its own


def page_grids(data: bytes) -> Iterator[Grid]:
    """Read every table of a page. Raises Unfit."""
    from lxml import html  # noqa: PLC0415

    try:
        text = data.decode(encoding_of(data) or "utf-8")
    except UnicodeDecodeError:
        text = data.decode("cp1252", "replace")
    page = html.fromstring(re.sub(r"^\ufeff?\s*<\?xml[^>]*>", "", text))
    tables = page.xpath("//table")
    for number, table in enumerate(tables, 1):
        grid = Grid(Path(), [], f"Table {number}")
        reaching: dict[int, tuple[int, str]] = {}
        for at, row in enumerate(table.xpath("./tr|./thead/tr|./tbody/tr|./tfoot/tr"), 1):
            if row.get("hidden") is not None or "display:none" in _style(row):
                grid.hidden.add(at)
            cells = _cells(grid, at, row, reaching)
            if any(cells):
                grid.rows.append((at, cells))
            if len(grid.rows) * len(cells) > MOST_CELLS:
                raise Unfit(TOO_LARGE)
        yield grid
    if not tables:
        raise Unfit("this is a web page without a table; export the table as .xlsx or .csv")


def _cells(grid: Grid, number: int, row: Any, reaching: dict[int, tuple[int, str]]) -> list[str]:
    """The texts of a row; by column, `reaching` holds the last row that a cell spans, its text."""
    cells: list[str] = []

    def fill() -> None:
        while reaching.get(len(cells), (0, ""))[0] >= number:
            cells.append(reaching[len(cells)][1])

    for cell in row.xpath("./td|./th"):
        fill()
        text = _text(cell, grid, (number, len(cells)))
        across, down = (_span(cell, name) for name in ("colspan", "rowspan"))
        if len(cells) + across > MOST_COLUMNS:
            raise Unfit(TOO_LARGE)
        for shown in [text, *[""] * (across - 1)]:
            reaching[len(cells)] = (number + down - 1, shown)
            cells.append(shown)
    fill()
    return cells


def _text(cell: Any, grid: Grid, at: tuple[int, int]) -> str:
    """The text of a cell, whose oddities are noted."""
    pieces: list[tuple[str, bool]] = []
    _collect(cell, pieces, struck=False)
    states = {struck for piece, struck in pieces if piece.strip()}
    grid.struck |= {at} if states == {True} else set()
    grid.spoilt |= {at: PARTLY_STRUCK} if len(states) > 1 else {}
    links = [str(href).strip() for href in cell.xpath(".//a/@href")]
    if links := [link for link in links if link.lower().startswith("mailto:")]:
        grid.links[at] = ",".join(links)
    lines = "".join(piece for piece, _ in pieces).split("\n")
    return "\n".join(" ".join(line.split()) for line in lines).strip()


def _collect(element: Any, pieces: list[tuple[str, bool]], *, struck: bool) -> None:
    """Collect the pieces of text within an element, and whether each is struck through."""
    struck = struck or element.tag in {"s", "strike", "del"} or "line-through" in _style(element)
    pieces.append((_flat(element.text), struck))
    for child in element:
        if child.tag == "br":
            pieces.append(("\n", struck))
        elif isinstance(child.tag, str) and child.tag not in _UNSEEN:
            pieces.append((" " if child.tag in {"p", "div", "li"} else "", struck))
            _collect(child, pieces, struck=struck)
        pieces.append((_flat(child.tail), struck))


def _flat(text: str | None) -> str:
    return re.sub(r"[ \t\r\n\f]+", " ", text or "")


def _style(element: Any) -> str:
    return str(element.get("style", "")).replace(" ", "").lower()


def _span(cell: Any, name: str) -> int:
    typed = cell.get(name, "").strip()
    return min(max(int(typed[:6]), 1), 65_534) if typed.isascii() and typed.isdigit() else 1
