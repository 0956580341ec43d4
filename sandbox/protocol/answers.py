"""What the sandbox answers: a status, headers and a body, before it goes on the wire."""

import json
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer; `content` is JSON unless a content type says otherwise."""

    status: int
    content: Any = None
    headers: dict[str, str] = field(default_factory=dict)

    @property
    def body(self) -> bytes:
        """The bytes sent: nothing for None, text and bytes as they are, anything else as JSON."""
        match self.content:
            case None:
                return b""
            case bytes():
                return self.content
            case str():
                return self.content.encode()
        return json.dumps(self.content).encode()

    @property
    def ok(self) -> bool:
        return 200 <= self.status < 300

    def all_headers(self, body: bytes) -> list[tuple[bytes, bytes]]:
        """The headers sent with this body; the status 204 and 304 carry none."""
        headers = dict(self.headers)
        if self.content is not None:
            headers.setdefault("content-type", "application/json")
        if self.status not in (204, 304):
            headers["content-length"] = str(len(body))
        return [
            (name.encode("latin-1"), value.encode("latin-1")) for name, value in headers.items()
        ]


def refusal(status: int, message: str, **headers: str) -> Answer:
    """Refuse, in the sandbox's own words: the real service's error bodies are not shown."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Answer(status, {"error": {"status": status, "message": message}}, named)
