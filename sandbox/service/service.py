"""The service itself: every request, from its arrival to its answer, and what goes in the record.

An ASGI application. The pages are served beside the API and are not recorded.
"""

import asyncio
import json
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any

from starlette.requests import ClientDisconnect, Request
from starlette.types import ASGIApp, Receive, Scope, Send

from sandbox.faults.faults import Fault, Faults, Kind
from sandbox.faults.wrong_answers import altered
from sandbox.protocol.answers import Answer, refusal
from sandbox.protocol.operations import Call, Operation, recognise
from sandbox.protocol.origins import asks_for_us
from sandbox.service.api import NOT_JSON, Api, Received
from sandbox.service.record import Record
from sandbox.service.wire import Wire

_PAGES = (
    "/outbox",
    "/embedded/",
    "/problems",
    "/interviews",
    "/sandbox/",
    "/style.css",
    "/scripts/",
    "/editor/",
    "/favicon.ico",
)


@dataclass(slots=True)
class Service:
    """Receives, records, works and answers, or misbehaves where a fault says so.

    `_latency`: seconds that pass between the arrival of an API call and its work; `_listening`: the
    address that the sandbox listens on.
    """

    _api: Api
    _record: Record
    _faults: Faults
    _pages: ASGIApp
    _latency: float
    _listening: str
    _stopping: asyncio.Event = field(default_factory=asyncio.Event)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path: str = scope["path"]
        if path == "/" or path.startswith(_PAGES):
            await self._pages(scope, receive, send)
        else:
            await self._call(Request(scope, receive), Wire(receive, send))

    def stop(self) -> None:
        """Let go of everything that waits; their clients get no answer."""
        self._stopping.set()

    async def _call(self, request: Request, wire: Wire) -> None:
        # The path as it was sent: an escaped slash must not pass for one.
        call = recognise(request.method, request.scope["raw_path"].decode("latin-1"))
        if not asks_for_us(request.headers.get("host", ""), self._listening):
            await wire.answer(refusal(421, "this address does not belong to the sandbox"))
            return
        authorized = self._api.tokens.valid(request.headers.get("authorization", ""))
        try:
            body = parsed(await request.body())
        except ClientDisconnect:
            unread = self._record.received(call, None, authorized=authorized)
            self._record.finished(unread, None)
            return
        fault = self._faults.next(call.operation, self._addressed(call, body))
        entry = self._record.received(
            call,
            for_the_record(body),
            authorized=authorized,
            fault=fault.kind if fault else None,
        )
        received = Received(call, request.headers.get("content-type", ""), body, entry)
        if self._latency and await self._pause(self._latency):
            self._record.finished(entry, None)
            await wire.close()
        elif fault is None:
            answer = self._api.answer(received)
            self._record.finished(entry, answer.status_code)
            await wire.answer(answer)
        else:
            await self._misbehave(fault, received, wire)

    async def _misbehave(self, fault: Fault, received: Received, wire: Wire) -> None:
        right = self._api.answer(received) if fault.works else None
        unanswered = fault.kind in (Kind.LOST, Kind.RESET, Kind.HANG)
        if fault.kind == Kind.SLOW:
            unanswered = await self._pause(fault.seconds)
            if not unanswered:
                right = right or self._api.answer(received)
        answer = None if unanswered else altered(fault, right)
        self._record.finished(received.request, answer.status_code if answer else None)
        await self._deliver(fault, answer, wire)

    async def _deliver(self, fault: Fault, answer: Answer | None, wire: Wire) -> None:
        match fault.kind:
            case Kind.RESET:
                await wire.reset()
            case Kind.HANG:
                await self._pause(fault.seconds)
                await wire.close()
            case _ if answer is None:
                await wire.close()
            case Kind.HALF:
                await wire.half(answer)
            case Kind.CUT:
                await wire.cut(answer)
            case Kind.CLOSING:
                await wire.answer_and_close(answer)
            case Kind.STALL:
                wire.headers_only(answer)
                await self._pause(fault.seconds)
                await wire.close()
            case _:
                await wire.answer(answer)

    async def _pause(self, seconds: float | None) -> bool:
        """Wait so many seconds (None: for ever); True when the sandbox is stopping instead."""
        try:
            await asyncio.wait_for(self._stopping.wait(), seconds)
        except TimeoutError:
            return False
        return True

    def _addressed(self, call: Call, body: Any) -> Collection[str]:
        """The emails a request is about, as the faults ask for them."""
        if call.operation is Operation.INVITE:
            candidate = self._record.candidate(call.project_id, call.candidate_id)
            return (candidate.email1,) if candidate else ()
        if call.operation is Operation.ADD_CANDIDATES and isinstance(body, list):
            return [str(row.get("email1")) for row in body if isinstance(row, dict)]
        return ()


def parsed(body: bytes) -> Any:
    """Read a body as JSON: None when there is none, NOT_JSON when it is something else."""
    if not body:
        return None
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return NOT_JSON


def for_the_record(body: Any) -> Any:
    """What is kept of a body: all of it but the client's secret."""
    if body is NOT_JSON:
        return "(not JSON)"
    if isinstance(body, dict) and "client_secret" in body:
        return {**body, "client_secret": "(left out)"}
    return body
