"""A company's own certificate authority: trusted where it is named, and only there."""

import asyncio
import ipaddress
import ssl
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from config.errors import BadSettings
from config.settings import load_local
from tasks.service.client import Service
from tasks.service.exchange import Exchange, Phase
from tasks.service.wire import invite
from tests.wire_server import Line, Received, always, give_token, listening, settings_for


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certificate for this machine that nobody but its own file vouches for, with its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "Example Company")])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(
            x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), False
        )
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(key, hashes.SHA256())
    )
    folder = tmp_path_factory.mktemp("authority")
    secret = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    (folder / "key.pem").write_bytes(secret)
    (folder / "certificate.pem").write_bytes(certificate.public_bytes(Encoding.PEM))
    return folder


def seen_from(authority: Path, trusted: Path | None) -> tuple[Exchange, list[Received]]:
    """One invitation to a service behind that certificate."""

    async def call() -> tuple[Exchange, list[Received]]:
        async def reply(line: Line, _: Received) -> None:
            await line.answer(200, b"")

        tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        tls.load_cert_chain(authority / "certificate.pem", authority / "key.pem")
        async with (
            listening(always(give_token)) as auth,
            listening(always(reply), tls=tls) as api,
            Service(settings_for(auth.url, api.url), ca_file=trusted) as service,
        ):
            await service.ready()
            return await service.call(invite(101, 5001)), api.received

    return asyncio.run(call())


def test_a_certificate_that_nobody_vouches_for_gets_nothing(authority: Path) -> None:
    """TLS is verified: neither the token nor a person's id goes to somebody in between."""
    seen, received = seen_from(authority, None)
    assert (seen.reached, seen.failure, received) == (Phase.NOTHING, "ConnectError", [])


def test_an_authority_that_is_named_is_trusted(authority: Path) -> None:
    """CAMPAIGN_CA_FILE is for companies whose proxy or service has an authority of its own."""
    seen, received = seen_from(authority, authority / "certificate.pem")
    assert (seen.status, len(received)) == (200, 1)


@pytest.mark.parametrize("name", ["missing.pem", "key.pem", "."])
def test_an_unusable_authority_is_a_setting_to_mend(
    authority: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """The variable is named, before anything is asked of the service."""
    monkeypatch.setenv("CAMPAIGN_CA_FILE", str(authority / name))
    with pytest.raises(BadSettings) as refused:
        load_local()
    assert refused.value.variables == ("CAMPAIGN_CA_FILE",)


def test_a_usable_authority_is_taken(authority: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same file, named in the settings."""
    monkeypatch.setenv("CAMPAIGN_CA_FILE", str(authority / "certificate.pem"))
    assert load_local().ca_file == authority / "certificate.pem"
