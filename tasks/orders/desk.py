"""The desk where people are ordered by HTTP: each order is taken once, and durably.

The orders of a campaign stand in the table that its definition reads. It is replaced as a whole, so
nobody waits until it rests. Nothing is kept in memory: a person may change it.
"""

import fcntl
import hmac
import os
import re
import sys
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from shutil import copy2
from tempfile import TemporaryDirectory
from typing import Any

import pandas as pd
from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException as Refused
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from config.definition import KEY, Candidate
from config.emails import email_key
from config.errors import BadInput
from config.folder import ORDERS
from config.reading import read_campaign, who_reads
from config.sheets.left_out import compared
from data.campaigns.people import known, known_person, own_steps
from data.decisions.decisions import By, NotDecided, withdraw
from data.sending.runs import recover_all
from data.store.lease import is_free
from data.store.ledger import Ledger
from data.store.receipts import deciding, replace
from data.store.states import Op, State
from tasks.status import status

LARGEST = 16_384  # bytes of a request
RATE = 100.0  # requests a second, and so many at once
COLUMNS = ("id", *Candidate.model_fields, "withdrawn")
EMPTY = pd.DataFrame(columns=[*COLUMNS], dtype=str)
WAITS = {"add": "waiting", "invite": "waiting", "candidate_id": None, "embed_url": None}
TWICE = "somebody of this address or name came before, and differs; tell two people's names apart"
Row = dict[str, str]

_texts: Any = dict.fromkeys(COLUMNS[:-1], (str | None, None))
_texts["id"] = (str, Field(pattern=r"^[A-Za-z0-9._:~-]{1,100}$"))
_only = ConfigDict(extra="forbid", coerce_numbers_to_str=True)
ORDER = create_model("Order", __config__=_only, **_texts)
REASON = create_model("Reason", why=(str, Field(pattern=r"\S")))


class Desk:
    """The orders of all campaigns of a folder, and how far they are."""

    def __init__(self, folder: Path, ledger: Ledger, token: str) -> None:
        self._folder, self._ledger, self._token = folder, ledger, f"Bearer {token}".encode()
        self._left, self._at = RATE, time.monotonic()

    def admit(self, authorization: str) -> None:
        """Let a request in. Raises Refused."""
        if not hmac.compare_digest(authorization.encode("latin-1"), self._token):
            raise Refused(401, "wanted  Authorization: Bearer  and the token of this desk")
        since, self._at = self._at, time.monotonic()
        self._left = min(RATE, self._left + (self._at - since) * RATE)
        if self._left < 1:
            raise Refused(429, f"at most {RATE:g} requests a second; ask again in a second")
        self._left -= 1

    def take(self, key: str, data: bytes) -> dict[str, Any]:
        """Take an order, unless it came before: then it is on the disk. Raises Refused."""
        asked = _read(ORDER, data)
        order: Row = {name: asked.get(name) or "" for name in COLUMNS}
        with alone(table := self._table(key)) as rows:
            before = next((row for row in rows if row["id"] == order["id"]), None)
            if before is None:
                _check(table, order, rows)
                _write(table, [*rows, order])
            elif before | {"withdrawn": ""} != order:
                raise Refused(409, "an order with this id came before, and says something else")
        return {"id": order["id"]}

    def show(self, key: str, number: str, _: bytes = b"") -> dict[str, Any]:
        """How far an order is. Why not is a word: a sentence may name somebody else."""
        with alone(self._table(key), number) as rows:
            order = next(row for row in rows if row["id"] == number)
        with self._ledger.reading() as session:
            them = status(session, key)["candidates"] if known(session, key) else ()
        email = email_key(order["email1"])
        theirs = (each for each in them if email_key(each["email1"]) == email)
        found = next(theirs, WAITS | {"stands": "withdrawn" if order["withdrawn"] else "waiting"})
        why = None if found["stands"] in {"waiting", "added", "invited"} else found["stands"]
        return {"id": number, **{name: found[name] for name in WAITS}, "why": why}

    def withdraw(self, key: str, number: str, data: bytes) -> dict[str, Any]:
        """Have nothing more sent for an order. Raises Refused."""
        by = By("the order desk", _read(REASON, data)["why"])
        with alone(table := self._table(key), number) as rows:
            email = next(email_key(row["email1"]) for row in rows if row["id"] == number)
            if not self._withdrawn(key, email, by):
                change(table, rows, [email], withdrawn="yes")  # no run that begins now reads it
                at_work = not is_free(self._ledger, key.lower())
                if not self._withdrawn(key, email, by) and at_work:
                    raise Refused(409, "a run at work may have read it; ask again in a minute")
        return self.show(key, number)

    def _table(self, key: str) -> Path:
        if not re.fullmatch(KEY, key):
            raise Refused(404, "there is no such campaign")
        return self._folder / f"{key.lower()}{ORDERS}"

    def _withdrawn(self, key: str, email: str, by: By) -> bool:
        """Withdraw somebody whom the ledger has; False: it has not. Raises NotDecided."""
        recover_all(self._ledger)
        with deciding(self._ledger) as session:
            campaign = known(session, key)
            person = known_person(session, campaign.id, email) if campaign else None
            if campaign is None or person is None:
                return False
            steps = own_steps(session, campaign.id, person.id)
            if steps[Op.INVITE].state is not State.GIVEN_UP:
                withdraw(session, campaign.id, [email], by)
        return True


def application(desk: Desk) -> Starlette:
    """The desk as it is served."""
    acts: dict[str, Callable[..., dict[str, Any]]] = {"POST": desk.take, "DELETE": desk.withdraw}

    async def answer(request: Request) -> JSONResponse:
        head, act = request.headers, acts.get(request.method, desk.show)
        try:
            desk.admit(head.get("authorization", ""))
            if head.get("transfer-encoding") or int(head.get("content-length", 0)) > LARGEST:
                raise Refused(413, f"an order says its length, of at most {LARGEST:,} bytes")
            said = await run_in_threadpool(act, *request.path_params.values(), await request.body())
        except Refused as no:
            return JSONResponse({"error": no.detail}, no.status_code)
        except NotDecided as no:
            return JSONResponse({"error": f"this person {no.objections[0][1]}"}, 409)
        except Exception as error:  # noqa: BLE001 - no trace shows a person
            failed = f"the desk failed ({type(error).__name__})"
            print(failed, file=sys.stderr, flush=True)
            return JSONResponse({"error": failed}, 503)
        return JSONResponse(said, 202 if request.method == "POST" else 200)

    path = "/campaigns/{key}/candidates"
    one = Route(f"{path}/{{number}}", answer, methods=["GET", "DELETE"])
    return Starlette(routes=[Route(path, answer, methods=["POST"]), one])


@contextmanager
def alone(table: Path, number: str | None = None) -> Iterator[list[Any]]:
    """The orders of a table, for one at a time of all threads and processes. Raises Refused."""
    with table.with_name(".orders.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        read = pd.read_csv(table, dtype=str, keep_default_na=False) if table.exists() else EMPTY
        if (*read.columns,) != COLUMNS:
            raise Refused(503, f"{table.name} wants {','.join(COLUMNS)} on line 1")
        if number is not None and number not in {*read["id"]}:
            raise Refused(404, "there is no such order")
        yield read.to_dict("records")


def change(table: Path, rows: Sequence[Row], emails: Collection[str], **values: str) -> None:
    """Write these values into all orders of some email keys."""
    for row in rows:
        row.update(values if email_key(row["email1"]) in emails else {})
    _write(table, rows)


def _check(table: Path, order: Row, others: Sequence[Row]) -> None:
    """Raise Refused with what the definition's reader would say of this order."""
    if (definition := who_reads(table)) is None:
        raise Refused(404, f"no definition here has  candidates: {{file: {table.name}}}")
    with TemporaryDirectory() as aside:
        copy = Path(copy2(definition, aside))
        # Beside one that is withdrawn: the definition must leave that out.
        _write(copy.with_name(table.name), [order, order | {"withdrawn": "for example"}])
        try:
            read = read_campaign(copy)
        except BadInput as error:
            said = (": ".join(filter(None, (m.field, m.message))) for m in error.mistakes)
            raise Refused(422, "; ".join(said)) from None
    spec = vars(read.definition.candidates)
    if "id" not in spec["ignore"] or "notes" not in spec["columns"]:
        raise Refused(422, "the definition wants  columns: {notes: notes}, ignore: [id]")
    if read.listed[0].candidate.email1 != order["email1"].strip():
        raise Refused(422, "email1: wanted an email address, and nothing beside it")
    for other in others:
        alike = _who(other) & _who(order)
        if alike and not other["withdrawn"] and other | {"id": order["id"]} != order:
            raise Refused(422, TWICE)


def _write(table: Path, rows: Sequence[Row]) -> None:
    replace(table, pd.DataFrame(rows, columns=[*COLUMNS]).to_csv(index=False).encode())
    at = time.time() - 2  # at rest: it is never unfinished
    os.utime(table, (at, at))


def _who(order: Row) -> set[str]:
    name = f"{order['first_name'].strip()} {order['last_name'].strip()}"
    return {email_key(order["email1"]), compared(name)}


def _read(model: type[BaseModel], data: bytes) -> dict[str, Any]:
    """What was asked. Raises Refused."""
    try:
        return model.model_validate_json(data).model_dump()
    except ValidationError as error:
        wrong = (f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors())
        wanted = f"wanted a JSON object of {', '.join(model.model_fields)}"
        raise Refused(422, "; ".join([wanted, *wrong])) from None
