"""What tests send the sandbox."""

from sandbox.server import Sandbox


def person(email: str, **fields: object) -> dict[str, object]:
    """A row of those to be added (interface 4.5)."""
    row = {"first_name": "Ada", "last_name": "Lovelace", "email1": email}
    return {**row, "source": "", "notes": "", "stage_id": 1, **fields}


def credentials(service: Sandbox) -> dict[str, str]:
    """The body of a request for a token (interface 4.1)."""
    return {
        "grant_type": "client_credentials",
        "client_id": service.client_id,
        "client_secret": service.client_secret,
        "audience": service.audience,
    }
