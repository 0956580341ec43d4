"""A company's own certificate authority: trusted where it is named, and only there."""

import asyncio
from base64 import b64encode
from datetime import timedelta
from pathlib import Path

import pytest
from cryptography import x509

from config.errors import BadSettings
from config.settings import load_local
from data.store.states import Operation
from tasks.service.channel import trust
from tasks.service.client import Service
from tasks.service.errors import Unreachable
from tasks.service.evidence import CERTIFICATES, Exchange, Phase
from tasks.service.harmless_retries import Patience
from tasks.service.messages import invite
from tasks.service.verdict import Proof, Then, verdict
from tests.support.authority import THIS_MACHINE, certify, served_with
from tests.support.wire_server import (
    Line,
    Received,
    always,
    give_token,
    leading_to,
    listening,
    settings_for,
)

HOST = "service.example"
DAY = timedelta(days=1)


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certificate for this machine, and for a host that only a proxy can find."""
    folder = tmp_path_factory.mktemp("authority")
    return certify(folder, THIS_MACHINE, x509.DNSName(HOST), begins=-DAY, ends=DAY)


def seen_from(authority: Path, trusted: Path | None) -> tuple[Exchange, list[Received]]:
    """One invitation to a service behind that certificate."""

    async def call() -> tuple[Exchange, list[Received]]:
        async def reply(line: Line, _: Received) -> None:
            await line.answer(200, b"")

        async with (
            listening(always(give_token)) as auth,
            listening(always(reply), tls=served_with(authority)) as api,
            Service(settings_for(auth.url, api.url), ca_file=trusted) as service,
        ):
            await service.ready()
            return await service.call(invite(101, 5001)), api.received

    return asyncio.run(call())


def test_a_certificate_that_nobody_vouches_for_gets_nothing(authority: Path) -> None:
    """TLS is verified: neither the token nor a person's id goes to somebody in between."""
    seen, received = seen_from(authority, None)
    assert (seen.reached, seen.failure, received) == (Phase.NOTHING, "CertificateUnknown", [])


OTHER = x509.DNSName("other.example")
WRONG = {
    "CertificateExpired": ((THIS_MACHINE,), -2 * DAY, -DAY, True),
    "CertificateNotYetValid": ((THIS_MACHINE,), DAY, 2 * DAY, True),
    "CertificateOfAnotherHost": ((OTHER,), -DAY, DAY, True),
    "CertificateUnknown": ((THIS_MACHINE,), -DAY, DAY, False),
}


@pytest.mark.parametrize("failure", WRONG)
def test_what_is_wrong_with_a_certificate_is_said(tmp_path: Path, failure: str) -> None:
    """In words, with the setting to look at; nothing was sent, and that can be tried again."""
    names, begins, ends, trusted = WRONG[failure]
    trust.cache_clear()  # a folder's name may come back, with another certificate in it
    certify(tmp_path, *names, begins=begins, ends=ends)
    ca_file = tmp_path / "certificate.pem" if trusted else None
    seen, received = seen_from(tmp_path, ca_file)
    judged = verdict(Operation.INVITE, seen)
    assert (seen.reached, seen.failure, received) == (Phase.NOTHING, failure, [])
    assert (judged.proof, judged.then) == (Proof.NOT_SENT, Then.RETRY)

    async def ask() -> Unreachable:
        quick = Patience(attempts=1)
        async with (
            listening(always(give_token), tls=served_with(tmp_path)) as auth,
            Service(settings_for(auth.url, auth.url), ca_file=ca_file, patience=quick) as service,
        ):
            with pytest.raises(Unreachable) as stopped:
                await service.problems()
        return stopped.value

    stopped = asyncio.run(ask())
    assert "ASSESSMENT_AUTH_URL " in str(stopped) and f"({CERTIFICATES[failure]})" in str(stopped)


@pytest.mark.parametrize("secure", [False, True])
def test_a_proxy_leads_to_the_service_and_sees_nothing_of_it(
    authority: Path, secure: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By CONNECT, with the proxy's own login, in the clear or within TLS; NO_PROXY goes past it."""

    async def run() -> tuple[list[Exchange], list[Received], list[Received]]:
        async def reply(line: Line, _: Received) -> None:
            await line.answer(200, b"{}")

        tls = served_with(authority)
        async with (
            listening(always(give_token)) as auth,
            listening(always(reply), tls=tls) as api,
            listening(leading_to(api), tls=tls if secure else None) as proxy,
        ):
            address = proxy.url.replace("://", "://user:p%40ss@")
            monkeypatch.setenv("HTTPS_PROXY", address)
            monkeypatch.delenv("NO_PROXY", raising=False)
            monkeypatch.delenv("no_proxy", raising=False)
            seen = [await call(auth.url, f"https://{HOST}:{api.port}")]
            monkeypatch.setenv("NO_PROXY", "other.example,.example")
            seen.append(await call(auth.url, f"https://{HOST}:{api.port}"))
            return seen, proxy.received, api.received

    async def call(auth_url: str, base_url: str) -> Exchange:
        trusted = authority / "certificate.pem"
        async with Service(settings_for(auth_url, base_url), ca_file=trusted) as service:
            return await service.call(invite(101, 5001))

    (through, past), of_proxy, of_service = asyncio.run(run())
    assert (through.status, through.failure) == (200, None)
    [connect], [invited] = of_proxy, of_service
    assert (connect.method, connect.path) == ("CONNECT", invited.headers["host"])
    assert connect.headers["proxy-authorization"] == "Basic " + b64encode(b"user:p@ss").decode()
    assert {"authorization", "proxy-authorization"} & connect.headers.keys() == {
        "proxy-authorization"
    }
    assert "proxy-authorization" not in invited.headers
    assert (past.reached, past.failure) == (Phase.NOTHING, "ConnectError")  # there is no such host


def test_an_authority_that_is_named_is_trusted(authority: Path) -> None:
    """CAMPAIGN_CA_FILE is for companies whose proxy or service has an authority of its own."""
    seen, received = seen_from(authority, authority / "certificate.pem")
    assert (seen.status, len(received)) == (200, 1)


@pytest.mark.parametrize("variable", ["CAMPAIGN_CA_FILE", "SSL_CERT_FILE"])
@pytest.mark.parametrize("name", ["missing.pem", "key.pem", "."])
def test_an_unusable_authority_is_a_setting_to_mend(
    authority: Path, monkeypatch: pytest.MonkeyPatch, name: str, variable: str
) -> None:
    """The variable is named, before anything is asked of the service or Prefect is imported."""
    monkeypatch.setenv(variable, str(authority / name))
    with pytest.raises(BadSettings) as refused:
        load_local()
    assert refused.value.variables == (variable,)


def test_a_usable_authority_is_taken(authority: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same file, named in the settings."""
    monkeypatch.setenv("CAMPAIGN_CA_FILE", str(authority / "certificate.pem"))
    assert load_local().ca_file == authority / "certificate.pem"
