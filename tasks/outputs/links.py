"""Where each candidate takes the assessment (interface 4.7), as csv, json, workbook and page."""

import csv
import json
from codecs import BOM_UTF8
from collections.abc import Iterable, Mapping, Sequence
from io import BytesIO, StringIO
from types import MappingProxyType
from typing import Any, NamedTuple

from data.campaigns.people import Row
from data.store.states import State
from data.store.tables import Campaign
from tasks.outputs.exports import guarded, page, put

FORMATS = ("csv", "json", "xlsx", "html")
NO_PAGES: Mapping[int, str] = MappingProxyType({})


class Link(NamedTuple):
    """One candidate and their assessment; only a login with `email1` opens it.

    `candidate_id` and `embed_url` are None until the service has answered; `invite` is the state
    of the invitation in a word. `fields` is all that is sent of them, for programs.
    """

    first_name: str
    last_name: str
    email1: str
    candidate_id: int | None
    embed_url: str | None
    invite: str
    fields: Mapping[str, Any] = MappingProxyType({})


def title_of(campaign: Campaign) -> str:
    """What candidates read as the name of the assessment."""
    return str((campaign.spec or {}).get("project", {}).get("name") or campaign.key)


def links_of(people: Iterable[Row], app_url: str, project_id: int | None) -> list[Link]:
    """One link for each person, in their order."""
    return [
        Link(
            each.first_name,
            each.last_name,
            each.email1,
            each.candidate_id,
            embed_url(app_url, project_id, each.candidate_id),
            word_of(each.invite),
            each.fields,
        )
        for each in people
    ]


def embed_url(app_url: str, project_id: int | None, candidate_id: int | None) -> str | None:
    """The address of one candidate's assessment; None until the service has given both ids."""
    if project_id is None or candidate_id is None:
        return None
    page = f"{app_url.rstrip('/')}/embedded/welcome"
    return f"{page}?projectId={project_id}&candidateId={candidate_id}"


def word_of(state: State) -> str:
    """A state of a person's step, in a word for people."""
    return "withdrawn" if state is State.GIVEN_UP else str(state)


def written(
    form: str, links: Sequence[Link], title: str, pages: Mapping[int, str] = NO_PAGES
) -> bytes:
    """Write the links in one of FORMATS. `pages` maps a candidate_id to their own page, for html.

    The CSV begins with a byte-order mark, without which Excel does not recognise UTF-8.
    """
    match form:
        case "csv":
            return BOM_UTF8 + as_csv(links)
        case "json":
            return as_json(links)
        case "xlsx":
            return as_xlsx(links)
    return page("links.html", name=title, links=links, pages=pages)


def as_csv(links: Iterable[Link]) -> bytes:
    """Write UTF-8. Every text is quoted: a spreadsheet may split at semicolons."""
    text = StringIO(newline="")
    csv.writer(text, lineterminator="\n").writerow(COLUMNS)
    rows = csv.writer(text, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\n")
    rows.writerows(["" if cell is None else guarded(cell) for cell in _cells(x)] for x in links)
    return text.getvalue().encode()


def as_json(links: Iterable[Link]) -> bytes:
    """Write a list of objects, one a line, with every text exactly as it is."""
    rows = (dict(link.fields) | dict(zip(COLUMNS, _cells(link), strict=True)) for link in links)
    lines = [json.dumps(row, ensure_ascii=False) for row in rows]
    return ("[" + ",\n".join(lines) + "]\n").encode()


def as_xlsx(links: Iterable[Link]) -> bytes:
    """Write a workbook with one sheet, `links`."""
    from openpyxl import Workbook  # noqa: PLC0415 - most commands write no workbook
    from openpyxl.styles import Font  # noqa: PLC0415

    book = Workbook()
    sheet = book.active
    sheet.title, sheet.freeze_panes = "links", "A2"
    sheet.append(COLUMNS)
    for cell in sheet[1]:
        cell.font = Font(bold=True)
    for row, link in enumerate(links, start=2):
        for column, value in enumerate(_cells(link), start=1):
            put(sheet.cell(row, column), value)
        if link.embed_url is not None and row <= MOST_LINKS:
            sheet.cell(row, LINK_COLUMN).hyperlink = link.embed_url
    for letter, width in zip("ABCDEF", (18, 18, 30, 14, 70, 12), strict=True):
        sheet.column_dimensions[letter].width = width
    content = BytesIO()
    book.save(content)
    return content.getvalue()


def _cells(link: Link) -> tuple[object, ...]:
    return link[: len(COLUMNS)]


COLUMNS = Link._fields[:-1]
LINK_COLUMN = COLUMNS.index("embed_url") + 1
MOST_LINKS = 65_000  # Excel opens no sheet with more than 65,530 links
