"""`campaign pause` and `campaign resume`: a person stops a campaign, and continues it."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from config.command_line import command
from data.store.states import By
from flows.cli.arguments import Key
from flows.cli.who import Who, login_name
from flows.words.complaints import UnknownCampaign
from flows.words.speech import run_again, say

if TYPE_CHECKING:
    from data.store.ledger import Ledger

Why = Annotated[str, typer.Option(metavar="TEXT", help="The reason, recorded with the decision.")]


def pause(key: Key, why: Why = "", who: Who = None) -> None:
    """Stop sending a campaign until somebody resumes it.

    A run at work ends once its open requests are answered; no other run sends anything.
    """
    from config.timetable.moments import in_zone
    from data.campaigns import pauses

    with ledger_with(key) as ledger:
        stands = ledger.write(pauses.pause, key, By(who or login_name(), why))
    for paused in stands:
        say(f"{key}: paused by {paused.who} since {in_zone(paused.since, paused.timezone)}")
    say(f"  to resume: {command('resume', key)}")


def resume(key: Key, why: Why = "", who: Who = None) -> None:
    """Let a paused campaign go on with the next run.

    This ends everybody's pauses, and names them. Nothing is sent now. The next run goes on where
    the campaign stopped, and sends nobody a second email; campaign resend is for that.
    """
    from data.campaigns import pauses, queries
    from tasks.plan.plan import in_words

    with ledger_with(key) as ledger:
        stood = ledger.write(pauses.resume, key, By(who or login_name(), why))
        campaign = ledger.read(queries.find_campaign, key)
    if not stood:
        say(f"{key} is not paused")
        return
    say(f"{key}: resumed")
    for paused in stood:
        say(f"  was {in_words(paused)}")
    if campaign is not None:
        say(f"  next: {command('run', *run_again(campaign))}")


@contextmanager
def ledger_with(key: str) -> "Iterator[Ledger]":
    """Open the ledger that knows a campaign, or the plan of one that is not begun yet.

    Raises UnknownCampaign, LedgerUnusable, BadSettings.
    """
    from config.settings import load_local
    from data.campaigns import approvals, queries
    from data.store.ledger import Ledger
    from data.store.opening import NoLedger

    try:
        ledger = Ledger.open(load_local().database_url, create=False)
    except NoLedger as error:
        raise UnknownCampaign(key, [], error.place) from None
    with ledger:
        if (
            ledger.read(queries.find_campaign, key) is None
            and ledger.read(approvals.look, key)[0] is None
        ):
            keys = [campaign.key for campaign in ledger.read(queries.every_campaign)]
            raise UnknownCampaign(key, keys, ledger.place)
        yield ledger
