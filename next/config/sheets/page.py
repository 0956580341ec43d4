"""The tables of a web page, as a reader sees them: many systems export one and call it .xls."""

import re
from pathlib import Path
from typing import Any

from config.sheets.cells import MOST_CELLS, MOST_COLUMNS, PARTLY_STRUCK, Grid, Unfit
from config.sheets.files import TOO_LARGE, encoding_of

BREAK = "\ue000"  # stands for <br>, until all other white space is one blank
STRUCK = ".//*[self::s or self::strike or self::del or contains(@style, 'line-through')]//text()"


def page_grids(data: bytes) -> list[Grid]:
    """Read every table of a page. Raises Unfit."""
    from lxml import etree, html  # noqa: PLC0415

    try:
        text = data.decode(encoding_of(data) or "utf-8")
    except UnicodeDecodeError:
        text = data.decode("cp1252", "replace")
    page = html.fromstring(re.sub(r"^\ufeff?\s*<\?xml[^>]*>", "", text))
    etree.strip_elements(page, "script", "style", "template", etree.Comment, with_tail=False)
    for each in page.iter("br", "p", "div", "li"):
        each.tail = (BREAK if each.tag == "br" else " ") + (each.tail or "")
    tables = page.xpath("//table")
    if not tables:
        raise Unfit("this is a web page without a table; export the table as .xlsx or .csv")
    grids = []
    for number, table in reversed([*enumerate(tables, 1)]):
        grids.append(_grid(table, Grid(Path(), [], f"Table {number}")))
        if table.getparent() is not None:
            table.drop_tree()  # a table inside a cell is one of its own
    return grids[::-1]


def _grid(table: Any, grid: Grid) -> Grid:
    """Take over the rows of a table."""
    reaching: dict[int, tuple[int, str]] = {}  # by column: the last row of a cell, and its text
    for number, row in enumerate(table.xpath("./tr|./thead/tr|./tbody/tr|./tfoot/tr"), 1):
        if row.get("hidden") is not None or re.search(r"display:\s*none", row.get("style", "")):
            grid.hidden.add(number)
        cells: list[str] = []
        for cell in [*row.xpath("./td|./th"), None]:
            while reaching.get(len(cells), (0, ""))[0] >= number:
                cells.append(reaching[len(cells)][1])
            if cell is None:
                break
            at, text = (number, len(cells)), cell.text_content()
            text = "\n".join(" ".join(line.split()) for line in text.split(BREAK)).strip()
            struck = len("".join(cell.xpath(STRUCK)).split())
            text = PARTLY_STRUCK if 0 < struck < len(text.split()) else text
            grid.struck |= {at} if struck and text != PARTLY_STRUCK else set()
            links = [str(href).strip() for href in cell.xpath(".//a/@href")]
            if links := [link for link in links if link.lower().startswith("mailto:")]:
                grid.links[at] = ",".join(links)
            across, down = (_span(cell, name) for name in ("colspan", "rowspan"))
            if len(cells) + across > MOST_COLUMNS:
                raise Unfit(TOO_LARGE)
            for shown in [text, *[""] * (across - 1)]:
                reaching[len(cells)] = (number + down - 1, shown)
                cells.append(shown)
        if any(cells):
            grid.rows.append((number, cells))
        if len(grid.rows) * len(cells) > MOST_CELLS:
            raise Unfit(TOO_LARGE)
    return grid


def _span(cell: Any, name: str) -> int:
    typed = cell.get(name, "").strip()
    return min(max(int(typed[:6]), 1), 65_534) if typed.isascii() and typed.isdigit() else 1
