"""Ctrl-C while the program is being loaded. app.py imports this module before all others."""

import os
import signal
import sys


def end(*_: object) -> None:
    """End at once. Nothing has begun, so nothing is left to be cleaned up."""
    os.write(2, b"\nInterrupted before anything began. Nothing was sent.\n")
    os._exit(130)


if sys.argv[0].endswith("campaign") and signal.getsignal(signal.SIGINT) != signal.SIG_IGN:
    signal.signal(signal.SIGINT, end)
