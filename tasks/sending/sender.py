"""The one place where a changing request leaves: claim, send, record.

Nothing else in the program calls `Service.call`. A claim is durable before the first byte leaves;
the outcome of the request is recorded before anything is claimed after it.
"""

import asyncio
import random
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Protocol, TypeVar

from config.command_line import command
from config.errors import CampaignError
from data.sending.claims import Claim, Claimed
from data.sending.group_commit import GroupCommit
from data.sending.outcomes import Outcome
from data.sending.runs import Begun
from data.store.clock import Moment, now
from data.store.states import AttemptState, Operation, Step
from tasks.sending.gate import Gate
from tasks.service.added_ids import NO_ID
from tasks.service.client import Service
from tasks.service.evidence import Exchange, HeldBack, Phase
from tasks.service.messages import Request
from tasks.service.verdict import REPEATS, Proof, Then, Verdict, last_chance, verdict
from tasks.status import logs

TRIES = 4  # tries of a request that provably did not leave, or that the service did not accept
FIRST_WAIT = 0.5  # seconds between the first two, doubled with each
# Seconds after which a claim is too old to be sent: time enough to connect, and far less than the
# three minutes after which others take a silent run for dead, and a person settles its claims.
CLAIM_LIVES = 15.0
GRACE = 10.0  # seconds that answers still get when a run is cancelled

T = TypeVar("T")


CREDENTIALS = (
    "Each further run may leave one more unsure. Before you run again, check the credentials: "
    f"{command('doctor')}. If they are good, ask the operator of the service what they may do."
)


@dataclass(frozen=True, slots=True)
class Learned:
    """What a usable answer says: the project's id, or ids by candidate row (add).

    `whys` says what the answer has about candidate rows without an id. `strangers` counts people in
    the answer who are not in the project by this ledger.
    """

    project_id: int | None = None
    ids: Mapping[int, int] = field(default_factory=dict)
    whys: Mapping[int, str] = field(default_factory=dict)
    strangers: int = 0


class Order(Protocol):
    """One thing to send: what to claim, what to say, and how to read the answer."""

    @property
    def operation(self) -> Operation: ...

    @property
    def rows(self) -> tuple[int, ...]:
        """The candidate rows it is about; none for the project's own calls."""

    def prepare(self, claimed: Claimed) -> "Prepared":
        """Build the request for exactly what was granted. Raises LedgerUnusable."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """A request ready to leave, and the pure reader of a usable answer to it."""

    request: Request
    read: Callable[[Exchange], Learned] = lambda _: Learned()


@dataclass(frozen=True, slots=True)
class Sent:
    """One finished attempt: what it proved, and the number of the token it used.

    `brought` counts the people who got a step further: for an add, those with an id.
    `excerpt` is what the service wrote, unless all went well: it may name people.
    """

    operation: Operation
    claimed: Claimed
    judged: Verdict
    token: int
    brought: int = 0
    status: int | None = None
    excerpt: str | None = field(default=None, repr=False)


def outcome_of(
    operation: Operation, claimed: Claimed, seen: Exchange, judged: Verdict, learned: Learned
) -> Outcome:
    """Turn a verdict into the ledger's terms. If a stop is not a row's fault, rows keep waiting."""
    state, step = _PROVED[judged.proof]
    why = None if step in (Step.DONE, Step.WAITING) else judged.reason
    if judged.proof is Proof.REFUSED and operation in (Operation.ADD, Operation.INVITE):
        if judged.then is not Then.ROW:
            step, why = Step.WAITING, None
    elif judged.proof is Proof.DONE and operation is Operation.ADD:
        # Only rows that got an id are done; for the others the answer proves nothing.
        step, why = Step.UNSURE, NO_ID
    evidence = None
    if judged.proof is not Proof.DONE or judged.then is not Then.GO_ON:
        evidence = judged.reason + (f" [{seen.failure}]" if seen.failure else "")
    elif len(learned.ids) < len(claimed.rows) and operation is Operation.ADD:
        evidence = f"The answer gave usable ids for {len(learned.ids)} of {len(claimed.rows)}."
    return Outcome(
        attempt=claimed.attempt,
        operation=operation,
        state=state,
        step=step,
        at=now(),
        rows=claimed.rows,
        phase=int(seen.reached),
        status=seen.status,
        evidence=evidence,
        answer=seen.excerpt() if evidence else None,
        why=why,
        project_id=learned.project_id,
        ids=learned.ids,
        whys=learned.whys,
    )


_PROVED = {
    Proof.DONE: (AttemptState.DONE, Step.DONE),
    Proof.NOT_SENT: (AttemptState.NOT_SENT, Step.WAITING),
    Proof.REFUSED: (AttemptState.REFUSED, Step.REFUSED),
    Proof.UNSURE: (AttemptState.UNSURE, Step.UNSURE),
}


class Sender:
    """Sends the orders of one run of one campaign, any number at the same time."""

    def __init__(
        self,
        service: Service,
        group_commit: GroupCommit,
        gate: Gate,
        begun: Begun,
    ) -> None:
        self._service = service
        self._group_commit = group_commit
        self._gate = gate
        self._begun = begun

    async def run_to_end(self, sending: Coroutine[Any, Any, T]) -> T:
        """Let open requests finish: a cancelled run still records its answers.

        Once the run is cancelled, nothing more is claimed.
        """
        piece = asyncio.ensure_future(sending)
        try:
            return await asyncio.shield(piece)
        except asyncio.CancelledError:
            self._gate.stop("The run was cancelled.")
            await asyncio.wait({piece}, timeout=GRACE)
            if not piece.done():
                piece.cancel()
                await asyncio.wait({piece})
            if not piece.cancelled():
                piece.exception()  # retrieved, and ignored: the run was cancelled
            raise

    async def send(
        self,
        order: Order,
        still: Callable[[], bool] = lambda: True,
        refusals: Sequence[int] = (),
        *,
        waits: bool = True,
    ) -> Sent | None:
        """Claim, send and record, again if that is safe; must be called within `run_to_end`.

        None: it was not sent (claimed by another run, stopped, or `still` said that it is too late
        once it might have left). `refusals` are statuses of earlier ones. If the service asks
        for a pause and the order does not wait for it, somebody else can be sent first. The next
        order's claim is committed together with this one's outcome.
        """
        tries = 0
        sent: Sent | None = None
        while await self._may_leave(order.operation, refusals):
            try:
                sent = await self._claim_send_record(order) if still() else None
            finally:
                self._gate.back()
            if sent is None:
                self._gate.nothing_left(order.operation)
                return None
            if sent.judged.pause is not None:
                await self._gate.let_all_pause()
            match sent.judged.then:
                case Then.RETRY if tries + 1 < TRIES:
                    tries += 1
                    await self._gate.wait(self._backoff(tries))
                case Then.RETRY:
                    self._gate.stop(f"{sent.judged.reason} It was tried {TRIES} times.")
                case Then.RENEW:
                    await self._renew(sent.token)
                case Then.PAUSE if waits:
                    pass  # the gate keeps the pause
                case _:
                    return sent
            if sent.status is not None:
                refusals = (*refusals, sent.status)
        return sent

    async def _may_leave(self, operation: Operation, refusals: Sequence[int]) -> bool:
        """Get the token first: a claim is for a request that can leave at once."""
        if not await self._gate.opens(operation, alone=last_chance(refusals)):
            return False
        try:
            await self._service.ready()
        except CampaignError as error:
            self._gate.stop(str(error))
        except BaseException:
            self._gate.back()
            raise
        if self._gate.stopped is None:
            return True
        self._gate.back()
        return False

    async def _renew(self, used: int) -> None:
        try:
            await self._service.renew(used)
        except CampaignError as error:
            self._gate.stop(str(error))

    def _backoff(self, tries: int) -> float:
        # Jitter keeps many senders from coming back at the same moment.
        jitter = random.uniform(0.5, 1.5)  # noqa: S311
        return float(FIRST_WAIT * 2 ** (tries - 1) * jitter)

    async def _claim_send_record(self, order: Order) -> Sent | None:
        asked = Moment()
        begun = self._begun
        claim = Claim(order.operation, begun.campaign, begun.run, now(), order.rows, begun.version)
        try:
            claimed = await self._group_commit.claim(claim)
        except CampaignError as error:
            self._gate.stop(str(error))
            return None
        if claimed is None:
            return None
        if self._gate.stopped:  # while the claim was being written
            self._nothing_left(order, claimed, self._gate.stopped)
            return None
        try:
            prepared = order.prepare(claimed)
        except CampaignError as error:
            self._gate.stop(str(error))
            self._nothing_left(order, claimed, str(error))
            return None
        try:
            seen = await self._service.call(prepared.request, partial(self._last_look, asked))
        except asyncio.CancelledError:
            seen = Exchange(Phase.SENDING, failure="CancelledError")
            self._record(order, claimed, seen, verdict(order.operation, seen), Learned())
            raise
        if self._gate.stopped and seen.failure == HeldBack.__name__ and not seen.reached:
            self._nothing_left(order, claimed, self._gate.stopped)
            return None
        judged = await self._judged(order.operation, claimed, seen)
        learned = _learned(prepared, seen, judged)
        judged = _with_strangers(judged, learned)
        wrote = self._record(order, claimed, seen, judged, learned)
        heard = _as_heard(order.operation, claimed, judged, learned)
        self._gate.heard(order.operation, _with_a_way_out(heard, seen))
        brought = _brought(order.operation, claimed, judged, learned)
        return Sent(order.operation, claimed, judged, seen.token, brought, seen.status, wrote)

    async def _judged(self, operation: Operation, claimed: Claimed, seen: Exchange) -> Verdict:
        """Ask the ledger for earlier refusals, but only if this refusal would be believed.

        If the ledger fails, they count as too many: nothing more is sent without it anyway.
        """
        rows, trust = len(claimed.rows) or 1, self._begun.trust
        judged = verdict(operation, seen, rows=rows, trust=trust)
        if seen.status is None or judged.proof in (Proof.DONE, Proof.UNSURE):
            return judged
        try:
            before = await self._group_commit.refusals_before(claimed.attempt)
        except CampaignError:
            before = (seen.status,) * REPEATS
        return verdict(operation, seen, rows=rows, trust=trust, before=before)

    async def _last_look(self, asked: Moment) -> None:
        """Check that a claim is still valid when its request could leave. Raises HeldBack.

        A run that was stopped, or slept, may have been taken for dead meanwhile, and a person may
        have let the request be sent again. The ledger is asked each time: on a paused machine every
        clock stands still.
        """
        try:
            await self._group_commit.see_that_it_stands(self._begun.run)
        except CampaignError as error:
            self._gate.stop(str(error))
        if self._gate.stopped or asked.age() > CLAIM_LIVES:
            raise HeldBack

    def _nothing_left(self, order: Order, claimed: Claimed, why: str) -> None:
        seen = Exchange(Phase.NOTHING)
        judged = Verdict(Proof.NOT_SENT, Then.STOP, why)
        self._record(order, claimed, seen, judged, Learned())

    def _record(
        self, order: Order, claimed: Claimed, seen: Exchange, judged: Verdict, learned: Learned
    ) -> str | None:
        """Record what an attempt proved; returns what the service wrote, where that matters."""
        outcome = outcome_of(order.operation, claimed, seen, judged, learned)
        self._group_commit.record(outcome)
        if logs.listening():
            logs.say(
                f"{order.operation}: {judged.proof}",
                attempt=claimed.attempt,
                people=len(claimed.rows),
                status=seen.status,
                reached=seen.reached.name.lower(),
                seconds=round(seen.seconds, 3),
                then=judged.then.name.lower(),
            )
        return outcome.answer


def _learned(prepared: Prepared, seen: Exchange, judged: Verdict) -> Learned:
    """What the answer says; for an unsure one, only what a person should know."""
    if seen.status is None or not 200 <= seen.status < 300:
        return Learned()
    learned = prepared.read(seen)
    return learned if judged.proof is Proof.DONE else Learned(whys=learned.whys)


def _brought(operation: Operation, claimed: Claimed, judged: Verdict, learned: Learned) -> int:
    if judged.proof is not Proof.DONE:
        return 0
    return len(learned.ids) if operation is Operation.ADD else len(claimed.rows)


def _with_strangers(judged: Verdict, learned: Learned) -> Verdict:
    if not learned.strangers:
        return judged
    return replace(
        judged,
        then=Then.STOP,
        reason="The answer names people who were not in the request, so sending stopped.",
    )


def _with_a_way_out(judged: Verdict, seen: Exchange) -> Verdict:
    """Tell the reader a way out: while this lasts, each run may leave one more unsure."""
    if seen.status not in (401, 403) or (judged.proof, judged.then) != (Proof.UNSURE, Then.STOP):
        return judged
    return replace(judged, reason=f"{judged.reason} {CREDENTIALS}")


def _as_heard(operation: Operation, claimed: Claimed, judged: Verdict, learned: Learned) -> Verdict:
    """To the breaker, an add that left some rows without an id is an unclear answer."""
    if (
        operation is Operation.ADD
        and judged.proof is Proof.DONE
        and len(learned.ids) < len(claimed.rows)
    ):
        return replace(judged, proof=Proof.UNSURE)
    return judged
