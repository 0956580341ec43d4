"""What a person must do before a run continues: resume the campaign, confirm its pilot, approve."""

from typing import Any

from data.campaigns import approvals, intake, pauses, send_progress
from data.campaigns.approvals import Standing
from data.campaigns.whose_turn import timetable
from data.store import clock
from data.store.ledger import Ledger
from data.store.states import Step
from data.store.tables import Campaign
from tasks.plan.asking_approval import held_back
from tasks.plan.pilot import stands_in_the_way
from tasks.plan.timing import over_for


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


def before_a_run(ledger: Ledger, campaign: Campaign) -> str | None:
    """What a person must do before another run can send, as a run says it; None if one can.

    Pauses, and a pilot to confirm, are in the status object.
    """
    if late := over_for(campaign, clock.now()):
        return late
    if campaign.ask_first:
        asked, stands = ledger.read(approvals.look, campaign.key)
        waits = stands in (Standing.OPEN, Standing.REJECTED)
        if asked and waits and (held := held_back(asked, stands)):
            return held[1]
    return stands_in_the_way(ledger, campaign) if campaign.send_invites else None


def _to_confirm(ledger: Ledger, campaign: Campaign) -> bool:
    """Whether the pilot's invitation was sent, and nobody has confirmed it."""
    key = timetable(campaign.timetable).pilot
    if key is None or not campaign.send_invites:
        return False
    pilot = ledger.read(intake.everybody, campaign.id).get(key)
    if pilot is None or pilot.invite is not Step.DONE:
        return False
    return not ledger.read(send_progress.send_progress, campaign.id, campaign.key, key).confirmed
