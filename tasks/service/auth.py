"""Access tokens: fetched once, shared by all requests, renewed in time (interface 4.1, 5).

`tried` repeats calls, and is only for those that change nothing at the service.
"""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable

import stamina

from config.errors import CampaignError
from tasks.service.answers import parsed
from tasks.service.exchange import Exchange
from tasks.service.verdict import retry_after
from tasks.service.wire import Token

Ask = Callable[[], Awaitable[Exchange]]


class Unreachable(CampaignError):
    says = "The address in {variable} does not answer as it should: {why}. Nothing was sent."
    then = "Check the network and the address, then run again."


class CredentialsRefused(CampaignError):
    says = "The service refused the credentials: {why}. Nothing was sent."
    then = """Check ASSESSMENT_CLIENT_ID, ASSESSMENT_CLIENT_SECRET, ASSESSMENT_AUDIENCE and
    ASSESSMENT_AUTH_URL, then run again."""


class Tokens:
    """The only source of tokens. `ask` asks for a token once, and never raises."""

    def __init__(self, ask: Ask) -> None:
        self.latest: Token | None = None
        self._ask = ask
        self._one_at_a_time = asyncio.Lock()
        self._failed: CampaignError | None = None

    async def current(self) -> Token:
        """Return a token that is not about to expire. Raises Unreachable, CredentialsRefused."""
        token = self.latest
        if token is not None and time.monotonic() < token.renew_at:
            return token
        return await self.renew(token.number if token else 0)

    async def renew(self, used: int) -> Token:
        """Return a token newer than number `used`; fetch one only if there is none yet.

        Raises Unreachable, CredentialsRefused.
        """
        waits = self._one_at_a_time.locked()
        async with self._one_at_a_time:
            if self.latest is not None and self.latest.number > used:
                return self.latest
            if waits and self._failed is not None:
                raise self._failed  # the fetch that this caller waited for failed
            began = time.monotonic()
            try:
                value, lifetime = _token(await tried(self._ask, "ASSESSMENT_AUTH_URL"))
            except CampaignError as error:
                self._failed = error
                raise
            renew_at = began + lifetime - min(LONGEST_MARGIN, lifetime / 5)
            self.latest, self._failed = Token(value, used + 1, renew_at), None
            return self.latest


async def tried(ask: Ask, variable: str) -> Exchange:
    """Ask a few times, with growing waits, until an answer is final. Raises Unreachable."""
    try:
        async for attempt in stamina.retry_context(_wait, attempts=5, wait_initial=0.25):
            with attempt:
                seen = await ask()
                if seen.status is None or seen.status in PASSING or seen.body is None:
                    raise _NoAnswer(seen)
    except _NoAnswer as last:
        seen = last.args[0]
        why, header = seen.error or f"status {seen.status}", seen.headers.get("retry-after")
        pause = retry_after(header) if header and seen.status == 429 else None
        raise Unreachable(variable=variable, why=why, pause=pause) from None
    return seen


class _NoAnswer(Exception):
    """No answer, or one that may be better next time. The exception's argument is the exchange."""


def _wait(error: Exception) -> bool | float:
    if not isinstance(error, _NoAnswer) or error.args[0].fatal:
        return False
    header = error.args[0].headers.get("retry-after")
    wait = retry_after(header)
    # Wait as long as the service asks. If that is longer than LONGEST_WAIT, do not try again.
    return (wait if wait <= LONGEST_WAIT else False) if header else True


def _token(seen: Exchange) -> tuple[str, float]:
    """Read a token and its lifetime in seconds. Raises CredentialsRefused, Unreachable."""
    if seen.status in {404, 405}:
        raise Unreachable(variable="ASSESSMENT_AUTH_URL", why=f"status {seen.status}")
    answer = parsed(seen.body) if seen.status is not None and seen.status < 300 else None
    answer = answer if isinstance(answer, dict) else {}
    value = answer.get("access_token")
    # A token in a header can have only printable ASCII without spaces.
    if not isinstance(value, str) or not value or not all("!" <= c <= "~" for c in value):
        raise CredentialsRefused(why=f"status {seen.status}, without an access token")
    told = str(answer.get("expires_in"))
    seconds = int(told) if told.isascii() and told.isdigit() else 0
    return value, min(seconds, 10**6) or UNTOLD_LIFETIME


LONGEST_MARGIN = 60.0
UNTOLD_LIFETIME = 300.0  # seconds, if expires_in is missing or odd
LONGEST_WAIT = 5.0
PASSING = frozenset({408, 421, 425, 429, 500, 502, 503, 504})
# One log line for each try would hide how the call ended.
logging.getLogger("stamina").setLevel(logging.ERROR)
