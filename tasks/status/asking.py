"""What a person must do before a run continues: resume the campaign, or confirm its pilot."""

from typing import Any

from data.campaigns import intake, pauses, send_progress
from data.store.ledger import Ledger
from data.store.states import Step
from data.store.tables import Campaign
from tasks.plan.timing import kept_timetable


def asked_of_a_person(ledger: Ledger, campaign: Campaign) -> dict[str, Any]:
    """That part of the status object: who paused the campaign, since when (UTC) and why, whether a
    pilot waits to be confirmed, and what speaks against the problem.
    """
    paused = ledger.read(pauses.standing, campaign.key)
    return {
        "paused": {
            "who": paused.who,
            "why": paused.why,
            "since": paused.since.isoformat(),
        }
        if paused
        else None,
        "to_confirm": _to_confirm(ledger, campaign),
        "problem_doubt": campaign.problem_doubt,
    }


def _to_confirm(ledger: Ledger, campaign: Campaign) -> bool:
    """Whether the pilot's invitation was sent, and nobody has confirmed it."""
    key = kept_timetable(campaign).pilot
    if key is None or not campaign.send_invites:
        return False
    pilot = ledger.read(intake.everybody, campaign.id).get(key)
    if pilot is None or pilot.invite is not Step.DONE:
        return False
    return not ledger.read(send_progress.send_progress, campaign.id, campaign.key, key).confirmed
