"""Which Prefect server a command uses, and a server of our own as a child of the command.

A command uses the server that PREFECT_API_URL names, else the server of `campaign up` on this
machine, else its own. Prefect reads its settings when imported, so the server is chosen before. A
server of ours wants a login and answers no page of another origin, so that no stranger runs code.
`python -m flows.server SOCKET KIND` is the child.
"""

import asyncio
import fcntl
import os
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress

from config.errors import CampaignError
from flows.prefect_home import import_prefect, login, open_private, prefect_home, prepare

HOST = "127.0.0.1"
STARTS_WITHIN = 600.0  # seconds; a fresh home took 24 s on a quiet machine
ENDS_WITHIN = 5.0


class NoServer(CampaignError):
    says = "Prefect's server did not start, so nothing was sent. Its own words are in {log}."
    then = "Type the same command again, or name a server with PREFECT_API_URL."


class NoAnswer(CampaignError):
    says = """Prefect's server at {address} does not answer. Nothing was sent. Start it, or
    unset PREFECT_API_URL."""


class UpAlready(CampaignError):
    says = "`campaign up` is at work on this machine already, at {address}. Nothing was started."


class PortTaken(CampaignError):
    says = "The port {port} is taken. Nothing was started. Choose another one: --port {other}"


class Server:
    """Prefect's server as a child process, which ends with this process, even after kill -9."""

    def __init__(self, listener: socket.socket, kind: str) -> None:
        self.address = f"http://{HOST}:{listener.getsockname()[1]}"
        self._listener, self._kind, self._answers = listener, kind, False
        _use(self.address)
        self.start()

    def start(self) -> None:
        """Start the server, or start it again after it has died. Then `wait` for it."""
        path, number = prefect_home() / "server.log", self._listener.fileno()
        origins = f"{self.address},{self.address.replace(HOST, 'localhost')}"
        with open(path, "ab", opener=open_private) as log:
            self._process = subprocess.Popen(  # noqa: S603 - our own module
                [sys.executable, "-m", "flows.server", str(number), self._kind],
                stdin=subprocess.PIPE,  # closed when this process ends; then the server ends
                stdout=subprocess.PIPE,
                stderr=log,
                cwd=prefect_home(),
                pass_fds=[number],
                start_new_session=True,  # Ctrl-C does not reach the server, which outlives the runs
                env=os.environ
                | {
                    "PREFECT_SERVER_API_AUTH_STRING": login(),
                    "PREFECT_SERVER_CORS_ALLOWED_ORIGINS": origins,
                },
            )

    def wait(self) -> None:
        """Wait until the server answers. Raises NoServer."""
        ready = self._process.stdout
        if not (ready and select.select([ready], [], [], STARTS_WITHIN)[0] and ready.read(1)):
            raise NoServer(log=prefect_home() / "server.log")
        self._answers = True

    def is_gone(self) -> bool:
        return self._process.poll() is not None

    def close(self) -> None:
        os.environ.pop("PREFECT_API_URL", None)
        if self._answers or self._process.stdin is None:
            self._process.communicate()
        else:  # a server that is still starting ends by itself once it has started
            self._process.stdin.close()


@contextmanager
def prefect_server() -> Iterator[Callable[[], None]]:
    """Have Prefect use a server until the block ends.

    Before the first flow, call the function that is yielded: it waits until the server answers, and
    raises NoServer or NoAnswer. Until that call, the server starts while the command reads files.
    """
    prepare()
    if not os.environ.get("PREFECT_API_URL") and (address := _standing()):
        _use(address)
    if os.environ.get("PREFECT_API_URL"):
        yield see_it_answer
        return
    listener = socket.create_server((HOST, 0))
    with listener, closing(Server(listener, "ephemeral")) as server:

        def ready() -> None:
            import_prefect()  # takes a second or two, while the server starts
            server.wait()

        yield ready


@contextmanager
def standing_server(port: int) -> Iterator[Server | None]:
    """Start the server of `campaign up`. Yields None if PREFECT_API_URL names a server to use.

    Raises UpAlready, PortTaken, NoServer, NoAnswer.
    """
    prepare()
    if os.environ.get("PREFECT_API_URL"):
        see_it_answer()
        yield None
        return
    with open(prefect_home() / "up", "a+", opener=open_private) as address_file:
        try:
            fcntl.flock(address_file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise UpAlready(address=_standing() or "an address to come") from None
        address_file.truncate(0)
        with listening(HOST, port) as listener, closing(Server(listener, "up")) as server:
            import_prefect()
            server.wait()
            print(server.address, end="", file=address_file, flush=True)
            yield server


def listening(host: str, port: int) -> socket.socket:
    """Listen at a port. Raises PortTaken."""
    try:
        return socket.create_server((host, port))
    except OSError:
        raise PortTaken(port=port, other=port % 65535 + 1) from None


def _standing() -> str | None:
    """The address of the server of `campaign up`, empty while that starts; None: no such server."""
    with open(prefect_home() / "up", "a+", opener=open_private) as address_file:
        try:
            fcntl.flock(address_file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            address_file.seek(0)
            return address_file.read()
    return None


async def is_away() -> bool:
    """Whether the server that Prefect uses does not answer."""
    from prefect.client.orchestration import get_client  # noqa: PLC0415 - after `prepare`

    async with get_client() as client:
        return await client.api_healthcheck() is not None


def see_it_answer() -> None:
    """Raise NoAnswer if the server that PREFECT_API_URL names does not answer."""
    import_prefect()
    if asyncio.run(is_away()):
        raise NoAnswer(address=os.environ["PREFECT_API_URL"])


def _use(address: str) -> None:
    os.environ |= {"PREFECT_API_URL": f"{address}/api", "PREFECT_API_AUTH_STRING": login()}


def main(socket_number: int, kind: str) -> None:
    """Run Prefect's server at the parent's socket until the parent ends it, or is gone."""
    # systemd signals all processes at once. This process must outlive the runs, which tell
    # the server how they ended. So only the parent ends this process, by closing standard input.
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    listener = socket.socket(fileno=socket_number)

    import uvicorn  # noqa: PLC0415
    from prefect.server.api.server import create_app  # noqa: PLC0415
    from starlette.middleware.trustedhost import TrustedHostMiddleware  # noqa: PLC0415

    app = create_app(ephemeral=kind == "ephemeral")
    # A stranger's host name may point to this machine: only these two names are answered.
    known = TrustedHostMiddleware(app, [HOST, "localhost"])
    server = uvicorn.Server(uvicorn.Config(known, log_level="error"))
    # A thread gets no signal, and as a daemon it ends with this process.
    serving = threading.Thread(target=server.run, args=([listener],), daemon=True)
    with open(prefect_home() / "tables.lock", "a", opener=open_private) as alone:
        fcntl.flock(alone, fcntl.LOCK_EX)  # two servers must not make the tables of a home at once
        serving.start()
        while not server.started and serving.is_alive():
            time.sleep(0.02)
    if server.started:
        with suppress(BrokenPipeError):  # the parent is gone
            os.write(sys.stdout.fileno(), b"!")
        os.read(sys.stdin.fileno(), 1)  # returns when the parent has closed it, or is gone
    server.should_exit = True
    serving.join(ENDS_WITHIN)
    os._exit(0)  # some of Prefect's services never end


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2])
