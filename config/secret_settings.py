"""Which settings are secrets: whoever keeps a program's environment keeps these with it."""

from collections.abc import Mapping
from urllib.parse import urlsplit

_SECRET = frozenset({"ASSESSMENT_CLIENT_SECRET", "CAMPAIGN_NOTIFY_URL"})
_WITH_A_PASSWORD = "CAMPAIGN_DATABASE_URL"  # noqa: S105 - a variable's name


def secrets_among(variables: Mapping[str, str]) -> list[str]:
    """Name the variables that hold a secret of ours; an address of a database by its password."""
    ours = {name.upper(): said for name, said in variables.items() if said}
    return sorted(name for name, said in ours.items() if name in _SECRET or _locked(name, said))


def _locked(name: str, said: str) -> bool:
    if name != _WITH_A_PASSWORD:
        return False
    try:
        return bool(urlsplit(said).password)
    except ValueError:  # what cannot be read may hold anything
        return True
