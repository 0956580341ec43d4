"""Faults and dialects of the service, by name.

    Sandbox(invite=lost(3), add=[bad_row("bob@x.org"), late(2.0, at=5)])

A fault affects `times` requests of its operation, from number `at` on, counted from 1 since the
fault was set. If several faults of an operation are due, the first one applies.
"""

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

ALWAYS = sys.maxsize
Rows = list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Fault:
    """One way to fail, or to answer differently.

    `works`: whether the service does what it was asked. `status`, `body` and `headers` replace the
    right answer; `change` alters its rows (a created project is one row). `ending`: what happens
    to the connection, after `seconds`. `email`: only requests about this address are affected.
    `above`: only those about more people than this. `ids_from`: new ids jump to this one.
    """

    name: str
    at: int = 1
    times: int = 1
    works: bool = True
    ending: str = "answered"  # or lost, or half
    seconds: float = 0
    status: int | None = None
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)
    change: Callable[[Rows], Rows] | None = None
    email: str | None = None
    above: int | None = None
    ids_from: int = 0


def status(
    code: int,
    after: bool = False,
    at: int = 1,
    times: int = 1,
    headers: Mapping[str, str] | None = None,
    body: Any = None,
) -> Fault:
    """Answer with this status; with `after`, the work is done first."""
    if body is None and code not in (204, 304):
        body = {"error": f"the sandbox was told to answer {code}"}
    return Fault("status", at, times, after, status=code, headers=headers or {}, body=body)


def throttled(retry_after: int | str = 1, at: int = 1, times: int = 1) -> Fault:
    """Answer 429, with Retry-After in seconds or as an HTTP date."""
    wait = {"retry-after": str(retry_after)}
    body = {"error": "too many requests"}
    return Fault("throttled", at, times, False, status=429, headers=wait, body=body)


def late(seconds: float, at: int = 1, times: int = 1) -> Fault:
    """Do the work, write the record, and answer so many seconds later."""
    return Fault("late", at, times, seconds=seconds)


def at_most(people: int, at: int = 1, times: int = ALWAYS) -> Fault:
    """Answer 413 to a request with more people than this."""
    body = {"error": "too many candidates in one request"}
    return Fault("at_most", at, times, False, status=413, body=body, above=people)


def bad_row(email: str, at: int = 1, times: int = ALWAYS) -> Fault:
    """Answer 422 to any request that has this address in a row."""
    body = {"error": "a candidate is not valid"}
    return Fault("bad_row", at, times, False, status=422, body=body, email=email)


def refuse_all(code: int = 422, words: str = "this account may not do that") -> Fault:
    """Refuse all requests of an operation until the fault is removed."""
    return Fault("refuse_all", 1, ALWAYS, False, status=code, body={"error": words})


def _ids(new: Callable[[int], Any], rows: Rows) -> Rows:
    """Replace every id by `new`; None removes it."""
    every = [{k: new(v) if k in ("id", "candidate_id") else v for k, v in r.items()} for r in rows]
    return [{key: value for key, value in row.items() if value is not None} for row in every]


def _lower(rows: Rows) -> Rows:
    return [{k: v.lower() if k == "email1" else v for k, v in row.items()} for row in rows]


_PAGE = b"<!doctype html><html><title>Sign in</title><h1>Sign in to go on</h1></html>"
_HTML, _JSON = {"content-type": "text/html; charset=utf-8"}, {"content-type": "application/json"}
_NO = {"success": False, "error": "this could not be done"}
_STRANGER = {"email1": "stranger@sandbox.invalid", "candidate_id": 9_000_001}

# No answer, or a wrong one. `works` says whether the work is done.
lost = partial(Fault, "lost", ending="lost")
dropped = partial(Fault, "dropped", works=False, ending="lost")
half = partial(Fault, "half", ending="half")
garbage = partial(Fault, "garbage", status=200, body=b'{"id": 10, "cand', headers=_JSON)
html = partial(Fault, "html", works=False, status=200, body=_PAGE, headers=_HTML)
redirect = partial(Fault, "redirect", works=False, status=302, headers={"location": "/login"})
says_no = partial(Fault, "says_no", works=False, status=200, body=_NO)

# Dialects: the right answer in another form, which some services always use.
_dialect = partial(Fault, times=ALWAYS)
shuffled = partial(_dialect, "shuffled", change=lambda rows: rows[1:] + rows[:1])
lowered = partial(_dialect, "lowered", change=_lower)
extra = partial(_dialect, "extra", change=lambda rows: [r | {"links": {"self": 0}} for r in rows])
as_text = partial(_dialect, "as_text", change=partial(_ids, str))
above_2_53 = partial(_dialect, "above_2_53", ids_from=2**53 + 1)

# The right answer with a mistake in it.
missing = partial(Fault, "missing", change=partial(_ids, lambda _: None))
left_out = partial(Fault, "left_out", change=lambda rows: rows[:-1])
doubled = partial(Fault, "doubled", change=lambda r: r + _ids(lambda n: n + 1_000_000, r[:1]))
shared = partial(Fault, "shared", change=lambda r: _ids(lambda _: r[0]["candidate_id"], r))
earlier = partial(Fault, "earlier", change=partial(_ids, lambda number: number - 1))
strangers = partial(Fault, "strangers", change=lambda r: [*r, r[0] | _STRANGER])
