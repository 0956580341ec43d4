"""The pilot: one invitation to yourself, which you check before anybody else gets one."""

from config.command_line import command
from config.errors import CampaignError
from data.campaigns import intake, send_progress
from data.campaigns.timetables import timetable
from data.store.ledger import Ledger
from data.store.states import By, Step
from data.store.tables import Campaign


class NothingToConfirm(CampaignError):
    """A campaign has no pilot, or its invitation has not been sent, so nothing was confirmed."""


def confirm(ledger: Ledger, campaign: Campaign, who: str, why: str) -> None:
    """Write a person's word down that the pilot's invitation is right. Raises NothingToConfirm."""
    key = campaign.key
    pilot = timetable(campaign.timetable).pilot
    person = ledger.read(intake.everybody, campaign.id).get(pilot) if pilot else None
    if person is None:
        raise NothingToConfirm(
            f"{key} has no pilot (invites.pilot), so there is nothing to confirm."
        )
    if person.invite is Step.WAITING:
        raise NothingToConfirm(
            f"The pilot of {key} has not been invited yet. Nothing was confirmed. Run the "
            "campaign, look at the email that comes, then confirm it."
        )
    if person.invite is not Step.DONE:
        raise NothingToConfirm(
            f"The pilot's invitation of {key} is {person.invite}. Nothing was confirmed. "
            f"See: {command('settle', key)}"
        )
    ledger.write(send_progress.confirm, campaign.id, person.row, By(who, why))
