"""The assessment service as the rest of the program sees it: ready, problems, call, renew."""

import asyncio
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Self

import httpx

from config.errors import CampaignError
from config.settings import ServiceSettings
from tasks.service.answer import kind_of, no_within
from tasks.service.auth import Token, Tokens
from tasks.service.channel import UnusableProxy, Way, exchange
from tasks.service.connection import Asked, Headers
from tasks.service.errors import CredentialsRefused, NotTheService, Unreachable
from tasks.service.evidence import Exchange, Last, Phase
from tasks.service.excerpt import excerpt
from tasks.service.harmless_retries import Patience, TryAgain
from tasks.service.messages import Request
from tasks.service.problem import Problems, next_page, read_problems

_TOKEN_SECONDS = 10.0  # one try to get a token; a call waits for it within its own deadline
_MOST_PAGES = 100  # of a list, so that an endless list keeps nobody waiting

_JSON = (b"Content-Type", b"application/json")


def headers_of(way: Way, token: Token | None = None) -> Headers:
    """Compose what every request carries (interface 4.2, 5.2)."""
    headers = [
        (b"Host", way.host),
        (b"Accept", b"application/json"),
        (b"Accept-Encoding", b"identity"),
        (b"User-Agent", b"hiring-campaigns"),
        (b"Connection", b"close"),
    ]
    if token is not None:
        headers.append((b"Authorization", b"Bearer " + token.value.encode()))
    return headers


def post(way: Way, path: str, body: bytes | None, token: Token | None = None) -> Asked:
    """Form a request with a JSON body, or without a body, as for invitations (interface 4.6)."""
    headers = [*headers_of(way, token), (b"Content-Length", b"%d" % len(body or b""))]
    if body is not None:
        headers.append(_JSON)
    return Asked(b"POST", way.path + path.encode(), headers, body or b"")


class Service:
    """One assessment service with our credentials; an async context manager.

    `deadline` is the time in seconds after which one call is given up, including its token.
    `ca_file` holds certificates to trust in addition to the usual ones. Nothing stays open between
    two calls.
    """

    def __init__(
        self,
        settings: ServiceSettings,
        *,
        deadline: float = 45.0,
        ca_file: Path | None = None,
        patience: Patience | None = None,
    ) -> None:
        self._settings = settings
        self._deadline = deadline
        self._ca_file = ca_file
        self._patience = patience or Patience()
        self._tokens = Tokens(settings, self._post_for_token, patience=self._patience)
        self.date: str | None = None  # the service's own, of its last list of problems
        # What it wrote instead of a token or a list, where its last answer was neither.
        self.wrote: str | None = None

    async def __aenter__(self) -> Self:
        """Read both addresses. Raises Unreachable for one, or for a proxy, that cannot be used."""
        self._api = self._way("ASSESSMENT_BASE_URL", self._settings.base_url)
        self._auth = self._way("ASSESSMENT_AUTH_URL", self._settings.auth_url)
        return self

    async def __aexit__(self, *_: object) -> None:
        """End; each call has closed what it opened."""

    async def ready(self) -> None:
        """Make sure that there is a token. Raises Unreachable, CredentialsRefused."""
        await self._tokens.current()

    async def renew(self, used: int) -> None:
        """Replace token number `used`, once for all. Raises Unreachable, CredentialsRefused."""
        await self._tokens.renew(used)

    async def problems(self) -> Problems:
        """List the problems (interface 4.2), with the pages that a Link header leads to.

        Each request is repeated if that can help. Raises Unreachable, CredentialsRefused, and
        NotTheService for any answer except an array.
        """
        problems, asked = Problems(), set[str]()
        page: str | None = f"{self._settings.base_url}/api/problems"
        while page is not None and page not in asked and len(asked) < _MOST_PAGES:
            asked.add(page)
            more, link = await self._page(page)
            problems.go_on_with(more)
            page = next_page(page, link)
        return problems

    async def _page(self, page: str) -> tuple[Problems, str]:
        block = self._settings.block
        try:
            async for attempt in self._patience.tries():
                with attempt:
                    token = await self._tokens.current()
                    seen = await self._ask_for(page, token)
                    if seen.status == 401:
                        seen = await self._ask_for(page, await self._tokens.renew(token.number))
                    self._patience.unless_passing(seen)
        except TryAgain as last:
            raise Unreachable("ASSESSMENT_BASE_URL", last.why, block) from None
        if seen.status == 401:
            raise CredentialsRefused("the service does not accept the token: status 401", block)
        self.date = seen.date
        problems = read_problems(seen.body) if _is_yes(seen) else None
        if problems is None:
            raise NotTheService(f"status {seen.status}, {kind_of(seen.body)}", block)
        return problems, seen.link

    async def call(self, request: Request, last: Last | None = None) -> Exchange:
        """Make one changing request, once; never raises for what the network or service does.

        Only cancellation is raised. `last` may hold the request back at the moment when it could
        leave. `verdict` decides whether it had an effect.
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
        asked = post(self._api, request.path, request.body, token)
        seen = await exchange(self._api, asked, ends=ends, token=token.number, last=last)
        return replace(seen, excerpt=partial(self._excerpt, seen, token))

    async def _ask_for(self, page: str, token: Token) -> Exchange:
        headers = [*headers_of(self._api, token), _JSON]
        asked = Asked(b"GET", httpx.URL(page).raw_path, headers)
        ends = asyncio.get_running_loop().time() + self._deadline
        seen = await exchange(self._api, asked, ends=ends, token=token.number)
        is_list = _is_yes(seen) and read_problems(seen.body) is not None
        self.wrote = None if is_list else self._excerpt(seen, token)
        return seen

    async def _post_for_token(self, body: bytes) -> Exchange:
        ends = asyncio.get_running_loop().time() + min(_TOKEN_SECONDS, self._deadline)
        seen = await exchange(self._auth, post(self._auth, "/oauth/token", body), ends=ends)
        # A plain yes contains a token, in whatever shape.
        is_token = _is_yes(seen) and not no_within(seen.body)
        self.wrote = None if is_token else self._excerpt(seen)
        return seen

    def _excerpt(self, seen: Exchange, token: Token | None = None) -> str | None:
        secrets = [self._settings.client_secret.get_secret_value(), token.value if token else ""]
        return excerpt(seen.body, secrets)

    def _way(self, variable: str, url: str) -> Way:
        try:
            return Way(url, deadline=self._deadline, ca_file=self._ca_file)
        except httpx.InvalidURL:
            raise Unreachable(variable, "it is not an address", self._settings.block) from None
        except UnusableProxy as named:
            # The address stays out of it: it may hold a password.
            why = "it is not that of an http or https proxy"
            raise Unreachable(str(named), why) from None


def _is_yes(seen: Exchange) -> bool:
    return seen.status is not None and 200 <= seen.status < 300
