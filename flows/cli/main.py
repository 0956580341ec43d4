"""The command `campaign`: it prepares its own process first, before anything heavy is imported."""

import atexit
import errno
import gc
import os
import signal
import sys

# New objects between two looks for garbage; Python's own is 700. What a start imports stays:
# looking through it again and again took a fifth of a short command's time.
WHILE_STARTING, AT_WORK = 500_000, 50_000


def main() -> None:
    """Run the command that was typed and end with its exit code."""
    if sys.platform == "win32":  # no locks and signals as a ledger and a run need them
        sys.exit(
            "campaign does not run directly on Windows. Install it in WSL, the Linux inside "
            "Windows."
        )
    gc.set_threshold(WHILE_STARTING)  # most are over before there is garbage worth looking for
    atexit.register(gc.freeze)  # else everything would be looked through at the end
    # There are no pydantic plugins here, and a search for them reads about every package.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    from flows.cli.commands import carry_out
    from flows.words.speech import tolerate_every_encoding

    tolerate_every_encoding()
    try:
        code = carry_out()
        sys.stdout.flush()
    except OSError as error:
        if error.errno not in (errno.EPIPE, errno.EIO):
            raise
        # The reader has gone (`| head`, a closed terminal): nothing more is written, not even
        # when Python flushes at exit.
        nowhere = os.open(os.devnull, os.O_WRONLY)
        for stream in (sys.stdout, sys.stderr):
            os.dup2(nowhere, stream.fileno())
        code = 1
    # All is done and said: a Ctrl-C while Python takes itself apart shows no stack.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    sys.exit(code)


def look_for_garbage() -> None:
    """Let a long command collect garbage again, once it has imported all it needs."""
    gc.freeze()
    gc.set_threshold(AT_WORK)
