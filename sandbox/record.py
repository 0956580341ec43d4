"""The record: one JSON line for each request, written before its answer leaves."""

import json
import threading
from collections.abc import Callable
from datetime import UTC, datetime
from errno import EINVAL
from pathlib import Path
from typing import Any

Entry = dict[str, Any]
"""n, at, op, method, path, project_id, candidate_id, body, worked, ids, email, status, fault."""


class Record:
    """A file of JSON lines that only grows.

    Raises OSError if it cannot be opened, or holds anything but JSON lines.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._entries: list[Entry] = []
        self._written = threading.Condition()
        path.parent.mkdir(parents=True, exist_ok=True)
        # Without a buffer, each line is in the file when write() returns.
        self._file = path.open("ab", buffering=0)
        self._read = 0
        try:
            self.count = len(self.entries())
        except ValueError:
            self.close()
            raise OSError(EINVAL, "it is not the record of a sandbox", str(path)) from None

    def write(self, entry: Entry) -> None:
        """Add a line, with its number and the time."""
        with self._written:
            self.count += 1
            at = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
            line = json.dumps({"n": self.count, "at": at, **entry}, separators=(",", ":"))
            self._file.write(line.encode() + b"\n")
            self._written.notify_all()

    def entries(self) -> list[Entry]:
        """All entries in the file, also from earlier starts."""
        with self._written:
            with self.path.open("rb") as file:
                file.seek(self._read)
                new = file.readlines()
            self._read += sum(map(len, new))
            self._entries += map(json.loads, new)
            return list(self._entries)

    def wait_for(self, condition: Callable[[list[Entry]], Any], seconds: float = 30) -> list[Entry]:
        """Wait until the entries are as wanted. Raises TimeoutError."""
        with self._written:
            if not self._written.wait_for(lambda: condition(self.entries()), seconds):
                raise TimeoutError(f"not so within {seconds} s; {self.count} requests came in")
            return self.entries()

    def close(self) -> None:
        self._file.close()
