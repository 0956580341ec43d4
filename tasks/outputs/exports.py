"""The links of a campaign as files: CSV, workbook, JSON and one page, safe to open and to share.

Every text here was written by somebody else, so nothing in it may act: no text becomes a formula or
a tag.
"""

import csv
import json
from codecs import BOM_UTF8
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO, StringIO
from pathlib import Path
from typing import NamedTuple

from config.errors import BadInput
from config.tables.cells import guarded
from tasks.outputs.workbook_copy.cells import LARGEST_EXACT, MOST_LINKS
from tasks.service.embed import iframe

PIECE = 1 << 16  # characters of a CSV that are written at a time


class Link(NamedTuple):
    """One candidate, and where the candidate takes the assessment.

    `candidate_id` and `embed_url` are None until the service has answered; `invite` is the state
    of the invitation (data/store/states.py, Step).
    """

    first_name: str
    last_name: str
    email1: str
    candidate_id: int | None
    embed_url: str | None
    invite: str


class WebLink(str):
    """A web address that we made, which is a link in a workbook."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Result:
    """The result for one person. `finished`: nothing is left to send, to fix or to settle."""

    candidate_id: int | None
    embed_url: str | None
    status: str
    why: str | None
    finished: bool

    @property
    def cells(self) -> tuple[int | str | None, ...]:
        """The result in the order of RESULT_COLUMNS."""
        url = None if self.embed_url is None else WebLink(self.embed_url)
        return self.candidate_id, url, self.status, self.why


COLUMNS = Link._fields
HEADS = (f"{','.join(COLUMNS)}\n".encode(), f'[\n{{"{COLUMNS[0]}": '.encode())  # of CSV and JSON
RESULT_COLUMNS = ("candidate_id", "embed_url", "status", "why")


def as_csv_file(links: Iterable[Link]) -> Iterator[bytes]:
    """Write the CSV with a byte-order mark: without one, Excel does not recognise UTF-8.

    LibreOffice and this program's readers recognise the mark and leave it out.
    """
    yield BOM_UTF8
    yield from as_csv(links)


def as_csv(links: Iterable[Link]) -> Iterator[bytes]:
    """Write UTF-8 without a byte-order mark, as the links come: few of 100,000 are in memory.

    Every text is quoted: a spreadsheet that splits at semicolons would otherwise find new cells.
    """
    text = StringIO(newline="")
    csv.writer(text, lineterminator="\n").writerow(COLUMNS)
    rows = csv.writer(text, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\n")
    for link in links:
        rows.writerow(["" if cell is None else guarded(cell) for cell in link])
        if text.tell() > PIECE:
            yield text.getvalue().encode()
            text.seek(0)
            text.truncate()
    yield text.getvalue().encode()


def as_json(links: Iterable[Link]) -> Iterator[bytes]:
    """Write a list of objects, one on each line, texts exactly as they are; as the links come."""
    write = json.JSONEncoder(ensure_ascii=False).encode
    yield b"[\n"
    before = b""
    for link in links:
        yield before + write(link._asdict()).encode()
        before = b",\n"
    yield b"\n]\n"


def as_xlsx(links: Sequence[Link]) -> bytes:
    """Write a workbook with one sheet, `links`; every text is a plain string."""
    import xlsxwriter  # noqa: PLC0415 - most commands write no workbook

    file = BytesIO()
    options = {"in_memory": True, "strings_to_formulas": False, "strings_to_urls": False}
    with xlsxwriter.Workbook(file, options) as book:
        sheet = book.add_worksheet("links")
        sheet.write_row(0, 0, COLUMNS, book.add_format({"bold": True}))
        for number, link in enumerate(links, start=1):
            sheet.write_row(number, 0, [_exact(cell) for cell in link])
            if link.embed_url is not None and number <= MOST_LINKS:
                sheet.write_url(number, COLUMNS.index("embed_url"), link.embed_url)
        sheet.freeze_panes(1, 0)
        sheet.set_column(0, 3, 18)
        sheet.set_column(4, 4, 70)
    return file.getvalue()


def is_links(path: Path) -> bool:
    """Whether a file has only what is written here, of any campaign, or nothing; in a workbook, no
    sheet and no column of somebody else's. Raises OSError.
    """
    data = path.read_bytes()
    if not data.startswith(b"PK"):
        return not data or data.removeprefix(BOM_UTF8).startswith(HEADS)
    from config.tables.workbook import read_sheets  # noqa: PLC0415 - only a workbook needs it

    try:
        sheets = read_sheets(data, str(path))
    except BadInput:
        return False
    rows = [cells for sheet in sheets.values() for _, cells in sheet.rows()]
    return [*sheets] == ["links"] and rows[:1] == [COLUMNS] and max(map(len, rows)) == len(COLUMNS)


def _exact(cell: object) -> object:
    if isinstance(cell, int) and cell >= LARGEST_EXACT:
        return str(cell)
    return cell


STYLE = """
  :root { color-scheme: light dark; }
  body { font: 1rem/1.5 system-ui, sans-serif; margin: 1.5rem; color: light-dark(#1b2230, #e7eaf0);
    background: light-dark(#fff, #12161d); }
  .wide { overflow-x: auto; }
  table { border-collapse: collapse; }
  th, td { text-align: left; vertical-align: top; padding: .4rem 1rem .4rem 0; }
  tbody tr { border-top: 1px solid light-dark(#ccc, #444); }
  code { font-size: .8rem; overflow-wrap: anywhere; user-select: all; }
  a { color: light-dark(#1c5cad, #8abaf5); }
"""

PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src {{ digest }}">
{{ mark | safe }}
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>{{ title }}</title>
<style>{{ style | safe }}</style>
</head>
<body>
<main>
<h1>{{ title }}</h1>
<p>{{ "{:,}".format(rows | length) }} candidate{{ "" if rows | length == 1 else "s" }}.
{%- if pages %} Each candidate's page embeds the assessment; use the snippet to embed it in a page
of your own. Put only the folder “pages” on a web server: this list names everybody.
{%- else %} Use a candidate's snippet to embed the assessment in a page of your own.{% endif %}</p>
<div class="wide" tabindex="0" role="group" aria-label="Candidates">
<table>
<thead><tr><th scope="col">Candidate</th><th scope="col">Email</th><th scope="col">Invitation</th>
<th scope="col">Assessment</th>{% if pages %}<th scope="col">Page</th>{% endif %}
<th scope="col">Snippet</th></tr></thead>
<tbody>
{%- for link, snippet in rows %}
<tr>
<td>{{ link.first_name }} {{ link.last_name }}</td>
<td>{{ link.email1 }}</td>
<td>{{ link.invite }}</td>
<td>{% if snippet %}<a href="{{ link.embed_url }}">open</a>{% else %}not known yet{% endif %}</td>
{%- if pages %}
<td>{% if link.candidate_id in pages %}<a href="{{ pages[link.candidate_id] }}">page</a>
{%- endif %}</td>
{%- endif %}
<td>{% if snippet %}<code>{{ snippet }}</code>{% endif %}</td>
</tr>
{%- endfor %}
</tbody>
</table>
</div>
</main>
</body>
</html>
"""


def as_html(links: Sequence[Link], *, title: str, mark: str, pages: Mapping[int, str]) -> bytes:
    """Write one page with a row per candidate, and the iframe of each embed URL (interface 4.7).

    `title` is that of the assessment, `mark` the tag that identifies the page as ours
    (tasks/outputs/page_mark.py). `pages` maps a candidate_id to that candidate's own page, if there
    is one.
    """
    from jinja2 import Environment  # noqa: PLC0415 - most commands write no page

    from tasks.outputs.embed_page import digest  # noqa: PLC0415

    page = Environment(autoescape=True, keep_trailing_newline=True).from_string(PAGE)
    rows = [(link, iframe(link.embed_url, title) if link.embed_url else None) for link in links]
    shown = {"title": f"{title}: links", "mark": mark, "rows": rows, "pages": pages}
    return page.render(shown, style=STYLE, digest=digest(STYLE)).encode()
