"""Which files of a watched folder are due: complete, and new or with something still to send."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from data.campaigns import approvals, pauses, queries
from data.campaigns.approvals import Standing
from data.campaigns.inbox import BAD_CONTENT, BEGUN, Passed
from data.decisions import adding_again
from data.store.ledger import Ledger
from data.store.states import Ending
from tasks.plan.plan import Cause, make_plan
from tasks.plan.target import Target

# A campaign that stopped is run again automatically, but not at every look into the folder.
TRY_AGAIN = timedelta(minutes=15)


@dataclass(frozen=True, slots=True)
class Trace:
    """What shows that a file is being written: its size, and its last change (ns since 1970)."""

    size: int
    changed: int


Traces = dict[Path, Trace | None]


def traces(files: Iterable[Path]) -> Traces:
    """Look at files; None for a file that is not there, for example while it is being replaced."""
    seen: Traces = {}
    for file in files:
        try:
            stat = file.stat()
        except OSError:
            seen[file] = None
        else:
            seen[file] = Trace(stat.st_size, stat.st_mtime_ns)
    return seen


def at_rest(first: Trace | None, second: Trace | None, at: datetime, quiet: timedelta) -> bool:
    """Whether nobody is writing a file that was seen twice, `quiet` apart, the second time `at`.

    A time in the future proves nothing: it was set by another machine's clock.
    """
    if first is None or second is None or first != second:
        return False
    age = at.timestamp() - second.changed / 1e9
    return age < 0 or age >= quiet.total_seconds()


@dataclass(frozen=True, slots=True)
class Situation:
    """The state of a campaign whose file was run before.

    `left`: something may be sent now. `late`: the time of its invitations is over. `plan`: the
    state of the plan that was last shown for approval; None if there is none. `unreported`: the
    name of a bad file that has no report beside it.
    """

    left: bool = False
    paused: bool = False
    late: bool = False
    plan: Standing | None = None
    unreported: str | None = None


AS_FAR_AS_IT_GOES = (
    Ending.COMPLETED,
    Ending.NEEDS_ATTENTION,
    Ending.NOT_YET,
    Ending.AWAITS_APPROVAL,
)


def due(last: Passed, now: Situation, at: datetime) -> bool:
    """Whether a campaign is run again although nobody touched its file."""
    if last.ending == BEGUN:
        return True
    if last.ending == BAD_CONTENT:
        # Its report may have been refused by the folder: that is not tried at every look.
        just_reported = now.unreported == last.file and at - last.at < TRY_AGAIN
        return now.unreported is not None and not just_reported
    if now.paused or now.late:
        return False
    if now.plan is Standing.REJECTED:
        return False
    if last.ending == Ending.AWAITS_APPROVAL and now.plan not in (None, Standing.APPROVED):
        return now.plan is not Standing.OPEN
    if last.ending in AS_FAR_AS_IT_GOES:
        return now.left
    return at - last.at >= TRY_AGAIN


def situation(ledger: Ledger, digest: str, key: str, at: datetime) -> Situation:
    """Find the state of a campaign, from the ledger alone."""
    asked, stands = ledger.read(approvals.look, key)
    plan = stands if asked is not None else None
    paused = ledger.read(pauses.standing, key) is not None
    campaign = ledger.read(queries.find_campaign, key)
    if campaign is not None and not campaign.digest:
        return Situation(True, paused, False, plan)  # it is to be read anew
    if campaign is None or campaign.digest != digest:
        # Newer content was stored since, so this one is out of date.
        return Situation(False, paused, False, plan)
    if adding_again.recover(ledger, campaign.id):
        campaign = ledger.read(queries.find_campaign, key) or campaign
    made = make_plan(Target(key, digest, None, campaign), ledger, at)
    late = made.stop is not None and made.stop.cause is Cause.OVER
    return Situation(not made.calls.nothing, paused, late, plan)
