"""The assessment service in a process of its own, and what its own record says it received."""

import json
import subprocess
import sys
import urllib.request
from collections import Counter
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent.parent


@dataclass(frozen=True, slots=True)
class Received:
    """What a service received for a campaign, by its own record.

    `requests` without the one for a token. `twice`: invitations beyond the first for an address.
    `never`: addresses without one.
    """

    requests: int
    invited: int
    twice: int
    never: int


@dataclass(frozen=True, slots=True)
class Service:
    """A service that answers: its settings, and its record."""

    environment: dict[str, str]

    def invitations(self) -> int:
        return len(self._ask("invitations"))

    def received(self, emails: Collection[str]) -> Received:
        """Judge by the record what became of these people."""
        return received(self._ask("record"), emails)

    def _ask(self, what: str) -> Any:
        address = f"{self.environment['ASSESSMENT_BASE_URL']}/sandbox/{what}"
        with urllib.request.urlopen(address) as answer:
            return json.load(answer)


def received(record: Any, emails: Collection[str]) -> Received:
    """Judge a sandbox's record: who was invited how often, by how many requests."""
    times = Counter(invitation["email"] for invitation in record["invitations"])
    return Received(
        requests=sum(request["operation"] != "token" for request in record["requests"]),
        invited=len(times),
        twice=times.total() - len(times),
        never=len(set(emails) - times.keys()),
    )


@contextmanager
def service(latency: float) -> Iterator[Service]:
    """Serve in a process of its own; each call takes `latency` seconds beside its work."""
    command = [sys.executable, "-m", "sandbox", "--latency", str(latency)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield Service(json.loads(process.stdout.readline())["environment"])
        finally:
            process.terminate()
