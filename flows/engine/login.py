"""Who may use a Prefect server that we started: only those who have its login.

Such a server starts shell commands for whoever asks it to, shows what blocks keep, and takes
approvals. Without a login every user of the machine may ask, and so may any page that is open in a
browser.
"""

import fcntl
import os
import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from urllib.parse import urlsplit

from platformdirs import user_data_path

from data.own_files import make_folder

OF_SERVERS = "PREFECT_SERVER_API_AUTH_STRING"
OF_CLIENTS = "PREFECT_API_AUTH_STRING"
HOSTS = ("127.0.0.1", "localhost")  # what a browser may call it; any other name led it here
KEPT = user_data_path("hiring-campaigns", appauthor=False) / "logins"
_LOGIN = re.compile(r"campaign:[\w-]{32}")


def made() -> str:
    """A login that nobody can guess, in the form that Prefect asks for."""
    return f"campaign:{secrets.token_urlsafe(24)}"


def guarded(login: str, port: int | None = None) -> dict[str, str]:
    """The environment of a server that only those with the login may use.

    `port` is where its pages are; without it there are none, so no origin may use it.
    """
    origins = [f"http://{host}:{port}" for host in HOSTS] if port else ["http://127.0.0.1"]
    return os.environ | {
        OF_SERVERS: login,
        "PREFECT_SERVER_CORS_ALLOWED_ORIGINS": ",".join(origins),
        "PREFECT_SERVER_CSRF_PROTECTION_ENABLED": "true",
    }


@contextmanager
def kept(port: int) -> Iterator[str]:
    """The login of the server at this port: made once, in a file that only its owner can read.

    Other commands of the same person find it as long as the block lasts. Raises OSError.
    """
    make_folder(KEPT)
    number = os.open(KEPT / str(port), os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
    with os.fdopen(number, "r+", encoding="ascii") as file:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if not _LOGIN.fullmatch(login := file.read()):
            login = made()
            file.seek(0)
            file.truncate()
            file.write(login)
            file.flush()
        yield login


def of(api: str) -> str | None:
    """The login of the server at this address, where it is our own and at work.

    Another program that has taken the port since does not get it: only `kept` holds the lock.
    """
    address = urlsplit(api)
    with suppress(OSError, ValueError):
        if address.hostname in HOSTS:
            with (KEPT / str(address.port)).open(encoding="ascii") as file:
                try:
                    fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
                except BlockingIOError:
                    return file.read()
    return None
