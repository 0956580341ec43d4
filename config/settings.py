"""Settings from the environment, or from the file `.env` in `home()`; secrets are never shown."""

import os
import re
from contextlib import suppress
from datetime import timedelta
from difflib import get_close_matches
from getpass import getuser
from hashlib import sha256
from ipaddress import ip_address
from pathlib import Path
from typing import Annotated
from urllib.parse import urlsplit

from dotenv import dotenv_values
from platformdirs import user_data_path
from pydantic import AfterValidator, AnyUrl, Field, SecretStr, ValidationError
from pydantic_core import ErrorDetails
from pydantic_settings import BaseSettings, SettingsConfigDict

from config.errors import BadSettings, quoted

# All six come from one source, so that no service's secret goes to another's address.
SIX = ("auth_url", "base_url", "app_url", "client_id", "client_secret", "audience")


def home() -> Path:
    """The folder of `.env` and, by default, the ledger: the checkout, or the user's data folder.

    If it were the working folder, a command typed in another one would invite everybody again.
    """
    root = Path(__file__).resolve().parent.parent
    is_checkout = (root / "pyproject.toml").is_file()
    return root if is_checkout else user_data_path("hiring-campaigns", appauthor=False)


def variable(name: str) -> str:
    """The environment variable of a setting."""
    return f"{'ASSESSMENT' if name in SIX else 'CAMPAIGN'}_{name}".upper()


def _service_url(typed: str) -> str:
    url = typed.strip()
    with suppress(ValueError):  # not an address
        parts = urlsplit(spelled(url))
        secure = parts.scheme == "https" or (parts.scheme == "http" and is_loopback(parts.hostname))
        if secure and not re.search(r"[\s?#@]", url):
            return parts.geturl()
    raise ValueError("an address such as https://api.example.com, without a password or query")


def spelled(url: str) -> str:
    """Reduce a service's address to the form that is compared (WHATWG). Raises ValueError."""
    local = re.sub("(?<=://)localhost(?=[:/])", "127.0.0.1", str(AnyUrl(url)))
    return re.sub(r"(?<![:/])\.?/+", "/", local).rstrip("/")  # no dot after a host, no //


def is_loopback(host: str | None) -> bool:
    """Whether this is `localhost`, or a loopback address: this machine by itself."""
    with suppress(ValueError):
        return ip_address(host or "").is_loopback
    return (host or "").lower() == "localhost"


def _under_home(typed: Path) -> Path:
    with suppress(RuntimeError):  # there is no user of this name: ~somebody
        if not re.search(r"[\x00-\x1f]", str(typed)):
            return home() / typed.expanduser()
    raise ValueError("a path, such as data/my.db")


def database_address(typed: str) -> str:
    if path := re.fullmatch(r"sqlite:///(?!:|file:)([^?]+)", typed.strip()):
        return f"sqlite:///{_under_home(Path(path[1]))}"
    server = r"postgresql(\+psycopg)?://([^/?#@]*@)?(\[[^]]*\]|[^:/?#@]*)(:\d{1,5})?([/?][^@#]*)?"
    if not re.fullmatch(server, typed.strip()):
        raise ValueError("postgresql://…, or a file as in sqlite:///data/my.db; write an @ as %40")
    return typed.strip()


def _notice(typed: SecretStr) -> SecretStr:
    url = typed.get_secret_value()
    with suppress(ValueError):  # invalid brackets or port
        parts = urlsplit(url)
        own = parts.scheme == "http" and is_loopback(parts.hostname)
        known = own or parts.scheme in {"https", "mailto", "mailtos"}
        if known and parts.netloc and parts.port != 0 and url.isprintable():
            return typed
    raise ValueError("a webhook (https://…) or a mailbox (mailtos://user:pw@host?to=…)")


Url = Annotated[str, AfterValidator(_service_url)]
UnderHome = Annotated[Path, AfterValidator(_under_home)]


class Settings(BaseSettings):
    """Settings of this machine, and the service with its credentials, which may be missing."""

    model_config = SettingsConfigDict(
        alias_generator=variable,
        validate_by_name=True,
        extra="ignore",
        frozen=True,
        env_file_encoding="utf-8-sig",
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
    database_url: Annotated[str, AfterValidator(database_address)] = Field(
        "sqlite:///data/campaigns.db", repr=False, validate_default=True
    )
    """Where the ledger is; it may hold a password."""
    output_dir: UnderHome = Field(Path("out"), validate_default=True)
    """A folder of links and pages; `campaign forget` looks there, and beside definitions."""
    candidates_per_request: int = Field(100, ge=1, le=10_000)
    """How many people are added in one request, from 1 to 10,000."""
    invites_in_flight: int = Field(8, ge=1, le=100)
    """How many invitations are sent at a time, 1 to 100; a crash can leave all of them unsure."""
    invites_per_second: float | None = Field(None, ge=0.001, le=1000)
    """The most invitations a second, from 0.001 to 1,000; for all runs of a ledger together."""
    # A gateway may do the work until its own limit of 29 s, so a request waits for longer.
    request_deadline: float = Field(45.0, gt=30, le=3600)
    """How many seconds one request may take, above 30 and up to 3,600."""
    do_not_contact: UnderHome | None = None
    """A file of addresses and domains that no campaign sends to."""
    ca_file: UnderHome | None = None
    """Certificates (PEM) of your company's own authority, trusted in addition."""
    keep: timedelta | None = Field(None, ge=timedelta(days=1), le=timedelta(days=36_525))
    """How long people's data may be kept: 1 day to 100 years, such as 180 days; see `doctor`."""
    notify_url: Annotated[SecretStr, AfterValidator(_notice)] | None = None
    """A webhook or mailbox that is told when a campaign needs a person; never shown."""
    fetch_authorization: SecretStr | None = None
    """The header Authorization for people behind an address, such as Bearer TOKEN; never shown."""
    orders_token: SecretStr | None = Field(None, min_length=16)
    """What `campaign orders` wants after Bearer, 16 characters or more; never shown."""
    who: str = Field(default_factory=getuser, pattern=r"\S", max_length=100)
    """Who decides by a command, such as a service account; else the user of this machine."""

    @property
    def account(self) -> str:
        """A hash that identifies the account at the service; the ledger stores it."""
        return sha256(f"{self.client_id}\n{self.audience}".encode()).hexdigest()[:16]


def settings() -> Settings:
    """Read the settings; the six of the service may be missing. Raises BadSettings."""
    file = home() / ".env"
    if os.name == "posix" and file.is_file() and file.stat().st_mode & 0o077:
        refusal = BadSettings(problem=f"{file} holds secrets, and other users can read it.")
        refusal.then = f"Type: chmod 600 {quoted(file)}"
        raise refusal
    try:
        alone, read = (Settings(_env_file=each) for each in (None, file))
    except (OSError, UnicodeError):
        raise BadSettings(problem=f"{file} cannot be read as text in UTF-8.") from None
    except ValidationError as error:
        listed = "; ".join(dict.fromkeys(map(_in_our_words, error.errors())))
        raise BadSettings(problem=f"Settings to fix: {listed}.") from None
    known = [variable(name) for name in Settings.model_fields]
    for name in sorted({*os.environ, *dotenv_values(file)} - {*known}):
        of_a_query = name.startswith(variable("database_"))
        if not of_a_query and (near := get_close_matches(name, known, n=1, cutoff=0.9)):
            raise BadSettings(problem=f"{name}: no setting. Did you mean {near[0]}?")
    here, there = (each.model_fields_set & {*SIX} for each in (alone, read))
    if here and there != here:
        names = ", ".join(variable(name) for name in SIX if name not in here)
        why = f"{names}: not in the environment, where others of these six are, but in {file}."
        raise BadSettings(problem=f"{why} All six must come from one place.")
    return read


def _in_our_words(detail: ErrorDetails) -> str:
    name, ours = str(detail["loc"][0]).upper(), detail.get("ctx", {}).get("error")
    infos = {variable(each): info for each, info in Settings.model_fields.items()}
    says = (infos[name].description or "").partition(";")[0].rstrip(".")
    return f"{name}: wanted {ours if isinstance(ours, ValueError) else says[:1].lower() + says[1:]}"


def service_settings() -> Settings:
    """Read the settings, with all six of the service. Raises BadSettings with those missing."""
    read = settings()
    if missing := [variable(name) for name in SIX if name not in read.model_fields_set]:
        where = f"the environment or in {home() / '.env'}"
        raise BadSettings(problem=f"{', '.join(missing)}: not set. Set all six in {where}.")
    return read
