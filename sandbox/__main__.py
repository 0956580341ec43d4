"""`python -m sandbox`: the sandbox in a process of its own, until SIGTERM or SIGINT."""

import argparse
import json
import signal
import sys

from sandbox.faults.faults import Fault, faults_from_json
from sandbox.server import Sandbox
from sandbox.service.journal import FolderInUse

_STOPS = {signal.SIGTERM, signal.SIGINT}


def faults(text: str) -> list[Fault]:
    """Read the faults of the command line: a JSON list."""
    try:
        return faults_from_json(text)
    except ValueError as wrong:
        raise argparse.ArgumentTypeError(str(wrong)) from None


def arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("python -m sandbox", description=__doc__)
    add = parser.add_argument
    add("--host", default="127.0.0.1", help="address to listen on (default: this machine only)")
    add("--port", type=int, default=0, help="port to listen on (default: any free one)")
    add("--folder", help="where to keep the record and the outbox (default: not kept)")
    add("--latency", type=float, default=0.0, help="seconds each API call takes")
    add("--token-lifetime", type=int, default=86400, help="seconds a token is valid")
    add(
        "--max-candidates-per-request",
        type=int,
        help="adds with more candidates are answered with 413",
    )
    add("--faults", type=faults, default=[], help="JSON list, as for POST /sandbox/faults")
    return parser


def main() -> int:
    """Serve; prints one line of JSON with the address and the settings once it answers."""
    given = vars(arguments().parse_args())
    signal.pthread_sigmask(signal.SIG_BLOCK, _STOPS)  # before any thread, so that all inherit it
    try:
        with Sandbox(**given) as sandbox:
            ready = {"url": sandbox.url, "environment": sandbox.environment()}
            print(json.dumps(ready), flush=True)
            signal.sigwait(_STOPS)
    except (FolderInUse, OSError) as wrong:
        print(f"The sandbox could not start: {wrong}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
