"""A client of the sandbox, and a sandbox with a project, its problem, and Ada and Bob."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import httpx
import pytest

from config.definition import Candidate
from sandbox.server import Sandbox

CREDENTIALS = {"grant_type": "client_credentials", "audience": "https://sandbox.invalid/api"}
CREDENTIALS |= {"client_id": "sandbox-client", "client_secret": "sandbox-secret"}
PROJECT = {"name": "Backend engineer", "description": "Take-home", "state": "open"}
PROJECT |= {"starttime": "Dec 1, 2026 9:00 am", "endtime": "Dec 14, 2026 6:00 pm"}


def row(email: str, **fields: Any) -> dict[str, Any]:
    ada = Candidate(first_name="Ada", last_name="Lovelace", email1="ada@x.org", stage_id=1)
    return {**ada.model_dump(), "email1": email, "source": "export", **fields}


class Client(httpx.Client):
    """Whoever calls the API, with a token."""

    def __init__(self, sandbox: Sandbox) -> None:
        super().__init__(base_url=sandbox.url, timeout=30)
        self.sandbox = sandbox
        answer = httpx.post(f"{sandbox.url}/oauth/token", json=CREDENTIALS)
        self.headers["authorization"] = f"Bearer {answer.json()['access_token']}"

    def call(self, method: str, path: str, **options: Any) -> httpx.Response:
        headers = {"content-type": "application/json", **options.pop("headers", {})}
        # The whole address: httpx makes another path of one that begins with two slashes.
        return self.request(method, self.sandbox.url + path, headers=headers, **options)

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


@pytest.fixture
def start() -> Iterator[Callable[..., Client]]:
    """Start a sandbox with these options."""
    with ExitStack() as running:
        run = running.enter_context
        yield lambda **options: run(Client(run(Sandbox(**options))))


@pytest.fixture
def client(start: Callable[..., Client]) -> Client:
    """Project 101 has problem 42, and candidates 5001 (Ada) and 5002 (Bob)."""
    client = start()
    client.project()
    client.attach()
    client.add("ada@x.org", "bob@x.org")
    return client
