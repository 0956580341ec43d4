"""Handle every request: find its fault, do the work, write the record, and answer."""

import asyncio
import json
from dataclasses import replace
from typing import Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from sandbox.api import NOT_JSON, Answer, Api, ApiCall, recognise
from sandbox.faults import Fault
from sandbox.record import Record
from sandbox.state import ServiceState
from sandbox.switchboard import Switchboard


class ServiceApp:
    """The service as an ASGI application. It needs uvicorn: faults act on its connections.

    Every request is recorded, except for files that belong to the pages.
    """

    def __init__(
        self, api: Api, pages: ASGIApp, state: ServiceState, record: Record, faults: Switchboard
    ) -> None:
        self.stopping = asyncio.Event()
        self._api = api
        self._pages = pages
        self._state = state
        self._record = record
        self._faults = faults

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        # The raw path: an escaped slash must not count as a slash.
        path = scope["raw_path"].decode("latin-1")
        call = recognise(scope["method"], path)
        body = await _whole(receive)
        if body is None:  # the client left in the middle of its request
            self._record.write(_entry(call, Answer(0), None, None))
        elif path.startswith(("/static/", "/editor/")):
            await self._pages(scope, receive, send)
        elif not path.startswith(("/api", "/oauth", "//")):
            await self._page(body, scope, receive, send)
        else:
            headers = dict(scope["headers"])
            call = replace(
                call,
                authorization=headers.get(b"authorization", b"").decode("latin-1"),
                content_type=headers.get(b"content-type", b"").decode("latin-1"),
                body=_parsed(body),
            )
            await self._call(call, scope, receive, send)

    async def _page(self, body: bytes, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a page, and record what it says it has changed."""
        unread: list[Message] = [{"type": "http.request", "body": body}]

        async def again() -> Message:
            return unread.pop() if unread else await receive()

        async def recorded(message: Message) -> None:
            if message["type"] == "http.response.start":
                what = scope.get("done", {"body": None, "ids": {}})
                call = ApiCall(scope["method"], scope["path"], "other", body=what["body"])
                done = Answer(message["status"], worked="done" in scope, ids=what["ids"])
                self._record.write(_entry(call, done, done.status, None))
            await send(message)

        await self._pages(scope, again, recorded)

    async def _call(self, call: ApiCall, scope: Scope, receive: Receive, send: Send) -> None:
        fault = self._faults.next(call.op, lambda: self._api.emails(call))
        if fault and fault.ids_from:
            self._state.ids_from(fault.ids_from)
        done = self._api.answer(call) if fault is None or fault.works else Answer(0)
        answer = _otherwise(fault, done) if fault else done
        lost = fault is not None and fault.ending == "lost"
        self._record.write(_entry(call, done, None if lost else answer.status, fault))
        half = fault is not None and fault.ending == "half"
        if fault and fault.seconds:
            lost = await self._pause(fault.seconds)
        if not lost:
            await _send(answer, send, half=half)
        if lost or half:
            await _close(receive, at_once=lost)

    async def _pause(self, seconds: float) -> bool:
        """Wait for these seconds. Returns True if the sandbox stops meanwhile."""
        try:
            await asyncio.wait_for(self.stopping.wait(), seconds)
        except TimeoutError:
            return False
        return True


def _entry(call: ApiCall, done: Answer, status: int | None, fault: Fault | None) -> dict[str, Any]:
    """A line of the record: a request without the client's secret, and its result."""
    body = call.body
    if isinstance(body, dict) and "client_secret" in body:
        body = body | {"client_secret": "(left out)"}
    return {
        "op": call.op,
        "method": call.method,
        "path": call.path,
        "project_id": call.project_id,
        "candidate_id": call.candidate_id,
        "body": None if body is NOT_JSON else body,
        "worked": done.worked,
        "ids": done.ids,
        "email": done.email,
        "status": status,
        "fault": fault.name if fault else None,
    }


def _otherwise(fault: Fault, right: Answer) -> Answer:
    """The answer that a fault gives instead of the right one."""
    if fault.status is not None:
        return Answer(fault.status, fault.body, fault.headers)
    if right.status >= 400:
        return right
    if fault.change and isinstance(right.body, dict):
        return replace(right, body=next(iter(fault.change([right.body])), {}))
    if fault.change:
        return replace(right, body=fault.change(right.body))
    return right


async def _whole(receive: Receive) -> bytes | None:
    body = b""
    while True:
        message = await receive()
        if message["type"] != "http.request":
            return None
        body += bytes(message.get("body", b""))
        if not message.get("more_body"):
            return body


def _parsed(body: bytes) -> Any:
    try:
        return json.loads(body) if body else None
    except (ValueError, RecursionError):
        return NOT_JSON


async def _send(answer: Answer, send: Send, *, half: bool = False) -> None:
    body = answer.body
    headers = dict(answer.headers)
    if body is not None and not isinstance(body, bytes):
        body = json.dumps(body, separators=(",", ":")).encode()
        headers["content-type"] = "application/json"
    body = body or b""
    if answer.status not in (204, 304):
        headers["content-length"] = str(len(body))
    raw = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in headers.items()]
    await send({"type": "http.response.start", "status": answer.status, "headers": raw})
    sent = body[: len(body) // 2] if half else body
    await send({"type": "http.response.body", "body": sent, "more_body": half})


async def _close(receive: Receive, *, at_once: bool = True) -> None:
    """Close the connection under the web server, which has no function for that."""
    cycle: Any = receive.__self__  # type: ignore[attr-defined]
    transport: asyncio.Transport = cycle.transport
    if at_once:
        transport.abort()
    else:
        transport.close()
    # For uvicorn a request without an answer is an error, unless it knows that the client left.
    while (await receive())["type"] != "http.disconnect":
        pass
