"""A page on another host that attacks a Prefect server, in a real browser.

Its name, `evil.example`, leads to this machine, as an attacker's name server may have it.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from urllib.parse import urlsplit

from playwright.sync_api import Browser, Page, sync_playwright

from tests.support.browsers.browser import PATIENCE_MS, QUIET, chromium

NAME = "evil.example"
FLOW = "made-elsewhere"
# Reads what is deployed, and makes a flow: once asking the browser first, once without.
ATTACK = f"""async (api) => {{
  const make = JSON.stringify({{name: "{FLOW}"}});
  const json = {{method: "POST", headers: {{"Content-Type": "application/json"}}, body: make}};
  const plain = {{method: "POST", mode: "no-cors", body: make}};
  const read = {{method: "POST", headers: {{"Content-Type": "application/json"}}, body: "{{}}"}};
  const tried = [[`${{api}}/flows/`, json], [`${{api}}/flows/`, plain],
                 [`${{api}}/deployments/filter`, read]];
  const came = [];
  for (const [url, how] of tried) {{
    try {{
      const answer = await fetch(url, how);
      came.push(answer.type === "opaque" ? "opaque" : `${{answer.status}}`);
    }} catch (error) {{
      came.push("blocked");
    }}
  }}
  return came;
}}"""


@contextmanager
def browser_led_astray() -> Iterator[Browser]:
    """A browser to which `evil.example` is this machine."""
    with sync_playwright() as playwright:
        args = [*QUIET, f"--host-resolver-rules=MAP {NAME} 127.0.0.1"]
        opened = playwright.chromium.launch(
            executable_path=chromium(), args=args, timeout=PATIENCE_MS
        )
        try:
            yield opened
        finally:
            opened.close()


def attack(page: Page, api: str) -> list[str]:
    """Attack from a page on another host; answers what came of each try."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(b"<title>elsewhere</title>")

        def log_message(self, *_: object) -> None:
            return

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        page.set_default_timeout(PATIENCE_MS)
        try:
            page.goto(f"http://{NAME}:{server.server_port}/")
            came: list[str] = page.evaluate(ATTACK, api)
        finally:
            server.shutdown()
            thread.join()
    return came


def rebound(api: str) -> str:
    """The same server under the attacker's name: to a browser it is the attacker's own."""
    return f"http://{NAME}:{urlsplit(api).port}"
