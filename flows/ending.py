"""How a run ended: one decision from what the ledger holds, for state, exit code and words."""

from dataclasses import dataclass

from data.approvals import Asked
from data.ledger import Ledger
from data.states import Ending, Step
from tasks.standing import tally


@dataclass(frozen=True, slots=True)
class Finish:
    """The end of one run. `reason` says why it stopped; `counts` as in the status object.

    `changed` and `removed` count people whom the definition now words otherwise, or no longer
    lists, and who are left as they are (interface 4: no update, no delete). `receipt` says where
    the receipt is, and why, when it could not be written beside the definition. `plan` is what
    waits for approval.
    """

    campaign: str
    ending: Ending
    reason: str | None
    counts: dict[str, int]
    changed: int = 0
    removed: int = 0
    receipt: str | None = None
    plan: Asked | None = None


def finish(ledger: Ledger, key: str, stopped: str | None, early: str | None = None) -> Finish:
    """Judge a campaign as the ledger has it now. `stopped`: why sending ended early, if it did;
    `early`: why invitations wait for their time, if they do.
    """
    campaign = ledger.campaign(key)
    if campaign is None:
        return Finish(key, Ending.STOPPED, stopped, {})
    people = ledger.counts(campaign.id)
    counts = tally(people, send=campaign.send_invites)
    open_now = tally(
        {kind: number for kind, number in people.items() if kind[0]}, send=campaign.send_invites
    )
    calls = [Step(campaign.project_state), Step(campaign.problem_state)]
    ending, reason = judge(calls, open_now, stopped, early)
    return Finish(key, ending, reason, counts)


def judge(
    calls: list[Step], open_now: dict[str, int], stopped: str | None, early: str | None = None
) -> tuple[Ending, str | None]:
    """Say how a run ended. `calls` are the project's and the problem's; `open_now` counts the
    candidates whom the definition lists."""
    if stopped is not None:
        return Ending.STOPPED, stopped
    if open_now["sending"] or Step.SENDING in calls:
        return Ending.STOPPED, "Another run is still at work on this campaign."
    if Step.UNSURE in calls or open_now["unsure"] or open_now["refused"]:
        return Ending.NEEDS_ATTENTION, early if open_now["waiting"] else None
    if open_now["waiting"] and early is not None:
        return Ending.NOT_YET, early
    if open_now["waiting"]:
        return Ending.STOPPED, "Some candidates are still waiting."
    return Ending.COMPLETED, None
