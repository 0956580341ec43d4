"""Whether a browser is looking at this sandbox, and whether one of its own pages is asking.

Pages of other sites can send requests here from a person's browser, and a site whose name is
pointed at this machine can even read the answers. Neither gets anything.
"""

import ipaddress
from collections.abc import Mapping
from functools import lru_cache
from urllib.parse import urlsplit


@lru_cache(maxsize=64)
def asks_for_us(host: str, listening: str) -> bool:
    """Whether this Host is a name of this machine; `listening` is the address listened on.

    If the sandbox listens on every address, every name may lead there.
    """
    try:
        name = urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return False
    return name in ("localhost", listening) or _is(name, "loopback") or _is(listening, "wildcard")


def _is(name: str, kind: str) -> bool:
    try:
        address = ipaddress.ip_address(name)
    except ValueError:
        return False
    return address.is_loopback if kind == "loopback" else address.is_unspecified


def from_own_page(headers: Mapping[str, str]) -> bool:
    """Whether a page of this very origin sent the request; every form and script is asked this."""
    own = f"http://{headers.get('host', '')}"
    return headers.get("origin") == own and headers.get("sec-fetch-site", "same-origin") == (
        "same-origin"
    )
