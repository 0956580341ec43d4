"""A client of the sandbox, and a sandbox with a project, its problem, and Ada and Bob."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import httpx
import pytest

from sandbox.server import Sandbox

CREDENTIALS = {
    "grant_type": "client_credentials",
    "client_id": "sandbox-client",
    "client_secret": "sandbox-secret",
    "audience": "https://sandbox.invalid/api",
}
PROJECT = {
    "name": "Backend engineer",
    "description": "Take-home",
    "state": "open",
    "starttime": "Dec 1, 2026 9:00 am",
    "endtime": "Dec 14, 2026 6:00 pm",
}


def row(email: str, **fields: Any) -> dict[str, Any]:
    named = {"first_name": "Ada", "last_name": "Lovelace", "email1": email}
    return {**named, "source": "export", "notes": "", "stage_id": 1, **fields}


class Client:
    """Whoever calls the API; every call has a valid token and no body unless it says so."""

    def __init__(self, sandbox: Sandbox, http: httpx.Client) -> None:
        self.sandbox = sandbox
        self.http = http

    def token(self) -> str:
        answer = self.http.post("/oauth/token", json=CREDENTIALS)
        return str(answer.json()["access_token"])

    def call(self, method: str, path: str, **options: Any) -> httpx.Response:
        headers = {"content-type": "application/json", **options.pop("headers", {})}
        # The whole address: httpx makes another path of one that begins with two slashes.
        return self.http.request(method, self.sandbox.url + path, headers=headers, **options)

    def project(self, **fields: Any) -> httpx.Response:
        return self.call("POST", "/api/projects", json=PROJECT | fields)

    def attach(self, problem: int = 42, project: int = 101) -> httpx.Response:
        return self.call("POST", f"/api/projects/{project}/problems", json={"problemid": problem})

    def add(self, *emails: str, project: int = 101) -> httpx.Response:
        rows = [row(email) for email in emails]
        return self.call("POST", f"/api/projects/{project}/candidates", json=rows)

    def invite(self, candidate: int = 5001, project: int = 101) -> httpx.Response:
        return self.call("POST", f"/api/projects/{project}/candidates/{candidate}/invite")

    def last(self) -> dict[str, Any]:
        return self.sandbox.entries()[-1]


@contextmanager
def client_of(sandbox: Sandbox) -> Iterator[Client]:
    with httpx.Client(base_url=sandbox.url, timeout=30) as http:
        client = Client(sandbox, http)
        http.headers["authorization"] = f"Bearer {client.token()}"
        yield client


@pytest.fixture
def start() -> Iterator[Callable[..., Client]]:
    """Start a sandbox with these options, and a client that has a token."""
    with ExitStack() as running:

        def begin(**options: Any) -> Client:
            sandbox = running.enter_context(Sandbox(**options))
            return running.enter_context(client_of(sandbox))

        yield begin


@pytest.fixture
def client(start: Callable[..., Client]) -> Client:
    """Project 101 has problem 42, and candidates 5001 (Ada) and 5002 (Bob)."""
    client = start()
    client.project()
    client.attach()
    client.add("ada@x.org", "bob@x.org")
    return client
