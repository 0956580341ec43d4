"""`campaign sandbox`: the assessment service on your own machine, until a person stops it: with
Ctrl-C, SIGTERM, or by closing the terminal.
"""

import shlex
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from config.command_line import command
from config.errors import CampaignError
from flows.cli.main import look_for_garbage
from flows.words.speech import say

if TYPE_CHECKING:
    from sandbox.faults.faults import Fault


STOPS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class SandboxCannotStart(CampaignError):
    """The sandbox's port or folder is in use, or cannot be used."""


Port = Annotated[
    int,
    typer.Option(
        min=0, max=65535, metavar="PORT", help="The port to listen on; 0 takes any free port."
    ),
]
Folder = Annotated[
    Path | None,
    typer.Option(
        metavar="FOLDER",
        help="Where it keeps its record and outbox; default: sandbox in the output folder.",
    ),
]
FaultsFile = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="How it should misbehave: a JSON list, see docs/sandbox.md."),
]


def sandbox(
    port: Port = 8700,
    folder: Folder = None,
    latency: Annotated[
        float, typer.Option(min=0.0, metavar="SECONDS", help="Seconds each call takes.")
    ] = 0.0,
    host: Annotated[
        str, typer.Option(metavar="ADDRESS", help="The address it listens on.")
    ] = "127.0.0.1",
    arena_elsewhere: Annotated[
        bool,
        typer.Option(
            "--arena-elsewhere", help="Serve the arena from another origin than the log-in."
        ),
    ] = False,
    faults: FaultsFile = None,
) -> None:
    """Run an assessment service on your own machine.

    It sends no real email and runs until stopped. It remembers its projects and
    candidates from one start to the next, as the ledger does.
    """
    from config.settings import load_local
    from sandbox.server import Sandbox
    from sandbox.service.journal import FolderInUse

    look_for_garbage()
    place = folder or load_local().output_dir / "sandbox"
    wrong = _read(faults) if faults else []
    service = Sandbox(
        place, host=host, port=port, latency=latency, faults=wrong, arena_elsewhere=arena_elsewhere
    )
    try:
        with until_stopped() as stopped, service as running:
            say(*_welcome(running.url, running.environment(), place))
            stopped.wait()
    except FolderInUse as error:
        another = command("sandbox", "--folder", "FOLDER", "--port", 0)
        raise SandboxCannotStart(f"{error}: {another}") from None
    except OSError as error:
        why = error.strerror or str(error)
        if error.filename is not None:  # a port has none
            raise SandboxCannotStart(_no_folder(place, why)) from None
        kept = ["--folder", folder] if folder else []
        raise SandboxCannotStart(
            f"The sandbox cannot start at {host}:{port} with the folder {place} "
            f"({why}). Another port: {command('sandbox', *kept, '--port', 0)}"
        ) from None
    say("The sandbox has stopped. What it received is kept.")


def _no_folder(place: Path, why: str) -> str:
    wrong = f"{place} is a file, not a folder" if place.is_file() else f"{place}: {why}"
    another = command("sandbox", "--folder", "FOLDER")
    return f"{wrong}. Nothing was started. Name a folder that you may write to: {another}"


def _read(file: Path) -> "list[Fault]":
    """Read how it shall misbehave. Raises BadParameter."""
    from sandbox.faults.faults import faults_from_json

    try:
        return faults_from_json(file.read_bytes())
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        raise typer.BadParameter(f"{file}: {why}", param_hint="--faults") from None


def _welcome(url: str, environment: dict[str, str], folder: Path) -> list[str]:
    """Say where it is and how to lead a campaign there; its secret opens nothing else."""
    settings = [f"  export {name}={shlex.quote(value)}" for name, value in environment.items()]
    return [
        f"The sandbox answers at {url} (its outbox is a page there). Ctrl-C stops it.",
        f"It keeps what it receives in {folder}.",
        "In another terminal, point campaigns at it with:",
        *settings,
        f"Then: {command('run', 'FILE')}",
    ]


@contextmanager
def until_stopped() -> Iterator[threading.Event]:
    """An event that a signal sets, while the block lasts; nothing is interrupted meanwhile."""
    stopped = threading.Event()
    before = {number: signal.signal(number, lambda *_: stopped.set()) for number in STOPS}
    try:
        yield stopped
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def tidily_stopped() -> Iterator[None]:
    """Let SIGTERM end the block as Ctrl-C does, so that what it set up is taken down."""
    from flows.run.interrupts import as_ctrl_c

    before = signal.signal(signal.SIGTERM, as_ctrl_c)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
