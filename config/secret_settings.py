"""Which settings are secrets: the stored environment of a program contains them."""

from collections.abc import Mapping
from urllib.parse import urlsplit

_SECRET = frozenset({"ASSESSMENT_CLIENT_SECRET", "CAMPAIGN_NOTIFY_URL"})
_WITH_A_PASSWORD = "CAMPAIGN_DATABASE_URL"  # noqa: S105 - a variable's name


def secrets_among(variables: Mapping[str, str]) -> list[str]:
    """Name the variables that hold a secret of ours; a database address counts if it has a
    password.
    """
    ours = {name.upper(): value for name, value in variables.items() if value}
    return sorted(name for name, value in ours.items() if name in _SECRET or _locked(name, value))


def _locked(name: str, value: str) -> bool:
    if name != _WITH_A_PASSWORD:
        return False
    try:
        return bool(urlsplit(value).password)
    except ValueError:  # what cannot be read may hold anything
        return True
