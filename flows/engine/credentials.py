"""The service's credentials, kept by Prefect for machines whose environment does not hold them.

Prefect encrypts what a block holds. It never becomes a parameter, a log line or a result.
"""

import re
from typing import ClassVar, cast

from prefect.blocks.core import Block
from prefect.types.names import non_emptyish, raise_on_name_alphanumeric_dashes_only
from pydantic import Field, SecretStr, ValidationError

from config.command_line import command
from config.errors import BadSettings, CampaignError
from config.mistakes import shown
from config.settings import ServiceSettings, load_local, load_service, service_source


class KeptSettings(ServiceSettings):
    """The service's settings as Prefect keeps them, which an error of theirs has to name."""

    kept_as: str

    @property
    def block(self) -> str:
        return self.kept_as


class AssessmentCredentials(Block):
    """The three addresses of the assessment service and what its operator issued (interface 5)."""

    _block_type_name: ClassVar[str | None] = "Assessment Credentials"
    _block_type_slug: ClassVar[str | None] = "assessment-credentials"
    _description: ClassVar[str | None] = "Where the assessment service is, and how to log in to it."

    auth_url: str = Field(description="The address that issues tokens.")
    base_url: str = Field(description="The address of the API.")
    app_url: str = Field(description="The address of the web application.")
    # Prefect hides what is secret; the rest of a block it tells in its events.
    client_id: SecretStr = Field(description="Issued by the operator of the service.")
    client_secret: SecretStr = Field(description="Issued by the operator of the service.")
    audience: str = Field(description="The identifier of the API.")

    def settings(self, name: str) -> ServiceSettings:
        """Give them back, checked as if they came from the environment. Raises BadSettings."""
        try:
            own = {field: getattr(self, field) for field in ServiceSettings.model_fields}
            own |= {"client_id": self.client_id.get_secret_value()}
            return KeptSettings(**own, kept_as=name)
        except ValidationError as error:
            fields = ", ".join(
                str(problem["loc"][0]) for problem in error.errors(include_input=False)
            )
            raise BadSettings(f"The credentials in Prefect cannot be used: {fields}.") from None


class BadName(CampaignError):
    """Prefect keeps nothing under a name such as this one."""

    exit_code = 2

    def __init__(self, name: str) -> None:
        usable = re.sub("[^a-z0-9]+", "-", name.casefold()).strip("-") or "production"
        super().__init__(
            f"{shown(name)} cannot be the name of credentials: use lower-case letters (a to z), "
            f"digits and dashes. Nothing was stored. Type: {command('credentials', usable)}"
        )


def check_name(name: str) -> None:
    """Raises BadName, by Prefect's own rule for what it calls a block document."""
    try:
        non_emptyish(raise_on_name_alphanumeric_dashes_only(name))
    except ValueError:
        raise BadName(name) from None


async def keep(name: str, service: ServiceSettings) -> None:
    """Keep settings under a name, in place of what was kept there. Raises BadName."""
    check_name(name)
    credentials = AssessmentCredentials.model_validate(dict(service))
    await credentials.asave(name, overwrite=True)


async def service_settings() -> ServiceSettings:
    """The service's settings: the environment's, else those of CAMPAIGN_CREDENTIALS_BLOCK.

    Raises BadSettings. Never half of one and half of the other: that could lead one service's
    secret to another service's address.
    """
    name = load_local().credentials_block
    if name is None or service_source():
        return load_service()
    try:
        kept = cast(AssessmentCredentials, await AssessmentCredentials.aload(name))
    except ValueError:
        raise BadSettings(
            f"Prefect has no Assessment Credentials called {name}. Store them with: "
            f"{command('credentials', name)}",
            ["CAMPAIGN_CREDENTIALS_BLOCK"],
        ) from None
    return kept.settings(name)
