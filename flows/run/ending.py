"""How a run ended: one decision from what the ledger holds, for state, exit code and words."""

from dataclasses import dataclass
from datetime import datetime

from data.campaigns import approvals, pauses, queries
from data.campaigns.whose_turn import Wait
from data.holds import reasons
from data.holds.rule import Holds
from data.sending.processes import Process, is_alive
from data.sending.recovery import OWN_RUNS
from data.store.clock import now
from data.store.ledger import Ledger
from data.store.states import Ending, Step
from data.store.tables import Approval
from tasks.plan.timing import WAITING, Later
from tasks.status.standing import counts_of, tally

NOBODY = Holds()
BESIDE = (
    "Another run of this campaign is still in progress and continues without this one. Nothing is "
    "wrong."
)
GOES_ON = (Ending.NOT_YET, Ending.NEEDS_ATTENTION)
# The exit codes of a command that ran a campaign; 1 for every other ending.
EXIT_CODES = {Ending.COMPLETED: 0, Ending.NEEDS_ATTENTION: 3, Ending.AWAITS_APPROVAL: 3}


@dataclass(frozen=True, slots=True)
class Finish:
    """The end of one run. `reason` says why it stopped; `counts` as in the status object.

    `changed` and `removed` count people whose row has changed, or who are no longer in the
    definition, and who are left as they are (interface 4: no update, no delete); `corrected` those
    whom it still lists with an address from before its correction. `receipt` says
    that a receipt or its copy could not be written, and what that means. `plan` is what
    waits for approval. `invited` counts the invitations of this very run, `held` those who wait
    and are left out. `again` is the moment (UTC) from which on another run has more to do. `typed`
    is what people wrote as their reasons, which may name candidates. `mend`: another run ends the
    same way until a person has done what `reason` says.
    """

    campaign: str
    ending: Ending
    reason: str | None
    counts: dict[str, int]
    changed: int = 0
    removed: int = 0
    corrected: int = 0
    invited: int = 0
    receipt: str | None = None
    plan: Approval | None = None
    held: Holds = NOBODY
    again: datetime | None = None
    typed: tuple[str, ...] = ()
    mend: bool = False

    @property
    def public_reason(self) -> str:
        """`reason` without what a person wrote: it leaves the ledger, for Prefect and notices."""
        reason = self.reason or ""
        for words in self.typed:
            reason = reason.replace(f": {words}", "")
        return reason

    @property
    def exit_code(self) -> int:
        """What the command line ends with."""
        return EXIT_CODES.get(self.ending, 1)


def finish(ledger: Ledger, key: str, stopped: str | None, early: Later | None = None) -> Finish:
    """Judge a campaign as the ledger has it now. `stopped`: why sending ended early, if it did;
    `early`: why invitations wait for their time or for a person, if they do.
    """
    campaign = ledger.read(queries.find_campaign, key)
    if campaign is None:
        return Finish(key, Ending.STOPPED, stopped, {})
    people = ledger.read(queries.counts, campaign.id)
    held = Holds.of(ledger.read(reasons.held_in, campaign.id))
    listed = {kind: number for kind, number in people.items() if kind[0]}
    send = campaign.send_invites
    doubtful = tally(people, send=send)["unsure"]
    open_now = tally(listed, send=send) | {"unsure": doubtful}
    calls = [Step(campaign.project_state), Step(campaign.problem_state)]
    beside = bool(open_now["waiting"]) and _another_at_work(ledger, campaign.id)
    ending, reason = judge(calls, open_now, stopped, early, held, beside=beside)
    again = early.again if early is not None and ending in GOES_ON else None
    mend = again is None and ending is Ending.NEEDS_ATTENTION and reason is not None
    counts = counts_of(ledger, campaign)
    typed = _typed(ledger, key) if stopped else ()
    return Finish(key, ending, reason, counts, held=held, again=again, typed=typed, mend=mend)


def _typed(ledger: Ledger, key: str) -> tuple[str, ...]:
    """What people ever wrote who paused a campaign, or answered its plans; the longest first, as
    one may begin like another.

    Not only what stands: a pause that stopped a run may be over before the run is.
    """
    written = {*ledger.read(pauses.reasons, key), *ledger.read(approvals.reasons, key)}
    return tuple(sorted(written, key=len, reverse=True))


def _another_at_work(ledger: Ledger, row: int) -> bool:
    """Whether a run that is not of this process is at work on a campaign."""
    run = ledger.read(queries.last_run, row)
    if run is None or run.ended_at is not None or run.id in OWN_RUNS:
        return False
    return is_alive(Process(run.host, run.pid, run.process_start), run.heartbeat_at, now())


def judge(
    calls: list[Step],
    open_now: dict[str, int],
    stopped: str | None,
    early: Later | None = None,
    held: Holds = NOBODY,
    *,
    beside: bool = False,
) -> tuple[Ending, str | None]:
    """Say how a run ended. `calls` are the project's and the problem's; `open_now` counts the
    candidates whom the definition lists, and everybody unsure; `held` those who wait and are left
    out. `beside`: another run is at work.

    Nobody has to look at people on the do-not-contact list: a person has decided already.
    """
    waiting = open_now["waiting"] - held.number
    if stopped is not None:
        return Ending.STOPPED, stopped
    if open_now["sending"] or Step.SENDING in calls or (waiting and beside):
        return Ending.STOPPED, BESIDE
    if Step.UNSURE in calls or open_now["unsure"] or open_now["refused"] or held.others:
        return Ending.NEEDS_ATTENTION, early.reason if early and waiting else None
    if waiting and early is not None:
        if early.wait is Wait.PILOT:
            return Ending.AWAITS_APPROVAL, early.reason
        # Without a moment to wait for, a person has to change something.
        return Ending.NOT_YET if early.again else Ending.NEEDS_ATTENTION, early.reason
    if waiting:
        return Ending.STOPPED, WAITING
    return Ending.COMPLETED, None
