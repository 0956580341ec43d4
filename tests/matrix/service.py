"""The assessment service of the matrix, in a process of its own: it records, and it can hold.

Two parts. `Record` is the record of what the service did: each line holds the hash of the line
before it, and the harness is told the last hash, so that whatever changes the file is seen. The
rest speaks HTTP/1.1 as interface 4 has it, under one path for each case, and takes the harness's
orders on standard input: a request of a given person is held at a moment until the harness has
killed its program, and is never answered then.
"""

import asyncio
import hashlib
import json
import re
import sys
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sandbox.service.problems import SAMPLE_PROBLEMS
from tests.matrix.moments import Moment

FIRST = "0" * 64  # what stands for the hash before the first line
PROJECT = 7  # the project of those who only invite, with everybody in it


class Changed(Exception):
    """The record is not what the service wrote."""


def hash_of(line: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(line, sort_keys=True).encode()).hexdigest()


class Record:
    """What the service did, line by line into a file; `head` is the hash of the last line."""

    def __init__(self, path: Path) -> None:
        path.touch(exist_ok=False)
        self._path = path
        self.head = FIRST
        self.lines = 0

    def add(self, case: str, what: str, person: str) -> None:
        """Write one line, before anybody is answered."""
        line = {"n": self.lines, "case": case, "what": what, "person": person, "after": self.head}
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")
        self.head, self.lines = hash_of(line), self.lines + 1


def verified(path: Path, heads: Collection[str]) -> list[dict[str, Any]]:
    """Read a record in which lines have these hashes. Raises Changed if a line is not as written.

    `heads` come from the service itself: a record written anew as a whole has others. Lines may
    follow the last of them, of a death that came to no end.
    """
    after, hashes, lines = FIRST, set(), []
    for number, text in enumerate(path.read_text("utf-8").splitlines()):
        try:
            line = json.loads(text)
        except ValueError:
            raise Changed(f"{path}: line {number + 1} is not a line of the record") from None
        if line.get("n") != number or line.get("after") != after:
            raise Changed(f"{path}: line {number + 1} does not follow the line before it")
        after = hash_of(line)
        hashes.add(after)
        lines.append(line)
    if not {*heads} <= {FIRST, *hashes}:
        raise Changed(f"{path}: a line is not the one that the service wrote")
    return lines


# -- the service ------------------------------------------------------------------------------


@dataclass(slots=True)
class Case:
    """One program's own view of the service; `people` are emails by candidate id."""

    name: str
    people: dict[int, str]
    hold: tuple[Moment, str] | None = None
    dropped: asyncio.Event = field(default_factory=asyncio.Event)


class Service:
    """Answers programs, and obeys the harness."""

    def __init__(self, record: Record) -> None:
        self._record = record
        self._cases: dict[str, Case] = {}

    def order(self, asked: dict[str, Any]) -> None:
        """Do what a line of the harness says: `open`, `drop` or `close` a case."""
        name = asked["case"]
        match asked["order"]:
            case "open":
                people = dict(enumerate(asked["people"], start=1))
                hold = (Moment(asked["moment"]), asked["person"]) if asked["moment"] else None
                self._cases[name] = Case(name, people, hold)
            case "drop":
                self._cases[name].hold = None
                self._cases[name].dropped.set()
            case "close":
                del self._cases[name]
        self.say(did=asked["order"])

    def say(self, **what: Any) -> None:
        """Tell the harness something, and the hash of the record's last line."""
        print(json.dumps({**what, "head": self._record.head}), flush=True)

    async def converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer the requests of one connection, one after the other."""
        try:
            while (asked := await _request(reader)) is not None:
                answer = await self._answer(*asked)
                if answer is None:
                    break
                writer.write(_response(*answer))
                await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError):
            pass  # the program was killed
        finally:
            writer.close()

    async def _answer(self, method: str, path: str, body: bytes) -> tuple[int, Any] | None:
        _, name, rest = path.split("/", 2)
        case = self._cases.get(name)
        match method, rest.split("/"):
            case _ if case is None:
                return 404, {}
            case "POST", ["oauth", "token"]:
                return 200, {"access_token": "matrix", "token_type": "Bearer", "expires_in": 86400}
            case "GET", ["api", "problems"]:
                return 200, list(SAMPLE_PROBLEMS)
            case "POST", ["api", "projects"]:
                return 200, {"id": PROJECT}
            case "POST", ["api", "projects", _, "problems"]:
                return 200, {}
            case "POST", ["api", "projects", _, "candidates"]:
                return 200, self._add(case, json.loads(body))
            case "POST", ["api", "projects", _, "candidates", number, "invite"]:
                return await self._invite(case, int(number))
        return 404, {}

    def _add(self, case: Case, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        answer = []
        for row in rows:
            number = len(case.people) + 1
            case.people[number] = row["email1"]
            answer.append({**row, "candidate_id": number})
        return answer

    async def _invite(self, case: Case, number: int) -> tuple[int, Any] | None:
        """Invite somebody, unless the request is held; None if it is never to be answered."""
        person = case.people[number]
        if case.hold == (Moment.SENT, person):
            await self._held(case)
            return None
        self._record.add(case.name, "invited", person)
        if case.hold == (Moment.DONE, person):
            await self._held(case)
            return None
        return 200, {}

    async def _held(self, case: Case) -> None:
        assert case.hold
        moment, person = case.hold
        self.say(case=case.name, moment=moment, person=person)
        await case.dropped.wait()


async def _request(reader: asyncio.StreamReader) -> tuple[str, str, bytes] | None:
    """Read one request whole: method, path and body. None if there are no more."""
    try:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    except asyncio.IncompleteReadError:
        return None
    method, path, _ = head.split(" ", 2)
    length = re.search(r"(?im)^content-length: *(\d+)", head)
    return method, path, await reader.readexactly(int(length[1]) if length else 0)


def _response(status: int, content: Any) -> bytes:
    body = json.dumps(content).encode()
    head = f"HTTP/1.1 {status} -\r\nContent-Type: application/json\r\nContent-Length: {len(body)}"
    return f"{head}\r\n\r\n".encode() + body


async def serve(path: Path) -> None:
    """Serve on any free port, which is told first of all, until standard input ends."""
    service = Service(Record(path))
    server = await asyncio.start_server(service.converse, "127.0.0.1", 0)
    orders = asyncio.StreamReader()
    loop = asyncio.get_running_loop()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(orders), sys.stdin)
    service.say(port=server.sockets[0].getsockname()[1])
    while line := await orders.readline():
        service.order(json.loads(line))


if __name__ == "__main__":
    asyncio.run(serve(Path(sys.argv[1])))
