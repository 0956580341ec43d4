"""The command `demo`: a sample campaign at a sandbox, twice; or killed in the middle."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import chain, product
from pathlib import Path

import typer

from config.errors import command
from data.decisions.doubts import doubts
from data.sending.runs import deciding
from flows.cli import app
from flows.server import prefect_server
from sandbox.faults import late, lost
from sandbox.server import Sandbox

SAMPLE = Path(__file__).resolve().parent / "sample.yaml"
KEY = "backend-2026"
FIRST = ("Ada", "Barbara", "Donald", "Edsger", "Frances")
LAST = ("Allen", "Dijkstra", "Hamilton", "Hopper", "Knuth", "Liskov", "Lovelace", "Turing")
LOST = 5  # the number of the invitation whose answer is lost
KILLED = range(16, 24)  # the invitations in flight at kill -9; every second one arrives
PATIENCE = 300.0  # seconds in which a run has to send KILLED, even on a busy machine
PROGRAM = (sys.executable, "-c", "from flows.cli.app import main; main()")


def demo(
    crash: bool = typer.Option(
        False, "--crash", help="40 people: killed with -9 in the middle, settled, and counted."
    ),
) -> int:
    """See it work: a sample campaign against a sandbox, twice. No real email is sent.

    Example: campaign demo
    """
    with _sandbox() as (service, file):
        return _crash(service, file) if crash else _twice(service, file)


@contextmanager
def _sandbox() -> Iterator[tuple[Sandbox, Path]]:
    """A sandbox with a ledger and a Prefect of its own, and the sample campaign as a file."""
    with tempfile.TemporaryDirectory() as place, Sandbox(outbox=Path(place, "outbox")) as service:
        own = {"CAMPAIGN_DATABASE_URL": f"sqlite:///{place}/ledger.db", "PREFECT_HOME": place}
        os.environ.update(service.settings | own | {"XDG_DATA_HOME": place})
        file = Path(place, "backend.yaml")
        file.write_bytes(SAMPLE.read_bytes())
        print(f"A sandbox of the assessment service answers at {service.url}.", flush=True)
        with prefect_server() as ready:
            print("Getting Prefect ready …", flush=True)
            ready()
            yield service, file


def _twice(service: Sandbox, file: Path) -> int:
    code = app.run(["run", str(file), "--yes"])
    first = len(service.entries())
    print("\nThe outbox has one email for each:", flush=True)
    for email in _outbox(service):
        print(f"  {email}")
    print("\nEach one's link:", flush=True)
    app.run(["links", KEY])
    print("\nThe same command again:", flush=True)
    code = max(code, app.run(["run", str(file), "--yes"]))
    again = len(service.entries()) - first
    print(f"\nThe first run made {first} requests, the second {again}.")
    print("To write a campaign of your own, go on with Install in README.md.")
    return code


def _crash(service: Sandbox, file: Path) -> int:
    """Kill a run of 40 people, settle what is unsure, and count what the service did."""
    people, run = _of_40(file), ["run", str(file), "--yes"]
    print("40 people. One answer gets lost on its way, and then comes a kill -9.", flush=True)
    _killed(service, run)
    _typed("The same command goes on, and repeats nothing that may have happened.", run)
    _typed("What became of these, nobody can know.", ["settle", KEY])
    there = {*_outbox(service)}
    with deciding(KEY) as (session, campaign):
        doubtful = [doubt.email1 for doubt in doubts(session, campaign.id)]
    words = (("--sent" if each in there else "--again", each) for each in doubtful)
    why = ["--why", "Not in the outbox"]
    arrived = len(there.intersection(doubtful))
    look = f"Somebody looks into the outbox: {arrived} of these emails are there."
    _typed(look, ["settle", KEY, *why, *chain.from_iterable(words)])
    _typed("The same command once more.", run)
    emailed = _outbox(service)
    forgotten, twice = len({*people} - {*emailed}), len(emailed) - len({*emailed})
    print(f"\nThe service's own record: {len(people)} people, {len(emailed)} emails, ", end="")
    print(f"{forgotten} forgotten, {twice} twice.")
    return 0 if sorted(people) == sorted(emailed) else 1


def _of_40(file: Path) -> list[str]:
    """Put 40 people into the sample campaign; returns their addresses."""
    head, _, _ = file.read_text("utf-8").partition("  - {")
    names = {f"{first}.{last}@example.com": (first, last) for first, last in product(FIRST, LAST)}
    for email, (first, last) in names.items():
        head += f"  - {{first_name: {first}, last_name: {last}, email1: {email}}}\n"
    file.write_text(head, "utf-8")
    return [*names]


def _killed(service: Sandbox, run: Sequence[str]) -> None:
    """Run the campaign in a child process, and kill it before any of KILLED is answered."""
    unanswered = [replace(late(600, number), works=number % 2 == 0) for number in KILLED]
    service.faults["invite"] = [lost(LOST), *unanswered]
    print(f"\n$ {command(*run)}", flush=True)
    at_a_time = {"CAMPAIGN_INVITES_IN_FLIGHT": str(len(KILLED))}
    child = subprocess.Popen([*PROGRAM, *run], env=os.environ | at_a_time)  # noqa: S603 - our own
    try:
        service.wait_for(
            lambda seen: sum(each["op"] == "invite" for each in seen) >= KILLED[-1], PATIENCE
        )
    finally:
        child.kill()
        child.wait()
    print(f"*** kill -9, with {len(KILLED)} invitations in flight ***", flush=True)


def _typed(why: str, words: Sequence[str]) -> None:
    print(f"\n{why}\n\n$ {command(*words)}", flush=True)
    app.run(words)


def _outbox(service: Sandbox) -> list[str]:
    """The addresses of all emails, in order; whoever got two emails is there twice."""
    return [e["email"] for e in service.entries() if e["op"] == "invite" and e["worked"]]
