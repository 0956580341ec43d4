"""The assessment service as the rest of the program sees it: ready, problems, call, renew."""

import asyncio
import math
from contextlib import AsyncExitStack
from pathlib import Path
from types import TracebackType
from typing import Self

import httpx

from config.errors import CampaignError
from config.settings import ServiceSettings
from tasks.service.auth import Token, Tokens
from tasks.service.channel import IN_FLIGHT, Lane, exchange, open_client
from tasks.service.errors import CredentialsRefused, NotTheService, Unreachable
from tasks.service.exchange import Exchange, Last, Phase
from tasks.service.patience import Patience, TryAgain
from tasks.service.problem import Problems, read_problems
from tasks.service.wire import Request

_TOKEN_SECONDS = 10.0  # one try at a token; a call waits for it within its own deadline


class Headers:
    """What every call carries (interface 4.2, 5.2): `bare` without a body, `with_json` with one.

    An invitation has no body (interface 4.6) and so no Content-Type.
    """

    __slots__ = ("bare", "token", "with_json")

    def __init__(self, token: Token) -> None:
        self.token = token.number
        self.bare = [
            (b"Authorization", b"Bearer " + token.value.encode()),
            (b"Accept", b"application/json"),
            (b"Accept-Encoding", b"identity"),
            (b"User-Agent", b"hiring-campaigns"),
        ]
        self.with_json = [*self.bare, (b"Content-Type", b"application/json")]


class Service:
    """One assessment service with our credentials; an async context manager.

    `in_flight` is how many calls the caller makes at the same time, `deadline` the seconds after
    which one call is given up, its token included. `ca_file` holds certificates to trust beside
    the usual ones. Closing it ends every connection.
    """

    def __init__(
        self,
        settings: ServiceSettings,
        *,
        in_flight: int = 8,
        deadline: float = 45.0,
        ca_file: Path | None = None,
        patience: Patience | None = None,
    ) -> None:
        self._base = settings.base_url
        self._addresses = {
            "ASSESSMENT_BASE_URL": settings.base_url,
            "ASSESSMENT_AUTH_URL": settings.auth_url,
        }
        self._deadline = deadline
        self._ca_file = ca_file
        self._patience = patience or Patience()
        # One more than calls: a harmless question never waits behind requests that hang.
        self._lanes_wanted = math.ceil(in_flight / IN_FLIGHT) + 1
        self._lanes: list[Lane] = []
        self._open = AsyncExitStack()
        self._tokens = Tokens(settings, self._post_for_token, patience=self._patience)
        self._headers: Headers | None = None
        self.date: str | None = None  # the service's own, of its last list of problems

    async def __aenter__(self) -> Self:
        """Open the clients. Raises Unreachable for an address or a proxy that cannot be used.

        The paths are put together here, below the base URL as it was given: httpx's own base URL
        turns a path that begins with // into another one.
        """
        for variable, url in self._addresses.items():
            try:
                httpx.URL(url)
            except httpx.InvalidURL:
                raise Unreachable(variable, "it is not an address") from None
        async with AsyncExitStack() as opening:
            for _ in range(self._lanes_wanted):
                try:
                    client = open_client(deadline=self._deadline, ca_file=self._ca_file)
                except (ValueError, ImportError, httpx.InvalidURL):
                    # Its text would show the proxy's address, password included.
                    raise Unreachable("HTTPS_PROXY or HTTP_PROXY", "unusable proxy") from None
                self._lanes.append(Lane(await opening.enter_async_context(client)))
            self._open = opening.pop_all()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close every connection."""
        self._lanes.clear()
        await self._open.aclose()

    async def ready(self) -> None:
        """See that a token is in hand. Raises Unreachable, CredentialsRefused."""
        await self._tokens.current()

    async def renew(self, used: int) -> None:
        """Replace token number `used`, once for all. Raises Unreachable, CredentialsRefused."""
        await self._tokens.renew(used)

    async def problems(self) -> Problems:
        """List the problems (interface 4.2), trying again where that can help.

        Raises Unreachable, CredentialsRefused, and NotTheService for any answer but an array.
        """
        try:
            async for attempt in self._patience.tries():
                with attempt:
                    token = await self._tokens.current()
                    seen = await self._ask_for_problems(token)
                    if seen.status == 401:
                        seen = await self._ask_for_problems(await self._tokens.renew(token.number))
                    self._patience.unless_passing(seen)
        except TryAgain as last:
            raise Unreachable("ASSESSMENT_BASE_URL", last.why) from None
        if seen.status == 401:
            raise CredentialsRefused("the service does not accept the token: status 401")
        self.date = seen.date
        said_yes = seen.status is not None and 200 <= seen.status < 300
        problems = read_problems(seen.body) if said_yes else None
        if problems is None:
            raise NotTheService(f"status {seen.status}, {seen.content_type or 'no content type'}")
        return problems

    async def call(self, request: Request, last: Last | None = None) -> Exchange:
        """Make one changing request, once; never raises for what the network or service does.

        Only cancellation passes. `last` may hold the request back when it could leave. Whether it
        had an effect is for `verdict` to say.
        """
        loop = asyncio.get_running_loop()
        began = loop.time()
        ends = began + self._deadline
        try:
            async with asyncio.timeout_at(ends):
                token = await self._tokens.current()
        except (CampaignError, TimeoutError) as error:
            return Exchange(
                Phase.NOTHING, failure=type(error).__name__, seconds=loop.time() - began
            )
        headers = self._headers_with(token)
        leaving = httpx.Request(
            "POST",
            self._base + request.path,
            headers=headers.bare if request.body is None else headers.with_json,
            content=request.body,
        )
        return await self._on_a_lane(leaving, ends, token.number, last)

    async def _ask_for_problems(self, token: Token) -> Exchange:
        headers = self._headers_with(token).with_json
        asking = httpx.Request("GET", f"{self._base}/api/problems", headers=headers)
        ends = asyncio.get_running_loop().time() + self._deadline
        return await self._on_a_lane(asking, ends, token.number)

    async def _on_a_lane(
        self, request: httpx.Request, ends: float, token: int = 0, last: Last | None = None
    ) -> Exchange:
        lane = min(self._lanes, key=Lane.load)
        lane.busy += 1
        try:
            return await exchange(lane.client, request, ends=ends, token=token, last=last)
        finally:
            lane.busy -= 1

    def _headers_with(self, token: Token) -> Headers:
        """Give the headers of a call with this token, composed once per token."""
        if self._headers is None or self._headers.token != token.number:
            self._headers = Headers(token)
        return self._headers

    async def _post_for_token(self, url: str, body: bytes) -> Exchange:
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        ends = asyncio.get_running_loop().time() + min(_TOKEN_SECONDS, self._deadline)
        return await self._on_a_lane(
            httpx.Request("POST", url, headers=headers, content=body), ends
        )
