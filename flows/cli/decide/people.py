"""What is decided about people who are named: `allow`, `withdraw`, `correct` and `resend`."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from config.command_line import command
from config.email_key import email_key
from config.people.email_address import email_address
from data.decisions.verdicts import NotDecided
from flows.cli.arguments import Key, Who, Why, by, confirmed, given
from flows.cli.ledgers import known_campaign
from flows.cli.named_people import rows_of
from flows.words.speech import agrees, complain, counted, on_a_terminal, run_again, say

if TYPE_CHECKING:
    from data.store.ledger import Ledger
    from data.store.tables import Campaign

NAMED = 3  # a question names up to so many people, and counts more than that


def allow(
    key: Key,
    emails: Annotated[list[str], typer.Argument(metavar="EMAIL", help="Whom to invite anyway.")],
    why: Why,
    who: Who = None,
) -> None:
    """Let the next run invite people who are held.

    People are held if another campaign has invited them, if this one has probably invited them at
    another address, or if they are on the do-not-contact list. This releases them, in this campaign
    only; a later invitation or a new entry in the list holds them again. Nothing is sent now.
    """
    from data.decisions import resending

    reason = given(why)
    with known_campaign(key) as (ledger, campaign):
        rows = rows_of(ledger, campaign, emails, resending.not_held)
        ledger.write(resending.allow, campaign.id, rows, by(who, reason))
    say(f"{key}: {counted(len(rows), 'person is', 'people are')} no longer held")
    say(f"  send: {command('run', *run_again(campaign))}")


def withdraw(
    key: Key,
    emails: Annotated[
        list[str], typer.Argument(metavar="EMAIL", help="Whom not to invite any more.")
    ],
    why: Why,
    who: Who = None,
) -> None:
    """Leave people out: the campaign sends them nothing more.

    What was sent stays sent. The service cannot remove people, so campaign clean-up lists those who
    are already in the project. To undo a withdrawal: campaign resend.
    """
    from data.decisions import withdrawing

    reason = given(why)
    with known_campaign(key) as (ledger, campaign):
        rows = rows_of(ledger, campaign, emails, withdrawing.against_withdrawing)
        ledger.write(withdrawing.withdraw, campaign.id, rows, by(who, reason))
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
    from config.people.doubts import mailbox
    from data.campaigns import intake
    from data.decisions import withdrawing
    from data.holds import reasons
    from data.store import clock
    from data.store.states import Step

    reason = given(why)
    with known_campaign(key) as (ledger, campaign):
        [row] = rows_of(ledger, campaign, [old])
        address = _right(new)
        before = ledger.read(intake.everybody, campaign.id)[email_key(old)]
        alike = mailbox(before.key) == mailbox(address[1])
        try:
            ledger.write(withdrawing.correct, campaign.id, row, address, by(who, reason))
        except NotDecided as error:
            complain(*_why_not(campaign, (old, new), error))
            raise
        say(f"{key}: {old} was corrected to {address[0]}")
        person = ledger.read(intake.everybody, campaign.id)[address[1]]
        held = ledger.read(reasons.held_rows, [person.row], clock.now())
        if person.row in held:
            say(f"  {address[0]} is held: {held[person.row].why}")
        elif alike and before.invite in (Step.DONE, Step.UNSURE) and person.invite is Step.WAITING:
            undo = command("correct", key, address[0], old, "--why", "TEXT")
            say(f"  both have one mailbox, so it gets a second email; to undo this: {undo}")
        _close(ledger, campaign)


def resend(
    key: Key,
    emails: Annotated[list[str], typer.Argument(metavar="EMAIL", help="Whom to invite once more.")],
    why: Why,
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

    reason = given(why, "a resend")
    with known_campaign(key) as (ledger, campaign):
        rows = rows_of(ledger, campaign, emails, resending.objections)
        if not yes and not _agreed(emails):
            say("Nothing was changed.")
            raise typer.Exit(1)
        ledger.write(resending.resend, campaign.id, rows, by(who, reason))
        say(f"{key}: {counted(len(rows), 'person', 'people')} will be invited once more")
        if not campaign.send_invites:
            say("  not yet: the definition says  invites: {send: false}")
        _close(ledger, campaign)


def _agreed(emails: Sequence[str]) -> bool:
    """Ask before anything is decided. Raises BadParameter where nobody can be asked."""
    if not on_a_terminal():
        raise typer.BadParameter(f"this sends one more email to each; to confirm: {confirmed()}")
    people = counted(len(emails), "person", "people") if len(emails) > NAMED else ", ".join(emails)
    return agrees(f"One more invitation to {people}? [y/N] ")


def _right(typed: str) -> tuple[str, str]:
    try:
        return email_address(typed), email_key(typed)
    except ValueError as error:
        raise typer.BadParameter(f"{typed}: wanted {error}") from None


def _why_not(campaign: "Campaign", typed: tuple[str, str], error: NotDecided) -> list[str]:
    """Say which of both addresses cannot be taken, and what there is to type instead."""
    from data.decisions.withdrawing import SAME

    lines = [f"{typed[which]} {why}" for which, why in error.objections.items()]
    if error.objections.get(1, SAME) != SAME:
        withdraw = command("withdraw", campaign.key, typed[0], "--why", "TEXT")
        lines.append(f"  to leave out {typed[0]}: {withdraw}")
    return lines


def _close(ledger: "Ledger", campaign: "Campaign") -> None:
    """Say where the campaign stands, what is left to remove by hand, and what to type next."""
    from flows.words.closing import next_steps, summary
    from tasks.status.asking import before_a_run
    from tasks.status.standing import in_short

    status = in_short(ledger, campaign)
    say(f"{campaign.key}: {summary(status)}")
    steps = next_steps(status, *run_again(campaign), instead=before_a_run(ledger, campaign))
    say(*(f"  {step}" for step in steps))
