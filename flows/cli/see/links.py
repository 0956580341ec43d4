"""`campaign links`: where each candidate takes the assessment."""

import sys
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, get_args

import typer

from config.command_line import command
from flows.cli.arguments import DefinitionFile, Key
from flows.cli.ledgers import campaign_as_it_is
from flows.cli.outputs import check_ours, check_output, output_option
from flows.words.complaints import Mistyped
from flows.words.speech import complain, counted, for_program, manner, print_bytes

if TYPE_CHECKING:
    from data.store.tables import Campaign
    from tasks.outputs.exports import Link


Format = Literal["csv", "xlsx", "json", "html"]
FORMATS: tuple[Format, ...] = get_args(Format)
Form = Annotated[
    Format | None,
    typer.Option(
        "--format",
        help="What to write; default: what the ending of -o says, or csv. html is an index, and "
        "with -o a page for each candidate.",
    ),
]
Output = Annotated[
    Path | None,
    output_option("The file to write (for html, a folder); default: standard output.", "PATH"),
]
Into = Annotated[
    Path | None,
    typer.Option(
        metavar="TABLE",
        help="Write the links, with status and reason, into a copy of your own table of people. "
        "The copy of an .xls or .ods is an .xlsx that has only the values.",
    ),
]
FailedOnly = Annotated[
    bool, typer.Option("--failed-only", help="With --into: only the rows to fix and send again.")
]
SheetOfTable = Annotated[
    str | None,
    typer.Option("--sheet", metavar="NAME", help="With --into: the sheet with the people."),
]


def links(
    key: Key,
    form: Form = None,
    output: Output = None,
    into: Into = None,
    failed_only: FailedOnly = False,
    definition: DefinitionFile = None,
    sheet: SheetOfTable = None,
) -> None:
    """Give each candidate's link.

    Reads only the ledger. A candidate who is not in the project yet has a row without a link.
    In csv, a text that a spreadsheet would take for a formula has an apostrophe in front; json has
    every text unchanged.
    """
    from data.own_files import write_pieces
    from tasks.outputs.exports import is_links
    from tasks.outputs.links import forgotten_among, links_of, results_of

    if into is not None:
        from flows.cli.see.writing_back import WritingBack, check_places

        copy = check_places(into, output, failed_only=failed_only)
        with campaign_as_it_is(key) as (ledger, campaign):
            check_output(copy, ledger)
            results = results_of(ledger, campaign)
            forgotten = partial(forgotten_among, ledger, campaign)
            written = WritingBack(into, copy, campaign, results, definition, sheet, forgotten)
            complain(*(written.unfinished() if failed_only else written.whole()))
        return
    if failed_only or sheet:
        option = "--failed-only" if failed_only else "--sheet"
        raise typer.BadParameter("use this with --into TABLE", param_hint=option)
    form = _form_for(output, form, key)
    for_program(form=form)
    if form == "html" and output is not None:
        _write_pages(key, output)
        return
    with campaign_as_it_is(key) as (ledger, campaign):
        check_output(output, ledger)
        check_ours(output, is_links, what="links file")
        people = links_of(ledger, campaign)
    for_program(links=[link._asdict() for link in people])
    if output is None and manner().as_json:
        pass
    elif output is None:
        if form == "xlsx" and sys.stdout.isatty():
            raise typer.BadParameter("a workbook needs a file: -o links.xlsx")
        print_bytes(b"".join(_written(people, form, campaign, to_file=False)))
    else:
        write_pieces(output, _written(people, form, campaign, to_file=True))
        complain(f"{counted(len(people), 'candidate')} in {output}")
    _count_without(people)


def _form_for(output: Path | None, typed: Format | None, key: str) -> Format:
    """What to write: what was typed, or else what the output's name says, or else csv.

    Raises Mistyped where the two differ, and for a file of html, which is a folder.
    """
    ending = output.suffix.lower()[1:] if output else ""
    named = next((form for form in FORMATS if form == ending), None)
    form = typed or named or "csv"
    if output is None or named is None or (form == named and (typed or form != "html")):
        return form
    what = "html is a folder of pages" if form == "html" else f"{output} does not end in .{form}"
    name = output.with_suffix("" if form == "html" else f".{form}")
    again = command("links", key, "--format", form, "-o", name)
    raise Mistyped(f"{what}, so nothing was written. To write {form}: {again}")


def _count_without(people: "list[Link]") -> None:
    if without := sum(1 for link in people if link.embed_url is None):
        complain(f"{counted(without, 'candidate')} without a URL, not in the project yet")


def _write_pages(key: str, folder: Path) -> None:
    """Write a page for each candidate, and an index of them. Raises Mistyped, CannotWrite."""
    from tasks.outputs.embed_pages import write_pages
    from tasks.outputs.links import links_of
    from tasks.outputs.page_mark import is_marked

    index = folder / "index.html"
    with campaign_as_it_is(key) as (ledger, campaign):
        what, instead = f"page of links of {key}", "Name another folder with -o."
        check_ours(index, partial(is_marked, kind="links", key=key), what=what, instead=instead)
        people = links_of(ledger, campaign)
        pages = write_pages(ledger, campaign, people, folder)
    complain(
        f"{counted(len(people), 'candidate')} in {index}, which has all names: it is for you only.",
        f"The candidates' pages are in {pages}: put only that folder on a web server.",
    )
    _count_without(people)


def _written(
    people: "list[Link]", form: Format, campaign: "Campaign", *, to_file: bool
) -> Iterable[bytes]:
    from tasks.outputs.exports import as_csv, as_csv_file, as_json, as_xlsx
    from tasks.outputs.links import index_page

    match form:
        case "csv":
            return as_csv_file(people) if to_file else as_csv(people)
        case "xlsx":
            return [as_xlsx(people)]
        case "json":
            return as_json(people)
        case "html":
            return [index_page(campaign, people)]
