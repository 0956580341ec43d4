"""Write files as a whole: nobody reads half a file, and a failure leaves the old one."""

import os
import tempfile
import time
from contextlib import suppress
from pathlib import Path


def replace(path: Path, content: bytes, mode: int = 0o600) -> None:
    """Write a whole file durably, with these permissions. Its time is set into the past, so that
    `read_file` (config) does not wait until the file is at rest.

    Raises OSError, and leaves an older file as it was.
    """
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    number, begun = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name[:50]}.")
    try:
        with os.fdopen(number, "wb") as file:
            file.write(content)
            file.flush()
            os.fchmod(number, mode)
            os.utime(number, (time.time() - 2,) * 2)
            os.fsync(number)
        Path(begun).replace(path)
    except OSError:
        Path(begun).unlink(missing_ok=True)
        raise
    folder = os.open(path.parent, os.O_RDONLY)
    with suppress(OSError):  # some file systems cannot sync a folder
        os.fsync(folder)
    os.close(folder)
