"""`campaign correct` and `campaign withdraw`: replace a wrong address, or leave a person out."""

from typing import TYPE_CHECKING, Annotated

import typer

from config.command_line import command
from config.email_key import email_key
from config.people.email_address import NotAnEmail, email_address
from data.decisions.verdicts import NotDecided
from data.store.states import By
from flows.cli.arguments import Key
from flows.cli.known_campaign import known_campaign
from flows.cli.named_people import rows_of
from flows.cli.reasons import Why, given
from flows.cli.who import Who, login_name
from flows.words.speech import complain, counted, run_again, say

if TYPE_CHECKING:
    from data.store.ledger import Ledger
    from data.store.tables import Campaign

Emails = Annotated[list[str], typer.Argument(metavar="EMAIL", help="Whom not to invite any more.")]


def withdraw(key: Key, emails: Emails, why: Why, who: Who = None) -> None:
    """Leave people out: the campaign sends them nothing more.

    What was sent stays sent. The service cannot remove people, so campaign clean-up lists those who
    are already in the project. To undo a withdrawal: campaign resend.
    """
    from data.decisions import withdrawing

    reason = given(why)
    with known_campaign(key) as (ledger, campaign):
        rows = rows_of(
            ledger,
            campaign,
            emails,
            lambda rows: ledger.read(withdrawing.against_withdrawing, campaign.id, rows),
        )
        ledger.write(withdrawing.withdraw, campaign.id, rows, By(who or login_name(), reason))
        say(f"{key}: {counted(len(rows), 'person is', 'people are')} withdrawn")
        _close(ledger, campaign)


def correct(
    key: Key,
    old: Annotated[str, typer.Argument(metavar="OLD", help="The wrong address.")],
    new: Annotated[str, typer.Argument(metavar="NEW", help="The right address.")],
    why: Why,
    who: Who = None,
) -> None:
    """Replace a wrong address; the next run invites the right one.

    The next run adds the new address under the same name and invites it. Nothing more is sent to
    the old one, even if it is still in the sheet.
    """
    from data.campaigns import intake
    from data.decisions import withdrawing
    from data.holds import reasons
    from data.store import clock

    reason = given(why)
    with known_campaign(key) as (ledger, campaign):
        [row] = rows_of(ledger, campaign, [old], lambda _: {})
        address = _right(new)
        try:
            by = By(who or login_name(), reason)
            ledger.write(withdrawing.correct, campaign.id, row, address, by)
        except NotDecided as error:
            complain(*_why_not(campaign, (old, new), error))
            raise
        say(f"{key}: {old} was corrected to {address[0]}")
        person = ledger.read(intake.everybody, campaign.id)[address[1]]
        if (
            held := ledger.read(reasons.held_rows, [person.row], clock.now()).get(person.row)
        ) is not None:
            say(f"  {address[0]} is held: {held.why}")
        _close(ledger, campaign)


def _right(typed: str) -> tuple[str, str]:
    try:
        return email_address(typed), email_key(typed)
    except NotAnEmail as error:
        raise typer.BadParameter(f"{typed}: wanted {error}") from None


def _why_not(campaign: "Campaign", typed: tuple[str, str], error: NotDecided) -> list[str]:
    """Say which of both addresses cannot be taken, and what there is to type instead."""
    lines = [f"{typed[which]} {why}" for which, why in error.objections.items()]
    if 1 in error.objections:
        withdraw = command("withdraw", campaign.key, typed[0], "--why", "TEXT")
        lines.append(f"  to leave out {typed[0]}: {withdraw}")
    return lines


def _close(ledger: "Ledger", campaign: "Campaign") -> None:
    """Say where the campaign stands, what is left to remove by hand, and what to type next."""
    from flows.words.closing import next_steps, summary
    from tasks.status.standing import in_short

    status = in_short(ledger, campaign)
    say(f"{campaign.key}: {summary(status)}")
    say(*(f"  {step}" for step in next_steps(status, *run_again(campaign))))
