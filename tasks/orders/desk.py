"""The desk where orders come in by HTTP: who may, how often, with how much; and the answers."""

import asyncio
import fcntl
import hmac
import json
import re
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from math import inf
from pathlib import Path
from typing import Any

from sqlmodel import col, func, select
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from config.definition import KEY
from config.emails import email_key
from data.campaigns.people import known, known_person, own_steps
from data.decisions.decisions import By, NotDecided, withdraw
from data.sending.runs import recover_all
from data.store.lease import is_free
from data.store.ledger import Ledger
from data.store.receipts import deciding
from data.store.states import Op, State
from data.store.tables import Campaign, Run
from tasks.orders.table import COLUMNS, Orders, Refused, Row
from tasks.status import status

LARGEST = 16_384  # bytes of a request
RATE = 100.0  # requests a second, and so many at once
ID = re.compile(r"[A-Za-z0-9._:~-]{1,100}")


class Desk:
    """The orders of all campaigns of a folder, and how far they are."""

    def __init__(self, folder: Path, ledger: Ledger, token: str) -> None:
        self._folder, self._ledger, self._token = folder, ledger, f"Bearer {token}".encode()
        self._left, self._at = RATE, time.monotonic()
        self._own = folder / ".orders"
        self._own.mkdir(mode=0o700, exist_ok=True)

    def admit(self, authorization: str) -> None:
        """Let a request in. Raises Refused."""
        if not hmac.compare_digest(authorization.encode("latin-1"), self._token):
            raise Refused(401, "wanted  Authorization: Bearer  and the token of this desk")
        since, self._at = self._at, time.monotonic()
        self._left = min(RATE, self._left + (self._at - since) * RATE)
        if self._left < 1:
            raise Refused(429, f"at most {RATE:g} requests a second; ask again in a second")
        self._left -= 1

    def take(self, key: str, asked: Any) -> dict[str, Any]:
        order = _order(asked)
        with self._alone():
            self._of(key).take(order)
        return {"id": order["id"]}

    def show(self, key: str, number: str) -> dict[str, Any]:
        """How far an order is. Why not is a word: a sentence may name somebody else."""
        with self._alone():
            order = self._find(key, number)
        shown = {"add": "waiting", "invite": "waiting", "candidate_id": None, "embed_url": None}
        why = "withdrawn" if order["withdrawn"] else None
        with self._ledger.reading() as session:
            them = status(session, key)["candidates"] if known(session, key) else ()
        for each in them:
            if email_key(each["email1"]) == email_key(order["email1"]):
                shown = {name: each[name] for name in shown}
                why = None if each["stands"] in {"waiting", "added", "invited"} else each["stands"]
        return {"id": number, **shown, "why": why}

    def withdraw(self, key: str, number: str, asked: Any) -> dict[str, Any]:
        """Have nothing more sent for an order. Raises Refused."""
        why = asked.get("why") if isinstance(asked, dict) else None
        if not isinstance(why, str) or not why.strip():
            raise Refused(422, 'wanted a reason, as in {"why": "She took another job"}')
        with self._alone():
            order = self._find(key, number)
            if not self._withdrawn(key, order, why):
                self._of(key).withdraw(order, why)  # no run that begins now reads it
                nobody_sends = is_free(self._ledger, key.lower())
                if not self._withdrawn(key, order, why) and not nobody_sends:
                    raise Refused(409, "a run at work may have read it; ask again in a minute")
        return self.show(key, number)

    def put_into_tables(self, *, at_once: bool = False) -> None:
        last = select(func.max(col(Run.began))).join(Campaign)
        with self._alone():
            for key in [each.stem for each in self._own.glob("*.new")]:
                with self._ledger.reading() as session:
                    began = session.scalar(last.where(Campaign.key == key))
                run = inf if at_once else began.timestamp() if began else 0
                Orders(self._folder, key).put_into_table(run)

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """One at a time, of all threads and of all desks of this folder."""
        with (self._own / "lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    def _of(self, key: str) -> Orders:
        if not re.fullmatch(KEY, key):
            raise Refused(404, "there is no such campaign")
        return Orders(self._folder, key.lower())

    def _find(self, key: str, number: str) -> Row:
        if (order := self._of(key).all().get(number)) is None:
            raise Refused(404, "there is no such order")
        return order

    def _withdrawn(self, key: str, order: Row, why: str) -> bool:
        """Withdraw somebody whom the ledger has; False: it has not. Raises Refused."""
        recover_all(self._ledger)
        email = email_key(order["email1"])
        with deciding(self._ledger) as session:
            campaign = known(session, key)
            person = known_person(session, campaign.id, email) if campaign else None
            if person is None:
                return False
            steps = own_steps(session, person.campaign_id, person.id)
            if steps[Op.INVITE].state is not State.GIVEN_UP:
                try:
                    withdraw(session, person.campaign_id, [email], By("the order desk", why))
                except NotDecided as error:
                    raise Refused(409, f"this person {error.objections[0][1]}") from None
        return True


def application(desk: Desk) -> Starlette:
    """The desk as it is served."""
    acts: dict[str, Callable[..., dict[str, Any]]]
    acts = {"POST": desk.take, "GET": desk.show, "HEAD": desk.show, "DELETE": desk.withdraw}

    async def answer(request: Request) -> JSONResponse:
        try:
            desk.admit(request.headers.get("authorization", ""))
            asked = [await _body(request)] if request.method in {"POST", "DELETE"} else []
            act, where = acts[request.method], request.path_params.values()
            said = await run_in_threadpool(act, *where, *asked)
        except Refused as no:
            return JSONResponse({"error": no.sentence}, no.status)
        except Exception as error:  # noqa: BLE001 - no trace shows a person
            return JSONResponse({"error": _failed(error)}, 503)
        return JSONResponse(said, 202 if request.method == "POST" else 200)

    async def keep_tables() -> None:
        while True:
            await asyncio.sleep(1)
            try:
                await run_in_threadpool(desk.put_into_tables)
            except Exception as error:  # noqa: BLE001 - it tries again
                _failed(error)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        keeping = asyncio.create_task(keep_tables())
        yield
        keeping.cancel()
        desk.put_into_tables(at_once=True)

    path = "/campaigns/{key}/candidates"
    one = Route(f"{path}/{{number}}", answer, methods=["GET", "DELETE"])
    return Starlette(routes=[Route(path, answer, methods=["POST"]), one], lifespan=lifespan)


async def _body(request: Request) -> Any:
    data = b""
    async for chunk in request.stream():
        data += chunk
        if len(data) > LARGEST:
            raise Refused(413, f"an order has at most {LARGEST:,} bytes")
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        raise Refused(422, "wanted a JSON object") from None


def _order(asked: Any) -> Row:
    """An order as the table has it. Raises Refused."""
    if not isinstance(asked, dict) or not {*asked} <= {*COLUMNS[:-1]}:
        raise Refused(422, f"wanted a JSON object with some of {', '.join(COLUMNS[:-1])}")
    for name, value in asked.items():
        if isinstance(value, bool) or not isinstance(value, str | int | None):
            raise Refused(422, f"{name}: wanted a text")
    order = {name: "" if asked.get(name) is None else str(asked[name]) for name in COLUMNS}
    if not ID.fullmatch(order["id"]):
        raise Refused(422, "id: wanted 1 to 100 letters, digits and . _ : ~ -")
    return order


def _failed(error: Exception) -> str:
    said = f"the desk failed ({type(error).__name__})"
    print(said, file=sys.stderr, flush=True)
    return said
