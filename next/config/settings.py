"""Settings from the environment, or from the `.env` beside the README; secrets are never shown."""

import os
from collections.abc import Mapping
from datetime import timedelta
from hashlib import sha256
from ipaddress import ip_address
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import urlsplit

from dotenv import dotenv_values
from platformdirs import user_data_path
from pydantic import AfterValidator, BeforeValidator, Field, SecretStr, ValidationError
from pydantic_settings import BaseSettings, SettingsConfigDict

from config.errors import BadSettings
from config.timetable import span

# They belong together: half of each source could send one service's secret to another's address.
SIX = ("auth_url", "base_url", "app_url", "client_id", "client_secret", "audience")


def home() -> Path:
    """The folder of the ledger, the results and `.env`: the checkout, or the user's data folder.

    Never the folder where the command is typed: the same command typed elsewhere would use an
    empty ledger and invite everybody again.
    """
    root = Path(__file__).resolve().parent.parent
    if (root / "pyproject.toml").is_file():
        return root
    return user_data_path("hiring-campaigns", appauthor=False)


def variable(name: str) -> str:
    """The environment variable of a setting."""
    return f"{'ASSESSMENT' if name in SIX else 'CAMPAIGN'}_{name}".upper()


def _service_url(typed: str) -> str:
    url = typed.strip().rstrip("/")
    parts = urlsplit(url)
    if parts.scheme not in {"http", "https"} or not parts.hostname or " " in url:
        raise ValueError("must be an address such as https://api.example.com")
    if "@" in parts.netloc or "?" in url or "#" in url:
        raise ValueError("must not hold a password, or a part after ? or #")
    if parts.scheme == "http" and not is_loopback(parts.hostname):
        raise ValueError("must begin with https:// (plain http is for this machine only)")
    return url


def is_loopback(host: str) -> bool:
    """Whether a host name or address belongs to this machine."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host.lower() == "localhost"


def _database(typed: str) -> str:
    dialect, separator, rest = typed.strip().partition("://")
    if separator and dialect in {"postgresql", "postgresql+psycopg"}:
        return typed.strip()
    path = rest.removeprefix("/")
    if dialect != "sqlite" or not rest.startswith("/") or not path or path.startswith((":", "fi")):
        raise ValueError("must begin with postgresql://, or name a file as in sqlite:///data/my.db")
    return f"sqlite:///{home() / Path(path).expanduser()}"


def _notice(typed: SecretStr) -> SecretStr:
    parts = urlsplit(typed.get_secret_value())
    own = parts.scheme == "http" and is_loopback(parts.hostname or "")
    if not (own or parts.scheme in {"https", "mailto", "mailtos"}) or not parts.netloc:
        raise ValueError("must be a webhook (https://…) or a mailbox (mailtos://user:pw@host?to=…)")
    return typed


def _kept(typed: Any) -> Any:
    try:
        return span(typed) if isinstance(typed, str) else typed
    except ValueError as error:
        raise ValueError(f"must be {error}") from None


Url = Annotated[str, AfterValidator(_service_url)]
UnderHome = Annotated[Path, AfterValidator(lambda typed: home() / typed.expanduser())]


class Settings(BaseSettings):
    """What this machine decides, and the service with its credentials; these may be missing."""

    model_config = SettingsConfigDict(
        alias_generator=variable,
        validate_by_name=True,
        extra="ignore",
        frozen=True,
        env_ignore_empty=True,
        validate_default=False,
        hide_input_in_errors=True,
        use_attribute_docstrings=True,
    )

    auth_url: Url = ""
    """The address that issues tokens."""
    base_url: Url = ""
    """The address of the API."""
    app_url: Url = ""
    """The address of the web application; links begin with it."""
    client_id: str = ""
    """From the operator of the service."""
    client_secret: SecretStr = SecretStr("")
    """From the operator; never shown."""
    audience: str = ""
    """From the operator."""
    database_url: Annotated[str, AfterValidator(_database)] = Field(
        "sqlite:///data/campaigns.db", repr=False, validate_default=True
    )
    """Where the ledger is; it may hold a password."""
    output_dir: UnderHome = Field(Path("out"), validate_default=True)
    """The folder for links and pages."""
    candidates_per_request: int = Field(100, ge=1, le=10_000)
    """How many people are added in one request."""
    invites_in_flight: int = Field(8, ge=1, le=100)
    """How many invitations are sent at a time: the most that a crash can leave unsure."""
    invites_per_second: float | None = Field(None, gt=0, allow_inf_nan=False)
    """The most invitations a second, for all runs of a ledger together."""
    # A gateway may finish the work after its own limit of 29 s: no request gives up before.
    request_deadline: float = Field(45.0, gt=30, allow_inf_nan=False)
    """How many seconds one request may take."""
    do_not_contact: UnderHome | None = None
    """A file of addresses and domains that no campaign sends to."""
    ca_file: UnderHome | None = None
    """Certificates (PEM) of your company's own authority, trusted in addition."""
    keep: Annotated[timedelta, BeforeValidator(_kept)] | None = None
    """How long people's data is kept after a campaign's last activity, such as 180 days."""
    notify_url: Annotated[SecretStr, AfterValidator(_notice)] | None = None
    """A webhook or mailbox that is told when a campaign needs a person; never shown."""

    @property
    def account(self) -> str:
        """The account at the service, as the ledger tells accounts apart."""
        return sha256(f"{self.client_id}\n{self.audience}".encode()).hexdigest()[:16]


def settings() -> Settings:
    """Read the settings; the six of the service may be missing. Raises BadSettings."""
    file = home() / ".env"
    _check_sources(file)
    try:
        return Settings(_env_file=file, _env_file_encoding="utf-8-sig")
    except ValidationError as error:
        wrong = {
            str(each["loc"][0]).upper(): each["msg"].removeprefix("Value error, ")
            for each in error.errors()
        }
        listed = "; ".join(f"{name} {why}" for name, why in wrong.items())
        raise BadSettings(f"Settings to fix: {listed}.", wrong) from None


def service_settings() -> Settings:
    """Read the settings with all six of the service. Raises BadSettings that names what lacks."""
    read = settings()
    shown = {name: getattr(read, name) for name in SIX if name != "client_secret"}
    shown["client_secret"] = read.client_secret.get_secret_value()
    if missing := [variable(name) for name in SIX if not shown[name]]:
        where = f"the environment or in {home() / '.env'}"
        raise BadSettings(f"{', '.join(missing)}: not set. Set all six in {where}.", missing)
    return read


def _check_sources(file: Path) -> None:
    """Refuse a file that others may read, and half of the six from each source."""
    if not file.is_file():
        return
    if os.name == "posix" and file.stat().st_mode & 0o077:
        raise BadSettings(
            f"{file} holds secrets, and others on this machine can read it. Type: chmod 600 {file}"
        )
    names = {variable(name) for name in SIX}
    there = _set(dotenv_values(file, encoding="utf-8-sig"), names)
    here = _set(os.environ, names)
    if here and there and here != names:
        raise BadSettings(
            f"The environment has {', '.join(sorted(here))}, and {file} has "
            f"{', '.join(sorted(there))}. The six ASSESSMENT_ settings must come from one place: "
            "set all six in the environment, or none of them.",
            sorted(names - here),
        )


def _set(values: Mapping[str, str | None], names: set[str]) -> set[str]:
    return {name.upper() for name, value in values.items() if value} & names
