"""The sandbox's memory on disk: one JSON line per thing that happened, only ever appended."""

import fcntl
import json
import os
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

Line = dict[str, Any]


class Entry:
    """What is shown in GET /sandbox/record, field by field."""

    __slots__: tuple[str, ...] = ()

    def as_json(self) -> Line:
        """Describe it; times are texts in ISO format."""
        values = ((name, getattr(self, name)) for name in self.__slots__)
        return {
            name: value.isoformat() if isinstance(value, datetime) else value
            for name, value in values
        }


class FolderInUse(Exception):
    """Another sandbox is running on this folder."""


def own_folder(folder: Path) -> None:
    """Make a folder and what is missing above it, for their owner alone. Raises OSError."""
    for missing in reversed([path for path in (folder, *folder.parents) if not path.exists()]):
        missing.mkdir(0o700, exist_ok=True)


class Journal:
    """An append-only file of JSON lines that outlives being killed at any moment.

    Lines reach the operating system one by one and are not synced to the disk: a killed process
    loses nothing, a power cut may lose the last seconds.
    """

    def __init__(self, path: Path) -> None:
        """Open or create the file; raises FolderInUse while another sandbox holds it."""
        own_folder(path.parent)
        self.path = path
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self.close()
            raise FolderInUse(
                f"Another sandbox is running on {path.parent}; stop it or choose another folder"
            ) from None

    def lines(self) -> Iterator[Line]:
        """Read everything back, in order; a last line that was cut off is dropped for good."""
        whole = 0
        with self.path.open("rb") as file:
            for line in file:
                if not line.endswith(b"\n"):
                    os.ftruncate(self._file, whole)
                    return
                whole += len(line)
                yield json.loads(line)

    def write(self, line: Line) -> None:
        """Append one line; times become texts in ISO format."""
        text = json.dumps(line, separators=(",", ":"), default=datetime.isoformat)
        os.write(self._file, text.encode() + b"\n")

    def close(self) -> None:
        """Close the file and let another sandbox have the folder; safe to repeat."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1
