"""Write files for people: as a whole, remembered as ours, and harmless to open.

The texts in these files come from other people, so none may become a formula, a tag or a script.
"""

import csv
import re
from base64 import b64encode
from codecs import BOM_UTF8
from collections.abc import Iterable, Sequence
from functools import cache
from hashlib import sha256
from io import BytesIO, StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from config.errors import CampaignError
from data.store.files import replace
from tasks.outputs.overwriting import check_output, remember

if TYPE_CHECKING:
    from jinja2 import Environment

COPY = "campaign-copy-5b1f0c9e7a64 "  # begins the `category` of a copy; then its original's name
OWN, PUBLIC = 0o600, 0o644  # PUBLIC: for a web server, which is another user


class CannotWrite(CampaignError):
    says = "{path} cannot be written: {why}. What was there before is still there."
    then = "Name another place."


def write_file(path: Path, content: bytes, *, force: bool = False, mode: int = OWN) -> None:
    """Write a file in one step, so that nobody sees half of it.

    Raises CannotWrite, and NotOurs if it would replace a file of somebody else.
    """
    if path.exists() and not path.is_file():
        raise CannotWrite(path=path, why="it is a folder or a device, and no file")
    check_output(path, force=force)
    replace_file(path, content, mode)
    remember(content)


def replace_file(path: Path, content: bytes, mode: int = OWN) -> None:
    """Write a file in one step, over any file but a link. Raises CannotWrite."""
    if path.is_symlink():
        raise CannotWrite(path=path, why="it is a link to another file")
    try:
        replace(path, content, mode)
    except OSError as error:
        raise CannotWrite(path=path, why=error.strerror or "unknown cause") from None


def as_csv(rows: Iterable[Sequence[object]], delimiter: str = ",") -> bytes:
    """Write a CSV that spreadsheets and our own reader read alike, and that has no formula.

    Every text is quoted, because spreadsheets may split at semicolons. The file begins with a
    byte-order mark, because Excel does not recognise UTF-8 without one.
    """
    text = StringIO(newline="")
    writer = csv.writer(
        text, delimiter=delimiter, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\n"
    )
    writer.writerows(["" if cell is None else _guarded(cell) for cell in row] for row in rows)
    return BOM_UTF8 + text.getvalue().encode("utf-8", "replace")


def as_xlsx(rows: Iterable[Sequence[object]], links: int) -> bytes:
    """Write a workbook with one sheet. `links` is the column (from 0) of web addresses."""
    from openpyxl import Workbook  # noqa: PLC0415 - most commands write no workbook

    book = Workbook()
    book.active.sheet_format.defaultColWidth = 20
    for number, row in enumerate(rows, start=1):
        for column, value in enumerate(row):
            put(book.active.cell(number, column + 1), value, link=column == links)
    book.save(content := BytesIO())
    return content.getvalue()


def put(cell: Any, value: object, *, link: bool = False) -> None:
    """Set a cell of an openpyxl workbook. Texts stay texts, and long numbers keep their digits.

    With `link`, a web address becomes a link, in the first MOST_LINKS rows.
    """
    if isinstance(value, int) and abs(value) >= LONG_NUMBER:
        value = str(value)
    cell.value = value = _visible(value, keep="\n")
    if isinstance(value, str):
        cell.data_type = "s"
    is_link = link and str(value).startswith("http") and cell.row <= MOST_LINKS
    cell.hyperlink = value if is_link else None


def page(template: str, **shown: Any) -> bytes:
    """Fill in a template of the folder `templates`; pages include their styles and scripts."""
    return _pages().get_template(template).render(shown).encode()


def digest(text: str) -> str:
    """The hash of a style or script for a page's content security policy."""
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


@cache
def _pages() -> "Environment":
    from jinja2 import Environment, FileSystemLoader  # noqa: PLC0415 - few commands write a page

    folder = Path(__file__).parent / "templates"
    pages = Environment(
        loader=FileSystemLoader(folder), autoescape=True, trim_blocks=True, finalize=_visible
    )
    for name in ("style.css", "watch.js", "copy.js", "local.js"):
        text = (folder / name).read_text("utf-8")
        pages.globals[name.replace(".", "_")] = text
        pages.globals[f"{name.partition('.')[0]}_digest"] = digest(text)
    return pages


def _guarded(cell: object) -> object:
    """Put an apostrophe before a text that a spreadsheet would calculate."""
    calculates = isinstance(cell, str) and cell.startswith(CALCULATES)
    return f"'{cell}" if calculates and not NUMBER.fullmatch(str(cell)) else cell


def _visible(value: object, keep: str = "") -> object:
    """Replace control characters, and characters that change a text's direction."""
    if not isinstance(value, str) or hasattr(value, "__html__") or value.isprintable():
        return value
    return "".join(
        c if c.isprintable() or c in keep else " " if c.isspace() else "\N{REPLACEMENT CHARACTER}"
        for c in value
    )


# Spreadsheets take a text that begins with one of these for a formula; four are full-width.
CALCULATES = (*"=+-@\t\r\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")
# Texts that begin like a formula and are none: a number, a telephone number, a dash.
NUMBER = re.compile(r"[+-]?\d+(?:[.,]\d+)?|\+\d[\d ]*|[+-]+")
MOST_LINKS = 65_000  # Excel opens no sheet with more than 65,530 links
LONG_NUMBER = 10**15  # a spreadsheet keeps fifteen digits of a number
