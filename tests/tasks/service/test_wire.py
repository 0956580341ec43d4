"""How far a request got, over real sockets on loopback."""

import asyncio
import ssl
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from config.errors import BadSettings
from tasks.service.exchange import ENCODED, Before, Exchange, Phase
from tasks.service.wire import Call, Wire
from tests.tasks.service.peers import Authority, Peer, Talk, peer, says, tunnels

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
NOTHING, SENT, ANSWERED = Phase.NOTHING, Phase.SENT, Phase.ANSWERED


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("authority"))


async def call(
    url: str, *, ca: Path | None = None, seconds: float = 20, before: Before | None = None
) -> Exchange:
    wire = Wire(ca)
    try:
        ends = asyncio.get_running_loop().time() + seconds
        return await wire.exchange(Call("invite", "POST", url, ends, before=before))
    finally:
        await wire.close()


Waits = Callable[[Peer], Awaitable[None]]


async def spoken(other: Peer) -> None:
    await other.done.wait()


async def refused(other: Peer) -> None:
    await other.done.wait()
    raise PermissionError


async def tls_is_told(_: Peer) -> None:
    """TLS has sent messages of its own."""
    for _turn in range(50):
        await asyncio.sleep(0)


def against(
    talk: Talk,
    *,
    before: Waits | None = None,
    seconds: float = 20,
    scheme: str = "http",
    tls: ssl.SSLContext | None = None,
    ca: Path | None = None,
) -> tuple[Exchange, Peer]:
    """Make one call to a peer; it leaves once `before` has returned."""

    async def main() -> tuple[Exchange, Peer]:
        async with peer(talk, tls) as other:
            url = f"{scheme}://127.0.0.1:{other.port}/x"
            held = partial(before, other) if before else None
            return await call(url, ca=ca, seconds=seconds, before=held), other

    return asyncio.run(main())


async def endless(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.readuntil(b"\r\n\r\n")
    writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
    while True:  # until the other end has gone
        writer.write(bytes(2**16))
        await writer.drain()


BROKE = "the connection broke"
CHUNKED = b"HTTP/1.1 201 X\r\nTransfer-Encoding: chunked\r\n\r\n5\r\na"
PACKED = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 2\r\n\r\n\x1f\x8b"
ENDINGS = [
    # what the peer does -> phase, status, whole body or why there is none
    (says(OK), ANSWERED, 200, b"ok"),
    (says(b"HTTP/1.1 204 No Content\r\n\r\n"), ANSWERED, 204, b""),
    (says(b"HTTP/1.1 200 OK\r\n\r\nok", ends=True), ANSWERED, 200, b"ok"),
    (says(b"HTTP/1.1 302 Found\r\nLocation: http://[\r\n\r\n", ends=True), ANSWERED, 302, b""),
    (says(b"HTTP/1.1 103 Early Hints\r\n\r\n" + OK), ANSWERED, 200, b"ok"),
    (says(b"", ends=True), SENT, None, BROKE),
    (says(b"", resets=True), SENT, None, BROKE),
    (says(b"HTTP/1.1 2", ends=True), SENT, None, BROKE),
    (says(b"HTTP/1.1 200 OK\r\nContent-Le", ends=True), SENT, None, BROKE),
    (says(b"220 mail ready\r\n", ends=True), SENT, None, BROKE),
    (says(OK[:-1], ends=True), ANSWERED, 200, BROKE),
    (says(OK[:-1], resets=True), ANSWERED, 200, BROKE),
    (says(CHUNKED, ends=True), ANSWERED, 201, BROKE),
    (says(PACKED), ANSWERED, 200, ENCODED),
    (endless, ANSWERED, 200, "the answer has no end"),
]


@pytest.mark.parametrize(("talk", "phase", "status", "came"), ENDINGS)
def test_an_exchange_says_how_far_it_got(
    talk: Talk, phase: Phase, status: int | None, came: bytes | str
) -> None:
    seen, other = against(talk)
    found = seen.body if seen.error is None else seen.error
    assert (seen.phase, seen.status, found) == (phase, status, came)
    assert (seen.error is None) == (seen.body is not None)
    assert other.connections == 1


@pytest.mark.parametrize("answer", [b"", b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n"])
def test_a_deadline_ends_a_silence(answer: bytes) -> None:
    seen, _ = against(says(answer), seconds=2)
    assert (seen.phase, seen.error) == (ANSWERED if answer else SENT, "it took too long")


KEPT_BACK = [
    # what the peer does, within TLS, who lets the request leave -> fatal
    (says(b"", first=True), False, refused, True),
    (says(OK, first=True), False, spoken, False),
    (says(OK, first=True), True, spoken, False),
    (says(b"H", first=True), False, spoken, False),
    (says(b"", first=True, ends=True), False, spoken, False),
    (says(b"", first=True, resets=True), False, spoken, False),
]


@pytest.mark.parametrize(("talk", "tls", "before", "fatal"), KEPT_BACK)
def test_held_back_or_answered_before_it_was_asked_no_byte_leaves(
    talk: Talk, tls: bool, before: Waits, fatal: bool, authority: Authority
) -> None:
    how = {"scheme": "https", "tls": authority.server(), "ca": authority.file} if tls else {}
    seen, other = against(talk, before=before, **how)
    assert (seen.phase, seen.status, seen.fatal) == (NOTHING, None, fatal)
    assert (other.connections, other.heard) == (1, b"")


def test_a_cancelled_call_is_cancelled() -> None:
    async def main() -> None:
        async with peer(says(b"")) as other:
            task = asyncio.create_task(call(f"http://127.0.0.1:{other.port}/x"))
            await other.done.wait()  # it has read the request
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

    asyncio.run(main())


def test_each_call_has_a_connection_of_its_own() -> None:
    async def main() -> None:
        async with peer(says(OK)) as other:
            url = f"http://127.0.0.1:{other.port}/x"
            wire = Wire()
            ends = asyncio.get_running_loop().time() + 20
            calls = [wire.exchange(Call("invite", "POST", url, ends)) for _ in range(20)]
            seen = await asyncio.gather(*calls)
            seen.append(await wire.exchange(Call("invite", "POST", url, ends)))
            await wire.close()
            assert {each.body for each in seen} == {b"ok"}
            assert other.connections == 21

    asyncio.run(main())


UNREACHED = [
    # an address -> fatal: it is our mistake
    ("http://127.0.0.1:1/x", False),
    ("https://127.0.0.1:1/x", False),
    ("https://nobody.invalid/x", False),
    ("ftp://x/", True),
    ("http://127.0.0.1:99999/", True),
    ("x", True),
]


@pytest.mark.parametrize(("url", "fatal"), UNREACHED)
def test_without_a_connection_nothing_is_sent(url: str, fatal: bool) -> None:
    seen = asyncio.run(call(url))
    assert (seen.phase, seen.fatal) == (NOTHING, fatal)
    assert (seen.error == "there is no connection to the service") is not fatal


# --- TLS ------------------------------------------------------------------------------------------


CERTIFICATES = [
    # the server's certificate (None: it speaks no TLS), whether its authority is known -> why not
    ({}, False, "unable to get local issuer certificate (a company's own authority"),
    ({"days": (-9, -2)}, True, "has expired"),
    ({"days": (2, 9)}, True, "not yet valid"),
    ({"host": "127.0.0.2"}, True, "IP address mismatch"),
    (None, True, "TLS could not be agreed with the service"),
]


@pytest.mark.parametrize(("how", "known", "why"), CERTIFICATES)
def test_a_certificate_says_what_is_wrong_with_it(
    authority: Authority, how: dict[str, Any] | None, known: bool, why: str
) -> None:
    tls = None if how is None else authority.server(**how)
    ca = authority.file if known else None
    seen, _ = against(says(OK, first=True), scheme="https", tls=tls, ca=ca)
    assert (seen.phase, seen.fatal) == (NOTHING, True)
    assert why in (seen.error or "")


@pytest.mark.parametrize("before", [None, tls_is_told])
def test_the_authority_of_a_company_is_trusted(authority: Authority, before: Waits | None) -> None:
    tls, ca = authority.server(), authority.file
    seen, _ = against(says(OK), before=before, scheme="https", tls=tls, ca=ca)
    assert (seen.phase, seen.status, seen.body, seen.error) == (ANSWERED, 200, b"ok", None)


# --- proxies --------------------------------------------------------------------------------------


def test_a_proxy_opens_a_tunnel(authority: Authority, monkeypatch: pytest.MonkeyPatch) -> None:
    async def main() -> Exchange:
        tls = authority.server()
        async with peer(says(OK), tls) as other, peer(tunnels(other.port)) as proxy:
            monkeypatch.setenv("HTTPS_PROXY", f"http://127.0.0.1:{proxy.port}")
            seen = await call(f"https://127.0.0.1:{other.port}/x", ca=authority.file)
            assert proxy.connections == 1
            return seen

    seen = asyncio.run(main())
    assert (seen.phase, seen.status, seen.body) == (ANSWERED, 200, b"ok")


REFUSALS = [
    says(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n", ends=True),
    says(b"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n", ends=True),
    says(b"", ends=True),
    says(b"SSH-2.0-x\r\n", ends=True),
]


@pytest.mark.parametrize("talk", REFUSALS)
def test_a_proxy_that_refuses_keeps_everything_back(
    talk: Talk, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def main() -> Exchange:
        async with peer(talk) as proxy:
            monkeypatch.setenv("HTTPS_PROXY", f"http://127.0.0.1:{proxy.port}")
            return await call("https://service.invalid/x")

    seen = asyncio.run(main())
    assert (seen.phase, seen.fatal) == (NOTHING, False)
    assert seen.error == "the proxy refused the connection"


def test_this_machine_needs_no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://nobody.invalid:1")
    monkeypatch.setenv("ALL_PROXY", "http://nobody.invalid:1")
    assert against(says(OK))[0].status == 200


@pytest.mark.parametrize("address", ["socks5://x:1", "ftp://x"])
def test_a_proxy_that_cannot_be_used_is_named(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTPS_PROXY", address)
    with pytest.raises(BadSettings, match="HTTPS_PROXY"):
        Wire()


@pytest.mark.parametrize("content", [None, b"no certificate", b""])
def test_certificates_that_cannot_be_read_are_named(tmp_path: Path, content: bytes | None) -> None:
    file = tmp_path / "ca.pem"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(BadSettings, match="CAMPAIGN_CA_FILE"):
        Wire(file)
