"""The assessment service of a test: the sandbox, and what it says about whom it has written to.

service = sandbox(invite=lost(3), add=status(503))
service.entries("invite")       the record: every request that arrived, oldest first
service.invited()               the addresses that got an email, one for each email
service.faults["invite"] = None     the cause is fixed
"""

from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sandbox.server import Sandbox

CHANGES = ("create", "attach", "add", "invite")
Entry = dict[str, Any]


class Service:
    """A sandbox in this process, running until the test ends."""

    def __init__(self, place: Path, **options: Any) -> None:
        place.mkdir()
        self.sandbox = Sandbox(record=place / "record.jsonl", **options)
        self.sandbox.__enter__()
        self.settings: dict[str, str] = self.sandbox.settings
        self.faults: dict[str, Any] = self.sandbox.faults
        self.url: str = self.sandbox.url

    def entries(self, *operations: str) -> list[Entry]:
        """All requests so far, or those of some operations (sandbox/record.py has the fields)."""
        entries = self.sandbox.entries()
        return [each for each in entries if not operations or each["op"] in operations]

    def changes(self) -> list[Entry]:
        """The requests that may have changed something."""
        return self.entries(*CHANGES)

    def arrived(self, operation: str, number: int) -> bool:
        """Whether so many requests of an operation have arrived."""
        return len(self.entries(operation)) >= number

    def invited(self) -> list[str]:
        """Whoever got an email, in order; twice in here is twice in their mailbox."""
        return [each["email"] for each in self.entries("invite") if each["worked"]]

    def emails_to(self, address: str) -> int:
        return self.invited().count(address)

    def added(self) -> list[str]:
        """The addresses that are in a project, one for each time that they were added."""
        return [email for each in self.entries("add") if each["worked"] for email in each["ids"]]

    def twice(self) -> list[str]:
        """Whoever got more than one email."""
        return [email for email, times in Counter(self.invited()).items() if times > 1]

    def quiet(self, seconds: float) -> bool:
        """Whether the last request is so old: for "nothing more is sent", which is no event."""
        last = datetime.fromisoformat(self.entries()[-1]["at"]) if self.entries() else None
        return last is not None and (datetime.now(UTC) - last).total_seconds() > seconds

    def close(self) -> None:
        self.sandbox.__exit__(None, None, None)
