"""Which Prefect server a command uses, and Prefect's own server as a child of the command.

The first that there is: the server that PREFECT_API_URL names; the one that `campaign up` keeps on
this machine; a child of this process. Prefect reads its settings at import: use it before that.
A server of ours asks for a login and takes no page of another origin: an open one would execute
what strangers send it. The child is prefect_child.py.
"""

import fcntl
import os
import secrets
import select
import socket
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TextIO, cast

from platformdirs import user_data_path

from config.errors import CampaignError

HOST = "127.0.0.1"
STARTS_WITHIN = 600.0  # seconds; a fresh home took 24 s on a quiet machine
SETTINGS = {
    "DO_NOT_TRACK": "1",
    "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
    "PREFECT_RESULTS_PERSIST_BY_DEFAULT": "false",
    "PREFECT_LOGGING_HANDLERS_CONSOLE_LEVEL": "CRITICAL",  # the terminal is for our own words
    "PREFECT_LOGGING_INTERNAL_LEVEL": "CRITICAL",
    "PYTHONSAFEPATH": "1",  # nothing of the folder where somebody types is imported
}


class NoServer(CampaignError):
    """Prefect's server did not start, so nothing was sent. Its own words are in {log}.

    Type the same command again, or name a server with PREFECT_API_URL.
    """


class UpAlready(CampaignError):
    """`campaign up` is at work on this machine already, at {address}. Nothing was started."""


class PortTaken(CampaignError):
    """The port {port} is taken. Nothing was started. Choose another one: --port {other}"""


class Server:
    """Prefect's server as a process of its own, which ends when this one does, however it ends."""

    def __init__(self, listener: socket.socket, kind: str) -> None:
        self.address = f"http://{HOST}:{listener.getsockname()[1]}"
        self._listener, self._kind = listener, kind
        os.environ["PREFECT_API_URL"] = f"{self.address}/api"
        os.environ["PREFECT_API_AUTH_STRING"] = login()
        self.start()

    def start(self) -> None:
        """Start it, also again after it died; `wait` for it."""
        log, number = prefect_home() / "server.log", self._listener.fileno()
        origins = f"{self.address},{self.address.replace(HOST, 'localhost')}"
        with open(log, "ab", opener=_private) as said:
            self._process = subprocess.Popen(  # noqa: S603 - our own module
                [sys.executable, "-m", "flows.prefect_child", str(number), self._kind],
                stdin=subprocess.PIPE,  # closes when this process is gone
                stdout=subprocess.PIPE,
                stderr=said,
                pass_fds=[number],
                start_new_session=True,  # Ctrl-C is for us: it must hear how the runs ended
                env=os.environ
                | {
                    "PREFECT_SERVER_API_AUTH_STRING": login(),
                    "PREFECT_SERVER_CORS_ALLOWED_ORIGINS": origins,
                    "PREFECT_SERVER_CSRF_PROTECTION_ENABLED": "true",
                },
            )

    def wait(self) -> None:
        """Wait until it answers. Raises NoServer."""
        said = self._process.stdout
        if not said or not select.select([said], [], [], STARTS_WITHIN)[0] or not said.read(1):
            raise NoServer(log=prefect_home() / "server.log")

    @property
    def is_gone(self) -> bool:
        return self._process.poll() is not None

    def end(self) -> None:
        self._process.communicate()


@contextmanager
def prefect_server() -> Iterator[Callable[[], None]]:
    """Have Prefect use a server until the block ends; call what it gives before the first flow.

    That waits until the server answers, and raises NoServer: it starts while files are read.
    """
    _prepare()
    with (prefect_home() / "up").open("a+") as known:
        if "PREFECT_API_URL" in os.environ or _is_up(known):
            yield lambda: None
            return
    listener = socket.create_server((HOST, 0))
    with listener, _ended(Server(listener, "ephemeral")) as server:
        yield server.wait


@contextmanager
def standing_server(port: int) -> Iterator[Server]:
    """The server of `campaign up`, which other commands find. Raises UpAlready, PortTaken."""
    _prepare()
    with (prefect_home() / "up").open("a+") as known:
        if _is_up(known):
            raise UpAlready(address=os.environ["PREFECT_API_URL"].removesuffix("/api"))
        fcntl.flock(known, fcntl.LOCK_EX)
        try:
            listener = socket.create_server((HOST, port))
        except OSError:
            raise PortTaken(port=port, other=port + 1) from None
        with listener, _ended(Server(listener, "up")) as server:
            server.wait()
            known.truncate(0)
            known.write(server.address)
            known.flush()
            yield server


async def everything_recorded() -> None:
    """Send what Prefect still has to tell its server, which may end next."""
    from prefect.events.worker import EventsWorker  # noqa: PLC0415
    from prefect.logging.handlers import APILogHandler  # noqa: PLC0415

    await APILogHandler.aflush()
    await cast(Awaitable[object], EventsWorker.drain_all(at_exit=False))


def prefect_home() -> Path:
    """Where Prefect keeps its database: not ~/.prefect, which a newer Prefect may have changed."""
    default = user_data_path("hiring-campaigns", appauthor=False) / "prefect"
    home = Path(os.environ.get("PREFECT_HOME") or default).expanduser().absolute()
    home.mkdir(parents=True, exist_ok=True, mode=0o700)
    return home


def login() -> str:
    """The login of this person's servers: made once, in a file that only they can read."""
    path = prefect_home() / "login"
    with suppress(FileExistsError), open(path, "x", opener=_private) as file:
        file.write(f"campaign:{secrets.token_urlsafe(24)}")
    return path.read_text()


def _prepare() -> None:
    home = prefect_home()
    # Else Prefect looks for both in the working folder, and executes what the second one names.
    files = {
        "PREFECT_PROFILES_PATH": home / "profiles.toml",
        "PREFECT_LOGGING_SETTINGS_PATH": home / "logging.yml",
        "PREFECT_HOME": home,
    }
    for name, value in (SETTINGS | files).items():
        os.environ.setdefault(name, str(value))


def _is_up(known: TextIO) -> bool:
    """Whether a `campaign up` holds its file; if so, Prefect is set to use its server."""
    try:
        fcntl.flock(known, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        known.seek(0)
        os.environ["PREFECT_API_URL"] = f"{known.read()}/api"
        os.environ["PREFECT_API_AUTH_STRING"] = login()
        return True
    fcntl.flock(known, fcntl.LOCK_UN)
    return False


@contextmanager
def _ended(server: Server) -> Iterator[Server]:
    try:
        yield server
    finally:
        os.environ.pop("PREFECT_API_URL", None)
        server.end()


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)
