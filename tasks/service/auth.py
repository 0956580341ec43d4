"""Access tokens: fetched once, shared by all in flight, renewed in time (interface 4.1, 5)."""

import asyncio
import json
import math
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from config.errors import CampaignError
from config.settings import ServiceSettings
from tasks.service.errors import CredentialsRefused, Unreachable
from tasks.service.evidence import Exchange
from tasks.service.harmless_retries import Patience, TryAgain

# The lifetime of a token whose expires_in is missing or odd; an earlier 401 renews it too.
_UNTOLD_LIFETIME = 300.0
_LONGEST_MARGIN = 60.0

Send = Callable[[bytes], Awaitable[Exchange]]


@dataclass(frozen=True, slots=True)
class Token:
    """A bearer credential. `number` counts from 1; `renew_at` is in monotonic seconds."""

    value: str = field(repr=False)
    number: int
    renew_at: float


class Tokens:
    """The one source of tokens. `send` posts one JSON body to get a token, and never raises."""

    def __init__(
        self,
        settings: ServiceSettings,
        send: Send,
        *,
        patience: Patience | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._settings = settings
        self._send = send
        self._patience = patience or Patience()
        self._clock = clock
        self._token: Token | None = None
        self._one_at_a_time = asyncio.Lock()
        self._fetches = 0
        self._failed: CampaignError | None = None

    async def current(self) -> Token:
        """Return a token that is not about to expire. Raises Unreachable, CredentialsRefused."""
        token = self._token
        if token is not None and self._clock() < token.renew_at:
            return token
        return await self.renew(token.number if token else 0)

    async def renew(self, used: int) -> Token:
        """Return a newer token than number `used`, fetched only if nobody has done so already.

        Raises Unreachable, CredentialsRefused.
        """
        fetches = self._fetches
        async with self._one_at_a_time:
            if self._token is not None and self._token.number != used:
                return self._token
            if self._fetches != fetches and self._failed is not None:
                # Those who waited while this one failed have waited long enough.
                raise self._failed
            self._failed = None
            try:
                self._token = await self._fetch(number=used + 1)
            except CampaignError as error:
                self._failed = error
                raise
            finally:
                self._fetches += 1
            return self._token

    async def _fetch(self, number: int) -> Token:
        try:
            async for attempt in self._patience.tries():
                with attempt:
                    # Counted from before the request: the service counts from some later moment.
                    asked_at = self._clock()
                    seen = self._patience.unless_passing(await self._send(self._body()))
        except TryAgain as last:
            raise Unreachable("ASSESSMENT_AUTH_URL", last.why, self._settings.block) from None
        value, lifetime = read_token(seen, self._settings.block)
        return Token(value, number, asked_at + lifetime - min(_LONGEST_MARGIN, lifetime / 5))

    def _body(self) -> bytes:
        return json.dumps(
            {
                "grant_type": "client_credentials",
                "client_id": self._settings.client_id,
                "client_secret": self._settings.client_secret.get_secret_value(),
                "audience": self._settings.audience,
            }
        ).encode()


def read_token(seen: Exchange, block: str | None = None) -> tuple[str, float]:
    """Read a token and its lifetime in seconds from an answer.

    `block` is where the credentials are, if Prefect keeps them. Raises CredentialsRefused, and
    Unreachable if this is not a service that issues tokens.
    """
    if seen.status in {404, 405}:
        raise Unreachable("ASSESSMENT_AUTH_URL", f"status {seen.status}", block)
    if seen.status is None or not 200 <= seen.status < 300:
        raise CredentialsRefused(f"status {seen.status}", block)
    try:
        answer = json.loads(seen.body or b"")
    except (ValueError, RecursionError):
        answer = None
    value = answer.get("access_token") if isinstance(answer, dict) else None
    # It has to travel in a header: letters, digits and signs, no spaces.
    if not isinstance(value, str) or not value or not all("!" <= c <= "~" for c in value):
        raise CredentialsRefused("the answer holds no access token", block)
    return value, _lifetime(answer.get("expires_in"))


def _lifetime(expires_in: object) -> float:
    """Read expires_in, a number of seconds or its text; anything else gives the default."""
    if isinstance(expires_in, bool) or not isinstance(expires_in, int | float | str):
        return _UNTOLD_LIFETIME
    try:
        seconds = float(expires_in)
    except (ValueError, OverflowError):
        return _UNTOLD_LIFETIME
    return seconds if math.isfinite(seconds) and seconds > 0 else _UNTOLD_LIFETIME
