"""A simulated service behind a simulated network, in the shape of tasks.service.client.Service."""

import asyncio
import json
import random
from collections.abc import Callable
from typing import Any

from data.store.states import Op
from tasks.service.exchange import Before, Exchange, Phase

LONGEST = 45.0  # seconds until a request is given up


class Killed(Exception):
    """The process is dead: nothing of it reaches the ledger."""


class Service:
    """The remote service, and the network before it. `trouble` is how often something fails."""

    def __init__(self, rng: random.Random) -> None:
        self.entries: list[dict[str, Any]] = []
        self.trouble = 0.2
        self._rng = rng
        self._ids: dict[tuple[int, str], int] = {}

    async def call(
        self, op: Op, path: tuple[int, int], body: Any, before: Before, process: Any
    ) -> Exchange:
        """One request of a process: what it does here happens, whatever becomes of the process."""
        rng, seen = self._rng, Exchange(op)
        await asyncio.sleep(rng.uniform(0.001, 0.1))
        kind = rng.choices(list(FATES), list(FATES.values()))[0] if self._fails() else "well"
        if kind == "no connection":
            seen.error = "the connection was refused"
            return seen
        try:
            await before()
        except Exception:  # noqa: BLE001 - whatever keeps it back
            return seen
        if process.dead:
            await asyncio.sleep(3 * LONGEST)
            raise Killed
        seen.phase = Phase.SENT
        arrives, answers = rng.uniform(0.001, 0.2), rng.uniform(0.001, 0.3)
        if kind == "slow":
            arrives = rng.uniform(1, LONGEST - 1)
        answered: asyncio.Future[tuple[int, bytes]] = asyncio.get_running_loop().create_future()
        status = {"refused": rng.choice((404, 422, 403)), "busy": 429, "token": 401}.get(kind, 200)
        status = rng.choice((500, 502, 503)) if kind in ("failed", "failed after") else status
        works = status == 200 or kind == "failed after"
        if kind != "dropped":
            self._later(arrives, lambda: self._arrives(op, path, body, works, status, answered))
        try:
            async with asyncio.timeout(LONGEST):
                code, answer = await answered
                await asyncio.sleep(answers)
        except TimeoutError:
            return seen
        if kind in ("lost", "slow and lost"):
            return seen
        seen.phase, seen.status, seen.body = Phase.ANSWERED, code, answer
        seen.headers = {"retry-after": str(rng.randint(1, 30))} if code == 429 else {}
        return seen

    def _fails(self) -> bool:
        return self._rng.random() < self.trouble

    def _later(self, seconds: float, work: Callable[[], None]) -> None:
        asyncio.get_running_loop().call_later(seconds, work)

    def _arrives(
        self,
        op: Op,
        path: tuple[int, int],
        body: Any,
        works: bool,
        status: int,
        answered: "asyncio.Future[tuple[int, bytes]]",
    ) -> None:
        ids: dict[str, int] = {}
        answer: Any = {}
        email = None
        if works and op is Op.CREATE:
            ids = {"project": 101 + len([e for e in self.entries if e["op"] == op])}
            answer = {"id": ids["project"]}
        elif works and op is Op.ADD:
            ids = {row["email1"]: self._id(path[0], row["email1"]) for row in body}
            answer = [row | {"candidate_id": ids[row["email1"]]} for row in body]
            self._rng.shuffle(answer)
        elif op is Op.INVITE:
            email = next((e for (p, e), n in self._ids.items() if (p, n) == path), None)
        entry = {"n": len(self.entries) + 1, "op": str(op), "body": body, "worked": works}
        project, candidate = (path[0] or None), (path[1] or None)
        entry |= {"ids": ids, "email": email, "status": status, "project_id": project}
        at = asyncio.get_running_loop().time()
        self.entries.append(entry | {"candidate_id": candidate, "at": at})
        if not answered.done():
            answered.set_result((status, json.dumps(answer).encode()))

    def _id(self, project: int, email: str) -> int:
        """The service knows a person by address: added twice, they have one id."""
        return self._ids.setdefault((project, email), 5001 + len(self._ids))


FATES = {
    "no connection": 2,
    "lost": 3,
    "slow": 3,
    "dropped": 2,
    "failed": 1,
    "failed after": 1,
    "refused": 1,
    "busy": 1,
    "token": 1,
}


class Client:
    """A process's way to the service, in the shape of tasks.service.client.Service."""

    def __init__(self, service: Service, process: Any) -> None:
        self._service, self._process = service, process

    async def __aenter__(self) -> "Client":
        return self

    async def __aexit__(self, *_: object) -> None:
        pass

    async def problems(self) -> list[Any]:
        await asyncio.sleep(0.05)
        return []

    async def renew_token(self, used: int) -> None:
        await asyncio.sleep(0.05)

    def words(self, seen: Exchange) -> str | None:
        return None

    async def create(self, body: Any, before: Before) -> Exchange:
        return await self._call(Op.CREATE, (0, 0), body, before)

    async def attach(self, project: int, problem: int, before: Before) -> Exchange:
        return await self._call(Op.ATTACH, (project, 0), {"problemid": problem}, before)

    async def add(self, project: int, rows: Any, before: Before) -> Exchange:
        return await self._call(Op.ADD, (project, 0), rows, before)

    async def invite(self, project: int, candidate: int, before: Before) -> Exchange:
        return await self._call(Op.INVITE, (project, candidate), None, before)

    async def _call(self, op: Op, path: tuple[int, int], body: Any, before: Before) -> Exchange:
        return await self._service.call(op, path, body, before, self._process)
