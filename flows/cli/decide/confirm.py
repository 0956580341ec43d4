"""`campaign confirm`: the pilot's invitation was right, so the others may get theirs."""

from typing import Annotated

import typer

from config.command_line import command
from flows.cli.arguments import Key
from flows.cli.known_campaign import known_campaign
from flows.cli.who import Who, login_name
from flows.words.speech import run_again, say

Why = Annotated[str, typer.Option(metavar="TEXT", help="The reason, recorded with the decision.")]


def confirm(key: Key, why: Why = "", who: Who = None) -> None:
    """Confirm the pilot's invitation; the next run invites the rest.

    Open the email that the pilot got, follow its link, and look at what candidates will see.
    """
    from tasks.plan.pilot import confirm as confirmed

    with known_campaign(key) as (ledger, campaign):
        confirmed(ledger, campaign, who or login_name(), why)
        again = command("run", *run_again(campaign))
    say(f"{key}: the pilot is confirmed", f"  next: {again}")
