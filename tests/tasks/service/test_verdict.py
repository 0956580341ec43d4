"""What one exchange proves: the table of outcomes, row by row."""

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from config.definition.model import Trust
from data.store.states import Operation
from tasks.service.evidence import ENCODED, GLUED, Exchange, HeldBack, Phase
from tasks.service.verdict import (
    MAYBE,
    Proof,
    Then,
    Verdict,
    last_chance,
    pause_of,
    used_up,
    verdict,
)

CREATE, ATTACH, ADD, INVITE = Operation
NOT_SENT, REFUSED, UNSURE, DONE = Proof.NOT_SENT, Proof.REFUSED, Proof.UNSURE, Proof.DONE
GO_ON, RETRY, RENEW, HALVE = Then.GO_ON, Then.RETRY, Then.RENEW, Then.HALVE
PAUSE, ROW, STOP = Then.PAUSE, Then.ROW, Then.STOP

ONE_ADDED = b'[{"email1": "ada@example.com", "candidate_id": 5001}]'
MAY_BE_SENT = MAYBE[INVITE]
USABLE = {CREATE: b'{"id": 101}', ATTACH: b"", ADD: ONE_ADDED, INVITE: b""}


def answered(status: int, **more: object) -> Exchange:
    return Exchange(**{"reached": Phase.ANSWERED, "status": status, "body": b"{}", **more})  # type: ignore[arg-type]


def outcome(judged: Verdict) -> tuple[Proof, Then]:
    return judged.proof, judged.then


NETWORK = [
    "ConnectError",
    "ConnectTimeout",
    "ProxyError",
    "TimeoutError",
    "RemoteProtocolError",
    "Unreachable",
    None,
]
OUR_OWN = ["LocalProtocolError", "UnsupportedProtocol", "InvalidURL", "TypeError", "RuntimeError"]


@pytest.mark.parametrize("failure", NETWORK)
@pytest.mark.parametrize("operation", list(Operation))
def test_what_never_started_was_not_sent(operation: Operation, failure: str | None) -> None:
    """Headers never started: nothing happened, and it may be sent again."""
    seen = Exchange(Phase.NOTHING, failure=failure)
    assert outcome(verdict(operation, seen)) == (NOT_SENT, RETRY)


@pytest.mark.parametrize("failure", [*OUR_OWN, "CredentialsRefused"])
@pytest.mark.parametrize("operation", list(Operation))
def test_our_own_mistakes_stop(operation: Operation, failure: str) -> None:
    """Repeating what failed by our own fault, or with refused credentials, helps nobody."""
    seen = Exchange(Phase.NOTHING, failure=failure)
    assert outcome(verdict(operation, seen)) == (NOT_SENT, STOP)


@pytest.mark.parametrize("failure", [*NETWORK, *OUR_OWN, "CancelledError", "ReadTimeout"])
@pytest.mark.parametrize("phase", [Phase.SENDING, Phase.SENT])
@pytest.mark.parametrize("operation", list(Operation))
def test_the_phase_decides_and_not_the_exception(
    operation: Operation, phase: Phase, failure: str | None
) -> None:
    """Sending started and no status line: unsure, by whatever name the failure goes."""
    seen = Exchange(phase, failure=failure)
    assert outcome(verdict(operation, seen)) == (UNSURE, GO_ON)


# One line a row of the table of outcomes: status, then create, attach, add of one, add of many,
# invite.
BY_STATUS: list[tuple[int, tuple[tuple[Proof, Then], ...]]] = [
    (400, ((REFUSED, STOP), (REFUSED, STOP), (REFUSED, ROW), (REFUSED, HALVE), (REFUSED, ROW))),
    (401, ((NOT_SENT, RENEW),) * 5),
    (402, ((REFUSED, STOP),) * 5),
    (403, ((REFUSED, STOP),) * 5),
    (404, (*(((REFUSED, STOP),) * 4), (REFUSED, ROW))),
    (405, (*(((REFUSED, STOP),) * 4), (REFUSED, ROW))),
    (406, ((REFUSED, STOP),) * 5),
    (407, ((REFUSED, STOP),) * 5),
    (408, ((UNSURE, GO_ON),) * 5),
    (409, ((UNSURE, GO_ON),) * 5),
    (410, ((REFUSED, STOP),) * 5),
    (413, ((REFUSED, STOP), (REFUSED, STOP), (REFUSED, STOP), (REFUSED, HALVE), (REFUSED, STOP))),
    (415, ((REFUSED, STOP),) * 5),
    (421, ((NOT_SENT, RETRY),) * 5),
    (422, ((REFUSED, STOP), (REFUSED, STOP), (REFUSED, ROW), (REFUSED, HALVE), (REFUSED, ROW))),
    (425, ((NOT_SENT, PAUSE),) * 5),
    (429, ((NOT_SENT, PAUSE),) * 5),
    (499, ((REFUSED, STOP),) * 5),
    (500, ((UNSURE, GO_ON),) * 5),
    (501, ((REFUSED, STOP),) * 5),
    (502, ((UNSURE, GO_ON),) * 5),
    (503, ((UNSURE, GO_ON),) * 5),
    (504, ((UNSURE, GO_ON),) * 5),
    (505, ((REFUSED, STOP),) * 5),
    *((status, ((UNSURE, STOP),) * 5) for status in (300, 301, 302, 303, 304, 307, 308)),
    # Named by no row: they prove nothing, so they are doubted.
    *((status, ((UNSURE, GO_ON),) * 5) for status in (100, 101, 199, 506, 507, 520, 599, 600, 999)),
]
COLUMNS = [(CREATE, 1), (ATTACH, 1), (ADD, 1), (ADD, 5), (INVITE, 1)]


@pytest.mark.parametrize(("status", "row"), BY_STATUS)
def test_each_status_means_what_the_table_says(
    status: int, row: tuple[tuple[Proof, Then], ...]
) -> None:
    """Outcomes by status, for every changing call."""
    for (operation, rows), expected in zip(COLUMNS, row, strict=True):
        judged = verdict(operation, answered(status), rows=rows)
        assert outcome(judged) == expected, (operation, rows)


@pytest.mark.parametrize("status", [200, 201, 202, 204, 206, 299])
@pytest.mark.parametrize("operation", list(Operation))
def test_a_usable_yes_is_done(operation: Operation, status: int) -> None:
    """Any 2xx that holds what the call needs is done."""
    seen = answered(status, body=USABLE[operation])
    assert outcome(verdict(operation, seen, rows=1)) == (DONE, GO_ON)


@pytest.mark.parametrize(
    "body", [None, b"", b"None", b"null", b"[]", b"{}", b"[{}]", b"\xff", b"["]
)
@pytest.mark.parametrize("operation", list(Operation))
def test_a_yes_without_ids(operation: Operation, body: bytes | None) -> None:
    """Create and add without an id are unsure; attach and invite are done, whatever the body."""
    expected = UNSURE if operation in {CREATE, ADD} else DONE
    assert outcome(verdict(operation, answered(200, body=body))) == (expected, GO_ON)


@pytest.mark.parametrize("operation", list(Operation))
def test_a_web_page_that_says_yes_stops(operation: Operation) -> None:
    """A 2xx with a web page is unsure and stops, broken off or not."""
    for broken_off in (False, True):
        seen = answered(200, body=b"<html>", early=broken_off)
        assert outcome(verdict(operation, seen)) == (UNSURE, STOP)


@pytest.mark.parametrize("operation", list(Operation))
def test_a_yes_to_half_a_request_is_unsure(operation: Operation) -> None:
    """A 2xx that began before the whole request had left is unsure."""
    seen = answered(200, body=USABLE[operation], early=True)
    assert outcome(verdict(operation, seen)) == (UNSURE, GO_ON)


@pytest.mark.parametrize("operation", list(Operation))
def test_a_timeout_told_by_the_service_counts_only_with_the_whole_request(
    operation: Operation,
) -> None:
    """408 is unsure with the body fully sent; a request that broke off was never whole."""
    assert outcome(verdict(operation, answered(408))) == (UNSURE, GO_ON)
    assert outcome(verdict(operation, answered(408, body_failed=True))) == (NOT_SENT, RETRY)


BEFORE: list[tuple[int, tuple[int, ...], bool]] = [
    (401, (), False),
    (401, (429,), False),
    (401, (401,), True),
    (401, (429, 429), True),
    (429, (401,), False),
    (429, (429,), False),
    (429, (425, 429), True),
    (425, (429, 429), True),
    (421, (421,), False),
    (421, (421, 421), True),
    (403, (403,), False),
    (403, (403, 403), True),
    (501, (403, 429), True),
    (505, (505, 505, 505), True),
]


@pytest.mark.parametrize(("status", "before", "doubted"), BEFORE)
@pytest.mark.parametrize("operation", list(Operation))
def test_what_was_refused_too_often_is_in_doubt(
    operation: Operation, status: int, before: tuple[int, ...], *, doubted: bool
) -> None:
    """Two repetitions over all runs, one with a fresh token; each may have come after the work."""
    judged = verdict(operation, answered(status), before=before)
    if not doubted:
        assert outcome(judged) == outcome(verdict(operation, answered(status)))
        return
    assert outcome(judged) == (UNSURE, STOP)
    assert "refused before (status " + ", ".join(map(str, before)) in judged.reason
    assert last_chance(before)


@pytest.mark.parametrize(("before", "last"), [((), 0), ((403,), 0), ((401,), 1), ((429, 403), 1)])
def test_a_last_chance_is_where_any_no_would_be_doubt(before: tuple[int, ...], last: int) -> None:
    """It is what the gate is careful about."""
    assert last_chance(before) == any(used_up(status, before) for status in (401, 403, 429))
    assert last_chance(before) == bool(last)


@pytest.mark.parametrize("status", [400, 404, 405, 422])
def test_what_is_refused_for_good_needs_no_count(status: int) -> None:
    """The row is not sent again; the halves of an add are other requests."""
    assert outcome(verdict(INVITE, answered(status), before=(403, 403))) == (REFUSED, ROW)
    if status in (400, 422):
        halved = verdict(ADD, answered(status), rows=2, before=(403, 403))
        assert outcome(halved) == (REFUSED, HALVE)


def test_by_the_wire_no_status_proves_that_nothing_happened() -> None:
    """Only a yes is believed, and that nothing left; what stops or pauses a campaign does so."""
    for status, row in BY_STATUS:
        for (operation, rows), (_, then) in zip(COLUMNS, row, strict=True):
            judged = verdict(operation, answered(status), rows=rows, trust=Trust.WIRE)
            assert outcome(judged) == (UNSURE, STOP if then is STOP else GO_ON), (status, rows)
            assert (judged.pause is not None) is (then is PAUSE)
    for operation in Operation:
        seen = Exchange(Phase.NOTHING, failure="ConnectError")
        assert outcome(verdict(operation, seen, trust=Trust.WIRE)) == (NOT_SENT, RETRY)
        yes = answered(200, body=USABLE[operation])
        assert outcome(verdict(operation, yes, trust=Trust.WIRE)) == (DONE, GO_ON)


NOW = datetime(2026, 12, 1, 9, 0, tzinfo=UTC)
PAUSES = [
    (None, 5),
    ("", 5),
    ("soon", 5),
    ("-3", 5),
    ("1.5", 5),
    ("٣", 5),
    ("0", 1),
    ("1", 1),
    (" 30 ", 30),
    ("600", 600),
    ("601", 600),
    ("9" * 5000, 600),
    (format_datetime(NOW + timedelta(seconds=90), usegmt=True), 90),
    (format_datetime(NOW - timedelta(days=1), usegmt=True), 1),
    (format_datetime(NOW + timedelta(days=1), usegmt=True), 600),
    ("Tue, 01 Dec 2026 09:01:00 -0000", 60),
    ("Tuesday, 01-Dec-26 09:00:20 GMT", 20),
    ("Tue, 99 Dec 2026 09:01:00 GMT", 5),
]


@pytest.mark.parametrize(("said", "seconds"), PAUSES)
def test_the_pause_is_what_the_service_asks_within_reason(said: str | None, seconds: int) -> None:
    """Retry-After, digits or HTTP date, between 1 and 600 s; 5 s when it cannot be read."""
    judged = verdict(INVITE, answered(429, retry_after=said), now=NOW)
    assert judged.pause == seconds


def test_a_date_is_measured_from_now_without_being_told() -> None:
    """Without `now`, an HTTP date is measured from the clock."""
    at = format_datetime(datetime.now(UTC) + timedelta(seconds=100), usegmt=True)
    assert 90 < pause_of(at) <= 100


def test_only_a_pause_has_seconds() -> None:
    """Retry-After on anything but 425 and 429 changes nothing."""
    assert verdict(INVITE, answered(503, retry_after="30")).pause is None


def test_reasons_are_sentences_without_numbers_of_people() -> None:
    """Every reason is a sentence for a recruiter and says what may be believed."""
    for status, _ in BY_STATUS:
        for operation, rows in COLUMNS:
            judged = verdict(operation, answered(status), rows=rows)
            assert judged.reason.endswith(".")
            promised = {
                NOT_SENT: "nothing happened",
                REFUSED: "nothing happened",
                UNSURE: "may have been",
            }
            assert promised[judged.proof] in judged.reason


REASONS: list[tuple[Operation, Exchange, str]] = [
    (CREATE, Exchange(Phase.NOTHING), "The service could not be reached, so nothing was sent."),
    (
        INVITE,
        Exchange(Phase.NOTHING, failure="CredentialsRefused"),
        "The service refused the credentials, so nothing was sent.",
    ),
    (
        ADD,
        Exchange(Phase.NOTHING, failure="InvalidURL"),
        "This program could not form the request (InvalidURL), so nothing was sent. The fault is "
        "in the program or in the address of the service.",
    ),
    (
        INVITE,
        Exchange(Phase.SENDING),
        f"The request was partly sent, but no answer came back: {MAY_BE_SENT}.",
    ),
    (
        ATTACH,
        Exchange(Phase.SENT),
        "The request was sent, but no answer came back: the problem may have been added.",
    ),
    (CREATE, answered(401), "The access token was not accepted; nothing happened."),
    (
        CREATE,
        answered(403),
        "The service does not allow creating the project with these credentials (status 403); "
        "nothing happened.",
    ),
    (INVITE, answered(404), "The service refused the invitation (status 404); nothing happened."),
    (
        ADD,
        answered(422),
        "The service refused adding the candidates (status 422); nothing happened.",
    ),
    (
        ADD,
        answered(413),
        "The service refused adding the candidates (status 413); nothing happened.",
    ),
    (
        ATTACH,
        answered(402),
        "The service refused adding the problem to the project (status 402); nothing happened.",
    ),
    (INVITE, answered(501), "The service refused the invitation (status 501); nothing happened."),
    (
        INVITE,
        answered(302),
        "The service pointed to another address (status 302), which is never followed: "
        f"{MAY_BE_SENT}.",
    ),
    (
        INVITE,
        answered(408),
        f"The service gave up waiting (status 408): {MAY_BE_SENT}.",
    ),
    (
        CREATE,
        answered(409),
        "The service reported a conflict (status 409): the project may have been created.",
    ),
    (
        ADD,
        answered(421),
        "The service did not take the request (status 421); nothing happened.",
    ),
    (ADD, answered(429), "The service asked for a pause (status 429); nothing happened."),
    (
        ADD,
        answered(504),
        "The service failed while answering (status 504): the candidates may have been added.",
    ),
    (
        INVITE,
        answered(200, body=b"<html>"),
        f"A web page answered instead of the service: {MAY_BE_SENT}.",
    ),
    (
        INVITE,
        answered(200, early=True),
        f"The service said yes before it had the whole request: {MAY_BE_SENT}.",
    ),
    (
        CREATE,
        answered(200),
        "The service said yes but gave no usable project id: the project was probably created.",
    ),
    (
        ADD,
        answered(200),
        "The service said yes but gave no usable ids: probably added, id unknown.",
    ),
    (
        CREATE,
        answered(200, body=b'{"projectId": 7}'),
        "The service said yes but gave no usable project id: the project was probably created, "
        "perhaps as 7, an id found elsewhere in the answer.",
    ),
    (
        INVITE,
        answered(200, body=b'{"success": false}'),
        f"The service said yes and no at the same time (success: false): {MAY_BE_SENT}.",
    ),
    (
        ATTACH,
        answered(200, body=b'{"errors": [{"code": 7}]}'),
        "The service said yes and no at the same time (it has errors): the problem may have been "
        "added.",
    ),
    (
        INVITE,
        answered(200, body=None, content_type="text/html"),
        f"A web page was announced but did not arrive: {MAY_BE_SENT}.",
    ),
    (
        INVITE,
        answered(200, body=None, content_type="text/html; charset=utf-8"),
        f"A web page was announced but did not arrive: {MAY_BE_SENT}.",
    ),
    (INVITE, answered(200), "The service confirmed it."),
    (
        INVITE,
        answered(400, failure=GLUED),
        f"More than one answer came at once, the first with status 400: {MAY_BE_SENT}.",
    ),
    (
        INVITE,
        answered(200, body=None, failure=ENCODED),
        f"The service said yes in an encoding that was not asked for: {MAY_BE_SENT}.",
    ),
    (
        INVITE,
        Exchange(Phase.NOTHING, failure=HeldBack.__name__),
        "The request could not be sent soon enough after it was claimed, so nothing was sent.",
    ),
]


@pytest.mark.parametrize(("operation", "seen", "reason"), REASONS)
def test_what_a_person_is_told(operation: Operation, seen: Exchange, reason: str) -> None:
    """Whoever settles a doubt has this sentence and nothing else to judge by."""
    assert verdict(operation, seen).reason == reason


def test_an_add_is_of_one_person_unless_it_is_said() -> None:
    """What was too large for one cannot be halved."""
    assert outcome(verdict(ADD, answered(413))) == (REFUSED, STOP)


def test_doubt_after_repetitions_says_what_came_each_time() -> None:
    """It is the evidence for whoever settles it."""
    assert verdict(INVITE, answered(401), before=(401,)).reason == (
        "The access token was not accepted. The same request was refused before (status 401), so "
        f"this refusal is not trusted: {MAY_BE_SENT}."
    )
    assert verdict(INVITE, answered(403), before=(403, 429)).reason == (
        "The service does not allow the invitation with these credentials (status 403). The same "
        "request was refused before (status 403, 429), so this refusal is not trusted: "
        f"{MAY_BE_SENT}."
    )
    assert verdict(INVITE, answered(429), trust=Trust.WIRE).reason == (
        "The service asked for a pause (status 429). This campaign does not trust any status "
        f"(trust: wire): {MAY_BE_SENT}."
    )


@pytest.mark.parametrize(("rows", "then"), [(1, STOP), (2, HALVE)])
def test_two_rows_can_be_halved(rows: int, then: Then) -> None:
    """What is too large for one request is halved until one row stands alone."""
    judged = verdict(ADD, answered(413), rows=rows)
    assert judged.then is then
    assert "(status 413)" in judged.reason
