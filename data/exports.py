"""The links of a campaign as files: CSV, workbook, JSON and one page, safe to open and to share.

Every text here was written by somebody else, so nothing in it may act: no cell is a formula, no
tag is a tag. A file appears whole or not at all, and only its owner can read it.
"""

import csv
import json
import os
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import asdict, astuple, dataclass, fields
from io import BytesIO, StringIO
from pathlib import Path

from config.errors import CampaignError

# Beyond 15 digits a spreadsheet rounds a number, and an id would be another id.
LARGEST_EXACT_IN_A_CELL = 10**15
# With one of these in front, a spreadsheet takes a text for something to run.
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")


class CannotWrite(CampaignError):
    """A file could not be written; whatever was there before is still there."""

    def __init__(self, path: Path, why: str) -> None:
        super().__init__(f"{path} cannot be written ({why}). Name another place and try again.")


@dataclass(frozen=True, slots=True)
class Link:
    """One candidate and where that person takes the assessment.

    `candidate_id` and `embed_url` are None until the service has answered; `invite` is the state
    of the invitation (data/states.py, Step).
    """

    first_name: str
    last_name: str
    email1: str
    candidate_id: int | None
    embed_url: str | None
    invite: str


@dataclass(frozen=True, slots=True)
class Result:
    """What came of one person. `finished`: nothing is left to send, to mend or to settle."""

    candidate_id: int | None
    embed_url: str | None
    status: str
    why: str | None
    finished: bool

    @property
    def cells(self) -> tuple[int | str | None, ...]:
        """The result in the order of RESULT_COLUMNS."""
        return self.candidate_id, self.embed_url, self.status, self.why


COLUMNS = tuple(field.name for field in fields(Link))
RESULT_COLUMNS = ("candidate_id", "embed_url", "status", "why")


def as_csv(links: Sequence[Link]) -> bytes:
    """Write UTF-8 without a byte-order mark, for a pipe; every text is quoted.

    Quoted, because a spreadsheet that splits at semicolons would otherwise find new cells.
    """
    text = StringIO(newline="")
    csv.writer(text, lineterminator="\n").writerow(COLUMNS)
    rows = csv.writer(text, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\n")
    for link in links:
        rows.writerow(["" if cell is None else _harmless(cell) for cell in astuple(link)])
    return text.getvalue().encode()


def as_csv_file(links: Sequence[Link]) -> bytes:
    """Write the CSV with a byte-order mark: without one, Excel takes UTF-8 for another encoding.

    LibreOffice and the readers of this program see the mark and leave it out.
    """
    return b"\xef\xbb\xbf" + as_csv(links)


def _harmless(cell: object) -> object:
    if isinstance(cell, str) and cell.startswith(FORMULA_STARTS):
        return "'" + cell
    return cell


def as_json(links: Sequence[Link]) -> bytes:
    """Write a list of objects, texts exactly as they are."""
    rows = [asdict(link) for link in links]
    return (json.dumps(rows, ensure_ascii=False, indent=1) + "\n").encode()


def as_xlsx(links: Sequence[Link]) -> bytes:
    """Write a workbook with one sheet, `links`; every text is a plain string."""
    import xlsxwriter  # noqa: PLC0415 - most commands write no workbook

    file = BytesIO()
    options = {"in_memory": True, "strings_to_formulas": False, "strings_to_urls": False}
    with xlsxwriter.Workbook(file, options) as book:
        sheet = book.add_worksheet("links")
        sheet.write_row(0, 0, COLUMNS, book.add_format({"bold": True}))
        for number, link in enumerate(links, start=1):
            sheet.write_row(number, 0, [_exact(cell) for cell in astuple(link)])
        sheet.freeze_panes(1, 0)
        sheet.set_column(0, 3, 18)
        sheet.set_column(4, 4, 70)
    return file.getvalue()


def _exact(cell: object) -> object:
    if isinstance(cell, int) and cell >= LARGEST_EXACT_IN_A_CELL:
        return str(cell)
    return cell


PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="referrer" content="no-referrer">
<title>{{ title }}</title>
<style>
  body { font: 1rem/1.5 system-ui, sans-serif; margin: 2rem; }
  table { border-collapse: collapse; }
  th, td { text-align: left; vertical-align: top; padding: .4rem 1rem .4rem 0; }
  tr + tr { border-top: 1px solid #ccc; }
  code { font-size: .8rem; overflow-wrap: anywhere; user-select: all; }
</style>
<h1>{{ title }}</h1>
<p>{{ rows | length }} candidates. A snippet embeds that candidate's assessment in a page.</p>
<table>
<thead><tr><th>Candidate<th>Email<th>Invitation<th>Assessment<th>Snippet</tr></thead>
<tbody>
{%- for link, snippet in rows %}
<tr>
<td>{{ link.first_name }} {{ link.last_name }}
<td>{{ link.email1 }}
<td>{{ link.invite }}
<td>{% if snippet %}<a href="{{ link.embed_url }}">open</a>{% else %}not known yet{% endif %}
<td>{% if snippet %}<code>{{ snippet }}</code>{% endif %}
</tr>
{%- endfor %}
</tbody>
</table>
</html>
"""


def as_html(links: Sequence[Link], *, title: str, snippet: Callable[[str], str]) -> bytes:
    """Write one page with a row per candidate; `snippet` makes the iframe of an embed URL."""
    from jinja2 import Environment  # noqa: PLC0415 - most commands write no page

    page = Environment(autoescape=True, keep_trailing_newline=True).from_string(PAGE)
    rows = [(link, snippet(link.embed_url) if link.embed_url else None) for link in links]
    return page.render(title=title, rows=rows).encode()


def write_whole(path: Path, content: bytes) -> None:
    """Write a file in one step, for its owner's eyes only. Raises CannotWrite."""
    path = path.resolve()  # a link is followed, not replaced
    if path.exists() and not path.is_file():
        raise CannotWrite(path, "it is not a file")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        number, beside = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name[:50]}.")
    except OSError as error:
        raise CannotWrite(path, error.strerror or "unknown cause") from None
    try:
        with os.fdopen(number, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        Path(beside).replace(path)
    except OSError as error:
        Path(beside).unlink(missing_ok=True)
        raise CannotWrite(path, error.strerror or "unknown cause") from None
    except BaseException:
        Path(beside).unlink(missing_ok=True)
        raise
