"""`campaign up`: Prefect's server with its pages, the schedules and the inbox, until stopped."""

import os
import shlex
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Annotated, Self

import typer

from config.command_line import command, shell_word
from config.errors import CampaignError
from flows.words.complaints import Mistyped
from flows.words.speech import complain, say

STARTS = 600.0  # seconds; a fresh home took 24 s on a quiet machine, minutes on a busy one
STOPS = 30.0
LOOKS = 1.0  # whether the server is still there
# The server is started again at most so many times in so many seconds.
RESTARTS, SHORT_TIME = 10, 600.0


class CannotStart(CampaignError):
    """The port is taken, or the server did not come up, or it went away."""


def instead_of(typed: Path) -> str:
    """Say what fits: the folder around a file, or around what is called like one; else a folder of
    the right name, or one that is begun."""
    from config.reading.sources import TABLES, YAML, suffix_of

    is_file = typed.is_file() or suffix_of(typed) in (*YAML, *TABLES)
    folder = typed.parent if is_file else typed
    if folder.is_dir():
        return f"Type the folder of your campaigns: {command('up', folder)}"
    begun = ["mkdir", *([] if folder.parent.is_dir() else ["-p"]), str(folder)]
    return (
        "Correct the name of the folder, or create it: "
        f"{shlex.join(begun)}, then {command('up', folder)}"
    )


def up(
    folder: Annotated[
        Path | None,
        typer.Argument(
            metavar="FOLDER",
            help="The folder of your campaigns; its folder inbox is watched. Default: campaigns.",
        ),
    ] = None,
    port: Annotated[
        int, typer.Option(min=1, max=65535, metavar="PORT", help="The port of Prefect's pages.")
    ] = 4200,
) -> None:
    """Start Prefect's pages, the schedules and the inbox.

    Runs until Ctrl-C, which stops all of it. You can start every campaign in FOLDER from
    Prefect's pages. A campaign with a schedule runs by itself, and so does what you put into the
    inbox.
    """
    from config.settings import load_local
    from flows.engine.prefect_settings import prepare
    from flows.run.interrupts import as_ctrl_c

    if folder is not None and not folder.is_dir():
        is_file = folder.is_file()
        wrong = f"{folder} is a file, not a folder" if is_file else f"There is no folder {folder}"
        raise Mistyped(f"{wrong}. Nothing was made or started. {instead_of(folder)}")
    folder = folder or Path("campaigns")
    inbox = folder / "inbox"
    _make(inbox)
    _check_free(folder, port)
    address = f"http://127.0.0.1:{port}"
    # Both: with a port alone, the pages would go on asking at 4200.
    os.environ["PREFECT_API_URL"] = f"{address}/api"
    os.environ["PREFECT_SERVER_API_PORT"] = str(port)
    prepare(quiet=False)
    log = load_local().output_dir / "prefect-server.log"
    say(f"Starting Prefect at {address} …")
    # Until runs are served, to be told to stop is the same as Ctrl-C.
    signal.signal(signal.SIGTERM, as_ctrl_c)
    with _login(port) as login, Server(port, log, login) as server:
        server.wait(address)
        say(f"Its pages ask for a login. Paste there: {login}")
        from flows.cli.serve.serve import serve_all
        from flows.serving.deployments import of_inbox

        with _watching(server):
            serve_all([folder], None, of_inbox(inbox))
        if server.is_gone:
            raise CannotStart(f"Prefect's server stopped unexpectedly; see {log}.")


def _make(inbox: Path) -> None:
    """Make the inbox, and see that runs can write reports into it. Raises Mistyped."""
    from config.reading.starter import free

    if inbox.is_file():
        away = shlex.join(["mv", *map(shell_word, (inbox, free(inbox)))])
        raise Mistyped(
            f"{inbox} is a file, but the inbox is a folder of this name. Nothing was started. "
            f"Rename the file: {away}, then {command('up', inbox.parent)}"
        )
    try:
        inbox.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=inbox):
            pass
    except OSError as error:
        why = error.strerror or "unknown cause"
        raise Mistyped(
            f"{inbox} cannot be the inbox ({why}). Nothing was started. Name a folder that you may "
            f"write to: {command('up', 'FOLDER')}"
        ) from None


def _check_free(folder: Path, port: int) -> None:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            raise CannotStart(
                f"The port {port} is taken. To use the Prefect server there, type: "
                f"PREFECT_API_URL=http://127.0.0.1:{port}/api {command('serve', folder)}. "
                f"Otherwise take another port: {command('up', folder, '--port', port + 1)}"
            ) from None


@contextmanager
def _login(port: int) -> Iterator[str]:
    """The server's login, as a person set it or as it was made for this port, for all our runs."""
    from flows.engine.login import KEPT, OF_CLIENTS, OF_SERVERS, kept

    with ExitStack() as held:
        try:
            login = os.environ.get(OF_SERVERS) or held.enter_context(kept(port))
        except OSError as error:
            raise CannotStart(
                f"The login of Prefect's pages cannot be stored in {KEPT} ({error.strerror})."
            ) from None
        os.environ[OF_CLIENTS] = login
        yield login


class Server:
    """Prefect's server as a process of its own, ended after everything that speaks to it."""

    def __init__(self, port: int, log: Path, login: str) -> None:
        self._port, self._log, self._login = port, log, login
        self._starts: list[float] = []

    def __enter__(self) -> Self:
        from data.own_files import make_folder

        make_folder(self._log.parent)
        if self._log.exists():  # its last words may say why it died
            self._log.replace(self._log.with_suffix(".old.log"))
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        try:
            self._process.wait(STOPS)
        except subprocess.TimeoutExpired:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()

    @property
    def is_gone(self) -> bool:
        return self._process.poll() is not None

    def start(self) -> None:
        """Start its process; what it says is added to its log."""
        from config.settings import load_local
        from data.own_files import OWN
        from flows.engine.child_process import start_child
        from flows.engine.login import guarded
        from flows.engine.prefect_settings import kept_for

        command = [sys.executable, "-m", "flows.engine.prefect_server", str(self._port)]
        with open(self._log, "ab", opener=lambda path, flags: os.open(path, flags, OWN)) as words:
            self._process = start_child(
                command,
                stdout=words,
                stderr=words,
                # Ctrl-C is for us: the server must hear how the runs ended before it ends.
                start_new_session=True,
                env=kept_for(load_local().keep) | guarded(self._login, self._port),
            )
        self._starts.append(time.monotonic())

    def wait(self, address: str) -> None:
        """Wait until it answers. Raises CannotStart."""
        from flows.cli.serve import serve

        ends = time.monotonic() + STARTS
        while not self.is_gone and time.monotonic() < ends:
            if serve.look_at(f"{address}/api") is not serve.Server.SILENT:
                return
            time.sleep(0.2)
        raise CannotStart(f"Prefect's server did not start; see {self._log}.")

    def dies_again_and_again(self) -> bool:
        """Whether it was started so often in a short time that it is not started once more."""
        return len([at for at in self._starts if time.monotonic() - at < SHORT_TIME]) > RESTARTS


@contextmanager
def _watching(server: Server) -> Iterator[None]:
    """Start the server again where it dies; runs under way go on meanwhile.

    Where it dies again and again this process has nothing to do: it stops as if it was told to.
    """
    over = threading.Event()

    def look() -> None:
        while not over.wait(LOOKS):
            if not server.is_gone:
                continue
            if server.dies_again_and_again():
                os.kill(os.getpid(), signal.SIGTERM)
                return
            complain("Prefect's server stopped unexpectedly and is started again.")
            server.start()

    watching = threading.Thread(target=look)
    watching.start()
    try:
        yield
    finally:
        over.set()
        watching.join()
