"""Takes the screenshots of a campaign's plan, story and report from the product as it is.

Run it from the checkout, with Chromium installed: .venv/bin/python -m docs.screenshots.take_story
"""

import asyncio
import contextlib
import html
import io
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from unittest.mock import patch

from playwright.sync_api import Browser, sync_playwright

from config.settings import load_local, load_service
from data.campaigns import approvals, pauses, queries
from data.campaigns.approvals import Answer
from data.decisions import resending, settling
from data.decisions.verdicts import Decided
from data.store.ledger import Ledger
from data.store.states import By, Word
from flows.cli.main import main as campaign
from flows.run.order import RunContext, conduct
from sandbox.faults.faults import Fault
from sandbox.server import Sandbox
from sandbox.service.problems import SAMPLE_PROBLEMS
from tasks.plan.pilot import confirm
from tasks.plan.target import CampaignSource
from tests.support.browsers.browser import QUIET, chromium

HERE = Path(__file__).parent
KEY = "backend-2026"
FIRST = ("Ada", "Grace", "Edsger", "Barbara", "Alan", "Radia", "Tim", "Zoë", "Tony", "Leslie")
LAST = ("Lovelace", "Hopper", "Dijkstra", "Liskov", "Turing", "Perlman", "Lee", "Müller", "Hoare")
DEFINITION = f"""\
campaign: {KEY}
project:
  name: Backend engineer
  starttime: 2026-12-01 09:00
  endtime: 2026-12-14 18:00
  timezone: Europe/Paris
problem: 42
candidates: {{file: people.csv}}
invites: {{approval: required}}
"""
NEXT = "platform-2026"
NEXT_DEFINITION = f"""\
campaign: {NEXT}
project:
  name: Platform engineer
  starttime: 2026-11-23 09:00
  endtime: 2026-12-04 18:00
  timezone: Europe/Paris
problem: 42
candidates: {{file: next.csv}}
invites:
  pilot: rita@example.com
  waves: [5, 20, rest]
  between: 1 hour
  hours: Mon-Fri 09:00-18:00
  holidays: [2026-11-19]
  per_hour: 60
  least_time: 10 days
  hold_on: {{refused: 5%, unsure: 1}}
guard: {{removed: 20%}}
"""
TERMINAL = """<!doctype html><meta charset="utf-8"><style>
body { margin: 0; padding: 14px 18px; background: #14181f; width: max-content; }
pre { margin: 0; color: #e4e8ee; font: 14px/1.45 "DejaVu Sans Mono", monospace; }
</style><pre>"""


class Clock:
    """What the program takes for the time, so that a campaign of days is over in a moment."""

    def __init__(self, at: datetime) -> None:
        self._ahead = at - datetime.now(UTC)

    def __call__(self) -> datetime:
        return datetime.now(UTC) + self._ahead

    def later(self, **by: float) -> None:
        self._ahead += timedelta(**by)


def main() -> None:
    with tempfile.TemporaryDirectory() as name, _set_up(Path(name)) as (service, clock):
        folder = Path(name)
        _days_of_a_campaign(folder / "hiring.yaml", service, clock)
        _said("report", KEY, "-o", str(folder / "report.html"))
        plan = _plan_of_the_next(folder, clock).replace(str(folder), ".")
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=chromium(), args=QUIET)
            history = _said("history", KEY).replace(name, "/home/rita")
            _terminal(browser, "history", f"$ campaign history {KEY}\n{history}")
            page = browser.new_page(viewport={"width": 1000, "height": 1400})
            page.goto((folder / "report.html").as_uri())
            page.screenshot(path=HERE / "report.png")
            page.close()
            _terminal(browser, "plan", f"$ campaign plan next.yaml\n{plan}")
            browser.close()


@contextmanager
def _set_up(folder: Path) -> Iterator[tuple[Sandbox, Clock]]:
    names = [(FIRST[n % 10], LAST[n // 10 % 9], n) for n in range(180)]
    rows = [f"{one},{two},{one.lower().replace('ë', 'e')}{n}@example.com" for one, two, n in names]
    (folder / "people.csv").write_text("first_name,last_name,email1\n" + "\n".join(rows))
    (folder / "hiring.yaml").write_text(DEFINITION)
    clock = Clock(datetime(2026, 11, 16, 8, 30, tzinfo=UTC))
    with (
        Sandbox(
            problems=SAMPLE_PROBLEMS,
            latency=0.1,
            refuse_emails=("tony18@example.com",),
            refuse_invites=("alan4@example.com", "alan54@example.com"),
        ) as service,
        patch.dict(
            os.environ,
            service.environment()
            | {
                "CAMPAIGN_DATABASE_URL": f"sqlite:///{folder}/ledger.db",
                "CAMPAIGN_OUTPUT_DIR": str(folder / "out"),
                "CAMPAIGN_INVITES_IN_FLIGHT": "2",
                "COLUMNS": "130",
            },
        ),
        patch("data.store.clock.now", clock),
        patch("tasks.sending.sender.now", clock),
        patch("getpass.getuser", lambda: "rita"),
        patch("socket.gethostname", lambda: "desk"),
    ):
        yield service, clock


def _days_of_a_campaign(file: Path, service: Sandbox, clock: Clock) -> None:
    _run(file)
    clock.later(minutes=25)
    with Ledger.open(load_local().database_url) as ledger:
        _approve(ledger, "the list is complete")
        clock.later(minutes=5)
    service.faults.add(
        Fault("lost", "invite", after_work=True, email="edsger22@example.com"),
        Fault("lost", "invite", email="zoe97@example.com"),
        Fault("status", "invite", skip=60, status=429, retry_after=1),
    )
    _run(file)
    clock.later(hours=3)
    with Ledger.open(load_local().database_url) as ledger:
        [known] = ledger.read(queries.every_campaign)
        doubt = ledger.read(settling.find, known.id).steps[0]
        sent = Decided(doubt.attempt, doubt.row, Word.SENT)
        ledger.write(
            settling.settle, known.id, [sent], By("rita", "he answered that he has it"), soon=False
        )
        clock.later(minutes=4)
        ledger.write(pauses.pause, KEY, By("grace", "the date in the text was wrong"))
        clock.later(days=1, hours=-2)
        ledger.write(pauses.resume, KEY, By("grace", "the text is right now"))
        ledger.write(
            resending.resend, known.id, [doubt.row or 0, 1], By("rita", "deleted by mistake")
        )
    _run(file)
    with Ledger.open(load_local().database_url) as ledger:
        _approve(ledger, "")
    clock.later(minutes=3)
    _run(file)
    clock.later(minutes=30)


def _plan_of_the_next(folder: Path, clock: Clock) -> str:
    """What is planned once the pilot and a first wave are through, and the sheet has changed."""
    file, table = folder / "next.yaml", folder / "next.csv"
    file.write_text(NEXT_DEFINITION)
    rows = [f"{FIRST[n % 10]},{LAST[n % 7]},{FIRST[n % 10].lower()}@{n}.example" for n in range(90)]
    rows = [row.replace("ë", "e") if "@" in row else row for row in rows]
    table.write_text("\n".join(["first_name,last_name,email1", *rows]))
    clock.later(hours=3)
    _run(file, NEXT, clock=clock, paced=False)
    with Ledger.open(load_local().database_url) as ledger:
        known = ledger.read(queries.find_campaign, NEXT)
        assert known is not None  # noqa: S101
        confirm(ledger, known, "rita", "text and link are right")
    _run(file, NEXT, clock=clock, paced=False)
    changed = [rows[0].replace("Lovelace", "King"), rows[1].replace("@1.", "@one."), *rows[3:]]
    new = ["Ada,Lovelace,ada0@example.com", "Hedy,Lamarr,hedy@example.com"]
    table.write_text("\n".join(["first_name,last_name,email1", *changed, *new]))
    clock.later(minutes=10)
    return _said("plan", str(file))


def _approve(ledger: Ledger, why: str) -> None:
    asked, _ = ledger.read(approvals.look, KEY)
    if asked is not None:
        ledger.write(approvals.answer, asked, Answer.APPROVED, By("grace", why))


def _run(file: Path, key: str = KEY, **desk: Any) -> None:
    with Ledger.open(load_local().database_url) as ledger:
        asyncio.run(
            conduct(
                CampaignSource(file, key), RunContext(ledger, load_service(), load_local(), **desk)
            )
        )


def _said(*words: str) -> str:
    """What a command prints."""
    printed = io.StringIO()
    with (
        patch.object(sys, "argv", ["campaign", *words]),
        contextlib.redirect_stdout(printed),
        contextlib.suppress(SystemExit),
    ):
        campaign()
    return printed.getvalue()


def _terminal(browser: Browser, name: str, printed: str) -> None:
    page = browser.new_page(viewport={"width": 1200, "height": 400}, device_scale_factor=1)
    page.set_content(TERMINAL + html.escape(printed))
    page.locator("body").screenshot(path=HERE / f"{name}.png")
    page.close()


if __name__ == "__main__":
    main()
