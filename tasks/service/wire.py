"""Send one request over the wire by httpx; httpcore's trace says how far it got.

What a failure proves depends on the phase, not on the exception: the same reset can mean that
nothing left, or that an answer was lost.
"""

import asyncio
import ssl
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

import httpcore
import httpx

from config.errors import BadSettings
from tasks.service.exchange import ENCODED, Before, Exchange, Phase


@dataclass(frozen=True, slots=True)
class Token:
    """A bearer credential. `number` counts from 1; `renew_at` is in monotonic seconds."""

    value: str = field(repr=False)
    number: int
    renew_at: float


@dataclass(frozen=True, slots=True)
class Call:
    """A request to make. `ends` is its deadline, in the event loop's time."""

    operation: str
    method: str
    url: str
    ends: float
    token: Token | None = None
    content: bytes | None = field(default=None, repr=False)
    before: Before | None = None

    def request(self, trace: "_Trace") -> httpx.Request:
        """The request as httpx sends it. Raises httpx.InvalidURL."""
        headers = dict(HEADERS)
        if self.content is not None or self.method == "GET":  # interface 4.2 shows it for GET
            headers["content-type"] = "application/json"
        if self.token is not None:
            headers["authorization"] = f"Bearer {self.token.value}"
        return httpx.Request(
            self.method,
            self.url,
            headers=headers,
            content=self.content,
            extensions={"trace": trace, "timeout": TIMEOUTS},
        )


class Wire:
    """Makes calls, each on a new connection; calls by https use the environment's proxies.

    On a reused connection, a late or repeated answer would be taken for the next request's answer.
    `ca_file` is trusted in addition to the usual certificates. Raises BadSettings.
    """

    def __init__(self, ca_file: Path | None = None) -> None:
        certificates = trusted(ca_file)
        try:
            self._client = httpx.AsyncClient(
                verify=certificates,
                limits=httpx.Limits(max_connections=None, max_keepalive_connections=0),
                mounts={"http://": None},  # http is for this machine only: no proxy
            )
        except (ValueError, ImportError, httpx.InvalidURL):
            why = "HTTPS_PROXY or ALL_PROXY cannot be used: it must be an http or https address."
            raise BadSettings(problem=why) from None

    async def close(self) -> None:
        """Close what is open."""
        await self._client.aclose()

    async def exchange(self, call: Call) -> Exchange:
        """Make a call once. Raises nothing but CancelledError."""
        seen = Exchange(call.operation, token=call.token.number if call.token else 0)
        try:
            async with asyncio.timeout_at(call.ends):
                request = call.request(_Trace(seen, call.before))
                await _read(seen, await self._client.send(request, stream=True))
        except Exception as error:  # noqa: BLE001 - the phase says what it proves
            if seen.error is None:
                seen.error, seen.fatal = _reason(error, seen.phase)
        return seen


def trusted(ca_file: Path | None) -> ssl.SSLContext:
    """What TLS trusts: the usual certificates, and those in a file. Raises BadSettings."""
    try:
        context = httpx.create_ssl_context()
        if ca_file is not None:
            context.load_verify_locations(ca_file)
    except OSError as error:
        why = f"CAMPAIGN_CA_FILE cannot be read as certificates ({type(error).__name__})."
        raise BadSettings(problem=why) from None
    return context


async def _read(seen: Exchange, answer: httpx.Response) -> None:
    seen.headers = answer.headers
    encoding = answer.headers.get("content-encoding", "identity").strip().lower()
    try:
        async for chunk in answer.aiter_raw():
            if encoding not in {"", "identity"}:
                _end(seen, ENCODED)  # never unpacked: a few bytes may become gigabytes
            seen.begun += chunk
            if len(seen.begun) > LARGEST:
                _end(seen, "the answer has no end")
        seen.body = seen.begun
    finally:
        await answer.aclose()


def _end(seen: Exchange, why: str, fatal: bool = False) -> NoReturn:
    """End an exchange with this error."""
    seen.error, seen.fatal = why, fatal
    raise ConnectionAbortedError


class _Trace:
    """Follows a request by the events of httpcore's `trace` extension."""

    def __init__(self, seen: Exchange, before: Before | None) -> None:
        self._seen = seen
        self._before = before
        self._stream: Any = None
        self._to_proxy = False

    async def __call__(self, event: str, info: Mapping[str, Any]) -> None:
        """Note an event, such as `http11.send_request_headers.started`."""
        match event.partition(".")[2]:
            case "connect_tcp.complete" | "start_tls.complete":
                self._stream = info["return_value"]
            case "start_tls.failed":
                if why := _tls_reason(info["exception"]):
                    self._seen.error, self._seen.fatal = why, True
            case "send_request_headers.started":
                # A CONNECT, which asks a proxy for a tunnel, contains nothing of the call.
                self._to_proxy = info["request"].method == b"CONNECT"
                if not self._to_proxy:
                    await self._leave()
            case _ if self._to_proxy:
                return
            case "send_request_body.complete":
                self._seen.phase = Phase.SENT
            case "send_request_headers.failed" | "send_request_body.failed":
                self._seen.cut_short = True  # an answer may still come
            case "receive_response_headers.complete":
                self._seen.phase = Phase.ANSWERED
                self._seen.status = info["return_value"][1]

    async def _leave(self) -> None:
        """Let the first byte of the request leave, or end the exchange before it leaves."""
        if self._before is not None:
            try:
                await self._before()
            except Exception:  # noqa: BLE001 - the hook keeps the reason
                _end(self._seen, "the request was held back", fatal=True)
        if await _spoke_first(self._stream):
            _end(self._seen, "the service spoke, or hung up, before it was asked")
        self._seen.phase = Phase.SENDING


async def _spoke_first(stream: Any) -> bool:
    """Whether the other end sent something, or closed the connection, before the request."""
    readable: bool = stream.get_extra_info("is_readable")
    if stream.get_extra_info("ssl_object") is None:
        return readable
    # Readable bytes may belong to TLS and not to an answer. The first read takes those in, and may
    # time out before it reaches an answer behind them: hence a second read.
    for _ in range(2 if readable else 1):
        with suppress(httpcore.ReadTimeout):
            try:
                await stream.read(1, timeout=TLS_SECONDS if readable else 0)
            except httpcore.ReadError:
                return True
            return True
    return False


def _reason(error: Exception, phase: Phase) -> tuple[str, bool]:
    """Say why an exchange ended, and whether another try would end in the same way."""
    match error:
        case TimeoutError() | httpx.TimeoutException():
            return "it took too long", False
        case _ if phase > Phase.NOTHING:
            return "the connection broke", False
        case httpx.ProxyError() | httpx.RemoteProtocolError() | httpx.ReadError():
            return "the proxy refused the connection", False
        case httpx.NetworkError() | OSError():
            return "there is no connection to the service", False
    return "this program could not form the request; check the service's address", True


def _tls_reason(error: BaseException) -> str | None:
    """Say why TLS failed; None if the connection failed for another reason."""
    cause: BaseException | None = error
    while cause is not None and not isinstance(cause, ssl.SSLError):
        cause = cause.__cause__ or cause.__context__
    if isinstance(cause, ssl.SSLCertVerificationError):
        return f"the service's certificate is not trusted: {cause.verify_message}{OF_A_COMPANY}"
    return "TLS could not be agreed with the service" if cause else None


HEADERS = {
    "accept": "application/json",
    "accept-encoding": "identity",
    "user-agent": "hiring-campaigns",
    "connection": "close",
}
# Connecting has a limit of its own, so that a request is soon tried again.
TIMEOUTS = {"connect": 10.0, "read": None, "write": None, "pool": None}
TLS_SECONDS = 0.002  # enough to read what has arrived
LARGEST = 8 * 2**20
OF_A_COMPANY = " (a company's own authority is named in CAMPAIGN_CA_FILE)"
