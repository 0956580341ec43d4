"""What the sandbox answers: a status, headers and a body, before it goes on the wire."""

import json
from typing import Any

from starlette.responses import Response


class Answer(Response):
    """One answer; `content` is JSON unless a content type says otherwise.

    Nothing is sent for None, text and bytes as they are, anything else as JSON.
    """

    def __init__(
        self, status: int, content: Any = None, headers: dict[str, str] | None = None
    ) -> None:
        self.content = content
        super().__init__(content, status, headers, None if content is None else "application/json")

    def render(self, content: Any) -> bytes:
        match content:
            case None:
                return b""
            case bytes():
                return content
            case str():
                return content.encode()
        return json.dumps(content).encode()

    @property
    def ok(self) -> bool:
        return 200 <= self.status_code < 300


def refusal(status: int, message: str, **headers: str) -> Answer:
    """Refuse, in the sandbox's own words: the real service's error bodies are not shown."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Answer(status, {"error": {"status": status, "message": message}}, named)
