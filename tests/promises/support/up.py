"""`campaign up` at work, and what Prefect's pages would show of it.

with Up(campaign) as up:
    up.put("hiring", people=3)                  a definition in its folder, which it runs
    up.ended("hiring")                          waits until a run of it is over, and answers it
    up.ask("POST", "flow_runs/filter", {…})     asks its server, as its pages do
"""

import re
import sqlite3
import time
import uuid
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, Self, TypeVar

import httpx

from tests.promises.support.commands import Campaign, Running, free_port, kill

LOGIN = re.compile(r"Their login is in (.+)")
OVER = {"COMPLETED", "FAILED", "CANCELLED", "PAUSED"}  # what has crashed goes on
Row = dict[str, Any]
T = TypeVar("T")
PATIENCE = 240.0  # seconds: server, worker and run each take their time on a busy machine


class Up:
    """A process of `campaign up FOLDER`; the folder is the campaign's own."""

    def __init__(self, campaign: Campaign, **settings: str) -> None:
        self.campaign = campaign
        self.folder = campaign.folder
        self._settings = settings

    def __enter__(self) -> Self:
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        words = ("up", self.folder, "--port", self.port)
        self.running: Running = self.campaign.start(*words, **self._settings)
        (file,) = self.until(lambda: LOGIN.findall(self.running.shown()))
        self.login = Path(file).read_text()
        self._client = httpx.Client(
            base_url=f"{self.url}/api/", auth=tuple(self.login.split(":")), timeout=120
        )
        self.until(self._answers)
        self._client.headers["Prefect-Csrf-Client"] = name = str(uuid.uuid4())
        token = self.ask("GET", f"csrf-token?client={name}")
        self._client.headers["Prefect-Csrf-Token"] = token["token"]
        return self

    def _answers(self) -> bool:
        try:
            return self._client.get("health").is_success
        except httpx.TransportError:
            return False

    def until(self, look: Callable[[], T | None]) -> T:
        """Look again and again until something is true, and answer it."""
        ends = time.monotonic() + PATIENCE
        while not (found := look()):
            assert not self.running.ended, self.running.shown()
            assert time.monotonic() < ends, f"waited in vain; {self.running.shown()}"
            time.sleep(0.5)
        return found

    def __exit__(self, *_: object) -> None:
        self._client.close()
        self.kill()

    def kill(self) -> None:
        """kill -9 of everything that it has started, at once."""
        kill(self.running.process)

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        """Ask the server, with its login and its token against foreign pages."""

        def answered() -> httpx.Response | None:
            with suppress(httpx.RemoteProtocolError):  # the server of before has died
                answer = self._client.request(method, path, json=body)
                return None if answer.status_code == 503 else answer  # its database was busy
            return None

        answer = self.until(answered)
        answer.raise_for_status()
        return answer.json() if answer.content else None

    def put(self, key: str, **fields: Any) -> Path:
        """Put a definition with its people into the folder, as a person would save it there."""
        return self.campaign.write(key, **fields)

    def runs(self, key: str) -> list[Row]:
        """The runs of a campaign, the newest first: whose name or parameters have its key."""
        every: list[Row] = self.ask(
            "POST", "flow_runs/filter", {"sort": "START_TIME_DESC", "limit": 200}
        )
        return [run for run in every if key in f"{run['name']} {run['parameters']}"]

    def ended(self, key: str, times: int = 1) -> Row:
        """Wait until so many runs of a campaign are over; answers the newest."""

        def over() -> list[Row]:
            found = [run for run in self.runs(key) if run["state_type"] in OVER]
            return found if len(found) >= times else []

        return self.until(over)[0]

    def deployments(self) -> dict[str, Row]:
        """What can be started from the pages, by name."""
        return {each["name"]: each for each in self.ask("POST", "deployments/filter", {})}

    def page(self, key: str) -> str:
        """The newest page of a campaign."""
        wanted = {"artifacts": {"type": {"any_": ["markdown"]}}, "sort": "CREATED_DESC"}
        pages: list[Row] = self.ask("POST", "artifacts/filter", wanted)
        return next(str(page["data"]) for page in pages if key in f"{page['key']} {page['data']}")

    def events(self, key: str) -> list[Row]:
        """What automations could hear of a campaign, of ours; written down after seconds."""
        ours = {"filter": {"event": {"prefix": ["campaign."]}}}
        every: list[Row] = self.ask("POST", "events/filter", ours)["events"]
        return [e for e in every if e["resource"]["prefect.resource.id"] == f"campaign.{key}"]

    def start(self, deployment: Row, **parameters: Any) -> Row:
        """Start a run from the pages."""
        path = f"deployments/{deployment['id']}/create_flow_run"
        once = {"idempotency_key": str(uuid.uuid4())}
        made: Row = self.ask("POST", path, {"parameters": parameters} | once)
        return made

    @property
    def tables(self) -> dict[str, list[tuple[Any, ...]]]:
        """Every row of every table of its database."""
        (path,) = [p for p in self.campaign.home.rglob("*.db") if _has_flows(p)]
        with sqlite3.connect(path) as database:
            names = [
                n for (n,) in database.execute("SELECT name FROM sqlite_master WHERE type='table'")
            ]
            return {name: database.execute(f'SELECT * FROM "{name}"').fetchall() for name in names}


def _has_flows(path: Path) -> bool:
    with sqlite3.connect(path) as database:
        return bool(
            database.execute("SELECT 1 FROM sqlite_master WHERE name='flow_run'").fetchall()
        )
