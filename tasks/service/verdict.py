"""What one finished exchange proves, and what may be done next. Pure: the time is given.

One rule applies throughout: only proof moves a request away from `unsure`. The interface has no
status codes for failures (interface 7), no read-back and no idempotency key, so HTTP's own meaning
of a status and the phase that a request reached are the only proof. The campaign decides how far a
status is believed (Trust), and never for more than a few repetitions.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from enum import StrEnum

from config.definition.model import Trust
from data.store.states import Operation
from tasks.service import added_ids, answer, messages
from tasks.service.evidence import (
    CERTIFICATES,
    ENCODED,
    GLUED,
    SPOKE_FIRST,
    Exchange,
    HeldBack,
    Phase,
)


class Proof(StrEnum):
    """What is known about the effect of a request."""

    DONE = "done"  # it happened
    NOT_SENT = "not_sent"  # provably nothing happened
    REFUSED = "refused"  # the service said no; nothing happened
    UNSURE = "unsure"  # it may have happened; only a person may settle it


class Then(StrEnum):
    """What the sender does next."""

    GO_ON = "go_on"
    RETRY = "retry"  # send again, a few times, with backoff
    RENEW = "renew"  # one token refresh, then send once more
    HALVE = "halve"  # send the two halves of the rows
    PAUSE = "pause"  # hold the whole campaign for Verdict.pause seconds, then send again
    ROW = "row"  # this row is refused; three in a row stop
    STOP = "stop"


@dataclass(frozen=True, slots=True)
class Verdict:
    """One exchange, judged. `reason` is for recruiters: no personal data, no secret, no address.

    `pause` is in seconds, set only with Then.PAUSE.
    """

    proof: Proof
    then: Then
    reason: str
    pause: float | None = None


REPEATS = 2  # repetitions of the same request after refusals, over all runs
NOTHING = "; nothing happened."

# Exceptions of the network, a proxy or the token's address that mean that nothing could leave.
_NETWORK_FAILURES = frozenset(
    {
        "TimeoutError",
        "ConnectTimeout",
        "ConnectError",
        "ProxyError",
        "RemoteProtocolError",
        "OSError",
        "Unreachable",
        SPOKE_FIRST,
        *CERTIFICATES,
    }
)

_PAGES = {"text/html", "application/xhtml+xml"}

ASKED = {
    Operation.CREATE: "creating the project",
    Operation.ATTACH: "adding the problem to the project",
    Operation.ADD: "adding the candidates",
    Operation.INVITE: "the invitation",
}

MAYBE = {
    Operation.CREATE: "the project may have been created",
    Operation.ATTACH: "the problem may have been added",
    Operation.ADD: "the candidates may have been added",
    Operation.INVITE: "the invitation may have been sent",
}


def verdict(
    operation: Operation,
    seen: Exchange,
    *,
    rows: int = 1,
    trust: Trust = Trust.STATUS,
    before: Sequence[int] = (),
    now: datetime | None = None,
) -> Verdict:
    """Say what one finished exchange proves, by phase reached and status.

    `rows` is the number of candidates in an ADD. `before` are the statuses of earlier refusals of
    the same request, in any run. An HTTP date in Retry-After is measured from `now` (aware). A DONE
    for an ADD is about the request; which rows got ids is read with `wire.match_answer`.
    """
    if seen.status is None:
        return _unanswered(operation, seen)
    if seen.failure == GLUED:
        return _unsure(
            operation, f"More than one answer came at once, the first with status {seen.status}"
        )
    judged = _answered(operation, seen, seen.status, rows, now)
    if judged.proof in (Proof.DONE, Proof.UNSURE):
        return judged
    if trust is Trust.WIRE:
        return _doubted(operation, judged, "This campaign does not trust any status (trust: wire)")
    if judged.then not in (Then.ROW, Then.HALVE) and used_up(seen.status, before):
        statuses = ", ".join(map(str, before))
        why = (
            f"The same request was refused before (status {statuses}), so this refusal is not "
            "trusted"
        )
        doubted = _doubted(operation, judged, why)
        return replace(doubted, then=Then.STOP)
    return judged


def used_up(status: int, before: Sequence[int]) -> bool:
    """Whether a request with this answer, after those `before`, has used its last repetition.

    A 401 is repeated once: the token was fresh then.
    """
    return len(before) >= REPEATS or (status == 401 and 401 in before)


def last_chance(before: Sequence[int]) -> bool:
    """Whether one more refusal would make a request unsure, whatever its status (see `used_up`)."""
    return len(before) >= REPEATS or 401 in before


def _doubted(operation: Operation, judged: Verdict, why: str) -> Verdict:
    """The verdict on an answer that is not believed; a pause is still made."""
    answered = judged.reason.removesuffix(NOTHING)
    reason = f"{answered}. {why}: {MAYBE[operation]}."
    then = Then.STOP if judged.then is Then.STOP else Then.GO_ON
    return Verdict(Proof.UNSURE, then, reason, judged.pause)


def _answered(
    operation: Operation, seen: Exchange, status: int, rows: int, now: datetime | None
) -> Verdict:
    if status == 401:
        # HTTP says that a request answered so was not applied (RFC 9110, 15.5.2).
        return Verdict(Proof.NOT_SENT, Then.RENEW, f"The access token was not accepted{NOTHING}")
    if status in (425, 429):
        return Verdict(
            Proof.NOT_SENT,
            Then.PAUSE,
            f"The service asked for a pause (status {status}){NOTHING}",
            pause=pause_of(seen.retry_after, now),
        )
    if 200 <= status < 300:
        return _accepted(operation, seen)
    if 300 <= status < 400:
        # Something between us and the service answered; nobody knows what it did with the request.
        return Verdict(
            Proof.UNSURE,
            Then.STOP,
            f"The service pointed to another address (status {status}), which is never"
            f" followed: {MAYBE[operation]}.",
        )
    if 400 <= status < 500:
        return _client_error(operation, seen, status, rows)
    if status in {501, 505}:
        return _refused(operation, status, Then.STOP)
    # 500, 502, 503 and 504 come from gateways that may have passed the request on. A status that no
    # table names (a final 1xx, 507, 520, 600) proves even less, and may be temporary: it is unsure
    # like them, and the breaker decides whether the campaign goes on.
    return _unsure(operation, f"The service failed while answering (status {status})")


def _unanswered(operation: Operation, seen: Exchange) -> Verdict:
    if seen.reached > Phase.NOTHING:
        left = "was sent" if seen.reached >= Phase.SENT else "was partly sent"
        return _unsure(operation, f"The request {left}, but no answer came back")
    if seen.failure is None or seen.failure in _NETWORK_FAILURES:
        return Verdict(
            Proof.NOT_SENT,
            Then.RETRY,
            "The service could not be reached, so nothing was sent.",
        )
    if seen.failure == HeldBack.__name__:
        return Verdict(
            Proof.NOT_SENT,
            Then.RETRY,
            "The request could not be sent soon enough after it was claimed, so nothing was sent.",
        )
    if seen.failure == "CredentialsRefused":
        return Verdict(
            Proof.NOT_SENT,
            Then.STOP,
            "The service refused the credentials, so nothing was sent.",
        )
    # Returned, not raised: the row is provably unsent and must wait again, which an exception
    # before the ledger's update would prevent. Repeating our own mistake does not help.
    return Verdict(
        Proof.NOT_SENT,
        Then.STOP,
        f"This program could not form the request ({seen.failure}), so nothing was sent."
        " The fault is in the program or in the address of the service.",
    )


def _accepted(operation: Operation, seen: Exchange) -> Verdict:
    if answer.is_page(seen.body or seen.begun):
        # A login page or a fallback page answers 200 to everything, with any Content-Type, complete
        # or not.
        return Verdict(
            Proof.UNSURE,
            Then.STOP,
            f"A web page answered instead of the service: {MAYBE[operation]}.",
        )
    if seen.early:
        return _unsure(operation, "The service said yes before it had the whole request")
    if seen.failure == ENCODED:
        # It may hide a page, or a refusal.
        return _unsure(operation, "The service said yes in an encoding that was not asked for")
    if no := answer.no_within(seen.body):
        return _unsure(operation, f"The service said yes and no at the same time ({no})")
    if seen.body is None and _media_type(seen.content_type) in _PAGES:
        return _unsure(operation, "A web page was announced but did not arrive")
    if operation is Operation.CREATE and messages.read_project_id(seen.body) is None:
        elsewhere = messages.id_elsewhere(seen.body)
        perhaps = (
            f", perhaps as {elsewhere}, an id found elsewhere in the answer" if elsewhere else ""
        )
        return Verdict(
            Proof.UNSURE,
            Then.GO_ON,
            "The service said yes but gave no usable project id: the project was probably"
            f" created{perhaps}.",
        )
    if operation is Operation.ADD and added_ids.read_added(seen.body) is None:
        return Verdict(
            Proof.UNSURE,
            Then.GO_ON,
            "The service said yes but gave no usable ids: probably added, id unknown.",
        )
    return Verdict(Proof.DONE, Then.GO_ON, "The service confirmed it.")


def _client_error(operation: Operation, seen: Exchange, status: int, rows: int) -> Verdict:
    match status:
        case 404 | 405 if operation is Operation.INVITE:
            return _refused(operation, status, Then.ROW)
        case 400 | 422:
            return _refused(operation, status, _after_bad_request(operation, rows))
        case 413 if operation is Operation.ADD and rows > 1:
            return _refused(operation, status, Then.HALVE)
        case 408 if not seen.body_failed:
            return _unsure(operation, "The service gave up waiting (status 408)")
        case 409:
            return _unsure(operation, "The service reported a conflict (status 409)")
        case 408 | 421:
            # After a 408 to a request that broke off, the service never had the whole request.
            return Verdict(
                Proof.NOT_SENT,
                Then.RETRY,
                f"The service did not take the request (status {status}){NOTHING}",
            )
    return _refused(operation, status, Then.STOP)


def _after_bad_request(operation: Operation, rows: int) -> Then:
    if operation is Operation.INVITE:
        return Then.ROW
    if operation is Operation.ADD:
        return Then.HALVE if rows > 1 else Then.ROW
    return Then.STOP


def _unsure(operation: Operation, what: str) -> Verdict:
    return Verdict(Proof.UNSURE, Then.GO_ON, f"{what}: {MAYBE[operation]}.")


def _refused(operation: Operation, status: int, then: Then) -> Verdict:
    why = f"The service refused {ASKED[operation]} (status {status})"
    if status == 403:
        why = f"The service does not allow {ASKED[operation]} with these credentials (status 403)"
    return Verdict(Proof.REFUSED, then, why + NOTHING)


def _media_type(content_type: str) -> str:
    return content_type.partition(";")[0].strip().lower()


def pause_of(
    retry_after: str | None,
    now: datetime | None = None,
    *,
    least: float = 1.0,
    most: float = 600.0,
    default: float = 5.0,
) -> float:
    """Read a Retry-After header, digits or an HTTP date, as seconds between `least` and `most`.

    `default` is for a missing or unreadable header. `now` is an aware datetime.
    """
    header = (retry_after or "").strip()
    if header.isascii() and header.isdigit():
        return min(max(float(header), least), most)
    try:
        when = parsedate_to_datetime(header)
    except (ValueError, TypeError, IndexError, OverflowError):
        return default
    if when.tzinfo is None:  # "-0000": the time is UTC, and the sender's zone is not given
        when = when.replace(tzinfo=UTC)
    try:
        seconds = (when - (now or datetime.now(UTC))).total_seconds()
    except OverflowError:
        return default
    return min(max(seconds, least), most)
