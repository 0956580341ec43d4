"""The ledger: what was asked for, what was sent, and what came of it.

The only module that opens a transaction. Every public method is one transaction; when it
returns, what it wrote is on the disk.
"""

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from secrets import token_hex
from uuid import uuid4

from sqlalchemy import Connection, Engine, insert, select, update
from sqlalchemy.exc import DBAPIError

from config.definition import Definition
from data import (
    approvals,
    claims,
    inbox,
    intake,
    landing,
    pauses,
    receipt_doubts,
    recovery,
    resending,
    settling,
    so_far,
)
from data.approvals import Answer, Asked, Plan, Standing
from data.claims import Claim, Claimed
from data.doubts import By, Decided, Doubts
from data.judging import Judging
from data.landing import Outcome
from data.looking import Looking
from data.opening import LedgerUnusable, open_engine, rewrite, what_failed
from data.pauses import Paused
from data.privacy import Privacy
from data.processes import this_process
from data.receipt import Reach
from data.remaining import Changes
from data.states import Ending
from data.tables import Attempt, Campaign, Candidate, Identity, Run

campaign = Campaign.__table__  # type: ignore[attr-defined]
candidate = Candidate.__table__  # type: ignore[attr-defined]
attempt = Attempt.__table__  # type: ignore[attr-defined]
runs = Run.__table__  # type: ignore[attr-defined]
identity = Identity.__table__  # type: ignore[attr-defined]


@dataclass(frozen=True, slots=True)
class Begun:
    """A run that has begun: its number, its campaign's row, and what the definition changed."""

    run: int
    campaign: int
    changes: Changes | None


def now() -> datetime:
    """The time of everything written here: UTC, aware."""
    return datetime.now(UTC)


class Ledger(Looking, Judging, Privacy):
    """One database of campaigns. Open it with `Ledger.open`, close it when done."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    @classmethod
    def open(cls, url: str, *, create: bool = True) -> "Ledger":
        """Open, migrate, and give a new ledger its UUID. Raises LedgerUnusable, NoLedger."""
        ledger = cls(open_engine(url, create=create))
        with ledger._reading() as connection:
            known = connection.scalar(select(identity.c.uuid))
        if known is None:
            with ledger._writing() as connection:
                if connection.scalar(select(identity.c.uuid)) is None:
                    own = {"id": 1, "uuid": str(uuid4()), "secret": token_hex(32)}
                    connection.execute(insert(identity).values(**own, created_at=now()))
        return ledger

    def close(self) -> None:
        self._engine.dispose()

    def __enter__(self) -> "Ledger":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _now(self) -> datetime:
        return now()

    @contextmanager
    def _writing(self) -> Iterator[Connection]:
        try:
            with self._engine.begin() as connection:
                yield connection
        except DBAPIError as error:
            raise LedgerUnusable(
                f"The ledger could not be written: {what_failed(error)}, then type the same "
                "command again. What was recorded before stands."
            ) from None

    @contextmanager
    def _reading(self) -> Iterator[Connection]:
        try:
            with self._engine.connect().execution_options(reading=True) as connection:
                yield connection
        except DBAPIError as error:
            raise LedgerUnusable(
                f"The ledger could not be read: {what_failed(error)}, then type the same command "
                "again."
            ) from None

    # -- what it is ---------------------------------------------------------------------

    def uuid(self) -> str:
        """The ledger's own identity; a receipt names it."""
        with self._reading() as connection:
            return str(connection.scalar(select(identity.c.uuid)))

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
        address = self._engine.url
        if address.get_backend_name() == "sqlite":
            return str(address.database)
        return address.set(query={}).render_as_string(hide_password=True)

    def reach(self, key: str) -> Reach:
        """How far this campaign has got here, and by which name receipts know its records."""
        with self._reading() as connection:
            return receipt_doubts.reach(connection, key)

    def accepted_receipts(self, key: str) -> set[str]:
        """What receipts that did not fit said, and a person accepted, word for word."""
        with self._reading() as connection:
            return receipt_doubts.accepted(connection, key)

    def doubt_receipt(self, key: str, file: str, says: str) -> None:
        """Note a receipt that does not fit this ledger, for a person to look at."""
        with self._writing() as connection:
            receipt_doubts.note(connection, key, file, says, now())

    def accept_receipts(self, key: str, who: str, why: str) -> int:
        """Accept the receipts of this campaign that did not fit; returns how many there were."""
        with self._writing() as connection:
            return receipt_doubts.accept(connection, key, who, why, now())

    # -- what a person or a look said --------------------------------------------------

    def confirm_pilot(self, campaign_row: int, row: int, who: str, why: str) -> None:
        """Write down that the invitation to oneself (`row` of the candidates) is right."""
        with self._writing() as connection:
            so_far.confirm(connection, campaign_row, row, By(who, why, now()))

    def saw_problem(self, key: str, doubt: str | None) -> None:
        """Keep what a look at the service's list said against a campaign's problem, and when."""
        with self._writing() as connection:
            connection.execute(
                update(campaign)
                .where(campaign.c.key == key)
                .values(problem_doubt=doubt, problem_seen_at=now())
            )

    # -- runs ---------------------------------------------------------------------------

    def take_over(self, definition: Definition, intent: intake.Intent) -> Changes:
        """Take a changed definition over, without a run: there is nothing to send."""
        with self._writing() as connection:
            return intake.take_over(connection, definition, intent, now())[1]

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
        here = this_process()
        with self._writing() as connection:
            if approval is not None:
                approvals.check(connection, key, approval, now())
            if definition is not None and intent is not None:
                row, changes = intake.take_over(connection, definition, intent, now())
            else:
                row, changes = intake.row_of(connection, key), None
            run = connection.execute(
                insert(runs)
                .values(
                    campaign_id=row,
                    host=here.host,
                    pid=here.pid,
                    process_start=here.start,
                    started_at=now(),
                    heartbeat_at=now(),
                    approval_id=approval,
                )
                .returning(runs.c.id)
            ).scalar_one()
        recovery.OWN_RUNS.add(run)
        return Begun(run, row, changes)

    def begin_part(self, campaign_row: int) -> None:
        """Count one more part of a run, before anything of it may be sent."""
        with self._writing() as connection:
            connection.execute(
                update(campaign)
                .where(campaign.c.id == campaign_row)
                .values(parts=campaign.c.parts + 1)
            )

    def heartbeat(self, run: int) -> None:
        with self._writing() as connection:
            connection.execute(update(runs).where(runs.c.id == run).values(heartbeat_at=now()))

    def end(self, run: int, ending: Ending, reason: str | None) -> int:
        """Close a run; what it still had SENDING becomes UNSURE. Returns how many calls."""
        recovery.OWN_RUNS.discard(run)  # even if the disk is full: the next run may bury it
        with self._writing() as connection:
            left = recovery.give_up(connection, run, now(), recovery.LEFT_BY_OWN_RUN)
            connection.execute(
                update(runs)
                .where(runs.c.id == run)
                .values(ended_at=now(), ending=ending, reason=reason)
            )
        return left

    def recover(self, campaign_row: int) -> int:
        """Make the SENDING rows of dead runs UNSURE. Returns how many calls that were."""
        with self._reading() as connection:
            dead = recovery.dead_runs(connection, campaign_row, now())
        if not dead:
            return 0
        with self._writing() as connection:
            return sum(recovery.bury(connection, run, now()) for run in dead)

    # -- a person's decisions --------------------------------------------------------------

    def doubts(self, campaign_row: int) -> Doubts:
        """Everything unsure in a campaign, with its evidence."""
        with self._reading() as connection:
            return settling.find(connection, campaign_row, now())

    def settle(
        self, campaign_row: int, decided: Sequence[Decided], who: str, why: str, *, soon: bool
    ) -> None:
        """Take a person's verdicts, all of them. Raises NotDecided: then none was taken.

        `soon`: also what the service may still be at work on may be sent again.
        """
        with self._writing() as connection:
            by = By(who, why, now())
            settling.settle(connection, campaign_row, decided, by, soon=soon)

    def against_resending(self, campaign_row: int, rows: Sequence[int]) -> dict[int, str]:
        """Who cannot be invited once more and why, by position in `rows`; changes nothing."""
        with self._reading() as connection:
            return resending.objections(connection, campaign_row, rows, now())

    def resend(self, campaign_row: int, rows: Sequence[int], who: str, why: str) -> None:
        """Have these candidates invited once more, by the next run. Raises NotDecided."""
        with self._writing() as connection:
            resending.resend(connection, campaign_row, rows, By(who, why, now()))

    # -- whether a run may send --------------------------------------------------------------

    def paused(self, key: str) -> Paused | None:
        """The pause that holds a campaign now."""
        with self._reading() as connection:
            return pauses.standing(connection, key)

    def pause(self, key: str, who: str, why: str) -> Paused:
        """Pause a campaign; answers the pause that stands, which may be an earlier one."""
        with self._writing() as connection:
            return pauses.pause(connection, key, who, why, now())

    def resume(self, key: str, who: str, why: str) -> Paused | None:
        """Let a paused campaign go on; answers the pause that stood."""
        with self._writing() as connection:
            return pauses.resume(connection, key, who, why, now())

    def asked(
        self, key: str, read: str | None = None, service: str | None = None
    ) -> tuple[Asked | None, Standing]:
        """The plan of a campaign that was last shown for approval, and where it stands now."""
        with self._reading() as connection:
            return approvals.look(connection, key, read, service, now())

    def seek(self, plan: Plan) -> tuple[Asked, Standing]:
        """Find the answer to a plan, or write down that it is shown and waits for one."""
        with self._writing() as connection:
            return approvals.seek(connection, plan, now())

    def carried_out(self, asked: Asked) -> bool:
        """Whether a run came to its end under the approval of this plan."""
        with self._reading() as connection:
            return approvals.carried_out(connection, asked.id)

    def answer(self, asked: Asked, given: Answer, who: str, why: str) -> None:
        """Take a person's answer to the plan that was last shown. Raises NotAnswered."""
        with self._writing() as connection:
            approvals.answer(connection, asked, given, who, why, now())

    # -- the inbox ------------------------------------------------------------------------

    def passed(self, digest: str) -> list[inbox.Passed]:
        """What became of a content of the watched folder when it last came through."""
        with self._reading() as connection:
            return inbox.passed(connection, digest)

    def note_passed(self, digest: str, key: str | None, file: str, ending: str) -> None:
        """Write down what became of one campaign of a content of the watched folder."""
        with self._writing() as connection:
            inbox.note(connection, digest, key, file, ending, now())

    # -- the journal ---------------------------------------------------------------------

    def commit(self, outcomes: Sequence[Outcome], wishes: Sequence[Claim]) -> list[Claimed | None]:
        """One durable commit for outcomes and claims; returns what was granted, in order."""
        with self._writing() as connection:
            landing.land(connection, outcomes)
            return claims.grant(connection, wishes)
