"""The ledger: what was asked for, what was sent, and what came of it.

The only module that opens a transaction. Every public method is one transaction; when it
returns, what it wrote is on the disk.
"""

import sqlite3
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from secrets import token_hex
from typing import TypeVar
from uuid import uuid4

from sqlalchemy import Connection, Engine, bindparam, insert, select, update
from sqlalchemy.exc import DBAPIError

from config.definition import Definition
from data import (
    approvals,
    claims,
    inbox,
    intake,
    landing,
    locks,
    pauses,
    receipt_doubts,
    recovery,
    resending,
    settling,
    so_far,
)
from data.approvals import Answer, Asked, Plan, Standing
from data.claims import Claim
from data.clock import shared_now
from data.closed import Openness, refuse_where_closed
from data.doubts import By, Decided, Doubts
from data.idle_runs import IdleRuns
from data.judging import Judging
from data.landing import Outcome
from data.looking import Looking
from data.opening import open_engine, rewrite
from data.pace import Pacing
from data.part import reading, writing, writing_beside
from data.pauses import Paused
from data.places import place_of
from data.privacy import Privacy
from data.processes import this_process
from data.receipt import Reach
from data.remaining import Changes
from data.server_transactions import ServerTransactions
from data.states import Ending
from data.tables import Attempt, Campaign, Candidate, Identity, Run, table_of
from data.transactions import Transactions
from data.unusable import LedgerUnusable, what_failed

campaign = table_of(Campaign)
candidate = table_of(Candidate)
attempt = table_of(Attempt)
runs = table_of(Run)
identity = table_of(Identity)

# Composed once: these go with every run, or every wave.
_ROW = select(campaign.c.id).where(campaign.c.key == bindparam("wanted"))
_CAMPAIGN_OF_RUN = select(runs.c.campaign_id).where(runs.c.id == bindparam("run"))
_ONE_PART_MORE = (
    update(campaign).where(campaign.c.id == bindparam("of")).values(parts=campaign.c.parts + 1)
)
_SAW_PROBLEM = (
    update(campaign)
    .where(campaign.c.key == bindparam("wanted"))
    .values(problem_doubt=bindparam("doubt"), problem_seen_at=bindparam("at"))
)
_OPEN_RUN = insert(runs).returning(runs.c.id)
_BEAT = (
    update(runs)
    .where(runs.c.id == bindparam("run"), runs.c.ended_at.is_(None))
    .values(heartbeat_at=bindparam("at"))
)
_END = (
    update(runs)
    # How one ended that was taken for dead is said already; what came after is the others' end.
    .where(runs.c.id == bindparam("run"), runs.c.ended_at.is_(None))
    .values(ended_at=bindparam("at"), ending=bindparam("how"), reason=bindparam("why"))
)

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Begun:
    """A run that has begun: its number, its campaign's row, and what the definition changed."""

    run: int
    campaign: int
    changes: Changes | None


def now() -> datetime:
    """The time of everything written here: UTC, aware."""
    return datetime.now(UTC)


class Ledger(Looking, Judging, Pacing, Privacy, IdleRuns):
    """One database of campaigns. Open it with `Ledger.open`, close it when done."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        on_a_server = engine.url.get_backend_name() == "postgresql"
        self._transactions = (ServerTransactions if on_a_server else Transactions)(engine)

    @classmethod
    def open(cls, url: str, *, create: bool = True) -> "Ledger":
        """Open, migrate, and give a new ledger its UUID. Raises LedgerUnusable, NoLedger."""
        ledger = cls(open_engine(url, create=create))
        if ledger._look(lambda connection: connection.scalar(select(identity.c.uuid))) is None:
            ledger._name()
        return ledger

    @writing
    def _name(self, connection: Connection) -> None:
        if connection.scalar(select(identity.c.uuid)) is None:
            connection.execute(
                insert(identity).values(
                    id=1,
                    uuid=str(uuid4()),
                    secret=token_hex(32),
                    created_at=now(),
                    openness=Openness.OPEN,
                )
            )

    def close(self) -> None:
        self._transactions.close()
        self._engine.dispose()

    def __enter__(self) -> "Ledger":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _now(self) -> datetime:
        return now()

    def _look(self, work: Callable[[Connection], T]) -> T:
        return self._transactions.look(work)

    def _write(self, work: Callable[[Connection], T]) -> T:
        return self._transactions.write(work)

    def _write_beside(self, work: Callable[[Connection], T]) -> T:
        return self._transactions.write_beside(work)

    def _reading(self) -> AbstractContextManager[Connection]:
        """One transaction for a look around; a lost connection ends it."""
        return self._transactions.reading()

    def _writing(self) -> AbstractContextManager[Connection]:
        """Likewise to write."""
        return self._transactions.writing()

    # -- what it is ---------------------------------------------------------------------

    @reading
    def uuid(self, connection: Connection) -> str:
        """The ledger's own identity; a receipt names it."""
        return str(connection.scalar(select(identity.c.uuid)))

    @reading
    def see_that_it_is_open(self, connection: Connection) -> None:
        """Raise LedgerClosed where campaigns go on from another ledger, or not yet from this."""
        refuse_where_closed(connection)

    def rewrite(self) -> None:
        """Leave nothing in the ledger's files of what was erased. Raises LedgerUnusable."""
        try:
            rewrite(self._engine)
        except (DBAPIError, sqlite3.Error) as error:
            raise LedgerUnusable(
                f"The ledger could not be written anew: {what_failed(error)}, then type the same "
                "command again."
            ) from None

    # -- receipts -----------------------------------------------------------------------

    @property
    def place(self) -> str:
        """Where this ledger is, for people: a file, or a database's address without secrets."""
        return place_of(self._engine.url)

    @reading
    def reach(self, connection: Connection, key: str) -> Reach:
        """How far this campaign has got here, and by which name receipts know its records."""
        return receipt_doubts.reach(connection, key)

    @reading
    def accepted_receipts(self, connection: Connection, key: str) -> set[str]:
        """What receipts that did not fit said, and a person accepted, word for word."""
        return receipt_doubts.accepted(connection, key)

    @writing
    def doubt_receipt(self, connection: Connection, key: str, file: str, says: str) -> None:
        """Note a receipt that does not fit this ledger, for a person to look at."""
        receipt_doubts.note(connection, key, file, says, now())

    @writing
    def accept_receipts(self, connection: Connection, key: str, who: str, why: str) -> int:
        """Accept the receipts of this campaign that did not fit; returns how many there were."""
        return receipt_doubts.accept(connection, key, who, why, now())

    # -- what a person or a look said --------------------------------------------------

    @writing
    def confirm_pilot(
        self, connection: Connection, campaign_row: int, row: int, who: str, why: str
    ) -> None:
        """Write down that the invitation to oneself (`row` of the candidates) is right."""
        so_far.confirm(connection, campaign_row, row, By(who, why, now()))

    @writing
    def saw_problem(self, connection: Connection, key: str, doubt: str | None) -> None:
        """Keep what a look at the service's list said against a campaign's problem, and when."""
        connection.execute(_SAW_PROBLEM, {"wanted": key, "doubt": doubt, "at": now()})

    # -- runs ---------------------------------------------------------------------------

    @writing_beside
    def take_over(
        self, connection: Connection, definition: Definition, intent: intake.Intent
    ) -> Changes:
        """Take a changed definition over, without a run: there is nothing to send."""
        _alone_with(connection, definition.campaign)
        return _take_over(connection, definition, intent)[1]

    def begin(
        self,
        key: str,
        definition: Definition | None,
        intent: intake.Intent | None,
        approval: int | None = None,
    ) -> Begun:
        """Take the definition over (None: it is unchanged) and open a run, in one commit.

        `approval` is the approved plan that the run carries out, where one was needed; raises
        Overtaken where it is void by now.
        """
        begun = self._begin(key, definition, intent, approval)
        recovery.OWN_RUNS.add(begun.run)
        return begun

    @writing_beside
    def _begin(
        self,
        connection: Connection,
        key: str,
        definition: Definition | None,
        intent: intake.Intent | None,
        approval: int | None,
    ) -> Begun:
        _alone_with(connection, key)
        if approval is not None:
            approvals.check(connection, key, approval, now())
        if definition is not None and intent is not None:
            row, changes = _take_over(connection, definition, intent)
        else:
            row, changes = intake.row_of(connection, key), None
        return Begun(_open_run(connection, row, approval), row, changes)

    @writing_beside
    def begin_part(self, connection: Connection, campaign_row: int) -> None:
        """Count one more part of a run, before anything of it may be sent."""
        # One statement on one row: nobody comes in between.
        connection.execute(_ONE_PART_MORE, {"of": campaign_row})

    @writing_beside
    def heartbeat(self, connection: Connection, run: int) -> None:
        """Write down that a run lives; it waits for nobody, or it would be taken for dead.

        Raises TakenOver where it was all the same, LedgerGone.
        """
        self._refuse_where_gone()
        at = shared_now(connection, now())
        connection.execute(_BEAT, {"run": run, "at": at})
        if over := recovery.taken_over(connection, run, at):
            raise over

    @reading
    def see_that_it_stands(self, connection: Connection, run: int) -> None:
        """Raise TakenOver where others took a run for dead, LedgerGone."""
        self._refuse_where_gone()
        if over := recovery.taken_over(connection, run, now()):
            raise over

    def _refuse_where_gone(self) -> None:
        if (gone := self._transactions.gone()) is not None:
            raise gone

    def end(self, run: int, ending: Ending, reason: str | None) -> int:
        """Close a run; what it still had SENDING becomes UNSURE. Returns how many calls."""
        recovery.OWN_RUNS.discard(run)  # even if the disk is full: the next run may bury it
        return self._end(run, ending, reason)

    @writing_beside
    def _end(self, connection: Connection, run: int, ending: Ending, reason: str | None) -> int:
        _alone_with_campaign_of(connection, run)
        left = recovery.give_up(connection, run, now(), recovery.LEFT_BY_OWN_RUN)
        connection.execute(_END, {"run": run, "at": now(), "how": ending, "why": reason})
        return left

    def recover(self, campaign_row: int, add_again: bool | None = None) -> int:
        """Make the SENDING rows of dead runs UNSURE. Returns how many calls that were.

        Unsure adds then wait for another one, if the definition says so; `add_again` is what it
        says, where that is not taken over yet.
        """
        if self.ahead(campaign_row):
            self._hear_now(campaign_row)
        dead = self._dead_runs(campaign_row)
        left = self._bury(campaign_row, dead) if dead else 0
        self.add_again(campaign_row, add_again)
        return left

    @reading
    def at_work(self, connection: Connection, campaign_row: int) -> bool:
        """Whether a run of a campaign is at work now, here or on another machine."""
        return bool(recovery.at_work(connection, campaign_row, now()))

    @reading
    def at_work_before(self, connection: Connection, campaign_row: int, run: int) -> int:
        """How many runs that began before this one are at work on a campaign, on any machine."""
        return sum(other < run for other in recovery.at_work(connection, campaign_row, now()))

    @reading
    def _dead_runs(self, connection: Connection, campaign_row: int) -> list[int]:
        return recovery.dead_runs(connection, campaign_row, now())

    @reading
    def ahead(self, connection: Connection, campaign_row: int) -> list[tuple[str, timedelta]]:
        """The machines whose runs showed their last sign of life in the future, and how far."""
        return [(run.host, by) for run, by in recovery.ahead(connection, campaign_row, now())]

    @writing_beside
    def _hear_now(self, connection: Connection, campaign_row: int) -> None:
        for run, _ in recovery.ahead(connection, campaign_row, now()):
            recovery.hear_now(connection, run, now())

    @writing_beside
    def _bury(self, connection: Connection, campaign_row: int, dead: Sequence[int]) -> int:
        locks.alone_with_campaign(connection, campaign_row)
        return sum(recovery.bury(connection, run, now()) for run in dead)

    # -- a person's decisions --------------------------------------------------------------

    @reading
    def doubts(self, connection: Connection, campaign_row: int, *, typed: bool = False) -> Doubts:
        """Everything unsure in a campaign, with its evidence; `typed`: and ids to be replaced."""
        return settling.find(connection, campaign_row, now(), typed=typed)

    @writing
    def settle(
        self,
        connection: Connection,
        campaign_row: int,
        decided: Sequence[Decided],
        who: str,
        why: str,
        *,
        soon: bool,
    ) -> None:
        """Take a person's verdicts, all of them. Raises NotDecided: then none was taken.

        `soon`: also what the service may still be at work on may be sent again.
        """
        by = By(who, why, now())
        settling.settle(connection, campaign_row, decided, by, soon=soon)

    @reading
    def against_resending(
        self, connection: Connection, campaign_row: int, rows: Sequence[int]
    ) -> dict[int, str]:
        """Who cannot be invited once more and why, by position in `rows`; changes nothing."""
        return resending.objections(connection, campaign_row, rows, now())

    @writing
    def resend(
        self, connection: Connection, campaign_row: int, rows: Sequence[int], who: str, why: str
    ) -> None:
        """Have these candidates invited once more, by the next run. Raises NotDecided."""
        resending.resend(connection, campaign_row, rows, By(who, why, now()))

    # -- whether a run may send --------------------------------------------------------------

    @reading
    def paused(self, connection: Connection, key: str) -> Paused | None:
        """The pause that holds a campaign now."""
        return pauses.standing(connection, key)

    @writing
    def pause(self, connection: Connection, key: str, who: str, why: str) -> Paused:
        """Pause a campaign; answers the pause that stands, which may be an earlier one."""
        return pauses.pause(connection, key, who, why, now())

    @writing
    def resume(self, connection: Connection, key: str, who: str, why: str) -> Paused | None:
        """Let a paused campaign go on; answers the pause that stood."""
        return pauses.resume(connection, key, who, why, now())

    @reading
    def asked(
        self, connection: Connection, key: str, read: str | None = None, service: str | None = None
    ) -> tuple[Asked | None, Standing]:
        """The plan of a campaign that was last shown for approval, and where it stands now."""
        return approvals.look(connection, key, read, service, now())

    @writing
    def seek(self, connection: Connection, plan: Plan) -> tuple[Asked, Standing]:
        """Find the answer to a plan, or write down that it is shown and waits for one."""
        return approvals.seek(connection, plan, now())

    @reading
    def carried_out(self, connection: Connection, asked: Asked) -> bool:
        """Whether a run came to its end under the approval of this plan."""
        return approvals.carried_out(connection, asked.id)

    @writing
    def answer(
        self, connection: Connection, asked: Asked, given: Answer, who: str, why: str
    ) -> None:
        """Take a person's answer to the plan that was last shown. Raises NotAnswered."""
        approvals.answer(connection, asked, given, who, why, now())

    # -- the inbox ------------------------------------------------------------------------

    @reading
    def passed(self, connection: Connection, digest: str) -> list[inbox.Passed]:
        """What became of a content of the watched folder when it last came through."""
        return inbox.passed(connection, digest)

    @writing
    def note_passed(
        self, connection: Connection, digest: str, key: str | None, file: str, ending: str
    ) -> None:
        """Write down what became of one campaign of a content of the watched folder."""
        inbox.note(connection, digest, key, file, ending, now())

    # -- the journal ---------------------------------------------------------------------

    @writing_beside
    def commit(
        self, connection: Connection, outcomes: Sequence[Outcome], wishes: Sequence[Claim]
    ) -> list[claims.Granted]:
        """One durable commit for outcomes and claims; returns what was granted, in order."""
        locks.for_claims(
            connection,
            {wish.campaign for wish in wishes},
            [outcome.attempt for outcome in outcomes],
        )
        landing.land(connection, outcomes)
        if wishes and (gone := self._transactions.gone()) is not None:
            return [gone] * len(wishes)
        return claims.grant(connection, wishes)


def _alone_with(connection: Connection, key: str) -> None:
    """Nobody else writes about this campaign, which the ledger may not know yet."""
    locks.one_at_a_time(connection)
    row = connection.scalar(_ROW, {"wanted": key})
    if row is not None:
        locks.alone_with_campaign(connection, row)


def _alone_with_campaign_of(connection: Connection, run: int) -> None:
    row = connection.scalar(_CAMPAIGN_OF_RUN, {"run": run})
    if row is not None:
        locks.alone_with_campaign(connection, row)


def _take_over(
    connection: Connection, definition: Definition, intent: intake.Intent
) -> tuple[int, Changes]:
    row, changes = intake.take_over(connection, definition, intent, now())
    if changes.new:
        locks.no_claims(connection)
    return row, changes


def _open_run(connection: Connection, campaign_row: int, approval: int | None) -> int:
    here = this_process()
    opened = {
        "campaign_id": campaign_row,
        "host": here.host,
        "pid": here.pid,
        "process_start": here.start,
        "started_at": now(),
        "heartbeat_at": shared_now(connection, now()),
        "approval_id": approval,
    }
    return int(connection.execute(_OPEN_RUN, opened).scalar_one())
