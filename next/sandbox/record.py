"""The record: every request that came in, one JSON line each, written before its answer leaves."""

import json
import threading
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

Entry = dict[str, Any]
"""n, at, op, method, path, project_id, candidate_id, body, worked, ids, email, status, fault."""


class UnreadableRecord(Exception):
    """A file was given as the record that is none."""


class Record:
    """A file of JSON lines that only grows.

    Raises OSError when it cannot be opened, UnreadableRecord when it holds something else.

    A last line that was cut off, by a full disk or a power cut, is left out.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._entries: list[Entry] = []
        self._written = threading.Condition()
        path.parent.mkdir(parents=True, exist_ok=True)
        # Without a buffer of its own: each line is in the file when write() returns.
        self._file = path.open("ab", buffering=0)
        self._reader = path.open("rb")
        self._rest = b""
        try:
            self.count = len(self.entries())
        except ValueError:
            raise UnreadableRecord(f"{path} is not the record of a sandbox") from None
        if self._rest:
            self._file.truncate(path.stat().st_size - len(self._rest))
            self._rest = b""

    def write(self, entry: Entry) -> None:
        """Add a line, with its number and the time."""
        with self._written:
            self.count += 1
            at = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
            line = json.dumps({"n": self.count, "at": at, **entry}, separators=(",", ":"))
            self._file.write(line.encode() + b"\n")
            self._written.notify_all()

    def entries(self) -> list[Entry]:
        """Everything that is in the file so far, also of earlier starts."""
        with self._written:
            *lines, self._rest = (self._rest + self._reader.read()).split(b"\n")
            self._entries += [json.loads(line) for line in lines]
            return list(self._entries)

    def wait_for(self, condition: Callable[[list[Entry]], Any], seconds: float = 30) -> list[Entry]:
        """Wait until the entries are as wanted. Raises TimeoutError."""
        with self._written:
            if not self._written.wait_for(lambda: condition(self.entries()), seconds):
                raise TimeoutError(f"not so within {seconds} s; {self.count} requests came in")
            return self.entries()

    def close(self) -> None:
        self._file.close()
        self._reader.close()
