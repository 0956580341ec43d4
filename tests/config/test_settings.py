"""Settings: from the environment or .env, complete or refused with the names of the variables."""

import errno
import os
import re
import resource
import sys
from pathlib import Path
from unittest.mock import Mock

import pytest

from config import folders
from config.env_files import SIX
from config.errors import BadSettings
from config.settings import (
    ServiceSettings,
    load_address,
    load_local,
    load_service,
    service_source,
    settings_named,
)
from flows.cli.commands import carry_out

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
    monkeypatch.setattr(folders, "home", lambda: home)
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


@pytest.mark.parametrize(
    ("url", "wanted"),
    [
        ("http://example.com/services/T1", "https://"),
        ("ftp://example.com/services/T1", "a webhook"),
        ("services/T1", "a webhook"),
        ("mailto://", "a webhook"),
        ("https://example.com:T1", "an address"),
        ("mailto://example.com:T1", "an address"),
    ],
)
def test_an_address_that_cannot_be_told_is_refused(
    monkeypatch: pytest.MonkeyPatch, url: str, wanted: str
) -> None:
    """The setting is named, its value is not: it may hold a secret."""
    monkeypatch.setenv("CAMPAIGN_NOTIFY_URL", url)
    with pytest.raises(BadSettings) as refused:
        load_local()
    assert refused.value.variables == ("CAMPAIGN_NOTIFY_URL",)
    assert wanted in str(refused.value)
    assert "T1" not in str(refused.value)


def write(file: Path, **values: str) -> Path:
    """Write a .env for its owner alone."""
    file.write_text("".join(f"{name}={value}\n" for name, value in values.items()), "utf-8-sig")
    file.chmod(0o600)
    return file


def test_a_file_of_settings_that_cannot_be_read_is_named(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the cause: whoever has no right to read it is not told to remove it."""
    file = write(home / ".env", **SERVICE)
    file.write_bytes(b"ASSESSMENT_CLIENT_ID=Zo\xeb\n")
    with pytest.raises(BadSettings, match=f"^{file} is not text"):
        load_local()
    denied = PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(file))
    monkeypatch.setattr(Path, "read_text", Mock(side_effect=denied))
    with pytest.raises(BadSettings, match=f"^{file} .*{denied.strerror}"):
        load_local()


def test_the_six_are_those_of_the_service() -> None:
    """What is taken whole from one source is all that leads to a service, or opens it."""
    assert {f"ASSESSMENT_{name.upper()}" for name in ServiceSettings.model_fields} == SIX


def test_the_environment_wins_as_a_whole(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All six of it, or all six of the program's own file; an empty variable is none."""
    write(home / ".env", **SERVICE, CAMPAIGN_INVITES_IN_FLIGHT="3")
    assert load_service().client_id == "client"
    assert service_source() == str(home / ".env")
    for name in SERVICE:
        monkeypatch.setenv(name, "")
    assert load_service().client_id == "client"
    for name in SERVICE:
        monkeypatch.setenv(name, "https://other.example.com")
    assert load_service().client_id == "https://other.example.com"
    assert service_source() == "the environment"
    assert load_local().invites_in_flight == 3


@pytest.mark.parametrize("name", SERVICE)
def test_no_secret_goes_to_an_address_of_another_source(
    home: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """Any one of the six from elsewhere is refused, with what is missing there; never mixed."""
    write(home / ".env", **SERVICE)
    monkeypatch.setenv(name, "https://evil.example")
    for load in (load_service, load_address, service_source):
        with pytest.raises(BadSettings, match="must come from one place") as raised:
            load()
        assert set(raised.value.variables) == set(SERVICE) - {name}
        assert str(home / ".env") in str(raised.value)
        assert "hush" not in str(raised.value)
    monkeypatch.setenv(name, SERVICE[name])  # as where a shell has read the same file
    assert load_service().client_id == "client"


@pytest.mark.parametrize(
    "line",
    [
        {"ASSESSMENT_AUTH_URL": "https://evil.example"},
        {"CAMPAIGN_CA_FILE": "evil.pem"},
        {"CAMPAIGN_DATABASE_URL": "sqlite:////tmp/empty.db"},
        {"CAMPAIGN_DO_NOT_CONTACT": "nobody.txt"},
        {"CAMPAIGN_NOTIFY_URL": "https://evil.example"},
        {"campaign_credentials_block": "production"},
    ],
    ids=lambda line: next(iter(line)),
)
@pytest.mark.parametrize("source", ["file", "environment", "nowhere"])
def test_a_file_where_one_types_leads_nothing_elsewhere(
    home: Path, monkeypatch: pytest.MonkeyPatch, line: dict[str, str], source: str
) -> None:
    """A folder from a stranger brings no address, ledger or certificate to somebody's secret."""
    if source == "file":
        write(home / ".env", **SERVICE)
    for name, value in SERVICE.items() if source == "environment" else ():
        monkeypatch.setenv(name, value)
    near = write(Path(".env").resolve(), **line)
    for load in (load_service, load_local, load_address, service_source):
        with pytest.raises(BadSettings) as raised:
            load()
        assert set(raised.value.variables) >= SIX - line.keys()
        assert str(near) in str(raised.value)
    near.unlink()
    load_local()


def test_a_whole_file_where_one_types_counts_alone(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing of the program's own file beside it; it is named. The program's own is not."""
    write(home / ".env", **SERVICE, CAMPAIGN_INVITES_IN_FLIGHT="3")
    assert settings_named() is None
    near = write(Path(".env").resolve(), **SERVICE | {"ASSESSMENT_CLIENT_ID": "nearer"})
    assert load_service().client_id == "nearer"
    assert load_local().invites_in_flight == 8
    assert settings_named() == f"Settings: {near}"
    monkeypatch.setenv("ASSESSMENT_CLIENT_ID", "other")
    with pytest.raises(BadSettings) as raised:
        load_service()
    assert raised.value.variables == ("ASSESSMENT_CLIENT_ID",)
    monkeypatch.chdir(home)
    monkeypatch.delenv("ASSESSMENT_CLIENT_ID")
    assert load_service().client_id == "client"
    assert settings_named() is None


@pytest.mark.parametrize(("words", "names"), [(["status", "--json"], True), (["new", "-"], False)])
def test_the_first_line_names_a_file_where_one_types(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    words: list[str],
    names: bool,
) -> None:
    """On standard error: whoever did not expect it there sees it before anything else."""
    near = write(Path(".env").resolve(), **SERVICE)
    monkeypatch.setattr(sys, "argv", ["campaign", *words])
    carry_out()
    out, err = capsys.readouterr()
    assert (err.partition("\n")[0] == f"Settings: {near}") is names
    assert "Settings:" not in out


def test_a_file_where_one_types_reaches_for_nothing_in_the_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Some programs put the value of a variable in the place of its name."""
    monkeypatch.setenv("DEPLOY_TOKEN", "hush-hush")
    write(Path(".env"), **SERVICE | {"ASSESSMENT_CLIENT_SECRET": "${DEPLOY_TOKEN}"})
    assert load_service().client_secret.get_secret_value() == "${DEPLOY_TOKEN}"


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
    with pytest.raises(BadSettings) as raised:
        load_local()
    assert raised.value.variables == ("CAMPAIGN_DATABASE_URL",)


@pytest.mark.parametrize(
    "url",
    [
        "sqlite://",
        "sqlite:///",
        "sqlite:///:memory:",
        "sqlite:///file:x?uri=true",
        "x.db",
        "sqlite:////a?b/c.db",
        "sqlite:///a?b.db",
    ],
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
        ("CANDIDATES_PER_REQUEST", "20000"),
        ("INVITES_IN_FLIGHT", "0"),
        ("INVITES_IN_FLIGHT", "many"),
        ("INVITES_PER_SECOND", "0"),
        ("INVITES_PER_SECOND", "few"),
        ("INVITES_PER_SECOND", "inf"),
        ("REQUEST_DEADLINE", "30"),
        ("REQUEST_DEADLINE", "nan"),
        ("KEEP", "soon"),
        ("KEEP", "1 hour"),
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
