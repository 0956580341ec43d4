"""Requests that a service can tell apart, and whole answers as they go over the wire."""

import json
from collections.abc import Iterable
from pathlib import Path

from data.store.states import Operation
from tasks.service.client import Service
from tasks.service.evidence import Exchange
from tasks.service.messages import (
    Request,
    add_candidates,
    attach_problem,
    create_project,
    invite,
)
from tests.support.authority import served_with
from tests.support.session import PATIENCE
from tests.support.wire_server import (
    Act,
    Line,
    WireServer,
    always,
    give_token,
    listening,
    settings_for,
)

STATUSES = (200, 201, 204, 400, 401, 404, 422, 425, 429, 500)
DEADLINE = PATIENCE  # nobody waits for it, and half of it is left to connect on a busy machine


def person(number: int) -> dict[str, str | int]:
    return {
        "first_name": "Ada",
        "last_name": "Lovelace",
        "email1": f"ada{number}@example.com",
        "source": "",
        "notes": "",
        "stage_id": 1,
    }


def request_of(operation: Operation, number: int) -> Request:
    """A request that the service can tell from all others of its kind."""
    match operation:
        case Operation.CREATE:
            return create_project(f"Backend {number}", "", "open", "", "")
        case Operation.ATTACH:
            return attach_problem(101, 1 + number)
        case Operation.ADD:
            return add_candidates(101, [person(number)])
        case Operation.INVITE:
            return invite(101, 5001 + number)


def body_of(operation: Operation, number: int) -> bytes:
    match operation:
        case Operation.CREATE:
            return json.dumps({"id": 101 + number}).encode()
        case Operation.ADD:
            return json.dumps([{**person(number), "candidate_id": 5001 + number}]).encode()
        case _:
            return b"{}"


def raw(status: int, body: bytes = b"{}", **headers: str) -> bytes:
    """A whole answer as it goes over the wire."""
    lines = [f"HTTP/1.1 {status} Said", "Connection: keep-alive"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    if status == 204:
        return "\r\n".join([*lines, "", ""]).encode()
    return "\r\n".join([*lines, f"Content-Length: {len(body)}", "", ""]).encode() + body


async def seen_of(
    act: Act, request: Request, deadline: float = DEADLINE, authority: Path | None = None
) -> Exchange:
    """Make one call to a service that does `act`, within TLS where it has a certificate."""
    tls = served_with(authority) if authority else None
    ca_file = authority / "certificate.pem" if authority else None
    async with (
        listening(always(give_token)) as auth,
        listening(act, tls=tls) as api,
        Service(settings_for(auth.url, api.url), deadline=deadline, ca_file=ca_file) as service,
    ):
        await service.ready()
        return await service.call(request)


def answering(*pieces: bytes | Iterable[bytes]) -> Act:
    """Answer a whole request with bytes as they are, a segment for each piece.

    A piece of several has a record of TLS for each.
    """

    async def act(_: WireServer, line: Line) -> None:
        await line.request()
        for piece in pieces:
            line.writer.writelines([piece] if isinstance(piece, bytes) else piece)
            await line.writer.drain()
        await line.reader.read()

    return act
