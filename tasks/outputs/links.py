"""Each candidate's link to the assessment (interface 4.7), as csv, json, workbook or page."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from data.store.tables import Campaign
from tasks.outputs.exports import as_csv, as_xlsx, page

FORMATS = ("csv", "json", "xlsx", "html")
COLUMNS = ("first_name", "last_name", "email1", "candidate_id", "embed_url", "invite")
Standing = Mapping[str, Any]
"""One of the candidates of `status_of`; only a login with their `email1` opens the link."""


def title_of(campaign: Campaign) -> str:
    """The project's name, which candidates read; for a project without a name, the key."""
    return str((campaign.spec or {}).get("project", {}).get("name") or campaign.key)


def embed_url(app_url: str, project_id: int | None, candidate_id: int | None) -> str | None:
    """The web address of a candidate's assessment; None until both ids are known."""
    if project_id is None or candidate_id is None:
        return None
    page = f"{app_url.rstrip('/')}/embedded/welcome"
    return f"{page}?projectId={project_id}&candidateId={candidate_id}"


def links_as(
    form: str, people: Sequence[Standing], title: str, pages: Mapping[int, str] | None = None
) -> bytes:
    """Write the links in one of FORMATS. For html, `pages` maps a candidate_id to its page.

    JSON has one person a line, with all fields of `status_of`, and every text as it is.
    """
    if form == "html":
        return page("links.html", name=title, links=people, pages=pages)
    if form == "json":
        lines = [json.dumps({**each}, ensure_ascii=False) for each in people]
        return ("[" + ",\n".join(lines) + "]\n").encode()
    rows = [COLUMNS, *([each[name] for name in COLUMNS] for each in people)]
    return as_csv(rows) if form == "csv" else as_xlsx(rows, COLUMNS.index("embed_url"))
