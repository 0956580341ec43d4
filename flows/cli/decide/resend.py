"""`campaign resend`: one more invitation for named people, on purpose."""

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from config.command_line import command
from data.store.states import By
from flows.cli.arguments import Key
from flows.cli.known_campaign import known_campaign
from flows.cli.named_people import rows_of
from flows.cli.who import Who, login_name
from flows.words.speech import answer_to, counted, run_again, say

if TYPE_CHECKING:
    from data.store.tables import Campaign

NAMED = 3  # a question names up to so many people, and counts more than that
Emails = Annotated[list[str], typer.Argument(metavar="EMAIL", help="Whom to invite once more.")]


def resend(
    key: Key,
    emails: Emails,
    why: Annotated[
        str, typer.Option(metavar="TEXT", help="The reason, recorded with the decision.")
    ],
    who: Who = None,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask; needed without a terminal.")] = (
        False
    ),
) -> None:
    """Invite people once more, with the next run.

    For those whose invitation is done, refused or withdrawn. Nothing is sent now: the next run
    sends exactly one more email to each.
    """
    from data.decisions import resending

    if not why.strip():
        raise typer.BadParameter("a resend needs a reason, which is recorded: --why TEXT")
    with known_campaign(key) as (ledger, campaign):
        rows = rows_of(
            ledger,
            campaign,
            emails,
            lambda rows: ledger.read(resending.objections, campaign.id, rows),
        )
        if not yes and not _agreed(emails):
            say("Nothing was changed.")
            raise typer.Exit(1)
        ledger.write(resending.resend, campaign.id, rows, By(who or login_name(), why))
        _tell(campaign, len(rows))


def _agreed(emails: Sequence[str]) -> bool:
    """Ask before anything is decided. Raises BadParameter where nobody can be asked."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise typer.BadParameter("this sends one more email to each: confirm it with --yes")
    people = counted(len(emails), "person", "people") if len(emails) > NAMED else ", ".join(emails)
    question = f"One more invitation to {people}? [y/N] "
    return (answer_to(question) or "").casefold() in ("y", "yes")


def _tell(campaign: "Campaign", number: int) -> None:
    say(f"{campaign.key}: {counted(number, 'person', 'people')} will be invited once more")
    if not campaign.send_invites:
        say("  not yet: the definition says  invites: {send: false}")
    say(f"  send: {command('run', *run_again(campaign))}")
