"""Every request from its arrival to its answer: the fault it meets, the work, the record."""

import asyncio
import json
from dataclasses import replace
from typing import Any
from urllib.parse import parse_qsl

from starlette.types import Receive, Scope, Send

from sandbox.api import NOT_JSON, Answer, Api, Call, recognise
from sandbox.faults import Fault
from sandbox.outbox import Outbox
from sandbox.record import Record
from sandbox.state import State
from sandbox.switchboard import Switchboard


class Service:
    """The service as an ASGI application, for uvicorn alone: faults act on its connections."""

    def __init__(
        self,
        state: State,
        outbox: Outbox,
        record: Record,
        faults: Switchboard,
        token_lifetime: int,
    ) -> None:
        self.stopping = asyncio.Event()
        self._api = Api(state, outbox, token_lifetime)
        self._state = state
        self._record = record
        self._faults = faults

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        body = await _whole(receive)
        if body is None:
            return  # the client left in the middle of its request
        # The path as it was sent: an escaped slash must not pass for one.
        path = scope["raw_path"].decode("latin-1")
        call = recognise(scope["method"], path)
        headers = dict(scope["headers"])
        call = replace(
            call,
            authorization=headers.get(b"authorization", b"").decode("latin-1"),
            content_type=headers.get(b"content-type", b"").decode("latin-1"),
            body=_parsed(body),
        )
        await self._call(call, scope, receive, send)

    async def _call(self, call: Call, scope: Scope, receive: Receive, send: Send) -> None:
        fault = self._faults.next(call.op, lambda: self._api.emails(call))
        if fault and fault.ids_from:
            self._state.ids_from(fault.ids_from)
        done = self._api.answer(call) if fault is None or fault.works else Answer(0)
        answer = _otherwise(fault, done, scope) if fault else done
        lost = fault is not None and fault.ending == "lost"
        self._record.write(
            {
                "op": call.op,
                "method": call.method,
                "path": call.path,
                "project_id": call.project_id,
                "candidate_id": call.candidate_id,
                "body": _for_the_record(call.body),
                "worked": done.worked,
                "ids": done.ids,
                "email": done.email,
                "status": None if lost else answer.status,
                "fault": fault.name if fault else None,
            }
        )
        half = fault is not None and fault.ending == "half"
        if fault and fault.seconds:
            lost = await self._pause(fault.seconds)
        if not lost:
            await _send(answer, send, half=half)
        if lost or half:
            await _close(receive, at_once=lost)

    async def _pause(self, seconds: float) -> bool:
        """Wait so long; True when the sandbox is stopping instead."""
        try:
            await asyncio.wait_for(self.stopping.wait(), seconds)
        except TimeoutError:
            return False
        return True


def _otherwise(fault: Fault, right: Answer, scope: Scope) -> Answer:
    """The answer that a fault gives instead of the right one."""
    if fault.status is not None:
        return Answer(fault.status, fault.body, fault.headers)
    if right.status >= 400:
        return right
    if fault.page_size and isinstance(right.body, list):
        return _page(fault.page_size, right, scope)
    if fault.change and isinstance(right.body, dict):
        return replace(right, body=next(iter(fault.change([right.body])), {}))
    if fault.change:
        return replace(right, body=fault.change(right.body))
    return right


def _page(size: int, right: Answer, scope: Scope) -> Answer:
    """A part of a list, which names the next part in a Link header (RFC 8288)."""
    asked = dict(parse_qsl(scope["query_string"].decode("latin-1"))).get("page", "")
    number = int(asked) if asked.isdecimal() and int(asked) else 1
    rows, end = right.body[(number - 1) * size : number * size], number * size
    more = {"link": f'<{scope["path"]}?page={number + 1}>; rel="next"'}
    return replace(right, body=rows, headers=more if end < len(right.body) else {})


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


def _for_the_record(body: Any) -> Any:
    """All of a body but the client's secret."""
    if isinstance(body, dict) and "client_secret" in body:
        return body | {"client_secret": "(left out)"}
    return None if body is NOT_JSON else body


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
    """Close the connection below the web server, which offers no way to."""
    cycle: Any = receive.__self__  # type: ignore[attr-defined]
    transport: asyncio.Transport = cycle.transport
    if at_once:
        transport.abort()
    else:
        transport.close()
    # uvicorn takes a request without an answer for a mistake, unless it knows the client left.
    while (await receive())["type"] != "http.disconnect":
        pass
