"""Ctrl-C while the program is still being loaded: app.py imports this before everything else."""

import os
import signal
import sys


def end(*_: object) -> None:
    """End at once. Nothing has begun, so nothing is left to be cleaned up."""
    os.write(2, b"\nInterrupted before anything began. Nothing was sent.\n")
    os._exit(130)


def loaded() -> None:
    """From here on Ctrl-C is an exception, which ends a command with its own sentence."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


if sys.argv[0].endswith("campaign") and signal.getsignal(signal.SIGINT) != signal.SIG_IGN:
    signal.signal(signal.SIGINT, end)
