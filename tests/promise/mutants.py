"""Ways to break the promise, each put into the product of this process by one call."""

from collections.abc import Callable, Mapping
from types import SimpleNamespace
from typing import Any

from data.sending import recovery
from data.sending.claims import Claim, Claimed
from data.store.clock import now
from data.store.states import AttemptState, Step
from tasks.sending import sender as sending
from tasks.sending.sender import Learned, Order, Sender, Sent
from tasks.service import added_ids
from tasks.service.evidence import Exchange
from tasks.service.verdict import Proof, Then, Verdict


def claim_after_sending() -> None:
    """The request leaves first, and the claim is written when its answer is there."""

    async def claim_send_record(self: Sender, order: Order) -> Sent | None:
        prepared = order.prepare(Claimed(0, order.rows))
        seen = await self._service.call(prepared.request)
        claim = Claim(order.operation, self._begun.campaign, self._begun.run, now(), order.rows)
        claimed = await self._group_commit.claim(claim)
        if claimed is None:
            return None
        judged = sending.verdict(order.operation, seen, rows=len(order.rows) or 1)
        learned = prepared.read(seen) if judged.proof is Proof.DONE else Learned()
        self._record(order, claimed, seen, judged, learned)
        return Sent(order.operation, claimed, judged, seen.token)

    Sender._claim_send_record = claim_send_record  # type: ignore[method-assign]


def recovery_to_waiting() -> None:
    """What a dead run was sending is taken for not sent."""
    _recover_to(AttemptState.NOT_SENT, Step.WAITING)


def recovery_to_done() -> None:
    """What a dead run was sending is taken for sent."""
    _recover_to(AttemptState.DONE, Step.DONE)


def _recover_to(state: AttemptState, step: Step) -> None:
    vars(recovery)["AttemptState"] = SimpleNamespace(SENDING=AttemptState.SENDING, UNSURE=state)
    vars(recovery)["Step"] = SimpleNamespace(UNSURE=step)


def match_by_position() -> None:
    """The n-th answered candidate is taken for the n-th that was sent."""

    def match_answer(body: bytes | None, sent: Mapping[str, added_ids.Names]) -> added_ids.Matched:
        added = added_ids.read_added(body) or []
        ids = {key: number for key, (_, number) in zip(sent, added, strict=False) if number}
        return added_ids.Matched(ids, {key: "No id." for key in sent if key not in ids}, {})

    added_ids.match_answer = match_answer


def gateway_timeout_not_sent() -> None:
    """A gateway that gave up (504) is taken for proof that nothing happened."""
    really = sending.verdict

    def verdict(operation: Any, seen: Exchange, **how: Any) -> Verdict:
        if seen.status == 504:
            return Verdict(Proof.NOT_SENT, Then.RETRY, "The gateway gave up.")
        return really(operation, seen, **how)

    sending.verdict = verdict


def old_claims_are_sent() -> None:
    """Nobody looks once more before a request leaves."""

    async def last_look(self: Sender, asked: object) -> None: ...

    Sender._last_look = last_look  # type: ignore[method-assign]


MUTANTS: dict[str, Callable[[], None]] = {
    mutant.__name__: mutant
    for mutant in (
        claim_after_sending,
        recovery_to_waiting,
        recovery_to_done,
        match_by_position,
        gateway_timeout_not_sent,
        old_claims_are_sent,
    )
}
