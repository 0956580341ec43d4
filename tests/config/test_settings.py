"""Settings come whole from the environment or from one `.env`; no value is ever shown."""

import os
from contextlib import nullcontext
from pathlib import Path
from unittest.mock import AsyncMock

import pytest

from config import settings as module
from config.errors import BadSettings
from config.settings import service_settings, settings
from flows.cli.serve import up

SIX = {
    "ASSESSMENT_AUTH_URL": "https://auth.example.com",
    "ASSESSMENT_BASE_URL": "https://api.example.com/",
    "ASSESSMENT_APP_URL": "https://app.example.com",
    "ASSESSMENT_CLIENT_ID": "me",
    "ASSESSMENT_CLIENT_SECRET": "hush-hush",
    "ASSESSMENT_AUDIENCE": "https://api",
}


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout with nothing in it, and an environment without settings of ours."""
    for name in os.environ:
        if name.upper().startswith(("ASSESSMENT_", "CAMPAIGN_")):
            monkeypatch.delenv(name)
    monkeypatch.setattr(module, "home", lambda: tmp_path)
    return tmp_path


def write(file: Path, values: dict[str, str]) -> None:
    file.write_text("".join(f"{name}={value}\n" for name, value in values.items()))
    file.chmod(0o600)


def refused() -> str:
    with pytest.raises(BadSettings) as error:
        service_settings()
    assert "hush" not in str(error.value)
    return f"{error.value}\n{error.value.then}"


def test_without_any_settings_only_the_service_is_missing(home: Path) -> None:
    """The defaults lie in the checkout, wherever a command is typed."""
    read = settings()
    assert read.database_url == f"sqlite:///{home / 'data/campaigns.db'}"
    assert read.output_dir == home / "out"
    assert (read.candidates_per_request, read.invites_in_flight) == (100, 8)
    assert refused().startswith(", ".join(SIX))


def test_all_six_from_the_environment_or_from_the_file(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(home / ".env", SIX | {"CAMPAIGN_KEEP": "180 days"})
    assert service_settings().base_url == "https://api.example.com"
    assert settings().keep is not None
    monkeypatch.setenv("USER", "ada")
    monkeypatch.delenv("LOGNAME", raising=False)
    assert settings().who == "ada"
    monkeypatch.setenv("CAMPAIGN_WHO", "robot")
    assert settings().who == "robot"
    for name, value in (SIX | {"ASSESSMENT_CLIENT_ID": "other"}).items():
        monkeypatch.setenv(name, value)
    read = service_settings()
    assert read.client_id == "other"
    assert read.client_secret.get_secret_value() == "hush-hush"
    assert "hush" not in repr(read)
    assert len(read.account) == 16


def test_half_of_each_source_is_refused(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else the secret of one service could be sent to another's address."""
    write(home / ".env", SIX)
    monkeypatch.setenv("ASSESSMENT_BASE_URL", "https://evil.example.com")
    assert "must come from one place" in refused()


def test_the_runs_of_up_keep_its_ledger_when_env_is_edited(home, monkeypatch) -> None:
    monkeypatch.setattr("flows.cli.serve.standing_server", lambda _: nullcontext())
    monkeypatch.setattr("flows.up.serve", AsyncMock())
    monkeypatch.setenv("CAMPAIGN_DATABASE_URL", "")
    write(home / ".env", SIX | {"CAMPAIGN_DATABASE_URL": "sqlite:///practice.db"})
    up(home, 4200)
    write(home / ".env", SIX | {"CAMPAIGN_DATABASE_URL": "sqlite:///real.db"})
    assert settings().database_url == f"sqlite:///{home / 'practice.db'}"


@pytest.mark.parametrize(
    ("name", "value", "why"),
    [
        ("ASSESSMENT_BASE_URL", "http://api.example.com", "wanted an address such as"),
        ("ASSESSMENT_AUTH_URL", "https://u:p@a.example.com", "wanted an address such as"),
        ("CAMPAIGN_DATABASE_URL", "postgresql://u:p@h:xx/b", "wanted postgresql://…, or a file"),
        ("CAMPAIGN_DATABASE_URL", "postgresql://u:1/p@h/b", "wanted postgresql://…, or a file"),
        ("CAMPAIGN_DATABASE_URL", "postgresql://u:p@1@h/b", "wanted postgresql://…, or a file"),
        ("CAMPAIGN_DATABASE_URL", "sqlite:///x.db?mode=memory", "wanted postgresql://…, or a file"),
        ("CAMPAIGN_OUTPUT_DIR", "a\x1b]0;b", "wanted a path"),
        ("CAMPAIGN_DO_NOT_CONTACT", "~nobody-at-all/list.csv", "wanted a path"),
        ("CAMPAIGN_DO_NOT_CONTACTS", "list.csv", "no setting. Did you mean CAMPAIGN_DO_NOT_CONT"),
        ("CAMPAIGN_NOTIFY_URL", "http://hooks.example.com/hush", "wanted a webhook"),
        ("CAMPAIGN_NOTIFY_URL", "https://hooks.example.com:99999/hush", "wanted a webhook"),
        ("CAMPAIGN_NOTIFY_URL", "https://hooks.example.com/hush\nx", "wanted a webhook"),
    ],
)
def test_what_cannot_be_used_is_named_and_not_shown(
    home: Path, monkeypatch: pytest.MonkeyPatch, name: str, value: str, why: str
) -> None:
    monkeypatch.setenv(name, value)
    said = refused()
    assert f"{name}: {why}" in said
    assert value not in said.replace(why, "")


@pytest.mark.parametrize(
    ("typed", "spelled"),
    [
        ("HTTPS://API.Example.COM:443/v1/", "https://api.example.com/v1"),
        ("https://api.example.com.:0443/./v1", "https://api.example.com/v1"),
        ("https://api.example.com//old/../v1/.", "https://api.example.com/v1"),
        ("https://api.ｅxample.com/v1", "https://api.example.com/v1"),
        ("https://bücher.example", "https://xn--bcher-kva.example"),
        ("http://[::0001]:08700/", "http://[::1]:8700"),
        ("HTTP://LocalHost:8700", "http://127.0.0.1:8700"),
    ],
)
def test_one_service_has_one_spelling(
    home: Path, monkeypatch: pytest.MonkeyPatch, typed: str, spelled: str
) -> None:
    """Services are compared by it, so that nobody is invited again under another one."""
    for name, value in (SIX | {"ASSESSMENT_BASE_URL": typed}).items():
        monkeypatch.setenv(name, value)
    assert service_settings().base_url == spelled


@pytest.mark.parametrize(
    ("name", "wanted", "values"),
    [
        (
            "CANDIDATES_PER_REQUEST",
            "how many people are added in one request, from 1 to 10,000",
            "0 10001 2.5 []",
        ),
        ("INVITES_IN_FLIGHT", "how many invitations are sent at a time, 1 to 100", "0 101 many"),
        (
            "INVITES_PER_SECOND",
            "the most invitations a second, from 0.001 to 1,000",
            "0 1e-320 1001 [1]",
        ),
        ("REQUEST_DEADLINE", "how many seconds one request may take, above 30", "20 30 3601 1e400"),
        (
            "KEEP",
            "how long people's data may be kept: 1 day to 100 years",
            "180 P101Y PT0S -P5D forever",
        ),
    ],
)
def test_a_number_out_of_its_range_is_refused_in_our_words(
    home: Path, monkeypatch: pytest.MonkeyPatch, name: str, wanted: str, values: str
) -> None:
    for value in (*values.split(), "-5", "-5 days", "nan", "inf", "1" * 400, " ", "\n", "/", "{}"):
        monkeypatch.setenv(f"CAMPAIGN_{name}", value)
        assert f"Settings to fix: CAMPAIGN_{name}: wanted {wanted}" in refused()


def test_a_file_that_is_no_text_is_refused(home: Path) -> None:
    (home / ".env").write_bytes("CAMPAIGN_KEEP=180 days".encode("utf-16"))
    (home / ".env").chmod(0o600)
    assert ".env cannot be read as text in UTF-8" in refused()


def test_a_command_to_paste_is_quoted(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = home / "$(rm x) y"
    place.mkdir()
    monkeypatch.setattr(module, "home", lambda: place)
    write(place / ".env", SIX)
    (place / ".env").chmod(0o644)
    assert refused().endswith(f"\nType: chmod 600 '{place}/.env'")
