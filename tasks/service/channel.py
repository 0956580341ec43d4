"""One request over the wire: a connection is opened for it, and an Exchange says how far it got.

What it proves depends on the phase it reached, not on an exception: the same reset can mean that
nothing left (a proxy hung up) or that an answer was lost.
"""

import asyncio
import ssl
import time
from base64 import b64encode
from functools import cache
from pathlib import Path
from typing import cast
from urllib.request import getproxies, proxy_bypass

import h11
import httpx

from tasks.service.connection import Asked, Conversation
from tasks.service.evidence import ENCODED, Exchange, Last, Phase

_CONNECT_SECONDS = 10.0
_PLACE_KEPT_SECONDS = 5.0  # a host's address, instead of asking for it with every request
_HERE = ("localhost", "127.0.0.1", "::1")

# What is wrong with a certificate, by OpenSSL's number for it (X509_V_ERR_...).
_CERTIFICATES = {
    9: "CertificateNotYetValid",
    10: "CertificateExpired",
    18: "CertificateUnknown",
    19: "CertificateUnknown",
    20: "CertificateUnknown",
    21: "CertificateUnknown",
    62: "CertificateOfAnotherHost",
    64: "CertificateOfAnotherHost",
}


class NoWay(Exception):
    """No connection that could carry a request. Its text is a name without an address in it."""


class UnusableProxy(Exception):
    """The environment names a proxy that is not one. Its text is the variable, not the address."""


@cache
def trust(ca_file: Path | None = None) -> ssl.SSLContext:
    """Give the certificates this program trusts, read once: reading them takes 30 ms.

    `ca_file` is trusted beside the usual ones. Raises OSError.
    """
    trusted = httpx.create_ssl_context()
    trusted.set_alpn_protocols(["http/1.1"])
    if ca_file is not None:
        trusted.load_verify_locations(ca_file)
    return trusted


def proxy_for(url: httpx.URL) -> httpx.URL | None:
    """Give the environment's proxy for an address; None to this machine.

    Plain http needs none: settings allow it to this machine only. Raises UnusableProxy for
    one that cannot be used, whether or not it would be.
    """
    named = getproxies()
    kind = "https" if named.get("https") else "all"
    address = named.get(kind)
    if not address:
        return None
    unusable = UnusableProxy(f"{kind}_proxy".upper())
    try:
        proxy = httpx.URL(address if "://" in address else f"http://{address}")
    except httpx.InvalidURL:
        raise unusable from None
    if proxy.scheme not in {"http", "https"} or not proxy.host:
        raise unusable
    here = url.scheme == "http" or url.host in _HERE
    return None if here or proxy_bypass(f"{url.host}:{_port(url)}") else proxy


class Way:
    """The way to the service, or to the address that gives tokens.

    Raises httpx.InvalidURL or UnusableProxy for an address or a proxy that cannot be used.
    `deadline` is that of a call, in seconds.
    """

    def __init__(self, url: str, *, deadline: float, ca_file: Path | None = None) -> None:
        self._url = httpx.URL(url)
        self._proxy = proxy_for(self._url)
        self._tls = trust(ca_file) if self._url.scheme == "https" else None
        # Given up well before the deadline, so that time is left for another try.
        self._seconds = min(_CONNECT_SECONDS, deadline / 2)
        self._place: tuple[str, float] | None = None  # where it was found, and until when that goes
        self.path = self._url.raw_path.rstrip(b"/")
        self.host = self._url.netloc

    async def open(self) -> Conversation:
        """Open a connection that nothing was asked on yet. Raises NoWay."""
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(self._seconds):
                if self._proxy is not None:
                    return await self._through(self._proxy)
                if self._place is not None and loop.time() < self._place[1]:
                    try:
                        return await self._direct(self._place[0])
                    except OSError:  # it moved, or we did; nothing was sent
                        self._place = None
                return await self._direct(None)
        except TimeoutError:
            raise NoWay("ConnectTimeout") from None
        except ssl.SSLCertVerificationError as error:
            raise NoWay(_CERTIFICATES.get(error.verify_code, "CertificateRefused")) from None
        except (OSError, UnicodeError):
            raise NoWay("ConnectError") from None

    async def _direct(self, place: str | None) -> Conversation:
        transport, conversation = await asyncio.get_running_loop().create_connection(
            Conversation,
            place or self._host,
            _port(self._url),
            happy_eyeballs_delay=None if place else 0.25,
        )
        if self._url.scheme == "https":
            await self._secure(conversation, self._host)
        if place is None:
            peer = transport.get_extra_info("peername")
            if peer is None:  # the connection was reset as soon as it was there
                transport.abort()
                raise NoWay("ConnectError")
            until = asyncio.get_running_loop().time() + _PLACE_KEPT_SECONDS
            self._place = peer[0], until
        return conversation

    async def _through(self, proxy: httpx.URL) -> Conversation:
        """Open a tunnel. The proxy is sent a CONNECT that carries nothing of ours."""
        name = b"[%b]" if ":" in self._host else b"%b"
        there = (name + b":%d") % (self._url.raw_host, _port(self._url))
        headers = [(b"Host", there)]
        if proxy.username:
            login = b64encode(f"{proxy.username}:{proxy.password}".encode())
            headers.append((b"Proxy-Authorization", b"Basic " + login))
        at = proxy.raw_host.decode()
        transport, tunnel = await asyncio.get_running_loop().create_connection(
            Tunnel, at, _port(proxy)
        )
        try:
            if proxy.scheme == "https":
                await self._secure(tunnel, at)
            await tunnel.dig(there, headers)
            conversation = Conversation(tunnel.layers)
            await self._secure(conversation, self._host)
        except BaseException:
            transport.abort()
            raise
        return conversation

    async def _secure(self, end: "Conversation | Tunnel", host: str) -> None:
        """Put TLS over a connection. Raises OSError, NoWay."""
        assert self._tls is not None  # noqa: S101 - plain http goes to this machine, by no proxy
        transport = await asyncio.get_running_loop().start_tls(
            end.layers[-1], end, self._tls, server_hostname=host
        )
        if transport is None:  # the connection ended meanwhile
            raise NoWay("ConnectError")
        end.connection_made(transport)

    @property
    def _host(self) -> str:
        return self._url.raw_host.decode()


class Tunnel(asyncio.Protocol):
    """A connection to a proxy, until it leads to the service."""

    def __init__(self) -> None:
        self._http = h11.Connection(h11.CLIENT)
        self._opened = asyncio.get_running_loop().create_future()
        self.layers: list[asyncio.Transport] = []  # from the socket up

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Have a connection to the proxy, or TLS over it."""
        self.layers.append(cast("asyncio.Transport", transport))

    async def dig(self, there: bytes, headers: list[tuple[bytes, bytes]]) -> None:
        """Ask for a way through. Raises NoWay."""
        request = h11.Request(method=b"CONNECT", target=there, headers=headers)
        self.layers[-1].write(self._http.send(request) or b"")
        self._http.send(h11.EndOfMessage())
        if not await self._opened:
            raise NoWay("ProxyError")

    def data_received(self, data: bytes) -> None:
        """Read the proxy's answer; nothing may come after it before we speak."""
        try:
            self._http.receive_data(data)
            while isinstance(event := self._http.next_event(), h11.InformationalResponse):
                pass
        except h11.RemoteProtocolError:
            self._end(False)
            return
        if isinstance(event, h11.Response):
            self._end(200 <= event.status_code < 300 and not self._http.trailing_data[0])

    def connection_lost(self, exc: Exception | None) -> None:
        """Take note that the proxy hung up."""
        self._end(False)

    def _end(self, opened: bool) -> None:
        if not self._opened.done():
            self._opened.set_result(opened)


def _port(url: httpx.URL) -> int:
    return url.port or (443 if url.scheme == "https" else 80)


async def exchange(
    way: Way,
    asked: Asked,
    *,
    ends: float,
    token: int = 0,
    last: Last | None = None,
) -> Exchange:
    """Send one request once and say what came of it. Only cancellation passes.

    `ends` is when it must be over, in the event loop's time; `token` the number to put on record;
    `last` may hold it back when it could leave.
    """
    began = time.monotonic()
    talk: Conversation | None = None
    failure: str | None = None
    try:
        async with asyncio.timeout_at(ends):
            talk = await way.open()
            await talk.ask(asked, last)
            failure = talk.failure
    except NoWay as error:
        failure = str(error)
    except Exception as error:  # noqa: BLE001 - what it proves depends on the phase, not its class
        failure = type(error).__name__
    finally:
        if talk is not None:
            talk.close()
    seconds = time.monotonic() - began
    if talk is None:
        return Exchange(Phase.NOTHING, failure=failure, token=token, seconds=seconds)
    return Exchange(
        reached=talk.reached,
        status=talk.status,
        content_type=talk.content_type,
        body=talk.body,
        early=talk.early,
        body_failed=talk.broke_off,
        begun=talk.begun,
        retry_after=talk.retry_after,
        failure=ENCODED if talk.encoded else failure,
        token=token,
        seconds=seconds,
        date=talk.date,
        link=talk.link,
    )
