"""`campaign allow`: invite a held person anyway, by name."""

from typing import Annotated

import typer

from config.command_line import command
from data.store.states import By
from flows.cli.arguments import Key
from flows.cli.known_campaign import known_campaign
from flows.cli.named_people import rows_of
from flows.cli.reasons import Why, given
from flows.cli.who import Who, login_name
from flows.words.speech import counted, run_again, say

Emails = Annotated[list[str], typer.Argument(metavar="EMAIL", help="Whom to invite anyway.")]


def allow(key: Key, emails: Emails, why: Why, who: Who = None) -> None:
    """Let the next run invite people who are held.

    People are held if another campaign has invited them, if this one has probably invited them at
    another address, or if they are on the do-not-contact list. This releases them, in this campaign
    only; a later invitation or a new entry in the list holds them again. Nothing is sent now.
    """
    from data.decisions import resending

    reason = given(why)
    with known_campaign(key) as (ledger, campaign):
        rows = rows_of(
            ledger,
            campaign,
            emails,
            lambda rows: ledger.read(resending.not_held, campaign.id, rows),
        )
        ledger.write(resending.allow, campaign.id, rows, By(who or login_name(), reason))
    say(
        f"{key}: {counted(len(rows), 'person is', 'people are')} no longer held",
        f"  send: {command('run', *run_again(campaign))}",
    )
