"""What may be typed for a setting: each function accepts a value, or raises ValueError with words
that go on from the name of the setting.
"""

from datetime import timedelta
from functools import cache
from pathlib import Path
from urllib.parse import urlsplit

from pydantic import SecretStr

from config import folders
from config.service_address import is_loopback
from config.timetable.spans import span


def service_url(typed: str) -> str:
    """Accept an address of the service: https, or http to this machine; no trailing slash."""
    url = typed.strip().rstrip("/")
    if any(c.isspace() or not c.isprintable() or c == "\\" for c in url):
        raise ValueError("must be one address, without spaces in it")
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        raise ValueError("is not an address") from None
    if parts.scheme not in {"http", "https"} or not host:
        raise ValueError("must be an address such as https://api.example.com")
    if "@" in parts.netloc:
        raise ValueError("must not hold a user name or a password")
    if "?" in url or "#" in url:
        raise ValueError("must not have a part after ? or #")
    if parts.scheme == "http" and not is_loopback(host):
        raise ValueError("must begin with https:// (plain http is for this machine only)")
    return url


# Only with the drivers that are installed with us, named or not: others might break the promise.
DIALECTS = {"sqlite", "sqlite+pysqlite", "postgresql", "postgresql+psycopg"}


def database_address(typed: str) -> str:
    """Accept a SQLite file or a PostgreSQL database; a relative file lies under `folders.home()`.

    If it were relative to the working directory, the same command typed elsewhere would use a
    second, empty ledger, and everybody would be invited again.
    """
    dialect, separator, rest = typed.strip().partition("://")
    kind = dialect.partition("+")[0]
    if not separator or dialect not in DIALECTS:
        raise ValueError("must begin with sqlite:/// or postgresql://")
    if kind == "postgresql":
        _refuse_odd_server(rest)
        return typed.strip()
    path, question, query = rest.removeprefix("/").partition("?")
    if not rest.startswith("/") or not path or path == ":memory:" or path.startswith("file:"):
        raise ValueError("must name a file, as in sqlite:///data/campaigns.db")
    if question and ("/" in query or "=" not in query):  # what follows a ? is no part of the path
        raise ValueError("must name a file without a ? in its path")
    return f"{dialect}:///{folders.home() / Path(path).expanduser()}{question}{query}"


def _refuse_odd_server(rest: str) -> None:
    """Refuse a text that would be read as a different address: part of a password could be shown as
    one.
    """
    server, _, path = rest.partition("/")
    if server.count("@") > 1 or "@" in path.partition("?")[0]:
        raise ValueError("has an @ or a / in its password: write %40 for @, %2F for /, %3A for :")
    host = server.rpartition("@")[2]
    port = host.rpartition("]")[2].partition(":")[2]
    if port and not port.isdecimal():
        raise ValueError("has a port that is not a number; in a password write %3A for :")
    if "password" in path.partition("?")[2].casefold():
        raise ValueError("must not hold a password after the ?; it belongs before the @")


def notice_url(typed: SecretStr) -> SecretStr:
    """Accept where notices go: a webhook's address, or a mail server's as Apprise writes it."""
    url = typed.get_secret_value().strip()
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname or "", parts.port
    except ValueError:
        raise ValueError("is not an address") from None
    if parts.scheme == "http" and not is_loopback(host):
        raise ValueError("must begin with https:// (plain http is for this machine only)")
    if parts.scheme not in {"http", "https", "mailto", "mailtos"} or not host:
        raise ValueError(
            "must be a webhook (https://…) or a mailbox (mailtos://user:password@host?to=…)"
        )
    return SecretStr(url)


def under_home(typed: Path) -> Path:
    # Like the ledger: the same setting means the same folder wherever the command is typed.
    return folders.home() / typed.expanduser()


def kept_for(typed: object) -> object:
    if not isinstance(typed, str):
        return typed
    try:
        kept_for = span(typed, longest=timedelta(days=3660))
    except ValueError:
        kept_for = timedelta(0)
    if kept_for < timedelta(days=1):
        raise ValueError("must be a time between a day and ten years, written like 180 days")
    return kept_for


@cache  # read once by a process: it takes 13 ms
def certificates(file: Path) -> Path:
    """Accept a PEM file with the certificates of a company's own authority."""
    import ssl  # noqa: PLC0415 - it costs every start, few have an authority of their own

    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_verify_locations(file)
    except ssl.SSLError:
        raise ValueError("must name a file of certificates, in PEM") from None
    except OSError as error:
        raise ValueError(f"names a file that cannot be read ({error.strerror})") from None
    return file
