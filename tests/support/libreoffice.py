"""LibreOffice for the tests of sheets: it opens files, and saves them as what it was asked for.

Mark what uses it with `pytest.mark.xdist_group("libreoffice")`. Without LibreOffice the tests skip
and say what to install; with CI=true they fail.
"""

import os
import shutil
import subprocess
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree as ET
from xml.etree.ElementTree import Element

import pytest

from config.workbooks.ods import HREF, OFFICE, STYLE, TABLE, TEXT
from tests.support.session import PATIENCE

BACKGROUND = "{urn:oasis:names:tc:opendocument:xmlns:xsl-fo-compatible:1.0}background-color"


def soffice() -> str:
    """Find the program; skips the test without it, or fails it where CI=true."""
    if found := shutil.which("soffice"):
        return found
    missing = "this test needs LibreOffice: apt-get install libreoffice-calc-nogui"
    if os.environ.get("CI") == "true":
        pytest.fail(missing)
    pytest.skip(missing)


@dataclass(frozen=True)
class LibreOffice:
    """The program with settings of its own, in a folder of the test's."""

    profile: Path

    def save(
        self, files: Iterable[Path], into: Path, kind: str, *, opened_as: str = ""
    ) -> list[Path]:
        """Open files and save each in a folder as `kind`, an ending and perhaps a filter.

        `opened_as` is a filter for files that tell nothing of themselves. Whatever LibreOffice
        could not open is missing in the answer.
        """
        asked = [f"--infilter={opened_as}"] if opened_as else []
        subprocess.run(
            [
                *(soffice(), f"-env:UserInstallation={self.profile.as_uri()}", "--headless"),
                *(*asked, "--convert-to", kind, "--outdir", str(into), *map(str, files)),
            ],
            check=True,
            capture_output=True,
            timeout=PATIENCE,
        )
        return sorted(into.iterdir())


@dataclass(frozen=True)
class Seen:
    """A cell as LibreOffice sees it: what it shows, whether that is a number, where a click leads,
    the note on it, the colour behind it, and the formula that it would calculate."""

    text: str
    number: bool = False
    link: str | None = None
    note: str | None = None
    colour: str | None = None
    formula: str | None = None


BLANK = Seen("")
Rows = list[list[Seen]]


def seen(flat: Path) -> dict[str, Rows]:
    """Read the sheets of a workbook that LibreOffice saved as .fods, without its blank ends."""
    document = ET.parse(flat).getroot()
    colours = {
        style.get(f"{STYLE}name"): cell.get(BACKGROUND)
        for style in document.iter(f"{STYLE}style")
        for cell in style.iter(f"{STYLE}table-cell-properties")
        if cell.get(BACKGROUND) != "transparent"
    }
    return {
        table.get(f"{TABLE}name", ""): list(_rows(table, colours))
        for table in document.iter(f"{TABLE}table")
    }


def _rows(table: Element, colours: dict[str | None, str | None]) -> Iterator[list[Seen]]:
    blank = 0
    for row in table.iter(f"{TABLE}table-row"):
        cells: list[Seen] = []
        for cell in row:
            if cell.tag in (f"{TABLE}table-cell", f"{TABLE}covered-table-cell"):
                times = int(cell.get(f"{TABLE}number-columns-repeated", 1))
                # A column that is coloured to its end has a thousand cells.
                cells += [_cell(cell, colours)] * min(times, 1000)
        while cells and not cells[-1].text and not cells[-1].note:
            cells.pop()
        times = int(row.get(f"{TABLE}number-rows-repeated", 1))
        if not cells:
            blank += times
            continue
        yield from ([] for _ in range(blank))
        yield from ([*cells] for _ in range(times))
        blank = 0


def _cell(cell: Element, colours: dict[str | None, str | None]) -> Seen:
    note = cell.find(f"{OFFICE}annotation")
    link = next(cell.iter(f"{TEXT}a"), None)
    return Seen(
        _text(cell),
        cell.get(f"{OFFICE}value-type") in ("float", "percentage", "currency", "date"),
        None if link is None else link.get(HREF),
        None if note is None else _text(note),
        colours.get(cell.get(f"{TABLE}style-name")),
        cell.get(f"{TABLE}formula"),
    )


def _text(element: Element) -> str:
    """What stands in the paragraphs of a cell or of a note; spaces are elements in them."""
    for space in element.iter(f"{TEXT}s"):
        space.text = " " * int(space.get(f"{TEXT}c", 1))
    lines = (line for line in element if line.tag == f"{TEXT}p")
    return "\n".join("".join(line.itertext()) for line in lines)
