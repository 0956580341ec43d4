"""The sandbox on a real socket: started and stopped by a `with` statement."""

import asyncio
import socket
import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Self, TypeVar
from urllib.parse import urlsplit

import uvicorn

from sandbox.faults.faults import Fault, Faults
from sandbox.pages.embedded import Embedded
from sandbox.pages.logins import Logins
from sandbox.pages.web import Desk, Pages
from sandbox.pages.web_application import WebApplication
from sandbox.service.api import Api, Limits
from sandbox.service.journal import Journal
from sandbox.service.outbox import Outbox
from sandbox.service.problems import SAMPLE_PROBLEMS, Problem
from sandbox.service.record import Candidate, Project, Record
from sandbox.service.service import Service
from sandbox.service.tokens import Tokens

Value = TypeVar("Value")

_LETTING_GO = 0.5
"""Seconds that requests under way may take to finish when the sandbox stops."""


class Sandbox:
    """The assessment service, serving on loopback from a thread while the `with` block lasts.

    `port` 0 takes any free one. With a `folder` it remembers: projects, candidates, invitations
    and the record are there again when a sandbox starts on the same folder, and the outbox holds
    one `.eml` file for each invitation. `latency`, `token_lifetime`, `keep_alive` and
    `login_code_lifetime` in seconds.

    Emails in `refuse_emails` make any add that holds one answer 422 as a whole; invites of those
    in `refuse_invites` answer 422. Adds of more than `max_candidates_per_request` answer 413. With
    `arena_elsewhere` the welcome page leads to an arena of another origin.

    Raises OSError when the port is taken, journal.FolderInUse when the folder is.
    """

    def __init__(  # noqa: PLR0913 - one keyword for each thing a service may be like
        self,
        folder: Path | str | None = None,
        *,
        host: str = "127.0.0.1",
        port: int = 0,
        latency: float = 0.0,
        token_lifetime: int = 86400,
        keep_alive: int = 5,
        login_code_lifetime: float = 60.0,
        arena_elsewhere: bool = False,
        faults: Iterable[Fault] = (),
        problems: Sequence[Problem] = SAMPLE_PROBLEMS,
        max_candidates_per_request: int | None = None,
        refuse_emails: Collection[str] = (),
        refuse_invites: Collection[str] = (),
        client_id: str = "sandbox-client",
        client_secret: str = "sandbox-secret",  # noqa: S107 - opens nothing but this sandbox
        audience: str = "https://sandbox.invalid/api",
    ) -> None:
        self.folder = None if folder is None else Path(folder)
        self.client_id, self.client_secret, self.audience = client_id, client_secret, audience
        self.faults = Faults(faults)
        self._host, self._port, self._keep_alive = host, port, keep_alive
        self._latency, self._arena_elsewhere = latency, arena_elsewhere
        self._logins = Logins(login_code_lifetime)
        self._tokens = Tokens(client_id, client_secret, audience, token_lifetime)
        self._problems = problems
        self._limits = Limits(
            max_candidates_per_request,
            frozenset(email.casefold() for email in refuse_emails),
            frozenset(email.casefold() for email in refuse_invites),
        )

    def __enter__(self) -> Self:
        with ExitStack() as opened:
            journal = letters = None
            if self.folder:
                journal, letters = Journal(self.folder / "journal.jsonl"), self.folder / "outbox"
                opened.callback(journal.close)
            listener = opened.enter_context(_listen(self._host, self._port))
            self.url = self.auth_url = self.base_url = self.app_url = _address(listener)
            self.record = Record(journal, self._problems)
            outbox = Outbox(self.record, letters, self.app_url)
            api = Api(self.record, outbox, self._tokens, self._limits)
            pages = self._pages(outbox)
            service = Service(api, self.record, self.faults, pages, self._latency, self._host)
            opened.enter_context(_Server(service, self._keep_alive).serving(listener))
            self._opened = opened.pop_all()
        return self

    def __exit__(self, *raised: object) -> None:
        self._opened.close()

    def _pages(self, outbox: Outbox) -> Pages:
        # To a browser, another name of this machine is another origin.
        arena = f"http://localhost:{urlsplit(self.app_url).port}" if self._arena_elsewhere else ""
        rooms = (
            Desk(self.record, outbox, self.faults),
            WebApplication(self.record),
            Embedded(self.record, self._logins, arena),
        )
        return Pages([route for room in rooms for route in room.routes()], self._host)

    @property
    def projects(self) -> list[Project]:
        return self.record.projects

    @property
    def candidates(self) -> list[Candidate]:
        return self.record.candidates

    def environment(self) -> dict[str, str]:
        """The settings that lead a campaign here."""
        return {
            "ASSESSMENT_AUTH_URL": self.auth_url,
            "ASSESSMENT_BASE_URL": self.base_url,
            "ASSESSMENT_APP_URL": self.app_url,
            "ASSESSMENT_CLIENT_ID": self.client_id,
            "ASSESSMENT_CLIENT_SECRET": self.client_secret,
            "ASSESSMENT_AUDIENCE": self.audience,
        }

    def authorization(self) -> dict[str, str]:
        """A header with a fresh token, for those who need no token request of their own."""
        return {"Authorization": f"Bearer {self._tokens.issue()}"}

    def api_requests(self) -> int:
        """How many requests came in, for tokens too; the pages and controls do not count."""
        return len(self.record.requests)

    def wait_for(self, predicate: Callable[[Record], Value], timeout: float = 60.0) -> Value:
        """Wait until the predicate holds of the record; raises TimeoutError after `timeout` s."""
        return self.record.wait_for(predicate, timeout)

    def create_interview(
        self, name: str, *problem_ids: int, project_id: int | None = None
    ) -> Project:
        """Create a project as a person does in the web application (interface 1).

        `project_id` None takes the next one; a number stands in for a project made elsewhere.
        """
        fields = {
            "name": name,
            "description": "",
            "state": "open",
            "starttime": "Jan 1, 2026 9:00 am",
            "endtime": "Dec 31, 2026 6:00 pm",
        }
        project = self.record.create_project(fields, None, project_id=project_id)
        for problem_id in problem_ids:
            self.record.attach_problem(project, problem_id, None)
        return project


def _listen(host: str, port: int) -> socket.socket:
    family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    # Named as TCP in full (not protocol 0), or asyncio leaves Nagle's delay of 40 ms on.
    listener = socket.socket(family, kind, protocol)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(1024)
    except OSError:
        listener.close()
        raise
    return listener


def _address(listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


class _Server(uvicorn.Server):
    """uvicorn, told when to stop by another thread, and stopping without its fixed waits."""

    def __init__(self, service: Service, keep_alive: int) -> None:
        super().__init__(
            uvicorn.Config(
                service,
                http="h11",
                loop="asyncio",
                ws="none",
                lifespan="off",
                log_config=None,
                access_log=False,
                timeout_keep_alive=keep_alive,
            )
        )
        self._ready = threading.Event()
        self._service = service
        self._stop = asyncio.Event()

    @contextmanager
    def serving(self, listener: socket.socket) -> Iterator[None]:
        """Serve from a thread of its own while the block lasts."""
        thread = threading.Thread(
            target=self._serve_until_stopped, args=(listener,), name="sandbox", daemon=True
        )
        thread.start()
        self._ready.wait()
        if not self.started:
            raise RuntimeError("the sandbox's server did not start")
        try:
            yield
        finally:
            self._loop.call_soon_threadsafe(self._stop.set)
            thread.join()

    def _serve_until_stopped(self, listener: socket.socket) -> None:
        try:
            self.run([listener])
        finally:
            self._ready.set()

    async def main_loop(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._ready.set()
        while not self._stop.is_set():
            await self.on_tick(0)  # renews the Date header
            try:
                await asyncio.wait_for(self._stop.wait(), 1)
            except TimeoutError:
                continue

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        for server in self.servers:
            server.close()
        self._service.stop()
        state = self.server_state
        if state.tasks:
            await asyncio.wait(set(state.tasks), timeout=_LETTING_GO)
        for connection in list(state.connections):
            connection.transport.abort()  # what is left is idle or never sent its request whole
        if state.tasks:
            await asyncio.wait(set(state.tasks), timeout=_LETTING_GO)
        await asyncio.sleep(0)  # lets the aborted connections close
