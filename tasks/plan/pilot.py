"""The pilot: one invitation to yourself, which you check before anybody else gets one."""

from dataclasses import replace

from config.command_line import command
from config.errors import CampaignError
from config.timetable.timetable import Timetable
from data.campaigns import intake, send_progress
from data.campaigns.forgotten import is_forgotten
from data.campaigns.whose_turn import Turn, Wait, timetable
from data.decisions import settling
from data.holds import reasons
from data.store import clock
from data.store.ledger import Ledger
from data.store.states import By, Step
from data.store.tables import Campaign


class NothingToConfirm(CampaignError):
    """A campaign has no pilot, or its invitation has not been sent, so nothing was confirmed."""

    exit_code = 2


def confirm(ledger: Ledger, campaign: Campaign, who: str, why: str) -> By | None:
    """Record that a person found the pilot's invitation right. Raises NothingToConfirm.

    Returns who did so before, if somebody did: that stands, so nothing is recorded.
    """
    key, pilot = campaign.key, timetable(campaign.timetable).pilot
    if pilot is None:
        raise NothingToConfirm(
            f"{key} has no pilot (invites.pilot), so there is nothing to confirm."
        )
    if before := ledger.read(send_progress.confirmation, campaign.id, pilot):
        return before
    person = ledger.read(intake.everybody, campaign.id).get(pilot)
    if person is None or person.invite is not Step.DONE or is_forgotten(person.key):
        raise NothingToConfirm(f"{key}: nothing was confirmed. {awaited(ledger, campaign, pilot)}")
    ledger.write(send_progress.confirm, campaign.id, person.row, By(who, why))
    return None


def explained(answer: Turn, ledger: Ledger, campaign: Campaign, table: Timetable) -> Turn:
    """Say in `why` what has to be done about the pilot, if others wait for it."""
    if answer.wait is not Wait.PILOT or table.pilot is None:
        return answer
    return replace(answer, why=awaited(ledger, campaign, table.pilot))


def stands_in_the_way(ledger: Ledger, campaign: Campaign) -> str | None:
    """What a person must do about the pilot before another run can invite anybody, in words."""
    pilot = timetable(campaign.timetable).pilot
    if pilot is None or ledger.read(send_progress.confirmation, campaign.id, pilot):
        return None
    return _in_the_way(ledger, campaign, pilot)


def awaited(ledger: Ledger, campaign: Campaign, pilot: str) -> str:
    """Say what a campaign waits for while its `pilot` (an email key) is not confirmed, and what to
    type for it. Names nobody.
    """
    return _in_the_way(ledger, campaign, pilot) or (
        f"The pilot has not been invited yet, {_NOBODY}. Run the campaign; then check the email."
    )


def _in_the_way(ledger: Ledger, campaign: Campaign, pilot: str) -> str | None:
    """The same; None if the next run invites the pilot."""
    person = ledger.read(intake.everybody, campaign.id).get(pilot)
    if person is None or is_forgotten(person.key):
        return f"The pilot was forgotten, {_NOBODY}. Give another address {_THERE}"
    if person.instead is not None:
        return f"The pilot's address was corrected, {_NOBODY}. Give the new address {_THERE}"
    if person.add is Step.REFUSED:
        code = ledger.read(settling.listed_refused, campaign.id)
        words = ("--candidates", "again", "--listed", code, "--why", "TEXT")
        again = command("settle", campaign.key, *words)
        return f"The service refused to add the pilot, {_NOBODY}. To try it again: {again}. {_OR}"
    out = person.invite in (Step.REFUSED, Step.WITHDRAWN)
    if out and ledger.read(reasons.on_the_list, [person.row], clock.now()):
        allow = command("allow", campaign.key, "EMAIL", "--why", "TEXT")
        return f"The pilot is on the do-not-contact list, {_NOBODY}. To allow it: {allow}. {_OR}"
    held = person.row in ledger.read(reasons.held_in, campaign.id)
    step = person.invite if person.add is Step.DONE else person.add
    return _awaited(step, campaign.key, added=person.add is Step.DONE, held=held)


def _awaited(step: Step, key: str, *, added: bool, held: bool) -> str | None:
    """`step` is the invitation's, or the add's of a pilot who is not yet `added`."""
    why = ("--why", "TEXT")
    again = command("resend", key, "EMAIL", *why)
    match step:
        case Step.DONE:
            return (
                "The pilot's invitation was sent. Nobody else is invited until you have checked "
                f"and confirmed it: {command('confirm', key)}"
            )
        case Step.SENDING:
            return f"A run is inviting the pilot. Look again: {command('status', key)}"
        case Step.UNSURE:
            return (
                f"It is unsure whether the pilot was {'invited' if added else 'added'}, {_NOBODY}. "
                f"Settle it: {command('settle', key)}"
            )
        case Step.REFUSED:
            return (
                f"The service refused the pilot's invitation, {_NOBODY}. To try it again: {again}. "
                f"{_OR}"
            )
        case Step.WITHDRAWN:
            return f"The pilot was withdrawn, {_NOBODY}. To invite it after all: {again}. {_OR}"
    if held:
        allow = command("allow", key, "EMAIL", *why)
        return (
            f"The pilot is held, {_NOBODY}: {command('status', key)} says why. "
            f"To invite it anyway: {allow}. {_OR}"
        )
    return None


_NOBODY = "so nobody else is invited"
_THERE = "as invites.pilot, then run the campaign again."
_OR = "Or give another address as invites.pilot. Then run the campaign again."
