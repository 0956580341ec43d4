"""A table behind an address comes whole or not at all, and no sentence says what is secret."""

import asyncio
import logging
from pathlib import Path

import pytest
from pydantic import SecretStr

from tasks.sources import address
from tasks.sources.address import Unread, fetched
from tests.data.desk import settings
from tests.tasks.service.peers import Authority, Talk, peer, says

SECRET, TABLE = "s3cret", b"email1\nada@x.org\n"
HERE = settings().model_copy(update={"fetch_authorization": SecretStr(f"Bearer {SECRET}")})
LENGTH = b"\r\nContent-Length: %d\r\n\r\n"


def answer(content: bytes, kind: bytes = b"text/csv", status: bytes = b"200 OK") -> bytes:
    head = b"HTTP/1.1 %s\r\nContent-Type: %s" % (status, kind)
    return head + LENGTH % len(content) + content


def fetch(talk: Talk, scheme: str = "http", tls: str = "", folder: Path | None = None) -> bytes:
    """Fetch from a server that talks like this, with or without its authority (`tls`)."""

    async def main() -> bytes:
        authority = Authority(folder) if folder else None
        here = HERE.model_copy(update={"ca_file": authority.file if authority and tls else None})
        async with peer(talk, authority.server() if authority else None) as there:
            url = f"{scheme}://127.0.0.1:{there.port}/export?token={SECRET}"
            return await asyncio.to_thread(fetched, url, here)

    return asyncio.run(main())


def test_a_table_is_fetched_whole() -> None:
    assert fetch(says(answer(TABLE))) == TABLE
    chunked = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n"
    assert fetch(says(chunked % (len(TABLE), TABLE))) == TABLE


def test_the_authority_of_a_company_is_trusted(tmp_path: Path) -> None:
    assert fetch(says(answer(TABLE)), "https", "known", tmp_path) == TABLE
    with pytest.raises(Unread, match="a certificate that does not fit; CAMPAIGN_CA_FILE"):
        fetch(says(answer(TABLE)), "https", "", tmp_path)


@pytest.mark.parametrize(
    ("said", "why"),
    [
        (answer(TABLE)[:-5], "broke off"),
        (b"HTTP/1.1 200 OK\r\n\r\n" + TABLE, "does not say how long its answer is"),
        (answer(TABLE).replace(b"text/csv", b"text/csv\r\nContent-Encoding: gzip"), "broke off"),
        (
            answer(b"<!doctype html>", b"text/html; charset=utf-8"),
            "a page (text/html), as for a log",
        ),
        (answer(b"\n <html>"), "a page (text/csv), as for a login"),
        (answer(b"{}", b"application/json"), "a page (application/json)"),
        (answer(b"", status=b"401 Unauthorized"), "with 401; wanted a link for everybody"),
        (answer(b"", status=b"500 Oh"), "answered with 500"),
        (answer(TABLE * 9), "more than 0 MB"),
        (
            answer(b"", status=b"302 Found\r\nConnection: close\r\nLocation: /a?t=s3cret"),
            "more than 5 times",
        ),
        (answer(b"", status=b"302 Found\r\nLocation: http://x.org/?t=s3cret"), "without"),
        (answer(b"", status=b"302 Found\r\nLocation: ftp://x.org/?t=s3cret"), "without"),
        (b"nonsense\r\n\r\n", "broke off"),
    ],
)
def test_what_is_no_whole_table(
    said: bytes, why: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(address, "LARGEST", 100)
    caplog.set_level(logging.DEBUG)
    with pytest.raises(Unread) as refused:
        fetch(says(said, ends=True))
    assert why in str(refused.value)
    assert str(refused.value).startswith("127.0.0.1 ")
    assert SECRET not in str(refused.value) + "".join(map(str, caplog.messages))


@pytest.mark.parametrize("url", ["http://x.org/?t=s3cret", "https://[::1?t=s3cret", "s3cret", ""])
def test_what_is_no_address_to_ask(url: str) -> None:
    with pytest.raises(Unread) as refused:
        fetched(url, HERE)
    assert SECRET not in str(refused.value)


def test_it_takes_no_longer_than_it_may(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(address, "SECONDS", 0.2)
    with pytest.raises(Unread, match="did not answer within"):
        fetch(says(answer(TABLE)[:-5]))


def test_the_header_goes_to_its_own_host_alone() -> None:
    async def main() -> tuple[bytes, bytes]:
        heard: list[bytes] = []

        async def hears(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            heard.append(await reader.readuntil(b"\r\n\r\n"))
            to = b"302 Found\r\nLocation: http://127.0.0.1:%d/" % other.port
            writer.write(answer(b"", status=to) if len(heard) == 1 else answer(TABLE))

        async with peer(hears) as other, peer(hears) as there:
            url = f"http://127.0.0.1:{there.port}/"
            assert await asyncio.to_thread(fetched, url, HERE) == TABLE
        return heard[0], heard[1]

    first, second = asyncio.run(main())
    assert f"Bearer {SECRET}".encode() in first
    assert SECRET.encode() not in second
