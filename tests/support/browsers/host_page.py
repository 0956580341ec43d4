"""The page of a company that embeds an assessment: another origin than the application's."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class HostPages:
    """Pages by path, served at an origin of their own while the test lasts."""

    def __init__(self, url: str, pages: dict[str, bytes]) -> None:
        self.url = url
        self._pages = pages

    def add(self, html: str) -> str:
        """Serve one more page with this in it; answers its address."""
        return self.add_whole(f"<!doctype html><title>Careers</title>{html}")

    def add_whole(self, page: str) -> str:
        """Serve one more page as it is; answers its address."""
        path = f"/{len(self._pages) + 1}"
        self._pages[path] = page.encode()
        return self.url + path


@contextmanager
def host_pages() -> Iterator[HostPages]:
    """Serve at `localhost`: to a browser that is another site than 127.0.0.1."""
    pages: dict[str, bytes] = {}

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            content = pages.get(self.path)
            self.send_response(200 if content else 404)
            self.send_header("content-type", "text/html; charset=utf-8")
            self.end_headers()
            self.wfile.write(content or b"")

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        try:
            yield HostPages(f"http://localhost:{server.server_port}", pages)
        finally:
            server.shutdown()
            thread.join()
