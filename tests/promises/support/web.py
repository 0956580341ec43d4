"""Web servers of a test: one that says what its handler says, and one that a team is told by.

with serving(Handler) as port: …        a Handler is a Quiet, whose do_GET calls self.answer(b"…")
with telling() as hook: hook.url        hook.told has the notices that it took
"""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Quiet(BaseHTTPRequestHandler):
    """It logs nothing."""

    def answer(self, body: bytes = b"", status: int = 200, kind: str = "text/plain") -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None: ...


@contextmanager
def serving(handler: type[BaseHTTPRequestHandler]) -> Iterator[int]:
    """A server at a port of its own, until the block ends."""
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever).start()
        try:
            yield server.server_port
        finally:
            server.shutdown()


class Hook:
    """Where a team is told; it takes nothing that has `refuses` in it."""

    def __init__(self) -> None:
        self.told: list[str] = []
        self.refused = 0
        self.refuses: str | None = None
        self.url = ""

    def about(self, key: str) -> list[str]:
        return [text for text in self.told if key in text]


@contextmanager
def telling() -> Iterator[Hook]:
    hook = Hook()

    class Answers(Quiet):
        def do_POST(self) -> None:
            text = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["text"]
            if hook.refuses is not None and hook.refuses in text:
                hook.refused += 1
                return self.answer(status=503)
            hook.told.append(text)
            return self.answer()

    with serving(Answers) as port:
        hook.url = f"http://127.0.0.1:{port}/hook-of-the-team"
        yield hook
