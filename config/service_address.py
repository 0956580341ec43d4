"""Different spellings of one service's address. Only for comparing: requests go exactly where the
settings say.
"""

import posixpath
from functools import lru_cache
from ipaddress import IPv4Address, IPv6Address, ip_address
from urllib.parse import quote, unquote, urlsplit

from config.email_key import ascii_domain

DEFAULT_PORTS = {"http": 80, "https": 443}
THIS_MACHINE = "127.0.0.1"
_ITS_OTHER_NAMES = {"localhost", "::1"}


@lru_cache(maxsize=1024)
def canonical(address: str) -> str:
    """Spell a base URL in one way: case, default port, trailing dots and slashes, IDN, and the
    names of this machine make no difference.

    Never raises: a text that is not an address stays as it is. The usual spelling is already
    canonical.
    """
    try:
        parts = urlsplit(address.strip())
        host, port = _host(parts.hostname or ""), parts.port
    except ValueError:
        return address
    if not parts.scheme or not host:
        return address
    shown = f"[{host}]" if ":" in host else host
    if port is not None and port != DEFAULT_PORTS.get(parts.scheme):
        shown += f":{port}"
    # normpath leaves two slashes at the beginning, as POSIX does.
    path = posixpath.normpath("/" + unquote(parts.path).lstrip("/")).rstrip("/")
    return f"{parts.scheme}://{shown}{quote(path)}"


def same_service(address: str, other: str) -> bool:
    """Whether two base URLs lead to one service."""
    return address == other or canonical(address) == canonical(other)


def is_loopback(host: str) -> bool:
    """Whether a host name or address belongs to this machine."""
    literal = _literal(host)
    return host.lower().rstrip(".") == "localhost" if literal is None else literal.is_loopback


def on_this_machine(address: str) -> bool:
    """Whether a base URL leads to this machine. False for a text that is not an address."""
    try:
        return is_loopback(urlsplit(address).hostname or "")
    except ValueError:
        return False


def _host(host: str) -> str:
    literal = _literal(host)
    name = ascii_domain(host).rstrip(".") if literal is None else str(literal)
    return THIS_MACHINE if name in _ITS_OTHER_NAMES else name


def _literal(host: str) -> IPv4Address | IPv6Address | None:
    try:
        literal = ip_address(host)
    except ValueError:
        return None
    return getattr(literal, "ipv4_mapped", None) or literal
