"""Errors that stop a campaign at the service. Each says what is safe and what to do next."""

from config.command_line import command
from config.errors import CampaignError
from tasks.service.evidence import CERTIFICATES, ENCODED, GLUED, SPOKE_FIRST, TOO_LONG

_AGAIN = "Then run again: nothing is lost."


_IN_WORDS = {
    **CERTIFICATES,
    "ConnectError": "no connection",
    "ConnectTimeout": "no connection in time",
    "ProxyError": "the proxy refused the connection",
    "TimeoutError": "no answer in time",
    "ReadError": "it closed the connection",
    "WriteError": "it closed the connection",
    "RemoteProtocolError": "it does not speak HTTP, or the connection broke",
    SPOKE_FIRST: "it answered before the request was sent",
    GLUED: "more than one answer came at once",
    ENCODED: "its answer has a Content-Encoding, which was not asked for",
    TOO_LONG: "its answer has no end",
}


def _kept(block: str | None) -> str:
    """Say where the settings are, if Prefect keeps them: none of them is set on this machine."""
    if block is None:
        return ""
    store = command("credentials", block)
    return f"Prefect keeps them as {block}: set the six ASSESSMENT_ settings and type: {store}. "


class Unreachable(CampaignError):
    """The service, or the address that issues its tokens, gave no usable answer in several tries.

    `variable` names the setting that holds the address, `why` a status or the name of a failure.
    `block` is the name under which Prefect keeps the settings, if it does.
    """

    def __init__(self, variable: str, why: str, block: str | None = None) -> None:
        super().__init__(
            f"The address in {variable} does not answer as it should ({_IN_WORDS.get(why, why)})."
            f" Check the network and the address. {_kept(block)}{_AGAIN}"
        )


class CredentialsRefused(CampaignError):
    """No access token was issued, or the service does not accept it. The text holds no secret."""

    def __init__(self, why: str, block: str | None = None) -> None:
        super().__init__(
            f"The credentials were refused ({why}). Check ASSESSMENT_CLIENT_ID,"
            " ASSESSMENT_CLIENT_SECRET, ASSESSMENT_AUDIENCE and ASSESSMENT_AUTH_URL."
            f" {_kept(block)}{_AGAIN}"
        )


class NotTheService(CampaignError):
    """Something answers at the base URL, but not with the list of problems (interface 4.2)."""

    def __init__(self, why: str, block: str | None = None) -> None:
        super().__init__(
            f"The server at ASSESSMENT_BASE_URL does not give the list of problems ({why}). Check "
            f"ASSESSMENT_BASE_URL and what the credentials may do. {_kept(block)}{_AGAIN}"
        )
