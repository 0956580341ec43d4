"""What may be wrong with one answer: twists, of which a fault has one, two or three."""

import gzip
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import takewhile
from random import Random
from typing import Any

from sandbox.protocol.operations import Operation
from tests.promise.wire.odd_answers import (
    BEFORE,
    DATES,
    ENCODINGS,
    HEADERS,
    LABELS,
    LINES,
    NO,
    NOES_WITHIN,
    PAGES,
    PEOPLE,
    PERHAPS,
    PROJECTS,
    SECONDS,
    WAITS,
    WORDS,
    YES,
    Framed,
    answer,
    by_length,
    chunked,
    until_closed,
    wrongly,
)

WHOLE = ("whole", "split")


@dataclass
class Reply:
    """One answer as it comes to be. `status` None: nothing is said but what the work brings.

    `shows` names what makes it no plain yes or no for whoever sees all of it.
    """

    operation: Operation
    kinds: list[str] = field(default_factory=list)
    works: bool = True
    late: float = 0.0  # seconds after which the work is done, instead of at once
    status: int | None = None
    body: bytes = b""
    shows: str = ""
    silent: bool = False
    unread: bool = False
    line: str = "HTTP/1.1 {} Said"
    label: str = "Content-Type: application/json"
    headers: list[str] = field(default_factory=list)
    framed: Callable[[Random, bytes], Framed] = by_length
    before: bytes = b""
    behind: bytes = b""
    delivered: str = "whole"
    end: str = ""
    changed: Callable[[Any], Any] | None = None
    _head: int = 0  # how many bytes come before the body

    @property
    def yes(self) -> bool:
        return self.status is not None and 200 <= self.status < 300

    def takes(self, status: int, body: bytes, ok: bool) -> None:
        """Say what the work brought, in words of its own where there are any."""
        self.status, self.body = status, body
        if ok and self.changed is not None:
            self.body = json.dumps(self.changed(json.loads(body))).encode()
        if self.shows == "encoded":
            self.body = gzip.compress(body)

    def script(self, dice: Random) -> list[bytes | float]:
        """Give the bytes that are written, and the seconds that pass between them."""
        if self.silent:
            return []
        body = b"" if self.status in (204, 304) else self.body
        frame, framed = self.framed(dice, body)
        lines = [self.line.format(self.status), self.label, frame, *self.headers]
        head = "\r\n".join([*filter(None, lines), "", ""]).encode("latin-1")
        self._head = len(self.before) + len(head)
        return list(self._pieces(dice, self.before + head + framed + self.behind))

    def _pieces(self, dice: Random, raw: bytes) -> Iterator[bytes | float]:
        at = dice.randrange(len(raw))
        match self.delivered:
            case "cut":
                yield raw[:at]
            case "twice, the second later":
                yield from (raw, dice.choice((0.001, 0.05, 5.0)), raw)
            case "split":
                yield from (raw[:at], raw[at:])
            case "byte by byte" if len(raw) < 1500:
                yield from (raw[n : n + 1] for n in range(len(raw)))
            case "stalled":
                yield from (raw[:at], dice.choice(SECONDS), raw[at:])
            case "dripping" if len(raw) < 1500:
                for n in range(0, len(raw), 1 + len(raw) // 8):
                    yield from (raw[n : n + 1 + len(raw) // 8], dice.choice((0.1, 3.0, 8.0)))
            case _:
                yield raw

    def honest(self, script: list[bytes | float], lies: bool) -> bool:
        """Whether the work is done: what looks like a plain yes is one, a no where nothing lies."""
        if self.status is None or self.status in PERHAPS or self._is_seen(script):
            return self.works
        return True if self.yes else self.works and lies

    def _is_seen(self, script: list[bytes | float]) -> bool:
        """Whether the client gets to see in time what makes this no plain answer."""
        seen = b"".join(takewhile(lambda each: isinstance(each, bytes), script))  # type: ignore
        body = seen[self._head :]
        match self.shows:
            case "page":
                return self.framed is not wrongly and b"<" in body
            case "within" if self.framed is until_closed:
                return bool(body) and self.delivered in WHOLE and self.end in ("close", "half")
            case "within":
                return bool(body) and self.framed is not wrongly and self.delivered in WHOLE
            case "encoded":
                return self.yes and self.framed is not wrongly and len(body) > 10
            case "glued":
                whole = len(script) == 1 and self.delivered != "cut"
                return self.framed is by_length and whole and len(seen) < 30_000
        return False


def busy(dice: Random) -> Reply:
    """Ask for a pause, in every way there is."""
    reply = Reply(Operation.UNKNOWN, ["storm"], works=False, status=dice.choice((429, 429, 425)))
    reply.headers = _wait(dice)
    return reply


def draw(dice: Random, operation: Operation) -> Reply:
    """Give the fault that one request meets."""
    reply = Reply(operation)
    [number] = dice.choices((1, 2, 3), (5, 3, 2))
    chosen = sorted(dice.sample(range(len(TWISTS)), number))
    for twist in (TWISTS[n] for n in chosen):
        reply.kinds.append(twist(dice, reply))
    return reply


def _wait(dice: Random) -> list[str]:
    said = dice.choice((None, *WAITS, *DATES))
    return [] if said is None else [f"Retry-After: {said}"]


def _says(dice: Random, reply: Reply) -> str:
    reply.works = dice.random() < 0.5
    reply.late = dice.choice((0.0, 0.0, 0.0, 30.0, 300.0))
    match kind := dice.choice(("no", "perhaps", "yes", "page", "no within", "nothing")):
        case "no":
            reply.status = dice.choice((dice.choice(NO), 400, 401, 404, 422, 425, 429))
            reply.body = dice.choice((*WORDS, *PAGES, *NOES_WITHIN))
            reply.headers += _wait(dice) if dice.random() < 0.5 else []
            kind = f"no {reply.status}"
        case "perhaps":
            reply.status = dice.choice((dice.choice(PERHAPS), 408, 409, 500, 502, 503, 504))
            reply.body = dice.choice((*WORDS, *PAGES))
            kind = f"perhaps {reply.status}"
        case "yes":
            reply.status, reply.body = dice.choice(YES), dice.choice(WORDS)
        case "page":
            reply.status, reply.body, reply.shows = dice.choice(YES), dice.choice(PAGES), "page"
        case "no within":
            reply.status, reply.body = dice.choice(YES), dice.choice(NOES_WITHIN)
            reply.shows = "within"
        case "nothing":
            reply.silent, reply.end = True, dice.choice(("close", "reset", "silence", "half"))
            kind = f"nothing, {reply.end}"
    return kind


def _leaves_unread(dice: Random, reply: Reply) -> str:
    """The body of the request stays in the socket."""
    if reply.operation in (Operation.INVITE, Operation.LIST_PROBLEMS):
        return "right"  # it has none
    reply.unread, reply.end = True, dice.choice(("close", "reset"))
    reply.status = dice.choice((None, *NO, *PERHAPS))
    return f"unread, {reply.end}"


def _words(dice: Random, reply: Reply) -> str:
    tables = {Operation.ADD_CANDIDATES: PEOPLE, Operation.CREATE_PROJECT: PROJECTS}
    table = tables.get(reply.operation)
    if reply.status is not None or table is None:
        return "right"
    kind = dice.choice(list(table))
    reply.changed = table[kind]
    return f"words: {kind}"


def _label(dice: Random, reply: Reply) -> str:
    reply.label = dice.choice(LABELS)
    return "label"


def _encoding(dice: Random, reply: Reply) -> str:
    reply.headers.append(f"Content-Encoding: {dice.choice(ENCODINGS)}")
    if reply.yes or reply.status is None:
        reply.shows = "encoded"
    if reply.yes:
        reply.body = gzip.compress(reply.body)
    return "encoding"


def _frame(dice: Random, reply: Reply) -> str:
    reply.framed = dice.choice((chunked, chunked, until_closed, wrongly, wrongly))
    reply.end = reply.end or ("close" if reply.framed is until_closed else "")
    reply.end = reply.end or dice.choice(("", "close", "silence", "reset"))
    return f"framed {reply.framed.__name__}"


def _header(dice: Random, reply: Reply) -> str:
    header = dice.choice(HEADERS)
    reply.headers.append(header)
    return f"header {header[:12]!r}"


def _line(dice: Random, reply: Reply) -> str:
    reply.line = dice.choice(LINES)
    return f"line {reply.line!r}"


def _before(dice: Random, reply: Reply) -> str:
    reply.before = dice.choice(BEFORE)
    return f"before it {reply.before[:12]!r}"


def _behind(dice: Random, reply: Reply) -> str:
    """Something more in the same breath: whichever of two answers is meant, nobody can tell."""
    reply.shows = reply.shows or "glued"
    if reply.status is None and not reply.unread and dice.random() < 0.5:
        reply.status, reply.works = dice.choice((*YES, *NO)), dice.random() < 0.5
        reply.body = b"" if reply.status == 204 else b"{}"
    second = answer(dice.choice((*YES, *NO, *PERHAPS)), b"{}")
    reply.behind = dice.choice((second, second * 12, b"\0", b"}", second[:20]))
    return "glued"


def _delivery(dice: Random, reply: Reply) -> str:
    ways = ("cut", "twice, the second later", "split", "byte by byte", "stalled", "dripping")
    reply.delivered = dice.choice(ways)
    if reply.delivered == "cut":
        reply.end = dice.choice(("close", "reset", "silence", "half"))
    return reply.delivered


def _ending(dice: Random, reply: Reply) -> str:
    reply.end = dice.choice(("close", "reset", "half", "silence"))
    return f"{reply.end} at the end"


TWISTS: tuple[Callable[[Random, Reply], str], ...] = (
    _says,
    _leaves_unread,
    _words,
    _label,
    _encoding,
    _frame,
    _header,
    _line,
    _before,
    _behind,
    _delivery,
    _ending,
)
