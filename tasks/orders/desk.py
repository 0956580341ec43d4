"""The order desk: take orders of people by HTTP, each once and durably."""

import hmac
import re
import sys
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from pydantic import ConfigDict, Field, ValidationError, create_model
from sqlmodel import Session
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from config.definition import KEY, ORDERS
from config.emails import email_key
from config.errors import BadInput, command, printable
from config.reading import key_of, named_table, read_campaign
from config.sheets.left_out import line
from config.sheets.names import comparable
from data.campaigns.people import find, forgotten_among, known, known_person, own_steps
from data.decisions.decisions import By, NotDecided, withdraw
from data.sending.runs import writing
from data.store.lease import is_free
from data.store.ledger import Ledger
from data.store.states import Op, State
from data.store.tables import Person, SeenFile, now
from tasks.orders.table import COLUMNS, LOCK, orders, write
from tasks.status import status_of

Order = dict[str, str]
LARGEST = 16_384  # bytes of a request
RATE = 100.0  # requests a second, also in one burst
WAITS = {"add": "waiting", "invite": "waiting", "candidate_id": None, "embed_url": None}
FORGOTTEN = "this person was forgotten on request: nothing is ever sent to this address"
WITHDRAWN = "this person was withdrawn; first type  {}"
OTHER_KEY = "{0} has the key {1}; name the table {1}.orders.csv, also in {0}, and order by {1}"
NO_ORDER = "there is no such order"
ANOTHER = "an order with this id came before, and says something else"
NOWHERE = "no definition here has  candidates: {{file: {}}}"
AT_WORK = "a run at work may have read it; ask again in a minute"
TWICE = "somebody of this address or name came before, and differs; tell two people's names apart"

_texts: Any = dict.fromkeys(COLUMNS[:-1], (str | None, None))
_texts["id"] = (str, Field(pattern=r"^[A-Za-z0-9_:~-][A-Za-z0-9._:~-]{0,99}$"))
_only = ConfigDict(extra="forbid", coerce_numbers_to_str=True)
ORDER = create_model("Order", __config__=_only, **_texts)
REASON = create_model("Reason", why=(str, Field(pattern=r"\S")))


class Desk:
    """The orders of all campaigns in a folder, and how far each is."""

    def __init__(self, folder: Path, ledger: Ledger, token: str) -> None:
        self._folder, self._ledger, self._token = folder, ledger, f"Bearer {token}".encode()
        self._left, self._at = RATE, time.monotonic()
        with ledger.writing() as session:  # `folders_of` in forgetting.py reads this row's folder
            session.merge(SeenFile(path=str(folder.resolve() / LOCK), trace="", at=now()))

    def admit(self, authorization: str) -> None:
        """Check the token and the rate of requests. Raises HTTPException."""
        if not hmac.compare_digest(authorization.encode("latin-1"), self._token):
            raise HTTPException(401, "wanted  Authorization: Bearer  and the token of this desk")
        since, self._at = self._at, time.monotonic()
        self._left = min(RATE, self._left + (self._at - since) * RATE)
        if self._left < 1:
            raise HTTPException(429, f"at most {RATE:g} requests a second; ask again in a second")
        self._left -= 1

    def take(self, key: str, data: bytes) -> dict[str, Any]:
        """Write an order unless it came before. Raises HTTPException, ValidationError, BadInput."""
        asked = ORDER.model_validate_json(data).model_dump()
        order = {name: asked.get(name) or "" for name in COLUMNS}
        table, definition = self._table(key)
        with orders(table) as rows:
            before = rows.setdefault(order["id"], order)
            with self._ledger.reading() as session:
                email1, state = _invitation(session, key, email_key(order["email1"]))
            if state is State.GIVEN_UP and not email1:
                raise HTTPException(409, FORGOTTEN)
            if before | {"withdrawn": ""} != order:
                raise HTTPException(409, ANOTHER)
            if before["withdrawn"]:
                raise HTTPException(409, "this order was withdrawn; order with another id")
            if state is State.GIVEN_UP:  # no run would send to them
                typed = command("withdraw", key, "EMAIL", "--undo")
                raise HTTPException(409, WITHDRAWN.format(typed))
            if before is order:
                _check(table, definition, order, rows.values())
                write(table, rows)
        return {"id": order["id"]}

    def show(self, key: str, number: str, _: bytes = b"") -> dict[str, Any]:
        """How far an order is. `why`, a word, names nobody. Raises HTTPException, BadInput."""
        with orders(self._table(key)[0]) as rows:
            if (order := rows.get(number)) is None:
                raise HTTPException(404, NO_ORDER)
        with self._ledger.reading() as session:
            email1, state = _invitation(session, key, email_key(order["email1"]))
            people = status_of(session, key)["candidates"] if email1 else ()
        them = {each["email1"]: each for each in people}
        stands = "withdrawn" if order["withdrawn"] or state is State.GIVEN_UP else "waiting"
        found = them.get(email1, WAITS | {"stands": stands, "invite": stands})
        why = None if found["stands"] in {"waiting", "added", "invited"} else found["stands"]
        return {"id": number, **{name: found[name] for name in WAITS}, "why": why}

    def withdraw(self, key: str, number: str, data: bytes) -> dict[str, Any]:
        """Withdraw an order and others for its address: nothing more is sent for them. Raises
        HTTPException, ValidationError, NotDecided, BadInput."""
        by = By("the order desk", **REASON.model_validate_json(data).model_dump())
        with orders(table := self._table(key)[0]) as rows:
            if number not in rows:
                raise HTTPException(404, NO_ORDER)
            email = email_key(rows[number]["email1"])
            theirs = [row for row in rows.values() if email_key(row["email1"]) == email]
            later = rows[number]["withdrawn"] and not all(row["withdrawn"] for row in theirs)
            is_out = bool(later) or self._withdraw(key, email, by)
            for row in [] if later else theirs:  # asked again, a later order of theirs stands
                row["withdrawn"] = f"yes: {printable(by.why)}"
            write(table, rows)  # runs that begin now leave these rows out
            at_work = not (is_out or is_free(self._ledger, key.lower()))
            if not (is_out or self._withdraw(key, email, by)) and at_work:
                raise HTTPException(409, AT_WORK)
        return self.show(key, number)

    def _table(self, key: str) -> tuple[Path, Path | None]:
        """The table of a campaign's orders, and the definition that reads it."""
        if not re.fullmatch(KEY, key):
            raise HTTPException(404, "there is no such campaign")
        table = self._folder / f"{key.lower()}{ORDERS}"
        files = [*filter(Path.is_file, self._folder.glob("*.y*"))]
        reads = {file: _table_and_key(file, file.stat().st_ctime_ns) for file in files}
        keys = {its: file for file, (read, its) in reads.items() if read == table.resolve()}
        if keys and key.lower() not in keys:
            its, file = keys.popitem()
            raise HTTPException(404, OTHER_KEY.format(file.name, its))
        return table, keys.get(key.lower())

    def _withdraw(self, key: str, email: str, by: By) -> bool:
        """Withdraw a person; False if the ledger does not know them. Raises NotDecided."""
        with writing() as session:
            email1, state = _invitation(session, key, email)
            if state not in (None, State.GIVEN_UP):
                withdraw(session, find(session, key).id, [email1], by)
            return state is not None


def _invitation(session: Session, key: str, email: str) -> tuple[str, State | None]:
    """A person's address as it is now, and the state of their invitation; None: no such person.

    Whoever was forgotten has no address, and is given up.
    """
    campaign = known(session, key)
    person = known_person(session, campaign.id, email) if campaign else None
    while person and person.became:  # the address was corrected
        person = session.get(Person, person.became)
    if forgotten_among(session, [email]) or (person and not person.email1):
        return "", State.GIVEN_UP
    if person is None:
        return "", None
    return person.email1, own_steps(session, person.campaign_id, person.id)[Op.INVITE].state


def application(desk: Desk) -> Starlette:
    """The desk as a web application."""
    acts: dict[str, Callable[..., dict[str, Any]]] = {"POST": desk.take, "DELETE": desk.withdraw}

    async def answer(request: Request) -> JSONResponse:
        head, act = request.headers, acts.get(request.method, desk.show)
        try:
            desk.admit(head.get("authorization", ""))
            if head.get("transfer-encoding") or int(head.get("content-length", 0)) > LARGEST:
                raise HTTPException(413, f"an order says its length, of at most {LARGEST:,} bytes")
            said = await run_in_threadpool(act, *request.path_params.values(), await request.body())
        except HTTPException as no:
            return JSONResponse({"error": no.detail}, no.status_code)
        except NotDecided as no:
            return JSONResponse({"error": f"this person {no.objections[0][1]}"}, 409)
        except ValidationError as no:
            fields = (ORDER if request.method == "POST" else REASON).model_fields
            wrong = (": ".join(map(str, (*e["loc"], e["msg"]))) for e in no.errors())
            wanted = f"wanted a JSON object of {', '.join(fields)}; {'; '.join(wrong)}"
            return JSONResponse({"error": wanted}, 422)
        except Exception as error:  # noqa: BLE001 - a traceback would show a person
            why = error.mistakes[0] if isinstance(error, BadInput) else type(error).__name__
            print(failed := f"the desk failed ({why})", file=sys.stderr, flush=True)
            return JSONResponse({"error": failed}, 503)
        return JSONResponse(said, 202 if request.method == "POST" else 200)

    path = "/campaigns/{key}/candidates"
    one = Route(f"{path}/{{number}}", answer, methods=["GET", "DELETE"])
    return Starlette(routes=[Route(path, answer, methods=["POST"]), one])


@lru_cache(maxsize=1_000)  # each request asks all definitions
def _table_and_key(definition: Path, _: int) -> tuple[Path | None, str]:
    with suppress(BadInput):  # a draft may have no key
        return named_table(definition), key_of(definition)
    return None, ""


def _check(table: Path, definition: Path | None, order: Order, others: Iterable[Order]) -> None:
    """Raise HTTPException if the definition refuses this order, or another order is too similar."""
    if definition is None:
        raise HTTPException(503 if table.exists() else 404, NOWHERE.format(table.name))
    with TemporaryDirectory() as aside:
        # The second row is withdrawn: a definition that keeps it has the person twice, a mistake.
        write(one := Path(aside, table.name), {"": order, "out": order | {"withdrawn": "yes"}})
        try:
            read = read_campaign(definition, at=one)
        except BadInput as error:
            said = (": ".join(filter(None, (m.field, m.message))) for m in error.mistakes)
            theirs = all(m.place.file == one for m in error.mistakes)  # not the definition's
            raise HTTPException(422 if theirs else 503, "; ".join(said)) from None
    spec = vars(read.definition.candidates)
    if not read.listed:
        raise HTTPException(422, f"the definition keeps only  {line(spec['where'])}")
    if "id" not in spec["ignore"] or "notes" not in spec["columns"]:
        raise HTTPException(422, "the definition wants  columns: {notes: notes}, ignore: [id]")
    if read.listed[0].candidate.email1 != order["email1"].strip():
        raise HTTPException(422, "email1: wanted an email address, and nothing beside it")
    for other in others:
        alike = _who(other) & _who(order)
        if alike and not other["withdrawn"] and other | {"id": order["id"]} != order:
            raise HTTPException(422, TWICE)


def _who(order: Order) -> set[str]:
    return {email_key(order["email1"]), comparable(f"{order['first_name']} {order['last_name']}")}
