"""The commands that write files about a campaign: `links` and `report`."""

import json
import sys
from codecs import BOM_UTF8
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import typer
from sqlalchemy import select
from sqlmodel import Session

from config.errors import printable
from config.reading import said_of_table, who_reads
from config.sheets.files import read_file
from data.campaigns.people import find
from data.store.ledger import Ledger
from data.store.tables import PERSON
from flows.cli import words
from tasks.outputs.embed_pages import write_pages
from tasks.outputs.exports import write_file
from tasks.outputs.links import FORMATS, links_as, title_of
from tasks.outputs.report import report_of
from tasks.outputs.results import results_of, write_results
from tasks.status import status_of


def links(
    key: str = typer.Argument(..., help="The campaign."),
    form: Literal["csv", "json", "xlsx", "html"] | None = typer.Option(
        None, "--format", help="Default: what the name after -o ends in, or csv."
    ),
    output: Path | None = typer.Option(
        None, "-o", "--output", help="The file; for html a folder, with a page for each candidate."
    ),
    into: Path | None = typer.Option(
        None, help="Your own sheet: -o becomes a copy of it with each person's result."
    ),
    sheet: str | None = typer.Option(None, help="Of the workbook after --into."),
    force: bool = typer.Option(False, "--force", help="Overwrite the file, whatever it is."),
    as_json: bool = typer.Option(False, "--json", help="The same as --format json."),
) -> None:
    """Write each candidate's link, also into a copy of your own sheet.

    Each stands beside the address that has to log in.

    Example: campaign links backend-2026 --format html -o pages
    """
    if into is not None:
        if output is None:
            raise typer.BadParameter("say where the copy goes: -o COPY", param_hint="--into")
        _into_a_copy(key, into, output, sheet, force=force, quiet=as_json)
        return
    ending = output.suffix.lower().removeprefix(".") if output else ""
    named = ending if ending in FORMATS else None
    wanted = "json" if as_json else form or named or "csv"
    if named not in (None, wanted):
        raise typer.BadParameter(f"{output} does not end in .{wanted}", param_hint="-o")
    _write_links(key, wanted, output, force=force)


def _write_links(key: str, form: str, output: Path | None, *, force: bool) -> None:
    with Ledger.open(create=False) as ledger:
        with ledger.reading() as session:
            campaign = find(session, key)
            found = status_of(session, key)["candidates"]
            title, key = title_of(campaign), campaign.key
        secret = ledger.uuid()
    if output is None:
        if form == "xlsx" and sys.stdout.isatty():
            raise typer.BadParameter("a workbook needs a file: -o links.xlsx", param_hint="-o")
        content = links_as(form, found, title).removeprefix(BOM_UTF8)  # spreadsheets want a BOM
        if form != "xlsx":
            content = printable(content.decode()).encode()
        sys.stdout.buffer.write(content)
        return
    if form == "html":
        index = write_pages(output, found, title, key, secret, force=force)
        words.aside(f"{index} names everybody: it is for you alone.")
        words.aside(f"Put only {index.parent / 'pages'} on a web server.")
    else:
        write_file(output, links_as(form, found, title), force=force)
    without = sum(each["embed_url"] is None for each in found)
    yet = f", {without:,} without a link yet" if without else ""
    words.aside(f"{output}: {words.counted(len(found), 'candidate')}{yet}.")


def _into_a_copy(
    key: str, into: Path, output: Path, sheet: str | None, *, force: bool, quiet: bool
) -> None:
    with Ledger.open(create=False) as ledger, ledger.reading() as session:
        campaign = find(session, key)
        results, file = results_of(status_of(session, key)["candidates"]), Path(campaign.file)
        corrected = dict(_corrected(session, campaign.id))
    for old, new in corrected.items():  # the sheet may have either
        results[old] = results[new]._replace(why=results[new].why or f"logs in as {new}")
    sheet_file = read_file(into).file  # `read_file` refuses a loop of links
    encoding = said_of_table(who_reads(sheet_file, file.parent)).get("encoding")
    named = said_of_table(file).get("columns")
    pairs = named.items() if isinstance(named, dict) else ()  # it may be edited since the run
    columns = {str(field): str(header) for field, header in pairs}
    copied = write_results(
        into, output, results, sheet=sheet, columns=columns, encoding=encoding, force=force
    )
    absent = max(0, copied.absent - len(corrected))
    if quiet:
        print(json.dumps({"statuses": copied.statuses, "absent": absent}))
        return
    counts = ", ".join(f"{number:,} {status}" for status, number in copied.statuses.items())
    words.aside(f"{output}: {counts or 'no row has an address'}.")
    if absent:
        words.aside(f"{words.counted(absent, 'candidate')} of {key} in no row of {into}.")
    if copied.lost:
        words.aside(f"The copy may lack {copied.lost}. {into} is unchanged.")


def _corrected(session: Session, campaign_id: int) -> Iterator[tuple[str, str]]:
    """Each address that was corrected, and the one that its person has now."""
    columns = (PERSON.c[each] for each in ("id", "email1", "became"))
    found = session.execute(select(*columns).where(PERSON.c.campaign_id == campaign_id))
    them = {row.id: row for row in found}
    for old in them.values():
        new = old
        while new.became:
            new = them[new.became]
        if new is not old and old.email1 and new.email1:  # empty once forgotten
            yield old.email1, new.email1


def report(
    key: str = typer.Argument(..., help="The campaign."),
    output: Path = typer.Option(..., "-o", "--output", metavar="PAGE", help="The page to write."),
    names: bool = typer.Option(False, "--names", help="Show addresses in full."),
    force: bool = typer.Option(False, "--force", help="Overwrite the file, whatever it is."),
) -> None:
    """Write one page to send and to keep. It has counts, a picture, and each doubt's story.

    Example: campaign report backend-2026 -o report.html
    """
    with Ledger.open(create=False) as ledger, ledger.reading() as session:
        campaign = find(session, key)
        page = report_of(session, campaign, names=names)
    write_file(output, page, force=force)
    words.aside(f"{output} shows how {campaign.key} stands; it opens without a network.")
