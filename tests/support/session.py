"""What the workers of one session of tests share: a folder, in memory if there is enough of it."""

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

PLACE = "CAMPAIGN_TESTS_SESSION"  # names the folder to every worker
# Seconds after which whatever is awaited will not come. A wait ends with what it waits for: this is
# for what never does, and not a measure of how fast a machine with other work is.
PATIENCE = 1200.0
MEMORY = Path("/dev/shm")  # a container's may be 64 MB
ENOUGH = 2 * 2**30  # bytes; a whole session leaves a quarter of one GiB


def memory() -> Path | None:
    """Where files cost no wait for the disk, if there is room."""
    roomy = os.access(MEMORY, os.W_OK) and shutil.disk_usage(MEMORY).free > ENOUGH
    return MEMORY if roomy else None


def begin_session() -> None:
    """Make the folder, before there are workers."""
    # Hundreds of processes begin here, and each would compile all that it imports.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    os.environ[PLACE] = tempfile.mkdtemp(prefix="tests-session-", dir=memory())
    Path(os.environ[PLACE]).chmod(0o755)  # root's PostgreSQL runs as somebody else
    # What is begun for a whole session, and before any test has a data directory of its own.
    os.environ["XDG_DATA_HOME"] = str(shared() / "data-directory")


def shared() -> Path:
    return Path(os.environ[PLACE])


def end_session() -> None:
    shutil.rmtree(os.environ.pop(PLACE), ignore_errors=True)


@contextmanager
def alone_with(name: str) -> Iterator[Path]:
    """Something in the folder, which no other worker makes at the same moment."""
    with (shared() / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield shared() / name
