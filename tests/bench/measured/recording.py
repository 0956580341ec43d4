"""What a large campaign leaves in a standing Prefect server, and how soon its page is there."""

import shutil
import sqlite3
import time
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import expect, sync_playwright

from tests.bench.contenders import KEY, OURS
from tests.bench.place import Place, Wrong, sent
from tests.bench.recorded import missing
from tests.bench.service import service
from tests.support.prefects.prefect_home import PrefectServer, prefect_server

MEGABYTE = 1e6
PAGE = 200  # steps that Prefect's API tells at once


@dataclass(frozen=True, slots=True)
class Recorded:
    """So many people as steps in Prefect, the growth of its database in megabytes, and the seconds
    until a browser shows the run; None without Chromium."""

    people: int
    steps: int
    megabytes: float
    page: float | None


def measure(place: Place) -> Recorded:
    """Send once. Raises Wrong unless every step is recorded as completed."""
    people = place.size.recorded
    home = place.folder / "recording"
    home.mkdir()
    with prefect_server(home) as prefect:
        with place.office(1, 8, PREFECT_API_URL=prefect.api) as office, service(0) as there:
            sent(office, OURS, there)  # whatever a server does once
        before = _weight(home)
        with place.office(people, 8, PREFECT_API_URL=prefect.api) as office, service(0) as there:
            sent(office, OURS, there)
        run = max(prefect.ask("flow_runs"), key=lambda one: str(one["created"]))
        steps = _steps(prefect, run["id"])
        names = [one["name"] for one in steps if one["state_type"] == "COMPLETED"]
        if gone := missing(names, people):
            raise Wrong(f"Prefect lacks of {KEY}: {'; '.join(gone)}")
        page = _page(prefect, run["id"], len(steps))
        return Recorded(people, len(steps), _weight(home) - before, page)


def _steps(prefect: PrefectServer, run: str) -> list[dict[str, str]]:
    found: list[dict[str, str]] = []
    while len(found) % PAGE == 0:
        more = prefect.ask("task_runs", flow_runs={"id": {"any_": [run]}}, offset=len(found))
        if not more:
            break
        found += more
    return found


def _weight(home: Path) -> float:
    """Megabytes in Prefect's database, counted once its write-ahead log is in it."""
    [file] = home.rglob("prefect.db")
    with closing(sqlite3.connect(file, timeout=30)) as database:
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        pages, size, free = (
            database.execute(f"PRAGMA {name}").fetchone()[0]
            for name in ("page_count", "page_size", "freelist_count")
        )
    return float((pages - free) * size / MEGABYTE)


def _page(prefect: PrefectServer, run: str, steps: int) -> float | None:
    """Open the run's page in a browser; answers the seconds until it has counted the steps."""
    path = shutil.which("chromium") or shutil.which("google-chrome")
    if path is None:
        return None
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        with browser, browser.new_context() as context:
            page = context.new_page()
            begun = time.perf_counter()
            page.goto(prefect.api.removesuffix("/api") + f"/runs/flow-run/{run}")
            expect(page.get_by_text(f"{steps} Task runs").first).to_be_visible(timeout=60_000)
            return time.perf_counter() - begun
