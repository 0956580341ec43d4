"""`python -m sandbox`: the assessment service on your own machine, until Ctrl-C."""

import argparse
import os
import shlex
import signal
import sys
import threading
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

from sandbox.faults import Fault
from sandbox.server import Sandbox
from sandbox.switchboard import typed_fault


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve until a signal. Returns the exit code: 2 if what was typed cannot be used, else 0."""
    given = _parser().parse_args(arguments)
    os.umask(0o077)  # people may practise with real names
    faults: dict[str, list[Fault]] = defaultdict(list)
    try:
        for text in given.fault:
            operation, fault = typed_fault(text)
            faults[operation].append(fault)
    except ValueError as wrong:
        return _refuse(f"--fault: {wrong}")
    try:
        with Sandbox(
            given.record,
            given.port,
            given.token_lifetime,
            host=given.host,
            outbox=given.outbox,
            **faults,
        ) as service:
            _serve(service)
    except OSError as wrong:
        where = wrong.filename or f"{given.host}:{given.port}"
        return _refuse(f"The sandbox cannot use {where}: {wrong.strerror}")
    return 0


def _refuse(why: str) -> int:
    print(f"{why}.", file=sys.stderr)
    return 2


def _serve(service: Sandbox) -> None:
    stopped = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stopped.set())
    print(f"The sandbox answers at {service.url} and sends no email: see {service.url}/outbox")
    for name, value in service.settings.items():
        print(f"export {name}={shlex.quote(value)}")
    sys.stdout.flush()
    stopped.wait()


def _parser() -> argparse.ArgumentParser:
    about = "The assessment service on your own machine, until Ctrl-C."
    parser = argparse.ArgumentParser(prog="python -m sandbox", description=about)
    parser.add_argument("--host", default="127.0.0.1", help="the address to listen on")
    parser.add_argument("--port", type=_port, default=0, help="0, as by default, takes a free one")
    parser.add_argument("--record", type=Path, help="the record: a file that grows by JSON lines")
    parser.add_argument("--outbox", type=Path, help="a folder for the emails, as .eml files")
    parser.add_argument("--token-lifetime", type=int, default=86400, metavar="SECONDS")
    parser.add_argument(
        "--fault",
        action="append",
        default=[],
        metavar="OPERATION=KIND[:at[:times]]",
        help="what goes wrong, as in invite=lost:3 (may be given several times)",
    )
    return parser


def _port(text: str) -> int:
    if not text.isdecimal() or int(text) > 65535:
        raise argparse.ArgumentTypeError(f"{text!r} is no number from 0 to 65535")
    return int(text)


if __name__ == "__main__":
    sys.exit(main())
