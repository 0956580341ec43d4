"""A team's webhook on this machine, and servers that listen for the length of a test."""

import json
import socketserver
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any


@contextmanager
def listening(handler: type[socketserver.BaseRequestHandler], kind: Any) -> Iterator[int]:
    """A server on this machine for the length of a test; answers its port."""
    with kind(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield server.server_address[1]
        finally:
            server.shutdown()
            thread.join()


class Webhook:
    """What a team was told; while `refuses` is set it takes nothing."""

    def __init__(self) -> None:
        self.told: list[str] = []
        self.refused = 0
        self.refuses = False
        self.url = ""


@contextmanager
def webhook() -> Iterator[Webhook]:
    """A webhook that answers."""
    hook = Webhook()

    class Hook(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            if hook.refuses or self.headers["Content-Type"] != "application/json":
                hook.refused += 1
            else:
                hook.told.append(json.loads(body)["text"])
            self.send_response(503 if hook.refuses else 200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    with listening(Hook, HTTPServer) as port:
        hook.url = f"http://127.0.0.1:{port}/hook-of-the-team"
        yield hook
