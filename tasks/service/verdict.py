"""What one finished exchange proves, and what may be done next. Pure.

Without proof a request is unsure. The interface defines no status codes for failures (interface 7),
no way to read back and no idempotency key. So the only proof that nothing happened is the phase
that a request reached, or what HTTP says about a status.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from enum import StrEnum

from data.store.states import OPERATIONS, Op, State
from tasks.service.answers import (
    CandidateRow,
    is_page,
    is_plain_yes,
    match_people,
    parsed,
    read_id,
    says_no,
)
from tasks.service.exchange import Exchange, Phase

PROJECT = "project"
"""The key of a new project's id in `Verdict.ids`; the key of a person's id is their email key."""


class Then(StrEnum):
    """What the sender does next."""

    GO_ON = "go on"  # with other requests; a few REFUSED or UNSURE in a row end the run
    RETRY = "retry"  # send the same request again, a few times, with backoff
    RENEW = "renew"  # get one new token for all requests, then send this one again
    SPLIT = "split"  # send the rows in two halves
    PAUSE = "pause"  # nothing leaves for `retry_after` seconds; what is WAITING is sent again
    STOP = "stop"  # end this run


@dataclass(frozen=True, slots=True)
class Verdict:
    """What an exchange proved. Nothing rewrites it.

    The steps of the request go to `state`, except people with an id in `ids`, who are DONE. `why`
    is for people, without names, addresses and secrets. `retry_after` is in seconds.
    """

    state: State
    then: Then = Then.GO_ON
    why: str | None = None
    ids: Mapping[str, int] = field(default_factory=dict)
    retry_after: float | None = None


def verdict(
    op: Op,
    sent: Sequence[CandidateRow],
    seen: Exchange,
    *,
    before: Sequence[int] = (),
    now: datetime | None = None,
) -> Verdict:
    """Say what a finished exchange proves, by the phase it reached and its status.

    `sent` has the rows of an add; for other operations it is empty. `before` has the statuses of
    earlier refusals of these steps, over all runs (`Claim.refused`). A date in Retry-After is
    measured from `now`, which has a timezone.
    """
    if seen.status is None:
        return _unanswered(op, seen)
    if 200 <= seen.status < 300:
        return _accepted(op, sent, seen)
    if 300 <= seen.status < 400:
        # Something between us and the service answered; nobody knows what it did.
        return _unsure(op, f"The service pointed to another address (status {seen.status})", STOP)
    judged = _said_no(op, sent, seen, seen.status, before, now)
    if judged.state is State.UNSURE or judged.then is Then.SPLIT or len(before) < BELIEVED:
        return judged
    # A service may do what it says it refuses. Each repetition could then send one more email.
    then = _WHEN_DOUBTED.get(judged.then, judged.then)
    what = f"The same request was refused before, and again (status {seen.status})"
    return Verdict(State.UNSURE, then, f"{what}: {_maybe(op)}.", retry_after=judged.retry_after)


def _unanswered(op: Op, seen: Exchange) -> Verdict:
    if seen.phase > Phase.NOTHING:
        left = "was sent" if seen.phase >= Phase.SENT else "was partly sent"
        return _unsure(op, f"The request {left}, but no answer came back")
    then = STOP if seen.fatal else Then.RETRY
    return Verdict(State.WAITING, then, f"Nothing was sent: {seen.error or 'no connection'}.")


def _accepted(op: Op, sent: Sequence[CandidateRow], seen: Exchange) -> Verdict:
    if is_page(seen.begun if seen.body is None else seen.body):
        # A log-in page or a fallback page answers 200 to everything.
        return _unsure(op, "A web page answered instead of the service", STOP)
    if seen.cut_short:
        return _unsure(op, "The service said yes before it had the whole request")
    if seen.body is None:  # the missing rest may say no
        return _unsure(op, "The service said yes, but its answer did not arrive whole")
    if not OPERATIONS[op].brings_id:
        if is_plain_yes(seen.body):
            return Verdict(State.DONE)
        return _unsure(op, "The service said yes, but not plainly")
    answer = parsed(seen.body)
    rows = answer if isinstance(answer, list) else []  # rows about people are judged one by one
    others = [each for each in rows if not isinstance(each, dict) or "email1" not in each]
    if says_no(others if rows else answer):
        return _unsure(op, "The service said yes and no at the same time")
    if OPERATIONS[op].many:
        return _added(sent, answer)
    number = read_id(answer.get("id")) if isinstance(answer, dict) else None
    if number is None:
        return _unsure(op, "The service said yes but gave no usable id")
    return Verdict(State.DONE, ids={PROJECT: number})


def _added(sent: Sequence[CandidateRow], answer: object) -> Verdict:
    ids, strangers = match_people(answer, sent)
    if not (ids or strangers):
        return _unsure(Op.ADD, "The service said yes but gave no usable ids")
    without = len(sent) - len(ids)
    state = State.UNSURE if without else State.DONE
    if strangers:
        why = "The answer names people who were not in the request, so sending stopped."
        return Verdict(state, STOP, why, ids)
    if not without:
        return Verdict(state, ids=ids)
    why = f"The answer gave no usable id for {without} of {len(sent)}: they were probably added."
    return Verdict(state, why=why, ids=ids)


def _said_no(
    op: Op,
    sent: Sequence[CandidateRow],
    seen: Exchange,
    status: int,
    before: Sequence[int],
    now: datetime | None,
) -> Verdict:
    match status:
        case 401:
            # HTTP says that a request with this answer was not applied (RFC 9110, 15.5.2).
            then = STOP if 401 in before else Then.RENEW
            return _not_sent("The access token was not accepted", status, then)
        case 429:
            usual = 60.0 if 429 in before else 5.0  # many limits are for a minute
            pause = retry_after(seen.headers.get("retry-after"), now, usual)
            judged = _not_sent("The service asked for a pause", status, Then.PAUSE)
            return Verdict(judged.state, judged.then, judged.why, retry_after=pause)
        case 421 | 425:
            return _not_sent("The service did not take the request", status, Then.RETRY)
        case 408 if seen.cut_short:  # the service never had the whole request
            return _not_sent("The service did not take the request", status, Then.RETRY)
        case 408 | 409:
            return _unsure(op, f"The service gave no clear answer (status {status})")
        case 400 | 422 if len(sent) > 1:
            return _not_sent("The service refused some of the rows", status, Then.SPLIT)
        case 400 | 422 if not OPERATIONS[op].own:
            return _refused(op, status)
        case 413 if len(sent) > 1:
            return _not_sent("The request was too large", status, Then.SPLIT)
        case 404 | 405 if OPERATIONS[op].of_id:  # the address names this person
            return _refused(op, status)
        case _ if 400 <= status < 500 or status in {501, 505}:
            return _refused(op, status, STOP)
    # Gateways that answer 500, 502, 503 or 504 may have passed the request on. A status that is not
    # in this table proves even less.
    return _unsure(op, f"The service failed while answering (status {status})")


def _maybe(op: Op) -> str:
    return f"{OPERATIONS[op].what} may have been {OPERATIONS[op].done}"


def _unsure(op: Op, what: str, then: Then = Then.GO_ON) -> Verdict:
    return Verdict(State.UNSURE, then, f"{what}: {_maybe(op)}.")


def _not_sent(what: str, status: int, then: Then) -> Verdict:
    return Verdict(State.WAITING, then, f"{what} (status {status}); nothing happened.")


def _refused(op: Op, status: int, then: Then = Then.GO_ON) -> Verdict:
    """A refusal. If it stops the run, no person's row is to blame: these people wait."""
    ours = then is STOP and not OPERATIONS[op].own
    whom = "does not allow" if status == 403 else "refused"
    why = f"The service {whom} {OPERATIONS[op].doing} (status {status}); nothing happened."
    return Verdict(State.WAITING if ours else State.REFUSED, then, why)


def retry_after(header: str | None, now: datetime | None = None, usual: float = 5.0) -> float:
    """The seconds of a Retry-After header (RFC 9110, 10.2.3): at least 1, and at most LONGEST. They
    are `usual` without a header, and UNCLEAR for one that is neither numbers nor an HTTP date."""
    text = (header or "").strip()
    try:
        if not re.search(r"[^\d\s.,]|\d,\d{3}(?!\d)", text, re.ASCII):
            seconds = max(map(float, re.split(r"[,\s]+", text))) if text else usual
        else:
            when = parsedate_to_datetime(text if text.count(":") == 2 else "")
            # "-0000", or no zone at all: the time is UTC.
            when = when if when.tzinfo else when.replace(tzinfo=UTC)
            seconds = (when - (now or datetime.now(UTC))).total_seconds()
    except (ValueError, TypeError, IndexError, OverflowError):
        return UNCLEAR
    return min(max(seconds, 1.0), LONGEST)


STOP = Then.STOP
LONGEST, UNCLEAR = 86_400.0, 600.0  # seconds of a pause
BELIEVED = 2  # refusals of the same step that are believed, over all runs
_WHEN_DOUBTED = {Then.RETRY: Then.GO_ON, Then.RENEW: STOP}
