"""`campaign report`: one page about a campaign, to be sent, printed and kept."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from config.command_line import command
from flows.cli.arguments import Key
from flows.cli.ledgers import campaign_as_it_is
from flows.cli.outputs import DASH, check_ours, check_output
from flows.words.speech import for_program, manner, print_bytes, say

if TYPE_CHECKING:
    from data.store.ledger import Ledger
    from data.store.tables import Campaign

INSTEAD = "Name another place with -o, or overwrite it with --force."


def report(
    key: Key,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="The file to write (- is standard output); default: report.html beside the links.",
        ),
    ] = None,
    names: Annotated[
        bool, typer.Option("--names", help="Show names; without it, candidates are masked.")
    ] = False,
    force: Annotated[
        bool,
        typer.Option("--force", help="Overwrite a file that is not a report of this campaign."),
    ] = False,
) -> None:
    """Write one page about a campaign, to send and to keep.

    How far everybody got, sending over time, refusals by reason, what is unsure, decisions and
    approvals. The page needs no network and runs no scripts. Reads only the ledger.
    """
    from config.settings import load_local
    from data.own_files import write_whole
    from tasks.outputs.page_mark import is_marked

    place = output or load_local().output_dir / key / "report.html"
    with campaign_as_it_is(key) as (ledger, campaign):
        if output == DASH:
            page = written(ledger, campaign, names=names)
            for_program(page=page.decode()) if manner().as_json else print_bytes(page)
            return
        check_output(place, ledger)
        if not force:
            ours = partial(is_marked, kind="report", key=key)
            check_ours(place, ours, what=f"report of {key}", instead=INSTEAD)
        write_whole(place, written(ledger, campaign, names=names))
    for_program(output=place)
    say(f"{key}: {place}", f"  {'It names candidates.' if names else 'Candidates are masked.'}")
    if not names:
        there = ["-o", str(output)] if output else []
        say(f"  with names: {command('report', key, '--names', *there)}")


def written(ledger: "Ledger", campaign: "Campaign", *, names: bool) -> bytes:
    """Write the page about a campaign as it is now."""
    from data.decisions import settling
    from data.history import records
    from flows.report.campaign_report import report as assembled
    from flows.report.page import page
    from tasks.status.asking import before_a_run
    from tasks.status.standing import in_short

    return page(
        assembled(
            ledger.read(records.read, campaign.id),
            ledger.read(settling.find, campaign.id).steps,
            in_short(ledger, campaign),
            names=names,
            instead=before_a_run(ledger, campaign),
        )
    )
