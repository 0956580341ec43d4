"""The command `campaign`: it prepares its own process first, before anything heavy is imported."""

import errno
import os
import signal
import sys

from flows.cli import collector


def main() -> None:
    """Run the command that was typed and end with its exit code."""
    if sys.platform == "win32":  # no locks and signals as a ledger and a run need them
        sys.exit(
            "campaign does not run directly on Windows. Install it in WSL, the Linux inside "
            "Windows."
        )
    collector.put_off()
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
