"""`campaign demo`: the sample campaign through the real flow, against the sandbox."""

import os
import shlex
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from shutil import which
from typing import TYPE_CHECKING

import config
from config.command_line import command
from config.errors import CampaignError
from flows.cli.ledgers import campaign_as_it_is
from flows.words.speech import counted, say, say_table

if TYPE_CHECKING:
    from sandbox.server import Sandbox

SAMPLE = Path(config.__file__).parent / "examples" / "backend.yaml"
KEY = "backend-2026"
PORTS = range(8701, 8711)
LEDGER = "ledger.db"


class DemoFailed(CampaignError):
    """The demo did not come to its end as it should."""


def demo() -> None:
    """See it work: a sample campaign against a sandbox.

    It sends no real email. Its ledger and outbox stay, so a second demo sends nothing.
    """
    from flows.engine.temporary_server import temporary_server

    # One Prefect server for both runs, with a record of its own.
    with _sandbox() as (service, folder), _settings(service, folder), temporary_server():
        # A copy beside the demo's ledger: a receipt of it stays with that ledger.
        sample = folder / SAMPLE.name
        sample.write_bytes(SAMPLE.read_bytes())
        say(
            f"A sandbox of the assessment service answers at {service.url}; no real email is sent.",
            f"The campaign: {sample}",
            "",
        )
        first = _run(service, sample)
        say("", f"The outbox; each email is an .eml file in {folder / 'sandbox' / 'outbox'}:", "")
        say_table(["no.", "to"], [(mail.number, mail.email) for mail in service.record.invitations])
        _show_links()
        say("", "The same command again:", "")
        second = _run(service, sample)
        say(
            "",
            f"The first run sent {counted(first, 'request')}, "
            f"the second {counted(second, 'request')}: nobody is invited twice.",
        )
        if second:
            raise DemoFailed("The second run should have sent nothing.")
    port = service.url.rpartition(":")[2]
    look = _typed("sandbox", "--port", port, "--folder", folder / "sandbox")
    say(
        "",
        f"To see the outbox in a browser: {look}",
        f"To write a campaign of your own: {_typed('new', 'hiring.yaml')}",
    )


def _typed(*words: object) -> str:
    """Write what to type, also where the environment of this program is not on the PATH."""
    written = command(*words)
    if which("campaign"):
        return written
    return written.replace("campaign", shlex.quote(sys.argv[0]), 1)


@contextmanager
def _sandbox() -> "Iterator[tuple[Sandbox, Path]]":
    """A sandbox at a free port, with a folder that belongs to this port.

    A ledger takes another address for another service, so each port has a ledger of its own. A
    port at which a demo has run comes first, so that a second demo goes on there.
    """
    from config.settings import load_local
    from sandbox.server import Sandbox
    from sandbox.service.journal import FolderInUse

    everything = load_local().output_dir / "demo"
    with ExitStack() as stack:
        for port in sorted(PORTS, key=lambda port: not (everything / str(port) / LEDGER).exists()):
            folder = everything / str(port)
            try:
                service = stack.enter_context(Sandbox(folder / "sandbox", port=port))
            except (FolderInUse, OSError):
                continue
            yield service, folder
            return
    raise DemoFailed(
        f"The demo needs a free port from {PORTS[0]} to {PORTS[-1]}, and a folder at {everything} "
        "that it may write to. You can name another folder in CAMPAIGN_OUTPUT_DIR."
    )


@contextmanager
def _settings(service: "Sandbox", folder: Path) -> Iterator[None]:
    """Set the environment of this process: the sandbox, and the demo's own ledger and Prefect."""
    before = dict(os.environ)
    for name in [name for name in os.environ if name.startswith("PREFECT_")]:
        del os.environ[name]
    os.environ["PREFECT_HOME"] = str(folder / "prefect")
    os.environ["PREFECT_PROFILES_PATH"] = str(folder / "prefect" / "profiles.toml")
    os.environ.update(service.environment())
    os.environ["CAMPAIGN_DATABASE_URL"] = f"sqlite:///{folder / LEDGER}"
    os.environ["CAMPAIGN_OUTPUT_DIR"] = str(folder)
    os.environ["XDG_DATA_HOME"] = str(folder)  # copies of its receipts are gone with its ledger
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def _run(service: "Sandbox", sample: Path) -> int:
    """Run the sample campaign; returns how many requests the service received for it."""
    from flows.cli.reading import TypedFile
    from flows.cli.run.sending import run_files

    before = service.api_requests()
    if run_files([TypedFile(sample, goes_on=False)]):
        raise DemoFailed("The demo's campaign did not complete; the lines above say why.")
    return service.api_requests() - before


def _show_links() -> None:
    from tasks.outputs.links import links_of

    with campaign_as_it_is(KEY) as (ledger, campaign):
        links = links_of(ledger, campaign)
    say("", "The links, an embed URL for each candidate:", "")
    # No table: a narrow terminal would break the addresses in two.
    say(*(f"  {link.email1:<22} {link.embed_url}" for link in links))
