"""Settings from the environment or a `.env` file; secrets are never printed, nor put in a
definition.
"""

import os
from collections.abc import Mapping
from datetime import timedelta
from functools import cache
from pathlib import Path
from typing import Annotated, Literal, TypeVar
from urllib.parse import urlsplit

from platformdirs import user_data_path
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    SecretStr,
    StringConstraints,
    ValidationError,
)

from config.env_files import SettingsFile, set_here, settings_file, the_six
from config.errors import BadSettings
from config.service_address import is_loopback
from config.timetable.spans import span

# A gateway may finish the work after its own limit of 29 s, so no call gives up before 30 s.
GATEWAY_LIMIT = 30.0
# What pydantic says of a value, and what we say instead.
PLAIN = {
    "Value error, ": "",
    "Input should be": "must be",
    "greater than or equal to": "at least",
    "less than or equal to": "at most",
    "greater than": "more than",
    "a valid integer, unable to parse string as an integer": "a whole number",
    "a valid number, unable to parse string as a number": "a number",
}


def checkout() -> Path | None:
    """The checkout that this program runs from; None if it was installed without one."""
    root = Path(__file__).resolve().parent.parent
    return root if (root / "pyproject.toml").is_file() else None


def home() -> Path:
    """The folder of the ledger and the results: the checkout, or else the user's data directory."""
    return checkout() or user_data_path("hiring-campaigns", appauthor=False)


# Tells a process with another working directory in which folder its command was typed.
TYPED_IN = "CAMPAIGN_TYPED_IN"


def typed_in() -> Path:
    """The folder in which the command was typed."""
    return Path(os.environ.get(TYPED_IN) or Path.cwd())


def _service_url(typed: str) -> str:
    """Accept an address of the service: https, or http to this machine; no trailing slash."""
    url = typed.strip().rstrip("/")
    if any(c.isspace() or not c.isprintable() or c == "\\" for c in url):
        raise ValueError("must be one address, without spaces in it")
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        raise ValueError("is not an address") from None
    if parts.scheme not in {"http", "https"} or not host:
        raise ValueError("must be an address such as https://api.example.com")
    if "@" in parts.netloc:
        raise ValueError("must not hold a user name or a password")
    if "?" in url or "#" in url:
        raise ValueError("must not have a part after ? or #")
    if parts.scheme == "http" and not is_loopback(host):
        raise ValueError("must begin with https:// (plain http is for this machine only)")
    return url


# Only with the drivers that are installed with us, named or not: others might break the promise.
DIALECTS = {"sqlite", "sqlite+pysqlite", "postgresql", "postgresql+psycopg"}


def database_address(typed: str) -> str:
    """Accept a SQLite file or a PostgreSQL database; a relative file lies under `home()`.

    If it were relative to the working directory, the same command typed elsewhere would use a
    second, empty ledger, and everybody would be invited again.
    """
    dialect, separator, rest = typed.strip().partition("://")
    kind = dialect.partition("+")[0]
    if not separator or dialect not in DIALECTS:
        raise ValueError("must begin with sqlite:/// or postgresql://")
    if kind == "postgresql":
        _refuse_odd_server(rest)
        return typed.strip()
    path, question, query = rest.removeprefix("/").partition("?")
    if not rest.startswith("/") or not path or path == ":memory:" or path.startswith("file:"):
        raise ValueError("must name a file, as in sqlite:///data/campaigns.db")
    if question and ("/" in query or "=" not in query):  # what follows a ? is no part of the path
        raise ValueError("must name a file without a ? in its path")
    return f"{dialect}:///{home() / Path(path).expanduser()}{question}{query}"


def _refuse_odd_server(rest: str) -> None:
    """Refuse a text that would be read as a different address: part of a password could be shown as
    one.
    """
    server, _, path = rest.partition("/")
    if server.count("@") > 1 or "@" in path.partition("?")[0]:
        raise ValueError("has an @ or a / in its password: write %40 for @, %2F for /, %3A for :")
    host = server.rpartition("@")[2]
    port = host.rpartition("]")[2].partition(":")[2]
    if port and not port.isdecimal():
        raise ValueError("has a port that is not a number; in a password write %3A for :")
    if "password" in path.partition("?")[2].casefold():
        raise ValueError("must not hold a password after the ?; it belongs before the @")


def _notify_url(typed: SecretStr) -> SecretStr:
    """Accept where notices go: a webhook's address, or a mail server's as Apprise writes it."""
    url = typed.get_secret_value().strip()
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname or "", parts.port
    except ValueError:
        raise ValueError("is not an address") from None
    if parts.scheme == "http" and not is_loopback(host):
        raise ValueError("must begin with https:// (plain http is for this machine only)")
    if parts.scheme not in {"http", "https", "mailto", "mailtos"} or not host:
        raise ValueError(
            "must be a webhook (https://…) or a mailbox (mailtos://user:password@host?to=…)"
        )
    return SecretStr(url)


def _under_home(typed: Path) -> Path:
    # Like the ledger: the same setting means the same folder wherever the command is typed.
    return home() / typed.expanduser()


def _kept_for(typed: object) -> object:
    if not isinstance(typed, str):
        return typed
    try:
        kept_for = span(typed, longest=timedelta(days=3660))
    except ValueError:
        kept_for = timedelta(0)
    if kept_for < timedelta(days=1):
        raise ValueError("must be a time between a day and ten years, written like 180 days")
    return kept_for


@cache  # read once by a process: it takes 13 ms
def _certificates(file: Path) -> Path:
    """Accept a PEM file with the certificates of a company's own authority."""
    import ssl  # noqa: PLC0415 - it costs every start, few have an authority of their own

    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_verify_locations(file)
    except ssl.SSLError:
        raise ValueError("must name a file of certificates, in PEM") from None
    except OSError as error:
        raise ValueError(f"names a file that cannot be read ({error.strerror})") from None
    return file


ServiceUrl = Annotated[str, AfterValidator(_service_url)]
Word = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
Secret = Annotated[SecretStr, Field(min_length=1)]


def named(prefix: str) -> ConfigDict:
    """Settings whose variables are called by this prefix and their name, in upper case."""
    return ConfigDict(
        alias_generator=lambda name: f"{prefix}{name}".upper(),
        validate_by_name=True,
        extra="ignore",
        frozen=True,
        hide_input_in_errors=True,
        validate_default=True,
    )


class ServiceSettings(BaseModel):
    """The assessment service: its three addresses and the credentials its operator issued."""

    model_config = named("ASSESSMENT_")

    auth_url: ServiceUrl = Field(description="the address that issues tokens")
    base_url: ServiceUrl = Field(description="the address of the API")
    app_url: ServiceUrl = Field(
        description="the address of the web application; links begin with it"
    )
    client_id: Word = Field(description="from the operator of the service")
    client_secret: Secret = Field(description="from the operator; never shown")
    audience: Word = Field(description="from the operator")

    @property
    def block(self) -> str | None:
        """The name under which Prefect keeps them; None: they are set on this machine."""
        return None


class LocalSettings(BaseModel):
    """What this machine decides: where the ledger is, and how fast to send.

    `request_deadline` is in seconds, for one whole call; `invites_per_second` None means no limit.
    `wave_runs` is how many runs of a work pool may share the invitations of a large campaign.
    """

    model_config = named("CAMPAIGN_")

    # A database address may hold a password.
    database_url: Annotated[str, AfterValidator(database_address)] = Field(
        default="sqlite:///data/campaigns.db",
        repr=False,
        description="where the ledger is",
    )
    output_dir: Annotated[Path, AfterValidator(_under_home)] = Field(
        default=Path("out"),
        description="the folder for links",
    )
    candidates_per_request: int = Field(
        default=100,
        ge=1,
        le=10_000,
        description="how many are added in one request",
    )
    invites_in_flight: int = Field(
        default=8,
        ge=1,
        description="how many invitations are sent at the same time, and so how many a "
        "crash can leave unsure",
    )
    invites_per_second: float | None = Field(
        default=None,
        gt=0,
        allow_inf_nan=False,
        description="the most invitations a second, for all runs of a ledger together; no limit "
        "when left out",
    )
    wave_runs: int = Field(
        default=1,
        ge=1,
        le=100,
        description="how many runs of a work pool may share a large campaign; see [more than one "
        "machine](many-machines.md)",
    )
    request_deadline: float = Field(
        default=45.0,
        gt=GATEWAY_LIMIT,
        allow_inf_nan=False,
        description="how many seconds one call may take; must be more than 30",
    )
    do_not_contact: Annotated[Path, AfterValidator(_under_home)] | None = Field(
        default=None,
        description="a file of addresses that no campaign sends to: one a line, or a table with "
        "an email column",
    )
    ca_file: Annotated[Path, AfterValidator(_under_home), AfterValidator(_certificates)] | None = (
        Field(
            default=None,
            description="certificates (PEM) of your company's own authority, trusted in addition "
            "to the usual ones",
        )
    )
    keep: Annotated[timedelta, BeforeValidator(_kept_for)] | None = Field(
        default=None,
        description="how long people's data is kept after a campaign's last activity, such as "
        "`180 days`; see [people's data](privacy.md). Without it, data is kept for good, and "
        "Prefect's record of runs for 30 days",
    )
    notify_url: Annotated[Secret, AfterValidator(_notify_url)] | None = Field(
        default=None,
        description="where to send a notice when a campaign needs a person: a webhook or a mailbox "
        "([Prefect](prefect.md)); never shown",
    )
    credentials_block: Word | None = Field(
        default=None,
        description="the name under which Prefect keeps the six `ASSESSMENT_` settings, for runs "
        "where none of them is set",
    )
    log_format: Literal["words", "json"] = Field(
        default="words",
        description="`json`: a run writes a line for each request on standard error, with "
        "campaign, run and attempt, without anybody's name; the same as `--log-format "
        "json` before the command",
    )


Settings = TypeVar("Settings", bound=BaseModel)


def load_service() -> ServiceSettings:
    """Read ASSESSMENT_*, all from one source.

    Raises BadSettings naming every variable that is missing or unusable, or if sources are mixed.
    """
    return _load(ServiceSettings, *the_six(_file()))


def load_local() -> LocalSettings:
    """Read CAMPAIGN_*. Raises BadSettings naming every variable that is unusable."""
    _check_usual_certificates()
    file = _file()
    return _load(LocalSettings, file.values | set_here(), f"the environment or in {file.path}")


def _check_usual_certificates() -> None:
    """Raise BadSettings when OpenSSL's own variable names no certificates: Prefect's client and
    ours read it, and neither starts without.
    """
    file = os.environ.get("SSL_CERT_FILE")
    try:
        if file:
            _certificates(Path(file))
    except ValueError as error:
        message = f"Settings to fix:\n  SSL_CERT_FILE {error}\nSet or unset it in the environment."
        raise BadSettings(message, variables=["SSL_CERT_FILE"]) from None


def service_source() -> str | None:
    """Name the source of ASSESSMENT_*; None if none is set. Raises BadSettings."""
    values, source = the_six(_file())
    return source if values else None


def settings_named() -> str | None:
    """Name the `.env` in the current folder, if it is the one that is used.

    Raises BadSettings.
    """
    file = _file()
    return f"Settings: {file.path}" if file.near else None


def _file() -> SettingsFile:
    _forbid_core_files()  # from the first secret on
    return settings_file(home() / ".env", typed_in() / ".env")


def _forbid_core_files() -> None:
    """Keep this process, and every process it starts from now on, from writing its memory to a file
    when it dies: that would hold credentials and people's names.
    """
    try:
        import resource  # noqa: PLC0415 - not everywhere
    except ImportError:
        return
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def check_service() -> None:
    """Raise BadSettings unless ASSESSMENT_* can be used, or Prefect keeps them for the runs."""
    if load_local().credentials_block is None or service_source():
        load_service()


class Address(BaseModel):
    """The service's address alone, for commands that only compare it and send no request."""

    model_config = named("ASSESSMENT_")

    base_url: ServiceUrl | None = None


def load_address() -> str | None:
    """Read ASSESSMENT_BASE_URL, None when it is not set. Raises BadSettings when it is unusable."""
    return _load(Address, *the_six(_file())).base_url


def _load(settings: type[Settings], values: Mapping[str, str], source: str) -> Settings:
    try:
        return settings.model_validate(values)
    except ValidationError as error:
        complaints = {
            str(problem["loc"][0]): _complaint(problem["type"], problem["msg"])
            for problem in error.errors(include_input=False, include_url=False)
        }
        listed = "\n".join(f"  {name} {complaint}" for name, complaint in complaints.items())
        message = f"Settings to fix:\n{listed}\nSet them in {source}."
        raise BadSettings(message, variables=complaints) from None


def _complaint(kind: str, message: str) -> str:
    if kind == "missing":
        return "is not set"
    if kind.startswith(("string_too_short", "too_short")):
        return "is empty"
    return in_plain_words(message)


def in_plain_words(message: str) -> str:
    """Say as a person would what pydantic says of a value that was typed."""
    for theirs, ours in PLAIN.items():
        message = message.replace(theirs, ours)
    return message
