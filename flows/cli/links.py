"""`campaign links`: where each candidate takes the assessment."""

import sys
from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from flows.cli.arguments import Key
from flows.cli.complaints import UnknownCampaign
from flows.cli.speech import complain, counted

if TYPE_CHECKING:
    from data.exports import Link
    from data.tables import Campaign


class Format(StrEnum):
    """How the links are written."""

    CSV = "csv"
    XLSX = "xlsx"
    JSON = "json"
    HTML = "html"


def links(
    key: Key,
    form: Annotated[
        Format, typer.Option("--format", help="html is a page with each iframe snippet.")
    ] = Format.CSV,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", metavar="PATH", help="A file, or for html a folder, instead of here."
        ),
    ] = None,
) -> None:
    """Give each candidate's embed URL.

    Read from the ledger alone. A candidate who is not in the project yet has a row without a URL.
    """
    from data.exports import write_whole

    campaign, found = _read(key)
    if output is None:
        if form is Format.XLSX and sys.stdout.isatty():
            raise typer.BadParameter("a workbook needs a file: -o links.xlsx")
        # Bytes, as the terminal's encoding is not the file's.
        sys.stdout.flush()
        sys.stdout.buffer.write(_writer(form, campaign, to_file=False)(found))
    else:
        path = output / "index.html" if form is Format.HTML else output
        write_whole(path, _writer(form, campaign, to_file=True)(found))
        complain(f"{counted(len(found), 'candidate')} in {path}")
    if without := sum(1 for link in found if link.embed_url is None):
        complain(f"{counted(without, 'candidate')} without a URL, not in the project yet")


def _read(key: str) -> "tuple[Campaign, list[Link]]":
    """Read one campaign's links. Raises UnknownCampaign, LedgerUnusable, BadSettings."""
    from config.settings import load_local
    from data.ledger import Ledger
    from data.opening import NoLedger
    from flows.cli.status import find_campaign
    from tasks.links import links_of

    try:
        ledger = Ledger.open(load_local().database_url, create=False)
    except NoLedger:
        raise UnknownCampaign(key, []) from None
    with ledger:
        campaign = find_campaign(ledger, key)
        return campaign, links_of(ledger, campaign)


def _writer(
    form: Format, campaign: "Campaign", *, to_file: bool
) -> "Callable[[list[Link]], bytes]":
    from data.exports import as_csv, as_csv_file, as_json, as_xlsx
    from tasks.links import index_page

    writers: dict[Format, Callable[[list[Link]], bytes]] = {
        Format.CSV: as_csv_file if to_file else as_csv,
        Format.XLSX: as_xlsx,
        Format.JSON: as_json,
        Format.HTML: lambda found: index_page(campaign, found),
    }
    return writers[form]
