"""Odd statuses, bodies, labels, headers and frames of answers, and right answers in other words."""

from collections.abc import Callable
from random import Random
from typing import Any

YES = (200, 200, 200, 201, 202, 203, 204, 206, 207, 226, 299)
NO = (400, 401, 402, 403, 404, 405, 406, 410, 413, 417, 421, 422, 425, 429, 431, 451, 501, 505)
PERHAPS = (300, 301, 302, 303, 304, 307, 308, 399, 408, 409, 500, 502, 503, 504, 507, 520, 599, 999)
WAITS = ("0", "1", "7", "60", "600", "99999999999", "9" * 400, "-1", "1.5", "soon", "", "\t5 ")
DATES = ("Tue, 01 Dec 2026 09:00:30 GMT", "Thu, 01 Jan 1970 00:00:00 GMT", "Dec 1 99999")
SECONDS = (0.01, 1.0, 20.0, 40.0, 100.0)
PAGES = (
    b"<html>",
    b"<!doctype html><title>Sign in</title>" + b"<p>Who are you?</p>" * 50,
    b"\xef\xbb\xbf \r\n\t<!-- a proxy --><HTML></HTML>",
    "<html>Anmelden</html>".encode("utf-16"),
    b'<?xml version="1.0"?><error/>',
)
NOES_WITHIN = (
    b'{"success": false}',
    b'{"ok": false, "message": "later"}',
    b'{"error": "no credits left"}',
    b'{"errors": [{"detail": "quota"}], "data": null}',
    b"false",
    b'{"status": "error", "message": "quota"}',
    b'{"statusCode": 503}',
)
WORDS = (
    b"",
    b"{}",
    b"[]",
    b"null",
    b"true",
    b"None",
    b"OK",
    b'"ok"',
    b"\xff\xfe\x00",
    b"[" * 50_000,
    b"9" * 5_000,
    b'{"id": ' + b"9" * 5_000 + b"}",
    b'{"id": NaN}',
    b'{"message": "added"}',
    b'{"access_token": "token-1", "expires_in": 86400}',
    b'[{"id": 42, "title": "Two sum"}]',
    b'\xef\xbb\xbf{"message": "marked"}',
    '{"message": "wide"}'.encode("utf-16"),
    b'[{"email1": null, "candidate_id": 1}, 7, null, []]',
    b"x" * 300_000,
)
LABELS = (
    "",
    "Content-Type:",
    "Content-Type: text/html; charset=utf-8",
    "Content-Type: text/plain",
    "Content-Type: application/octet-stream",
    "Content-Type: application/problem+json",
    "Content-Type: application/json; charset=utf-16",
    "Content-Type: application/json\r\nContent-Type: text/html",
    "content-type:\ttext/HTML",
    "Content-Type: /;;=\xff",
)
ENCODINGS = ("gzip", "GZIP", "br", "deflate", "zstd", "identity, gzip", "x")
HEADERS = (
    "Connection: keep-alive\r\nKeep-Alive: timeout=5, max=1000",
    "Connection: close",
    "Connection: upgrade\r\nUpgrade: h2c",
    "Location: /elsewhere",
    "Location: https://[broken",
    "WWW-Authenticate: Bearer",
    "Link: </api/problems>; rel=next",
    "Trailer: X-Sum",
    "Expect: 100-continue",
    "Set-Cookie: a=\xe9\xff",
    "X-Bare: a\nX-Line: b",
    "X-Folded: a\r\n b\r\n\tc",
    "X-Nul: a\0b",
    "X-Blank : a",
    "No colon",
    ": no name",
    "Date: yesterday",
    "X-Large: " + "x" * 60_000,
    "X-Huge: " + "x" * 120_000,
    "\r\n".join(f"X-{n}: y" for n in range(900)),
)
LINES = (
    "HTTP/1.0 {} Old",
    "HTTP/1.1 {}",
    "HTTP/1.1 {} ",
    "HTTP/1.1 {} Gr\xfc\xdfe",
    "HTTP/2.0 {} New",
    "http/1.1 {} Low",
    "HTTP/1.1  {} Blanks",
    "HTTP/1.1 {}0 Long",
    "ICY {} OK",
)
BEFORE = (
    b"HTTP/1.1 100 Continue\r\n\r\n",
    b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n",
    b"HTTP/1.1 102 Processing\r\n\r\n" * 100,
    b"HTTP/1.1 199 What\r\nContent-Length: 5\r\n\r\n",
    b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\nConnection: upgrade\r\n\r\n",
    b"HTTP/1.1 099 Low\r\n\r\n",
    b"\r\n",
    b"\0",
    b"\x16\x03\x01\x00\x02\x02\x28",
    b"SSH-2.0-OpenSSH_9.6\r\n",
)


def answer(status: int, body: bytes = b"") -> bytes:
    """Write out one plain answer."""
    head = f"HTTP/1.1 {status} Said\r\nContent-Type: application/json\r\n"
    if status not in (204, 304):
        head += f"Content-Length: {len(body)}\r\n"
    return head.encode() + b"\r\n" + body


# -- how a body is framed: its headers, and its bytes as they go over the wire ---------------------

Framed = tuple[str, bytes]


def by_length(_: Random, body: bytes) -> Framed:
    return f"Content-Length: {len(body)}", body


def until_closed(_: Random, body: bytes) -> Framed:
    return "Connection: close", body


def chunked(dice: Random, body: bytes) -> Framed:
    size = dice.choice((1, 7, 1000)) if len(body) < 1000 else 1000
    name = dice.choice((b"%x", b"%X", b"000%x", b"%x;a=b"))
    chunks = [body[n : n + size] for n in range(0, len(body), size)]
    pieces = [name % len(each) + b"\r\n" + each + b"\r\n" for each in chunks]
    end = dice.choice((b"0\r\n\r\n", b"0\r\nX-Sum: 1\r\nStatus: 500\r\n\r\n"))
    return "Transfer-Encoding: chunked", b"".join(pieces) + end


def wrongly(dice: Random, body: bytes) -> Framed:
    """In a frame that lies, or that nobody can read."""
    size = len(body)
    lengths = (size + 5, size - 1, 0, -1, "", "abc", "+2", "1" * 30, f"{size}, {size + 1}", "0x2")
    frames = [f"Content-Length: {length}" for length in lengths]
    frames += [
        f"Content-Length: {size}\r\nContent-Length: {size + 1}",
        f"Content-Length: {size}\r\nTransfer-Encoding: chunked",
        "Transfer-Encoding: chunked",
        "Transfer-Encoding: gzip, chunked",
        "Transfer-Encoding: identity",
    ]
    end = dice.choice((b"", b"\r\n0\r\n\r\n", b"zz\r\n"))
    return dice.choice(frames), body + end


# -- the right answer in other words ---------------------------------------------------------------

Rows = list[dict[str, Any]]


def _ids(change: Callable[[int], Any]) -> Callable[[Rows], Rows]:
    return lambda rows: [{**row, "candidate_id": change(row["candidate_id"])} for row in rows]


def _named(name: str) -> Callable[[Rows], Rows]:
    return lambda rows: [
        {**{k: v for k, v in row.items() if k != "candidate_id"}, name: row["candidate_id"]}
        for row in rows
    ]


def _shuffled(rows: Rows) -> Rows:
    """The next person's name and id under each address."""
    others = [*rows[1:], *rows[:1]]
    return [{**other, "email1": row["email1"]} for row, other in zip(rows, others, strict=True)]


PEOPLE: dict[str, Callable[[Rows], Any]] = {
    "ids as text": _ids(str),
    "ids padded": _ids(lambda number: f"0{number}"),
    "ids as fractions": _ids(float),
    "no ids": _ids(lambda _: None),
    "ids true": _ids(lambda _: True),
    "ids below 0": _ids(lambda number: -number),
    "ids too large": _ids(lambda number: number + 2**70),
    "one id for all": lambda rows: _ids(lambda _: rows[0]["candidate_id"])(rows),
    "another name": _named("candidateId"),
    "plain id": _named("id"),
    "the other way round": lambda rows: rows[::-1],
    "the first missing": lambda rows: rows[1:],
    "the first alone": lambda rows: rows[:1],
    "each twice": lambda rows: rows + rows,
    "each with two ids": lambda rows: rows + _ids(lambda number: number + 10_000)(rows),
    "a stranger": lambda rows: [*rows, {**rows[0], "email1": "x@y.org", "candidate_id": 1}],
    "shuffled": _shuffled,
    "capitals": lambda rows: [{**row, "email1": row["email1"].upper()} for row in rows],
    "no names": lambda rows: [
        {name: row[name] for name in ("email1", "candidate_id")} for row in rows
    ],
    "more fields": lambda rows: [{**row, "x": {"email1": "x@y.org"}, "id": 7} for row in rows],
    "further in": lambda rows: {"candidates": rows},
    "with others": lambda rows: [None, 7, "x", [], {}, *rows],
}

Made = dict[str, Any]
PROJECTS: dict[str, Callable[[Made], Any]] = {
    "id as text": lambda made: {"id": str(made["id"])},
    "id padded": lambda made: {"id": f"0{made['id']}"},
    "id as a fraction": lambda made: {"id": float(made["id"])},
    "no id": lambda _: {"id": None},
    "id true": lambda _: {"id": True},
    "id 0": lambda _: {"id": 0},
    "id too large": lambda _: {"id": 2**70},
    "another name": lambda made: {"project_id": made["id"]},
    "further in": lambda made: {"project": made},
    "in a list": lambda made: [made],
    "more fields": lambda made: {**made, "owner": {"id": 7}, "error": None},
}
