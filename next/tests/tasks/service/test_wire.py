"""How far a request got, over real sockets on loopback."""

import asyncio
from pathlib import Path

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


async def call(
    url: str, *, ca: Path | None = None, seconds: float = 20, before: Before | None = None
) -> Exchange:
    wire = Wire(ca)
    try:
        ends = asyncio.get_running_loop().time() + seconds
        return await wire.exchange(Call("invite", "POST", url, ends, before=before))
    finally:
        await wire.close()


def against(talk: Talk, *, early: bool = False, seconds: float = 20) -> tuple[Exchange, Peer]:
    """Make one call to a peer; `early`: only once the peer has spoken."""

    async def main() -> tuple[Exchange, Peer]:
        async with peer(talk) as other:

            async def spoken() -> None:
                await other.done.wait()

            url = f"http://127.0.0.1:{other.port}/x"
            seen = await call(url, seconds=seconds, before=spoken if early else None)
            await other.done.wait()
            return seen, other

    return asyncio.run(main())


ENDINGS = [
    # what the peer does -> phase, status, whole body
    (says(OK), ANSWERED, 200, b"ok"),
    (says(b"HTTP/1.1 204 No Content\r\n\r\n"), ANSWERED, 204, b""),
    (says(b"HTTP/1.1 200 OK\r\n\r\nok", ends=True), ANSWERED, 200, b"ok"),
    (says(b"HTTP/1.1 302 Found\r\nLocation: http://[\r\n\r\n", ends=True),
     ANSWERED, 302, b""),
    (says(b"HTTP/1.1 103 Early Hints\r\n\r\n" + OK), ANSWERED, 200, b"ok"),
    (says(b"", ends=True), SENT, None, None),
    (says(b"", resets=True), SENT, None, None),
    (says(b"HTTP/1.1 2", ends=True), SENT, None, None),
    (says(b"HTTP/1.1 200 OK\r\nContent-Le", ends=True), SENT, None, None),
    (says(b"220 mail ready\r\n", ends=True), SENT, None, None),
    (says(OK[:-1], ends=True), ANSWERED, 200, None),
    (says(OK[:-1], resets=True), ANSWERED, 200, None),
    (says(b"HTTP/1.1 201 X\r\nTransfer-Encoding: chunked\r\n\r\n5\r\na", ends=True),
     ANSWERED, 201, None),
]  # fmt: skip


@pytest.mark.parametrize(("talk", "phase", "status", "body"), ENDINGS)
def test_an_exchange_says_how_far_it_got(
    talk: Talk, phase: Phase, status: int | None, body: bytes | None
) -> None:
    seen, other = against(talk)
    assert (seen.phase, seen.status, seen.body) == (phase, status, body)
    assert (seen.error is None) == (body is not None)
    assert other.connections == 1


@pytest.mark.parametrize("answer", [b"", b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n"])
def test_a_deadline_ends_a_silence(answer: bytes) -> None:
    seen, _ = against(says(answer), seconds=0.3)
    assert (seen.phase, seen.error) == (ANSWERED if answer else SENT, "it took too long")


EARLY = [
    says(OK, first=True),
    says(b"H", first=True),
    says(b"", first=True, ends=True),
    says(b"", first=True, resets=True),
]


@pytest.mark.parametrize("talk", EARLY)
def test_a_connection_on_which_the_service_spoke_first_is_not_used(talk: Talk) -> None:
    seen, other = against(talk, early=True)
    assert (seen.phase, seen.status, other.heard) == (NOTHING, None, b"")


def test_whoever_holds_a_request_back_keeps_every_byte() -> None:
    async def main() -> None:
        async def refuse() -> None:
            raise PermissionError

        async with peer(says(b"")) as other:
            seen = await call(f"http://127.0.0.1:{other.port}/x", before=refuse)
            await other.done.wait()
            assert (seen.phase, seen.fatal, other.connections, other.heard) == (
                NOTHING,
                True,
                1,
                b"",
            )

    asyncio.run(main())


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


@pytest.mark.parametrize(
    "url",
    ["http://127.0.0.1:1/x", "https://127.0.0.1:1/x", "https://nobody.invalid/x"],
)
def test_without_a_connection_nothing_is_sent(url: str) -> None:
    seen = asyncio.run(call(url))
    assert (seen.phase, seen.fatal) == (NOTHING, False)
    assert seen.error == "there is no connection to the service"


@pytest.mark.parametrize("url", ["ftp://x/", "http://127.0.0.1:99999/", "x"])
def test_an_address_that_is_none_is_our_mistake(url: str) -> None:
    seen = asyncio.run(call(url))
    assert (seen.phase, seen.fatal) == (NOTHING, True)


def test_an_encoded_body_is_not_unpacked() -> None:
    seen, _ = against(
        says(b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 2\r\n\r\n\x1f\x8b")
    )
    assert (seen.status, seen.body, seen.error) == (200, None, ENCODED)


def test_an_answer_without_an_end_is_left() -> None:
    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
        while True:  # until the other end has gone
            writer.write(bytes(2**16))
            await writer.drain()

    seen, _ = against(talk)
    assert (seen.status, seen.body, seen.error) == (200, None, "the answer has no end")


# --- TLS ------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("authority"))


CERTIFICATES = [
    ({}, False, "no authority that this machine trusts"),
    ({"days": (-9, -2)}, True, "has expired"),
    ({"days": (2, 9)}, True, "not valid yet"),
    ({"host": "elsewhere.test"}, True, "another host"),
]


@pytest.mark.parametrize(("how", "known", "why"), CERTIFICATES)
def test_a_certificate_says_what_is_wrong_with_it(
    authority: Authority, how: dict[str, object], known: bool, why: str
) -> None:
    async def main() -> Exchange:
        async with peer(says(OK), authority.server(**how)) as other:  # type: ignore[arg-type]
            url = f"https://127.0.0.1:{other.port}/x"
            return await call(url, ca=authority.file if known else None)

    seen = asyncio.run(main())
    assert (seen.phase, seen.fatal) == (NOTHING, True)
    assert why in (seen.error or "")


@pytest.mark.parametrize("proxied", [False, True])
@pytest.mark.parametrize("wait", [False, True])
def test_the_authority_of_a_company_is_trusted(
    authority: Authority, monkeypatch: pytest.MonkeyPatch, proxied: bool, wait: bool
) -> None:
    """Also through a proxy, and after TLS has sent messages of its own (`wait`)."""

    async def main() -> Exchange:
        async with (
            peer(says(OK), authority.server()) as other,
            peer(tunnels(other.port)) as proxy,
        ):
            if proxied:
                monkeypatch.setenv("HTTPS_PROXY", f"http://127.0.0.1:{proxy.port}")

            async def arrived() -> None:
                for _ in range(50 if wait else 0):
                    await asyncio.sleep(0)

            url = f"https://127.0.0.1:{other.port}/x"
            seen = await call(url, ca=authority.file, before=arrived)
            assert proxy.connections == proxied
            return seen

    seen = asyncio.run(main())
    assert (seen.phase, seen.status, seen.body, seen.error) == (ANSWERED, 200, b"ok", None)


def test_an_answer_within_tls_before_the_question_is_not_used(authority: Authority) -> None:
    async def main() -> None:
        async with peer(says(OK, first=True), authority.server()) as other:

            async def spoken() -> None:
                await other.done.wait()

            url = f"https://127.0.0.1:{other.port}/x"
            seen = await call(url, ca=authority.file, before=spoken)
            assert (seen.phase, seen.status) == (NOTHING, None)

    asyncio.run(main())


def test_a_server_without_tls_is_no_service() -> None:
    async def main() -> Exchange:
        async with peer(says(b"HTTP/1.1 400 Bad Request\r\n\r\n", first=True)) as other:
            return await call(f"https://127.0.0.1:{other.port}/x")

    seen = asyncio.run(main())
    assert (seen.phase, seen.error) == (NOTHING, "TLS could not be agreed with the service")


# --- proxies --------------------------------------------------------------------------------------

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
