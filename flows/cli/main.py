"""The command `campaign`: it prepares its own process first, before anything heavy is imported."""

import atexit
import gc
import os
import signal
import sys
from contextlib import suppress

# New objects between two looks for garbage; Python's own is 700. What a start imports stays:
# looking through it again and again took a fifth of a short command's time.
WHILE_STARTING, AT_WORK = 500_000, 50_000
_NO_ROOM = (
    "What is printed could not be written ({}), so the command ended. What it has done stays done. "
    "Make room, then type the command again."
)


def main() -> None:
    """Run the command that was typed and end with its exit code."""
    if sys.platform == "win32":  # no locks and signals as a ledger and a run need them
        sys.exit(
            "campaign does not run directly on Windows. Install it in WSL, the Linux inside "
            "Windows."
        )
    _open_every_stream()
    gc.set_threshold(WHILE_STARTING)  # most are over before there is garbage worth looking for
    atexit.register(gc.freeze)  # else everything would be looked through at the end
    # There are no pydantic plugins here, and a search for them reads about every package.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    from flows.cli.commands import carry_out
    from flows.words.speech import FULL, tolerate_every_encoding, unwritten

    tolerate_every_encoding()
    try:
        code = carry_out()
        sys.stdout.flush()
    except OSError as error:
        if not unwritten(error):
            raise
        # The reader has gone (`| head`, a closed terminal), or the disk is full: nothing more is
        # written, not even when Python flushes at exit.
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        if error.errno in FULL:
            with suppress(OSError):
                print(_NO_ROOM.format(error.strerror), file=sys.stderr, flush=True)
        os.dup2(nowhere, sys.stderr.fileno())
        code = 1
    # All is done and said: a Ctrl-C while Python takes itself apart shows no stack.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    sys.exit(code)


def _open_every_stream() -> None:
    """Let what was closed (`>&-`) lead nowhere, here and in the processes that are started from
    here; a file opened next, such as the ledger, would take its number, and be written to by
    whoever prints.
    """
    while (number := os.open(os.devnull, os.O_RDWR)) < 3:
        os.set_inheritable(number, True)
    os.close(number)
    sys.stdin = sys.stdin or os.fdopen(0)
    sys.stdout = sys.stdout or os.fdopen(1, "w")
    sys.stderr = sys.stderr or os.fdopen(2, "w")


def look_for_garbage() -> None:
    """Let a long command collect garbage again, once it has imported all it needs."""
    gc.freeze()
    gc.set_threshold(AT_WORK)
