"""What an answer means: every status, phase and body of the verdict table, once."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from data.store.states import Op, State
from tasks.service.exchange import ENCODED, Exchange, Phase
from tasks.service.verdict import PROJECT, Then, retry_after, verdict

CREATE, ATTACH, ADD, INVITE = Op.CREATE, Op.ATTACH, Op.ADD, Op.INVITE
EVERY = (CREATE, ATTACH, ADD, INVITE)
DONE, WAITING, REFUSED, UNSURE = State.DONE, State.WAITING, State.REFUSED, State.UNSURE
GO_ON, RETRY, RENEW, SPLIT, PAUSE, STOP = Then
PAGE = b"<!doctype html><html><title>Sign in</title><form></form></html>"
ADA = {"first_name": "Ada", "last_name": "Byron", "email1": "Ada@X.org"}
BOB = {"first_name": "Bob", "last_name": "Stone", "email1": "bob@x.org"}
ONE, TWO = (ADA,), (ADA, BOB)


def answered(status: int = 200, body: Any = b"", **more: Any) -> Exchange:
    raw = body if isinstance(body, bytes | None) else json.dumps(body).encode()
    return Exchange("op", Phase.ANSWERED, status, body=raw, **more)


def sent(op: Op) -> tuple[dict[str, str], ...]:
    return ONE if op is ADD else ()


def right(op: Op) -> Any:
    return {CREATE: {"id": 101}, ADD: [ADA | {"candidate_id": 5001}]}.get(op, b"")


UNANSWERED = [
    # phase, fatal -> state, then
    (Phase.NOTHING, False, WAITING, RETRY),
    (Phase.NOTHING, True, WAITING, STOP),
    (Phase.SENDING, False, UNSURE, GO_ON),
    (Phase.SENT, False, UNSURE, GO_ON),
]


@pytest.mark.parametrize("op", EVERY)
@pytest.mark.parametrize(("phase", "fatal", "state", "then"), UNANSWERED)
def test_without_an_answer_the_phase_decides(
    op: Op, phase: Phase, fatal: bool, state: State, then: Then
) -> None:
    seen = Exchange(op, phase, error="it broke", fatal=fatal)
    judged = verdict(op, sent(op), seen)
    assert (judged.state, judged.then) == (state, then)


# Without a body. A tuple stands for create, attach, add of one row, add of two rows, invite.
STOPS = (REFUSED, STOP), (REFUSED, STOP), (WAITING, STOP), (WAITING, STOP), (WAITING, STOP)
ROWS = (REFUSED, STOP), (REFUSED, STOP), (REFUSED, GO_ON), (WAITING, SPLIT), (REFUSED, GO_ON)


def alike(state: State, then: Then) -> tuple[tuple[State, Then], ...]:
    return ((state, then),) * 5


STATUSES = {
    **dict.fromkeys((101, 408, 409, 500, 502, 503, 504, 507, 520, 600), alike(UNSURE, GO_ON)),
    **dict.fromkeys((300, 302, 307), alike(UNSURE, STOP)),
    **dict.fromkeys((400, 422), ROWS),
    401: alike(WAITING, RENEW),
    **dict.fromkeys((402, 403, 406, 410, 415, 451, 501, 505), STOPS),
    **dict.fromkeys((404, 405), (*STOPS[:4], (REFUSED, GO_ON))),
    413: (*STOPS[:3], (WAITING, SPLIT), STOPS[4]),
    **dict.fromkeys((421, 425), alike(WAITING, RETRY)),
    429: alike(WAITING, PAUSE),
}


@pytest.mark.parametrize("status", STATUSES)
def test_a_status_decides(status: int) -> None:
    requests = ((CREATE, ()), (ATTACH, ()), (ADD, ONE), (ADD, TWO), (INVITE, ()))
    judged = [verdict(op, rows, answered(status)) for op, rows in requests]
    assert tuple((each.state, each.then) for each in judged) == STATUSES[status]
    assert all(str(status) in (each.why or "") for each in judged)


OF_ANY_CALL = [
    # how a right answer came, or another one -> state, then
    ({}, DONE, GO_ON),
    ({"status": 299}, DONE, GO_ON),
    ({"cut_short": True}, UNSURE, GO_ON),
    ({"cut_short": True, "status": 408}, WAITING, RETRY),
    ({"body": PAGE}, UNSURE, STOP),
    ({"body": b"\xef\xbb\xbf \n<html>"}, UNSURE, STOP),
    ({"body": "<html></html>".encode("utf-16")}, UNSURE, STOP),
    ({"body": None, "begun": PAGE[:20]}, UNSURE, STOP),
    ({"body": b"Welcome\n<form action='/login'>"}, UNSURE, STOP),
    ({"body": None, "begun": b'{"id": 101, "success": fal'}, UNSURE, GO_ON),
    ({"body": None, "error": ENCODED}, UNSURE, GO_ON),
    ({"body": {"success": False, "id": 101}}, UNSURE, GO_ON),
    ({"body": {"id": 101, "error": {"code": 7}}}, UNSURE, GO_ON),
    ({"body": {"id": 101, "data": {"success": False}}}, UNSURE, GO_ON),
    ({"body": b"false"}, UNSURE, GO_ON),
    ({"body": [*right(ADD), {"error": "could not store everything"}]}, UNSURE, GO_ON),
    ({"body": [*right(ADD), False]}, UNSURE, GO_ON),
    ({"body": b'{"a":' * 900 + b"1" + b"}" * 900}, None, GO_ON),  # whatever it is, it ends
]


@pytest.mark.parametrize("op", EVERY)
@pytest.mark.parametrize(("how", "state", "then"), OF_ANY_CALL)
def test_a_yes_has_to_be_whole_and_only_a_yes(
    op: Op, how: dict[str, Any], state: State, then: Then
) -> None:
    judged = verdict(op, sent(op), answered(**({"body": right(op)} | how)))
    assert (state or judged.state, judged.then) == (judged.state, then)


NOT_NEEDED = [
    *((DONE, said) for said in (b"", b"OK", b"invited", b"None", b"null", b"[]", b"true", b"204")),
    (DONE, b"The invitation was sent to the candidate."),
    (DONE, {"success": True, "error": None, "errors": [], "failed": 0, "blocked": False}),
    (DONE, {"last_name": "Not", "notes": "already met", "candidate_id": 5001}),
    (DONE, {"archived": False, "solved": False, "opened": False, "_public": False}),
    (DONE, {"like_count": 0, "open_count": 0, "open": 0, "submissions": []}),
    (UNSURE, {"response": "Error: daily quota exceeded, the invitation was not sent"}),
    (DONE, {"status": "ok", "info": "No errors"}),
    (DONE, {"project": {"id": 101, "name": "Not yet", "description": "No error may happen"}}),
    (DONE, {"problem": {"title": "Invalid brackets", "skills": "Error handling"}}),
    (DONE, {"liked_by_current_user": False, "is_current_user_admin": False}),
    (DONE, {"status": 201, "data": {"status": "202", "errors": {}}}),
    (DONE, {"emails_sent": 1, "emailsFailed": 0, "lastError": None, "error_count": 0}),
    (DONE, {"sent_at": "2026-12-01T09:00:00Z", "delivered": True, "accepted": 1}),
    (DONE, {"permissions": {"edit": False, "admin": False}, "version": 0, "message": ""}),
    (DONE, {"a": {"b": [{"c": "Invalid address"}]}}),
    (DONE, {"status": {"code": 200, "text": "OK"}, "not_before": "2026-12-01", "not_sent": []}),
    (DONE, {"code": 0, "msg": "10 emails sent", "errcode": 0}),
    (DONE, {"completed": False, "done": False}),  # so far of the candidate
    (DONE, {"code": 200, "country_code": "49", "body": '{"sent": 1}', "warnings": []}),
    (DONE, {"message": "Invitation sent. The link expires in 7 days."}),
    (DONE, {"status": "sent", "message": "Do not reply to no-reply@x.org"}),
    (DONE, {"message": "Invitation sent to kari@posten.no"}),
    (DONE, {"title": "Invalid Username Test", "type": "candidate", "email": "failed@x.org"}),
    (DONE, {"title": "Rate limiter", "code": "if not found: raise ValueError", "mail": None}),
    (DONE, {"email": "Dan Fail <dan@x.org>", "country_code": "NO", "can_invite": False}),
    (DONE, {"invitation": {"id": 7}, "invitations": 0, "success_url": None, "delivered_at": None}),
    *((UNSURE, {"success": no}) for no in ("N", "n", None, "", [], "unsuccessful")),
    *((UNSURE, {key: "failed"}) for key in ("invitation", "delivery", "title", "type", "code")),
    *((UNSURE, {"code": no}) for no in ("INVALID_STATE", "AccessDenied", "DAILY_QUOTA")),
    *((UNSURE, {"title": no}) for no in ("Forbidden", "Too Many Requests", "Unauthorized")),
    (UNSURE, {"data": {"email": "not sent"}}),
    (UNSURE, {"email": "could not be sent to ada@x.org"}),
    (UNSURE, {"code": 500, "msg": "内部错误"}),
    (UNSURE, {"statusCode": 200, "body": '{"success": false}'}),
    (UNSURE, {"errcode": 40001, "errmsg": "invalid credential"}),
    (UNSURE, {"warning": "Email not delivered"}),
    *((UNSURE, {"status": no}) for no in ("KO", "NOK", "declined", "notDelivered", 0, -1)),
    *((UNSURE, {key: "rejected"}) for key in ("result", "lastError", "exception")),
    *((UNSURE, {"message": no}) for no in ("0 emails sent", "It could not be sent", "Opted out")),
    *((UNSURE, {"message": no}) for no in ("k@x.com:failed", "k@x.com-bounced", "failed@x")),
    (UNSURE, {"message": "The invitation hasn’t been sent"}),
    *((UNSURE, {key: False}) for key in ("sent", "succeeded", "was_accepted", "invite")),
    (UNSURE, {"blocked": True}),
    (UNSURE, {"state": "quota_exceeded"}),
    (UNSURE, {"a": [[{"b": {"ok": "no"}}]]}),
    *((UNSURE, no) for no in ({"emailsSent": "0"}, {"emails_sent": 0}, {"sent": 0.0})),
    (UNSURE, {"results": [{"status": 200}, {"status": 500}]}),
    (UNSURE, {"responses": [{"httpStatus": "404"}]}),
    *((UNSURE, {key: ["ada"]}) for key in ("failed", "skipped", "notSent")),
    (UNSURE, {"meta": {"error_count": 1}}),
    (UNSURE, {"detail": "The address is on a suppression list"}),
    (UNSURE, {"reason": "Duplicate"}),
    (UNSURE, {"status": {"code": 550, "text": "Mailbox unavailable"}}),
    (UNSURE, {"message": {"text": "could not be sent"}}),
    (UNSURE, {"invited": []}),
    (UNSURE, b"The candidate asked for it to stop"),  # no word of refusal, and no plain yes
    (UNSURE, b"sent " * 1000),
    *((UNSURE, no) for no in ("suppressed", ["already invited"])),
    *((UNSURE, word.encode()) for word in ("error", "failed", "denied", "cannot", "expired")),
]


@pytest.mark.parametrize("op", [ATTACH, INVITE])
@pytest.mark.parametrize(("state", "body"), NOT_NEEDED)
def test_a_body_that_nobody_needs_may_say_anything_but_no(op: Op, state: State, body: Any) -> None:
    assert verdict(op, (), answered(body=body)).state is state


PROJECT_IDS = [
    (101, 101),
    ("101", 101),
    (2**53 + 1, 2**53 + 1),
    (str(2**53 + 1), 2**53 + 1),
    *((bad, None) for bad in (True, None, 0, -1, 1.0, "1.0", "01", " 1", "x", "", [1], 2**63, "٣")),
]


@pytest.mark.parametrize(("found", "read"), PROJECT_IDS)
def test_a_project_has_an_id_that_is_exactly_one(found: Any, read: int | None) -> None:
    judged = verdict(CREATE, (), answered(201, {"id": found, "extra": {"id": 7}}))
    assert judged.state is (UNSURE if read is None else DONE)
    assert judged.ids == ({} if read is None else {PROJECT: read})


@pytest.mark.parametrize("body", [b"", b"None", b"null", b"[]", b"101", b'{"id": 1', None, {}])
@pytest.mark.parametrize("op", [CREATE, ADD])
def test_a_yes_without_an_id_is_unsure(op: Op, body: Any) -> None:
    judged = verdict(op, sent(op), answered(body=body))
    assert (judged.state, judged.then, judged.ids) == (UNSURE, GO_ON, {})


def person(row: dict[str, str], number: Any, **more: Any) -> dict[str, Any]:
    return row | {"candidate_id": number} | more


A, B = "ada@x.org", "bob@x.org"
OTHER = {"email1": "eve@x.org"}
ADDED = [
    # the answer to an add of Ada and Bob -> state, then, ids
    ([person(ADA, 1), person(BOB, 2)], DONE, GO_ON, {A: 1, B: 2}),
    ([person(BOB, 2), person(ADA, 1)], DONE, GO_ON, {A: 1, B: 2}),
    ([person({"email1": A.upper()}, "1"), person({"email1": f" {B} "}, 2)], DONE, GO_ON, None),
    ([person(ADA, 1), person(BOB, 2), person(BOB, 2)], DONE, GO_ON, {A: 1, B: 2}),
    ([person(ADA, 1), person(BOB, 2), 7, {}, {"email1": 3}], DONE, GO_ON, {A: 1, B: 2}),
    ([person(ADA | {"last_name": "BYRON "}, 1), person(BOB, 2)], DONE, GO_ON, {A: 1, B: 2}),
    ([person(ADA, 2**53 + 1), person(BOB, 2)], DONE, GO_ON, {A: 2**53 + 1, B: 2}),
    ([person(ADA, 1)], UNSURE, GO_ON, {A: 1}),
    ([person(ADA, 1), person(BOB, None)], UNSURE, GO_ON, {A: 1}),
    ([person(ADA, 1), person(BOB, True)], UNSURE, GO_ON, {A: 1}),
    ([person(ADA, 1), person(BOB, 2), person(BOB, 3)], UNSURE, GO_ON, {A: 1}),
    ([person(ADA, 1), person(BOB, 2, error="bounced")], UNSURE, GO_ON, {A: 1}),
    ([person(ADA, 1), person(BOB, 2, status="already invited")], UNSURE, GO_ON, {A: 1}),
    ([person(ADA, 1), person(BOB, 2, result={"status": 500})], UNSURE, GO_ON, {A: 1}),
    ([person(ADA, 1, archived=False), person(BOB, 2, status="active")], DONE, GO_ON, None),
    ([person(ADA, 1), person(BOB | {"first_name": "Eve"}, 2)], UNSURE, GO_ON, {A: 1}),
    ([person(ADA, 1), person(BOB, 1)], UNSURE, GO_ON, {}),
    ([person(ADA, 1), person(BOB, 2), person(OTHER, 3)], DONE, STOP, {A: 1, B: 2}),
    ([person(ADA, 1), person(OTHER, 1), person(BOB, 2)], UNSURE, STOP, {B: 2}),
    ([person(OTHER, 3)], UNSURE, STOP, {}),
]


@pytest.mark.parametrize(("body", "state", "then", "ids"), ADDED)
def test_people_get_their_own_ids(
    body: Any, state: State, then: Then, ids: dict[str, int] | None
) -> None:
    judged = verdict(ADD, TWO, answered(201, body))
    expected = {A: 1, B: 2} if ids is None else ids
    assert (judged.state, judged.then, judged.ids) == (state, then, expected)


BEFORE = [
    # operation, rows, status, earlier ones -> state, then
    (INVITE, (), 401, [401], WAITING, STOP),
    (INVITE, (), 401, [429], WAITING, RENEW),
    (INVITE, (), 404, [404], REFUSED, GO_ON),
    (INVITE, (), 404, [404, 404], UNSURE, GO_ON),
    (INVITE, (), 403, [403, 403], UNSURE, STOP),
    (INVITE, (), 401, [429, 429], UNSURE, STOP),
    (INVITE, (), 425, [425, 425], UNSURE, GO_ON),
    (INVITE, (), 429, [429, 429], UNSURE, PAUSE),
    (CREATE, (), 422, [422, 422], UNSURE, STOP),
    (ADD, ONE, 422, [422, 422], UNSURE, GO_ON),
    (ADD, TWO, 422, [422, 422], WAITING, SPLIT),
    (INVITE, (), 204, [404, 404], DONE, GO_ON),
    (INVITE, (), 503, [404, 404], UNSURE, GO_ON),
]


@pytest.mark.parametrize(("op", "rows", "status", "before", "state", "then"), BEFORE)
def test_a_refusal_is_believed_twice(
    op: Op, rows: Any, status: int, before: list[int], state: State, then: Then
) -> None:
    judged = verdict(op, rows, answered(status), before=before)
    assert (judged.state, judged.then) == (state, then)


NOW = datetime(2026, 12, 1, 9, 0, tzinfo=UTC)
PAUSES = [
    (None, 5.0),
    ("", 5.0),
    ("soon", 600.0),
    ("0", 1.0),
    ("1.5", 1.5),
    ("1,000", 600.0),
    ("30, 120", 120.0),
    ("99999999999999999999", 86_400.0),
    ("Tue, 01 Dec 2026 09:01:30 GMT", 90.0),
    ("Tue, 01 Dec 2026 09:01:30 -0000", 90.0),
    ("Tuesday, 01-Dec-26 09:01:30 GMT", 90.0),
    ("Tue Dec  1 09:01:30 2026", 90.0),
    ("Tue, 01 Dec 2026 09:01:30 GMT, Tue, 01 Dec 2026 09:02:30 GMT", 600.0),
    ("Mon, 30 Nov 2026 09:00:00 GMT", 1.0),
    ("Fri, 31 Dec 9999 23:59:59 GMT", 86_400.0),
]


@pytest.mark.parametrize(("header", "seconds"), PAUSES)
def test_a_pause_is_as_long_as_the_service_asks_within_limits(
    header: str | None, seconds: float
) -> None:
    assert retry_after(header, NOW) == seconds
    seen = answered(429, headers={} if header is None else {"retry-after": header})
    assert verdict(INVITE, (), seen, now=NOW).retry_after == seconds


def test_a_pause_is_measured_from_now() -> None:
    when = (datetime.now(UTC) + timedelta(hours=1)).strftime("%a, %d %b %Y %H:%M:%S GMT")
    assert 3_500 < retry_after(when) <= 3_600
    assert verdict(INVITE, (), answered(429), before=[429]).retry_after == 60.0
