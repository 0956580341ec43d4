"""The other end of a connection, on loopback, doing what no decent server does."""

import asyncio
import ssl
import struct
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

Talk = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


class Peer:
    """What one server saw and did."""

    def __init__(self) -> None:
        self.port = 0
        self.done = asyncio.Event()  # it has said all that it says before it is asked
        self.heard = b""
        self.connections = 0


@asynccontextmanager
async def peer(talk: Talk, tls: ssl.SSLContext | None = None) -> AsyncIterator[Peer]:
    """Serve `talk` on a port of its own; its `done` is set when it returns."""
    seen = Peer()
    ended: list[asyncio.Event] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        seen.connections += 1
        ended.append(end := asyncio.Event())
        try:
            await talk(reader, writer)
            seen.done.set()
            seen.heard += await reader.read()  # until the other end has gone
        except OSError:
            pass
        finally:
            seen.done.set()
            writer.transport.abort()
            end.set()

    server = await asyncio.start_server(serve, "127.0.0.1", 0, ssl=tls)
    seen.port = server.sockets[0].getsockname()[1]
    async with server:
        yield seen
    for each in ended:  # the other end has to close what it opened
        await each.wait()


def says(answer: bytes, *, first: bool = False, ends: bool = False, resets: bool = False) -> Talk:
    """Answer with these bytes, or speak `first`; then end or reset the connection, or wait."""

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if not first:
            await reader.readuntil(b"\r\n\r\n")
        writer.write(answer)
        await writer.drain()
        if resets:
            linger = struct.pack("ii", 1, 0)
            writer.get_extra_info("socket").setsockopt(1, 13, linger)  # SOL_SOCKET, SO_LINGER
            writer.transport.abort()
        elif ends:
            writer.write_eof()

    return talk


def tunnels(to: int) -> Talk:
    """A proxy that opens a tunnel to a port of this machine."""

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        there, back = await asyncio.open_connection("127.0.0.1", to)
        writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")

        async def carry(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
            while chunk := await source.read(65536):
                target.write(chunk)
            target.close()

        await asyncio.gather(carry(reader, back), carry(there, writer))

    return talk


class Authority:
    """A certificate authority of one's own, as a company has."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._key = ec.generate_private_key(ec.SECP256R1())
        self.file = folder / "authority.pem"
        whole = self._signed("a company", self._key, x509.BasicConstraints(True, 0))
        self.file.write_bytes(whole)

    def server(self, *, host: str = "127.0.0.1", days: tuple[int, int] = (-1, 1)) -> ssl.SSLContext:
        """A server's TLS for this address, valid between these days from today."""
        key = ec.generate_private_key(ec.SECP256R1())
        host_alone = x509.SubjectAlternativeName([x509.IPAddress(ip_address(host))])
        private = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        file = self._folder / "server.pem"
        file.write_bytes(private + self._signed("service", key, host_alone, days))
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(file)
        return context

    def _signed(
        self,
        name: str,
        key: ec.EllipticCurvePrivateKey,
        extension: x509.ExtensionType,
        days: tuple[int, int] = (-1, 1),
    ) -> bytes:
        today, public, above = datetime.now(UTC), key.public_key(), self._key.public_key()
        return (
            x509.CertificateBuilder()
            .subject_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)]))
            .issuer_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "a company")]))
            .public_key(public)
            .serial_number(x509.random_serial_number())
            .not_valid_before(today + timedelta(days=days[0]))
            .not_valid_after(today + timedelta(days=days[1]))
            .add_extension(extension, critical=True)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(public), False)
            .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(above), False)
            .sign(self._key, hashes.SHA256())
            .public_bytes(Encoding.PEM)
        )
