"""Who may speak to a Prefect server that we started: its login, and who finds it."""

import stat
from base64 import b64decode
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest
from prefect.settings import PREFECT_API_AUTH_STRING, PREFECT_API_URL, temporary_settings

from flows.cli.serve.serve import NoServer, RefusedLogin, Server, look_at, server_named
from flows.engine import login


@pytest.fixture(autouse=True)
def keeping(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(login, "KEPT", tmp_path / "data" / "logins")
    return tmp_path / "data" / "logins"


def test_a_login_is_made_once_for_its_owner_alone(keeping: Path) -> None:
    """Each port has its own; one that was torn by a crash is made anew."""
    with login.kept(4200) as first, login.kept(4201) as other:
        assert first != other
    with login.kept(4200) as second:
        assert second == first == (keeping / "4200").read_text()
    assert stat.S_IMODE((keeping / "4200").stat().st_mode) == 0o600
    assert stat.S_IMODE(keeping.stat().st_mode) == 0o700
    (keeping / "4200").write_text(first[:20])
    with login.kept(4200) as third:
        assert third.startswith("campaign:") and third[:20] != first[:20]
        assert (keeping / "4200").read_text() == third


@pytest.mark.parametrize(
    ("address", "found"),
    [
        ("http://127.0.0.1:4200/api", True),
        ("http://localhost:4200/api", True),
        ("http://127.0.0.1:4201/api", False),
        ("https://prefect.example.com:4200/api", False),
        ("http://127.0.0.1/api", False),
        ("http://127.0.0.1:many/api", False),
        ("nonsense", False),
    ],
)
def test_other_commands_find_the_login_while_its_server_is_at_work(
    address: str, found: bool
) -> None:
    """Not afterwards: whoever has taken the port since would be told."""
    with login.kept(4200) as kept:
        assert login.of(address) == (kept if found else None)
    assert login.of(address) is None


@contextmanager
def answering(wanted: str | None) -> Iterator[str]:
    """A server that lets in whoever has this login; with None, anybody."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            mine = b64decode(self.headers.get("Authorization", "").removeprefix("Basic "))
            well = self.path == "/api/health" or wanted is None or mine.decode() == wanted
            self.send_response(200 if well else 401)
            self.send_header("Content-Type", "application/json")
            self.end_headers()
            self.wfile.write(b'"3.8.8"')

        def log_message(self, *_: object) -> None:
            return

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/api"
        finally:
            server.shutdown()
            thread.join()


@pytest.mark.parametrize(
    ("wanted", "ours", "how"),
    [
        (None, None, Server.OPEN),
        (None, "a:b", Server.OPEN),
        ("a:b", "a:b", Server.WELL),
        ("a:b", "a:c", Server.REFUSES),
        ("a:b", None, Server.REFUSES),
    ],
)
def test_how_a_server_receives_us(wanted: str | None, ours: str | None, how: Server) -> None:
    """Seen before anything is asked for; a refusal is a sentence, and names what to set."""
    with (
        answering(wanted) as api,
        temporary_settings({PREFECT_API_URL: api, PREFECT_API_AUTH_STRING: ours}),
    ):
        assert look_at(api) is how
        if how is Server.REFUSES:
            with pytest.raises(RefusedLogin, match="PREFECT_API_AUTH_STRING"):
                server_named()
        else:
            assert server_named() == api.removesuffix("/api")


def test_a_worker_waits_for_a_server_that_is_starting(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine starts both at once; whoever is not patient ends at once, as before."""
    seen = iter([Server.SILENT, Server.SILENT, Server.OPEN])
    monkeypatch.setattr("flows.cli.serve.serve.look_at", lambda _: next(seen))
    monkeypatch.setattr("time.sleep", lambda _: None)
    with temporary_settings({PREFECT_API_URL: "http://127.0.0.1:9/api"}):
        with pytest.raises(NoServer):
            server_named()
        assert server_named(patience=60.0) == "http://127.0.0.1:9"
    assert list(seen) == []
