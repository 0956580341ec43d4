"""A run of a campaign: how it begins, stays alive, and ends.

The definition is stored and the run opened in one commit. The next run finds one that died
(data/sending/recovery.py).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta

from sqlalchemy import Connection, bindparam, insert, select, update

from config.definition.model import Definition, Trust
from data.campaigns import approvals, intake, queries
from data.campaigns.changes import Changes
from data.sending import claims, recovery
from data.sending.claims import Claim
from data.sending.outcomes import Outcome, record_outcomes
from data.sending.processes import this_process
from data.store import clock, server_locks
from data.store.errors import LedgerGone
from data.store.ledger import Ledger
from data.store.states import Ending
from data.store.tables import campaign, runs

# Composed once: these go with every run, or every wave.
_ROW = select(campaign.c.id).where(campaign.c.key == bindparam("wanted"))
_CAMPAIGN_OF_RUN = select(runs.c.campaign_id).where(runs.c.id == bindparam("run"))
_ONE_PART_MORE = (
    update(campaign).where(campaign.c.id == bindparam("of")).values(parts=campaign.c.parts + 1)
)
_TRUST = select(campaign.c.trust).where(campaign.c.id == bindparam("of"))
_OPEN_RUN = insert(runs).returning(runs.c.id)
_BEAT = (
    update(runs)
    .where(runs.c.id == bindparam("run"), runs.c.ended_at.is_(None))
    .values(heartbeat_at=bindparam("at"))
)
_END = (
    update(runs)
    # The end of a run that was taken for dead is already recorded; what came later ended other
    # runs.
    .where(runs.c.id == bindparam("run"), runs.c.ended_at.is_(None))
    .values(ended_at=bindparam("at"), ending=bindparam("how"), reason=bindparam("why"))
)


@dataclass(frozen=True, slots=True)
class Begun:
    """A run that has begun: its number, its campaign's row, the version of the definition that it
    carries out, which answers of the service are believed, and what the definition changed.
    """

    run: int
    campaign: int
    version: intake.Version
    trust: Trust
    changes: Changes | None


def take_over(connection: Connection, definition: Definition, intent: intake.Intent) -> Changes:
    """Store a changed definition without a run, because there is nothing to send."""
    _alone_with(connection, definition.campaign)
    return _take_over(connection, definition, intent)[1]


def begin(
    ledger: Ledger,
    key: str,
    definition: Definition | None,
    intent: intake.Intent | None,
    approval: int | None = None,
    digest: str | None = None,
) -> Begun:
    """Store the definition (None: it is unchanged) and open a run, in one commit.

    `approval` is the approved plan that the run carries out, if it needs one; raises Overtaken if
    the approval is void by now. `digest` is that of the version which the run read; raises ReadAnew
    if there is another one by now.
    """
    begun = ledger.write_beside(_begin, key, definition, intent, approval, digest)
    recovery.OWN_RUNS.add(begun.run)
    return begun


def _begin(
    connection: Connection,
    key: str,
    definition: Definition | None,
    intent: intake.Intent | None,
    approval: int | None,
    digest: str | None,
) -> Begun:
    _alone_with(connection, key)
    if approval is not None:
        approvals.check(connection, key, approval)
    if definition is not None and intent is not None:
        row, changes = _take_over(connection, definition, intent)
    else:
        row, changes = queries.the_campaign(connection, key).id, None
        if digest is not None:
            intake.carries_out(connection, key, digest)
    version = intake.version(connection, key, digest)
    trust = Trust(connection.execute(_TRUST, {"of": row}).scalar_one())
    return Begun(_open_run(connection, row, approval), row, version, trust, changes)


def begin_part(connection: Connection, campaign_row: int) -> None:
    """Count one more part of a run, before anything of it may be sent."""
    # One statement on one row: nothing can come in between.
    connection.execute(_ONE_PART_MORE, {"of": campaign_row})


def heartbeat(ledger: Ledger, run: int) -> None:
    """Record that a run is alive, without waiting for other writers: otherwise it might count as
    dead.

    Raises TakenOver if it counted as dead all the same, and LedgerGone.
    """
    ledger.refuse_where_gone()
    ledger.write_beside(_beat, run)


def _beat(connection: Connection, run: int) -> None:
    connection.execute(_BEAT, {"run": run, "at": clock.shared_now(connection)})
    _refuse_where_taken_over(connection, run)


def see_that_it_stands(ledger: Ledger, run: int) -> None:
    """Raise TakenOver if others took this run over, and LedgerGone."""
    ledger.refuse_where_gone()
    ledger.read(_refuse_where_taken_over, run)


def _refuse_where_taken_over(connection: Connection, run: int) -> None:
    if over := recovery.taken_over(connection, run):
        raise over


def commit(
    connection: Connection,
    outcomes: Sequence[Outcome],
    wishes: Sequence[Claim],
    gone: Callable[[], LedgerGone | None],
) -> list[claims.Granted]:
    """One durable commit for outcomes and claims; returns what was granted, in order.

    Nothing is granted if the ledger is `gone` by now; outcomes are recorded even then.
    """
    server_locks.for_claims(
        connection,
        {wish.campaign for wish in wishes},
        [outcome.attempt for outcome in outcomes],
    )
    record_outcomes(connection, outcomes)
    if wishes and (where := gone()) is not None:
        return [where] * len(wishes)
    return claims.grant(connection, wishes)


def end(ledger: Ledger, run: int, ending: Ending, reason: str | None) -> int:
    """Close a run; what it still had SENDING becomes UNSURE. Returns how many calls."""
    recovery.OWN_RUNS.discard(run)  # even if the disk is full; then the next run may record its end
    return ledger.write_beside(_end, run, ending, reason)


def _end(connection: Connection, run: int, ending: Ending, reason: str | None) -> int:
    _alone_with_campaign_of(connection, run)
    left = recovery.mark_unsure(connection, run, recovery.LEFT_BY_OWN_RUN)
    connection.execute(_END, {"run": run, "at": clock.now(), "how": ending, "why": reason})
    return left


def close_the_dead(ledger: Ledger, campaign_row: int) -> int:
    """Make the SENDING rows of dead runs UNSURE. Returns how many calls that were."""
    if ledger.read(recovery.ahead, campaign_row):
        ledger.write_beside(_hear_now, campaign_row)
    dead = ledger.read(recovery.dead_runs, campaign_row)
    return ledger.write_beside(_bury, campaign_row, dead) if dead else 0


def _hear_now(connection: Connection, campaign_row: int) -> None:
    for run, _ in recovery.ahead(connection, campaign_row):
        recovery.hear_now(connection, run)


def _bury(connection: Connection, campaign_row: int, dead: Sequence[int]) -> int:
    server_locks.alone_with_campaign(connection, campaign_row)
    return sum(recovery.close_dead_run(connection, run) for run in dead)


def at_work(connection: Connection, campaign_row: int) -> bool:
    """Whether a run of a campaign is at work now, here or on another machine."""
    return bool(recovery.at_work(connection, campaign_row))


def at_work_before(connection: Connection, campaign_row: int, run: int) -> int:
    """How many runs of a campaign that began before this one are still at work, on any machine."""
    return sum(other < run for other in recovery.at_work(connection, campaign_row))


def ahead(connection: Connection, campaign_row: int) -> list[tuple[str, timedelta]]:
    """The machines whose runs' last sign of life is in the future, and by how much."""
    return [(run.host, by) for run, by in recovery.ahead(connection, campaign_row)]


def _alone_with(connection: Connection, key: str) -> None:
    """Lock out other writers of this campaign, which the ledger may not have yet."""
    server_locks.one_at_a_time(connection)
    row = connection.scalar(_ROW, {"wanted": key})
    if row is not None:
        server_locks.alone_with_campaign(connection, row)


def _alone_with_campaign_of(connection: Connection, run: int) -> None:
    row = connection.scalar(_CAMPAIGN_OF_RUN, {"run": run})
    if row is not None:
        server_locks.alone_with_campaign(connection, row)


def _take_over(
    connection: Connection, definition: Definition, intent: intake.Intent
) -> tuple[int, Changes]:
    row, changes = intake.take_over(connection, definition, intent)
    if changes.new:
        server_locks.no_claims(connection)
    return row, changes


def _open_run(connection: Connection, campaign_row: int, approval: int | None) -> int:
    here = this_process()
    opened = {
        "campaign_id": campaign_row,
        "host": here.host,
        "pid": here.pid,
        "process_start": here.start,
        "started_at": clock.now(),
        "heartbeat_at": clock.shared_now(connection),
        "approval_id": approval,
    }
    return int(connection.execute(_OPEN_RUN, opened).scalar_one())
