"""Settings: from the environment or .env, complete or refused with the names of the variables."""

import re
import resource
from pathlib import Path

import pytest

from config import settings
from config.errors import BadSettings
from config.settings import load_local, load_service

SERVICE = {
    "ASSESSMENT_AUTH_URL": "https://id.example.com/",
    "ASSESSMENT_BASE_URL": "https://api.example.com//",
    "ASSESSMENT_APP_URL": "https://app.example.com/x/",
    "ASSESSMENT_CLIENT_ID": "client",
    "ASSESSMENT_CLIENT_SECRET": "hush-hush",
    "ASSESSMENT_AUDIENCE": "https://api.example.com/",
}
LOCAL = (
    "DATABASE_URL",
    "OUTPUT_DIR",
    "CANDIDATES_PER_REQUEST",
    "INVITES_IN_FLIGHT",
    "INVITES_PER_SECOND",
    "REQUEST_DEADLINE",
)


@pytest.fixture(autouse=True)
def home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A machine without settings, whose checkout is not the working directory."""
    for name in (*SERVICE, *(f"CAMPAIGN_{name}" for name in LOCAL)):
        monkeypatch.delenv(name, raising=False)
    home, here = tmp_path / "home", tmp_path / "here"
    home.mkdir()
    here.mkdir()
    monkeypatch.setattr(settings, "home", lambda: home)
    monkeypatch.chdir(here)
    return home


@pytest.fixture
def service(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in SERVICE.items():
        monkeypatch.setenv(name, value)


def test_every_missing_variable_is_named_at_once() -> None:
    """A person sets all of them in one go, not one per attempt."""
    with pytest.raises(BadSettings) as raised:
        load_service()
    assert set(raised.value.variables) == set(SERVICE)
    assert all(name in str(raised.value) for name in SERVICE)
    assert ".env" in str(raised.value)
    assert raised.value.exit_code == 2


@pytest.mark.usefixtures("service")
def test_addresses_lose_their_trailing_slashes() -> None:
    """Paths are added with one slash: {base_url}/api/… (interface 4)."""
    loaded = load_service()
    assert loaded.auth_url == "https://id.example.com"
    assert loaded.base_url == "https://api.example.com"
    assert loaded.app_url == "https://app.example.com/x"
    # An audience is an identifier, compared letter by letter.
    assert loaded.audience == "https://api.example.com/"


@pytest.mark.usefixtures("service")
def test_the_secret_is_never_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither the settings nor a complaint about them show it."""
    loaded = load_service()
    assert loaded.client_secret.get_secret_value() == "hush-hush"
    assert "hush" not in repr(loaded) + str(loaded) + loaded.model_dump_json()
    monkeypatch.setenv("ASSESSMENT_BASE_URL", "https://user:hush-hush@api.example.com")
    with pytest.raises(BadSettings) as raised:
        load_service()
    assert raised.value.variables == ("ASSESSMENT_BASE_URL",)
    assert "hush" not in str(raised.value) + repr(raised.value)
    assert raised.value.__suppress_context__


@pytest.mark.parametrize(
    "url",
    [
        "http://api.example.com",
        "http://127.0.0.1.example.com",
        "http://localhost.example.com",
        "ftp://api.example.com",
        "api.example.com",
        "https://",
        "https://user@api.example.com",
        "https://api.example.com/?x=1",
        "https://api.example.com/#x",
        "https://api.example.com?",
        "https://api example.com",
        "https://api.example.com:port",
        "https://api.example.com\\@evil.example",
        "https://[::1",
    ],
)
@pytest.mark.usefixtures("service")
def test_an_unsafe_address_is_refused(monkeypatch: pytest.MonkeyPatch, url: str) -> None:
    """Tokens and personal data travel encrypted, and to exactly the address that is written."""
    monkeypatch.setenv("ASSESSMENT_BASE_URL", url)
    with pytest.raises(BadSettings) as raised:
        load_service()
    assert raised.value.variables == ("ASSESSMENT_BASE_URL",)


@pytest.mark.parametrize(
    "url", ["http://localhost:8000", "http://127.0.0.1:8000", "http://127.3.2.1", "http://[::1]:80"]
)
@pytest.mark.usefixtures("service")
def test_plain_http_is_for_this_machine(monkeypatch: pytest.MonkeyPatch, url: str) -> None:
    """The sandbox runs on loopback without certificates."""
    monkeypatch.setenv("ASSESSMENT_BASE_URL", url)
    assert load_service().base_url == url


def test_the_nearer_env_file_wins_and_the_environment_wins_over_both(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Environment, then the working directory's .env, then the checkout's."""
    (home / ".env").write_text("".join(f"{name}={value}\n" for name, value in SERVICE.items()))
    (home / ".env").chmod(0o600)
    Path(".env").touch(mode=0o600)
    assert load_service().client_id == "client"
    Path(".env").write_text("\ufeffASSESSMENT_CLIENT_ID=nearer\nUNRELATED=1\n", encoding="utf-8")
    assert load_service().client_id == "nearer"
    monkeypatch.setenv("ASSESSMENT_CLIENT_ID", "nearest")
    assert load_service().client_id == "nearest"
    monkeypatch.setenv("ASSESSMENT_CLIENT_ID", "")
    assert load_service().client_id == "nearer"


def test_whoever_reads_settings_leaves_no_core_file(monkeypatch: pytest.MonkeyPatch) -> None:
    """A crash of the interpreter would write every credential it holds to the disk."""
    limits: list[tuple[int, tuple[int, int]]] = []
    monkeypatch.setattr(resource, "setrlimit", lambda *limit: limits.append(limit))
    load_local()
    assert limits == [(resource.RLIMIT_CORE, (0, 0))]


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o602, 0o644], ids=oct)
def test_an_env_file_that_others_may_read_is_refused(home: Path, mode: int) -> None:
    """Secrets are for their owner alone: a person is told what to type, and nothing is read."""
    file = home / ".env"
    file.write_text("".join(f"{name}={value}\n" for name, value in SERVICE.items()))
    file.chmod(mode)
    with pytest.raises(BadSettings, match=re.escape(f"chmod 600 {file}")) as raised:
        load_service()
    assert "hush" not in str(raised.value)
    with pytest.raises(BadSettings):
        load_local()
    file.chmod(0o600)
    assert load_service().client_id == "client"


@pytest.mark.parametrize("line", ["ASSESSMENT_CLIENT_SECRET='hush", "FOO bar hush"])
def test_an_env_file_with_a_line_that_says_nothing_is_refused(home: Path, line: str) -> None:
    """A setting would be missing, and nobody would know why; the line is told, not its content."""
    file = home / ".env"
    file.write_text(f"CAMPAIGN_LOG_FORMAT=json\n{line}\n")
    file.chmod(0o600)
    with pytest.raises(BadSettings, match=re.escape(f"{file}, line 2")) as raised:
        load_local()
    assert "hush" not in str(raised.value)


@pytest.mark.parametrize(
    "rest",
    [
        "me:hu:sh@hush@db/x",
        "me:hush@hush@db:5432/x",
        "me:hush/hush@db/x",
        "me@hush:hush/x",
        "me@db/x?password=hush",
    ],
)
def test_a_password_is_never_taken_for_another_part_of_an_address(
    monkeypatch: pytest.MonkeyPatch, rest: str
) -> None:
    """What would be read as a host or a port would be shown as one."""
    monkeypatch.setenv("CAMPAIGN_DATABASE_URL", f"postgresql://{rest}")
    with pytest.raises(BadSettings) as raised:
        load_local()
    assert "hush" not in str(raised.value)
    monkeypatch.setenv(
        "CAMPAIGN_DATABASE_URL", "postgresql://me:h%40ush@[::1]:5432/x?sslmode=require"
    )
    assert load_local().database_url.endswith("require")


def test_an_env_file_of_something_else_is_nobodys_business() -> None:
    """The folder in which a command is typed may belong to another program."""
    Path(".env").write_text("DJANGO_DEBUG=1\n")
    Path(".env").chmod(0o644)
    assert load_local().invites_in_flight == 8


def test_an_unreadable_env_file_is_named() -> None:
    """A broken .env is a complaint about that file, not a stack trace."""
    Path(".env").write_bytes(b"ASSESSMENT_CLIENT_ID=\xff\xfe\n")
    with pytest.raises(BadSettings, match=r"\.env"):
        load_service()


def test_the_ledger_never_depends_on_the_working_directory(
    home: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A second, empty ledger would invite everyone again: one setting, one file, anywhere."""
    assert load_local().database_url == f"sqlite:///{home}/data/campaigns.db"
    assert load_local().output_dir == home / "out"
    monkeypatch.setenv("CAMPAIGN_DATABASE_URL", "sqlite:///my/own.db?timeout=9")
    monkeypatch.setenv("CAMPAIGN_OUTPUT_DIR", "results")
    for folder in (tmp_path, home):
        monkeypatch.chdir(folder)
        assert load_local().database_url == f"sqlite:///{home}/my/own.db?timeout=9"
        assert load_local().output_dir == home / "results"
    monkeypatch.setenv("CAMPAIGN_DATABASE_URL", "sqlite:////var/own.db")
    assert load_local().database_url == "sqlite:////var/own.db"


@pytest.mark.parametrize(
    "url", ["mysql://me@db/x", "postgresql+psycopg2://me@db/x", "postgresql+asyncpg://me@db/x"]
)
def test_only_what_a_ledger_can_be_in_is_accepted(
    monkeypatch: pytest.MonkeyPatch, url: str
) -> None:
    """Another database or driver keeps no promise, and installing it would not help."""
    monkeypatch.setenv("CAMPAIGN_DATABASE_URL", url)
    with pytest.raises(BadSettings, match="must begin with sqlite:/// or postgresql://"):
        load_local()


@pytest.mark.parametrize(
    "url", ["sqlite://", "sqlite:///", "sqlite:///:memory:", "sqlite:///file:x?uri=true", "x.db"]
)
def test_a_ledger_that_would_be_forgotten_is_refused(
    monkeypatch: pytest.MonkeyPatch, url: str
) -> None:
    """A ledger in memory forgets who was invited."""
    monkeypatch.setenv("CAMPAIGN_DATABASE_URL", url)
    with pytest.raises(BadSettings, match="CAMPAIGN_DATABASE_URL"):
        load_local()


def test_a_database_password_is_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    """The address of a PostgreSQL ledger may hold a password."""
    url = "postgresql+psycopg://me:hush@db.example.com/campaigns"
    monkeypatch.setenv("CAMPAIGN_DATABASE_URL", url)
    assert load_local().database_url == url
    assert "hush" not in repr(load_local())


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("CANDIDATES_PER_REQUEST", "0"),
        ("INVITES_IN_FLIGHT", "0"),
        ("INVITES_IN_FLIGHT", "many"),
        ("INVITES_PER_SECOND", "0"),
        ("INVITES_PER_SECOND", "inf"),
        ("REQUEST_DEADLINE", "30"),
        ("REQUEST_DEADLINE", "nan"),
    ],
)
def test_bounds_are_kept(monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    """At least one at a time, a real rate, and a deadline beyond a gateway's own 29 s."""
    monkeypatch.setenv(f"CAMPAIGN_{name}", value)
    with pytest.raises(BadSettings) as raised:
        load_local()
    assert raised.value.variables == (f"CAMPAIGN_{name}",)


def test_defaults() -> None:
    """What a machine without settings does (design, "Settings")."""
    local = load_local()
    assert (local.candidates_per_request, local.invites_in_flight) == (100, 8)
    assert (local.invites_per_second, local.request_deadline) == (None, 45.0)
