"""A client of the assessment service: five calls. A call that changes something is made once."""

import asyncio
import json
from collections.abc import Mapping, Sequence
from typing import Any, Self

from config.errors import CampaignError
from config.settings import Settings
from data.store.states import Op
from tasks.service.answers import CandidateRow
from tasks.service.auth import CredentialsRefused, Tokens, tried
from tasks.service.exchange import Before, Exchange
from tasks.service.messages import words
from tasks.service.problems import NotTheService, ServiceProblem, read_problems
from tasks.service.wire import Call, Wire


class Service:
    """An assessment service with our credentials; an async context manager. Raises BadSettings.

    `create`, `attach`, `add` and `invite` send one request once and return its Exchange, which
    `verdict` judges; they raise only cancellation. `before` is called when the connection is open:
    if it raises, not one byte leaves. These four have a deadline, which includes getting a token.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._secret = settings.client_secret.get_secret_value()
        self._api = settings.base_url.rstrip("/")
        self._wire = Wire(settings.ca_file)
        self._tokens = Tokens(self._ask_for_token)

    async def __aenter__(self) -> Self:
        """Begin. Each call makes its own connection."""
        return self

    async def __aexit__(self, *_: object) -> None:
        """Close what is open."""
        await self._wire.close()

    async def renew_token(self, used: int) -> None:
        """Replace token number `used` (`Exchange.token`), once for all calls that used it.

        Raises Unreachable, CredentialsRefused.
        """
        await self._tokens.renew(used)

    async def problems(self) -> list[ServiceProblem]:
        """List the problems (interface 4.2). Asks again if that can help.

        If it returns, token and API work. Raises Unreachable, CredentialsRefused, NotTheService.
        """
        url = f"{self._api}/api/problems"

        async def ask() -> Exchange:
            token = await self._tokens.current()
            return await self._wire.exchange(Call("problems", "GET", url, self._ends(), token))

        seen = await tried(ask, "ASSESSMENT_BASE_URL")
        if seen.status == 401:
            await self.renew_token(seen.token)
            seen = await tried(ask, "ASSESSMENT_BASE_URL")
        if seen.status == 401:
            raise CredentialsRefused(why="it issues a token that it does not accept, status 401")
        found = read_problems(seen.body)
        if found is None or seen.status is None or not 200 <= seen.status < 300:
            error = NotTheService(why=f"status {seen.status}")
            error.service_words = (written,) if (written := self.words(seen)) else ()
            raise error
        return found

    async def create(self, body: Mapping[str, Any], before: Before | None = None) -> Exchange:
        """Create a project (interface 4.3)."""
        return await self._change(Op.CREATE, "", body, before)

    async def attach(
        self, project_id: int, problem_id: int, before: Before | None = None
    ) -> Exchange:
        """Add a problem to a project (interface 4.4)."""
        path = f"/{project_id}/problems"
        return await self._change(Op.ATTACH, path, {"problemid": problem_id}, before)

    async def add(
        self, project_id: int, rows: Sequence[CandidateRow], before: Before | None = None
    ) -> Exchange:
        """Add candidates in one request (interface 4.5)."""
        path = f"/{project_id}/candidates"
        return await self._change(Op.ADD, path, [dict(row) for row in rows], before)

    async def invite(
        self, project_id: int, candidate_id: int, before: Before | None = None
    ) -> Exchange:
        """Have one invitation email sent (interface 4.6)."""
        path = f"/{project_id}/candidates/{candidate_id}/invite"
        return await self._change(Op.INVITE, path, None, before)

    def words(self, seen: Exchange) -> str | None:
        """What the service wrote in an answer, for a person, without our secrets."""
        token = self._tokens.latest
        return words(seen, (self._secret, token.value if token else ""))

    async def _change(self, op: Op, path: str, body: Any, before: Before | None) -> Exchange:
        ends = self._ends()
        try:
            async with asyncio.timeout_at(ends):
                token = await self._tokens.current()
        except (CampaignError, TimeoutError) as error:
            fatal = isinstance(error, CredentialsRefused)
            why = "the credentials were refused" if fatal else "there is no access token yet"
            return Exchange(op, error=why, fatal=fatal)
        url = f"{self._api}/api/projects{path}"
        content = None if body is None else _json(body)
        call = Call(op, "POST", url, ends, token, content, before)
        return await self._wire.exchange(call)

    async def _ask_for_token(self) -> Exchange:
        body = {
            "grant_type": "client_credentials",
            "client_id": self._settings.client_id,
            "client_secret": self._secret,
            "audience": self._settings.audience,
        }
        url = f"{self._settings.auth_url.rstrip('/')}/oauth/token"
        ends = min(self._ends(), asyncio.get_running_loop().time() + TOKEN_SECONDS)
        return await self._wire.exchange(Call("token", "POST", url, ends, content=_json(body)))

    def _ends(self) -> float:
        return asyncio.get_running_loop().time() + self._settings.request_deadline


def _json(body: object) -> bytes:
    return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()


TOKEN_SECONDS = 10.0  # for one try to get a token; a call's own deadline includes it
