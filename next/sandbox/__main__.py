"""`python -m sandbox`: the assessment service on your own machine, until Ctrl-C."""

import argparse
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
    """Serve until a signal. Returns the exit code: 2 for what cannot be used as it was typed."""
    given = _parser().parse_args(arguments)
    faults: dict[str, list[Fault]] = defaultdict(list)
    try:
        for text in given.fault:
            operation, fault = typed_fault(text)
            faults[operation].append(fault)
        sandbox = Sandbox(
            given.record,
            given.port,
            given.token_lifetime,
            host=given.host,
            outbox=given.outbox,
            **faults,
        )
        with sandbox as service:
            _serve(service)
    except ValueError as wrong:
        print(f"The sandbox answers at {service.url} and sends no email: see {service.url}/outbox")
    for name, value in service.settings.items():
        print(f"export {name}={shlex.quote(value)}")
    sys.stdout.flush()
    stopped.wait()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m sandbox", description=__doc__)
    parser.add_argument("--host", default="127.0.0.1", help="the address to listen on")
    parser.add_argument("--port", type=int, default=0, help="0, as by default, takes a free one")
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


if __name__ == "__main__":
    sys.exit(main())
