"""Settings from the environment or a `.env` file; secrets are never printed, nor put in a
definition.
"""

import os
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Annotated, Literal, TypeVar

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

from config import folders
from config.env_files import SettingsFile, set_here, settings_file, the_six
from config.errors import BadSettings
from config.setting_values import (
    certificates,
    database_address,
    kept_for,
    notice_url,
    service_url,
    under_home,
)

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

ServiceUrl = Annotated[str, AfterValidator(service_url)]
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
    output_dir: Annotated[Path, AfterValidator(under_home)] = Field(
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
    do_not_contact: Annotated[Path, AfterValidator(under_home)] | None = Field(
        default=None,
        description="a file of addresses that no campaign sends to: one a line, or a table with "
        "an email column",
    )
    ca_file: Annotated[Path, AfterValidator(under_home), AfterValidator(certificates)] | None = (
        Field(
            default=None,
            description="certificates (PEM) of your company's own authority, trusted in addition "
            "to the usual ones",
        )
    )
    keep: Annotated[timedelta, BeforeValidator(kept_for)] | None = Field(
        default=None,
        description="how long people's data is kept after a campaign's last activity, such as "
        "`180 days`; see [people's data](privacy.md). Without it, data is kept for good, and "
        "Prefect's record of runs for 30 days",
    )
    notify_url: Annotated[Secret, AfterValidator(notice_url)] | None = Field(
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
            certificates(Path(file))
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
    return settings_file(folders.home() / ".env", folders.typed_in() / ".env")


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
