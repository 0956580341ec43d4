"""Ten thousand people through the real flow: what Prefect records of it, and what that weighs.

    .venv/bin/pytest tests/bench/ten_thousand.py -n 0 -s

Counts and sizes are asserted; times are printed, for they are the machine's.
"""

import os
import sqlite3
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from sandbox.server import Sandbox
from tests.browser import browser  # noqa: F401 - a fixture
from tests.prefect_home import Desk, PrefectServer, prefect_server

PEOPLE = 10_000
WAVES = 100
MEGABYTES = 5.0


@pytest.fixture
def prefect(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PrefectServer]:
    with prefect_server(tmp_path_factory.mktemp("prefect")) as server:
        yield server


def weight(prefect: PrefectServer) -> float:
    """Megabytes in Prefect's database, counted once its write-ahead log is in it."""
    file = prefect.home / ".prefect" / "prefect.db"
    with sqlite3.connect(file, timeout=30) as database:
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        pages, size, free = (
            database.execute(f"PRAGMA {name}").fetchone()[0]
            for name in ("page_count", "page_size", "freelist_count")
        )
    database.close()
    return float((pages - free) * size / 1e6)


@pytest.mark.timeout(900)
def test_ten_thousand(
    tmp_path: Path,
    prefect: PrefectServer,
    browser: Browser,  # noqa: F811
) -> None:
    """Everyone once; every wave recorded; less than 5 MB of database; a page that shows it."""
    with Sandbox() as service:
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(prefect.home),
            "PREFECT_HOME": str(prefect.home / ".prefect"),
            "PREFECT_API_URL": prefect.api,
            "CAMPAIGN_DATABASE_URL": f"sqlite:///{tmp_path / 'ledger.db'}",
            "CAMPAIGN_OUTPUT_DIR": str(tmp_path / "out"),
            **service.environment(),
        }
        desk = Desk(tmp_path, service, environment)
        desk.type("run", desk.campaign("warm", 1))
        before = weight(prefect)
        file = desk.campaign("crowd", PEOPLE)
        begun = time.monotonic()
        process = desk.start("run", file)
        said = process.communicate(timeout=800)
        took = time.monotonic() - begun
        assert process.returncode == 0, said
        emails = Counter(
            sent.email for sent in service.record.invitations if sent.project_id == 102
        )
    assert len(emails) == PEOPLE
    assert set(emails.values()) == {1}
    [run] = prefect.ask("flow_runs", flow_runs={"name": {"like_": "crowd "}})
    steps = prefect.ask("task_runs", flow_runs={"id": {"any_": [run["id"]]}})
    waves = [step for step in steps if step["name"].startswith("invitations ")]
    assert len(waves) == WAVES
    assert {step["state_type"] for step in steps} == {"COMPLETED"}
    grown = weight(prefect) - before
    assert grown < MEGABYTES

    with browser.new_context() as context:
        page = context.new_page()
        page.route("**/*", lambda route: route.continue_())
        begun = time.monotonic()
        page.goto(prefect.api.removesuffix("/api") + f"/runs/flow-run/{run['id']}")
        expect(page.get_by_text(f"{len(steps)} Task runs").first).to_be_visible(timeout=60_000)
        settled = time.monotonic() - begun
    print(
        f"\n{PEOPLE:,} people in {took:.1f} s; {len(waves)} waves of {len(steps)} steps recorded; "
        f"{grown:.2f} MB more in Prefect's database; its run page settled in {settled:.1f} s"
    )
