"""A yes is judged by what it says: type by body, for every changing call, over sockets.

No label changes a verdict: services send JSON as text/html, pages as JSON, and leave types out.
Which 2xx it is changes none either, so each body has each of them, and not with each label.
"""

import asyncio
import json
from itertools import cycle, product

import pytest

from data.store.states import Operation
from tasks.service.client import Service
from tasks.service.evidence import Exchange, Phase
from tasks.service.verdict import Proof, Then, verdict
from tests.promise.wire.raw_answers import person
from tests.promise.wire.test_wire_matrix import ONE_BY_ONE, REQUESTS
from tests.support.wire_server import Line, Received, always, give_token, listening, settings_for

CREATE, ATTACH, ADD, INVITE = Operation

STATUSES = (200, 201, 202, 203, 207)
TYPES = (
    "application/json",
    "application/json; charset=utf-8",
    "text/html",
    "Text/HTML; charset=utf-8",
    "application/xhtml+xml",
    "text/plain",
    "application/octet-stream",
    "nonsense",
    "",
)

DONE = (Proof.DONE, Then.GO_ON)
UNSURE = (Proof.UNSURE, Then.GO_ON)
PAGE = (Proof.UNSURE, Then.STOP)
Outcomes = tuple[tuple[Proof, Then], tuple[Proof, Then], tuple[Proof, Then], tuple[Proof, Then]]

# In the order create, attach, add, invite.
YES_WITHOUT_IDS: Outcomes = (UNSURE, DONE, UNSURE, DONE)
A_PAGE: Outcomes = (PAGE,) * 4
A_NO: Outcomes = (UNSURE,) * 4


def added(**more: object) -> bytes:
    return json.dumps([{**person(1), **more}]).encode()


BODIES: dict[str, tuple[bytes, Outcomes]] = {
    # Nothing, or a few words.
    "empty": (b"", YES_WITHOUT_IDS),
    "blanks": (b" \r\n", YES_WITHOUT_IDS),
    "words": (b"Invitation sent", YES_WITHOUT_IDS),
    "ok": (b"OK", YES_WITHOUT_IDS),
    "ok in quotes": (b'"OK"', YES_WITHOUT_IDS),
    "words with a sign": (b"2 < 3", YES_WITHOUT_IDS),
    "none": (b"None", YES_WITHOUT_IDS),
    "null": (b"null", YES_WITHOUT_IDS),
    "true": (b"true", YES_WITHOUT_IDS),
    # JSON.
    "a project": (b'{"id": 101}', (DONE, DONE, UNSURE, DONE)),
    "a project behind a mark": (b'\xef\xbb\xbf{"id": 101}', (DONE, DONE, UNSURE, DONE)),
    "a project in UTF-16": ('{"id": 101}'.encode("utf-16"), (DONE, DONE, UNSURE, DONE)),
    "id as text": (b'{"id": "101"}', (DONE, DONE, UNSURE, DONE)),
    "id as truth": (b'{"id": true}', YES_WITHOUT_IDS),
    "id with a fraction": (b'{"id": 101.0}', YES_WITHOUT_IDS),
    "id as other text": (b'{"id": "p101"}', YES_WITHOUT_IDS),
    "id under another key": (b'{"projectId": 101}', YES_WITHOUT_IDS),
    "id below": (b'{"data": {"id": 101}}', YES_WITHOUT_IDS),
    "a candidate": (added(candidate_id=5001), (UNSURE, DONE, DONE, DONE)),
    "a candidate, id as text": (added(candidate_id="5001"), (UNSURE, DONE, DONE, DONE)),
    "a candidate, id as other text": (added(candidate_id="05001"), YES_WITHOUT_IDS),
    "a candidate, id elsewhere": (added(candidateId=5001), YES_WITHOUT_IDS),
    "nobody": (b"[]", YES_WITHOUT_IDS),
    "cut off": (b'[{"email1": "ada1@example.com", "candidate_', YES_WITHOUT_IDS),
    # A yes.
    "success": (b'{"success": true, "error": null, "errors": []}', YES_WITHOUT_IDS),
    "ok true": (b'{"ok": true, "error": "", "errors": {}}', YES_WITHOUT_IDS),
    "success in words": (b'{"success": "true", "status": "success"}', YES_WITHOUT_IDS),
    "success in figures": (b'{"success": 1, "status": 200, "statusCode": 202}', YES_WITHOUT_IDS),
    "a status of nothing": (
        b'{"status": null, "success": null, "errorMessage": ""}',
        YES_WITHOUT_IDS,
    ),
    "a project and its status": (b'{"id": 101, "status": "open"}', (DONE, DONE, UNSURE, DONE)),
    "project and success": (b'{"id": 101, "success": true}', (DONE, DONE, UNSURE, DONE)),
    # A yes that says no.
    "no success": (b'{"success": false}', A_NO),
    "not ok": (b'{"ok": false, "message": "no credits left"}', A_NO),
    "false": (b"false", A_NO),
    "an error": (b'{"error": "no credits left"}', A_NO),
    "an error as object": (b'{"error": {"code": 7}}', A_NO),
    "errors": (b'{"errors": ["no credits left"]}', A_NO),
    "no success in words": (b'{"success": "false", "message": "no credits left"}', A_NO),
    "no success in figures": (b'{"success": 0}', A_NO),
    "an error by its status": (b'{"status": "error", "message": "no credits left"}', A_NO),
    "a failure by its status": (b'{"status": "Fail", "data": null}', A_NO),
    "a status of its own": (b'{"type": "about:blank", "title": "Throttled", "status": 429}', A_NO),
    "a code of its own": (b'{"statusCode": 401, "message": "Unauthorized"}', A_NO),
    "a function that broke": (b'{"errorMessage": "timed out", "errorType": "Error"}', A_NO),
    "a project that is none": (b'{"id": 101, "success": false}', A_NO),
    "a project with errors": (b'{"id": 101, "errors": [{"code": 7}]}', A_NO),
    # A page, whoever says so.
    "a page": (b"<!doctype html><title>Sign in</title>", A_PAGE),
    "a page behind blanks": (b"\r\n\t <html><title>Sign in</title>", A_PAGE),
    "a page behind a mark": (b"\xef\xbb\xbf\n<html>", A_PAGE),
    "a page in UTF-16": ("\n<html>".encode("utf-16"), A_PAGE),
    "a page in UTF-16, no mark": ("<html>".encode("utf-16-be"), A_PAGE),
    "xml": (b'<?xml version="1.0"?><status>ok</status>', A_PAGE),
}


async def seen_of(operation: Operation) -> dict[tuple[int, str, str], Exchange]:
    """Every label with every body, one after the other on the connections of one client."""
    statuses = cycle(STATUSES)
    combinations = [(next(statuses), kind, body) for body, kind in product(BODIES, TYPES)]
    waiting = iter(combinations)

    async def reply(line: Line, _: Received) -> None:
        status, kind, body = next(waiting)
        await line.answer(status, BODIES[body][0], kind)

    async with (
        listening(always(give_token)) as auth,
        listening(always(reply)) as api,
        Service(settings_for(auth.url, api.url)) as service,
    ):
        await service.ready()
        return {each: await service.call(REQUESTS[operation]) for each in combinations}


@ONE_BY_ONE
def test_a_yes_is_judged_by_what_it_says(operation: Operation) -> None:
    """The same verdict under every label; a page, and a yes that says no, are never a yes."""
    column = list(Operation).index(operation)
    wrong = []
    for (status, kind, body), seen in asyncio.run(seen_of(operation)).items():
        assert (seen.status, seen.content_type) == (status, kind)
        judged = verdict(operation, seen)
        if (judged.proof, judged.then) != (wanted := BODIES[body][1][column]):
            wrong.append((status, kind, body, judged, wanted))
    assert not wrong, "\n".join(map(str, wrong))


@pytest.mark.parametrize("kind", TYPES)
@ONE_BY_ONE
def test_an_answer_without_content_is_no_page(operation: Operation, kind: str) -> None:
    """A 204 has no body, whatever label a framework puts on it."""
    seen = Exchange(Phase.ANSWERED, 204, kind, b"")
    judged = verdict(operation, seen)
    wanted = YES_WITHOUT_IDS[list(Operation).index(operation)]
    assert (judged.proof, judged.then) == wanted


@pytest.mark.parametrize("kind", ["text/html", "application/xhtml+xml; charset=x"])
@ONE_BY_ONE
def test_a_lost_body_announced_as_a_page_is_no_yes(operation: Operation, kind: str) -> None:
    """Only there the label counts: nothing else is left to judge by."""
    seen = Exchange(Phase.ANSWERED, 200, kind, None)
    assert verdict(operation, seen).proof is Proof.UNSURE
