"""One time zone on all screens of a campaign, named: its own, wherever they are looked at."""

import asyncio
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from zoneinfo import ZoneInfo

import pytest

from config.settings import load_local, load_service
from data.store.clock import now
from flows import batch, forms
from flows.batch import run_batch
from flows.cli.run.progress import paused
from flows.inbox import watch_inbox
from flows.pages.seen import _page
from flows.run.order import RunContext, conduct
from sandbox.faults.faults import Fault
from tasks.plan.target import CampaignSource
from tasks.sending import gate
from tests.support.campaigns import Heard
from tests.support.doubtful_campaign import EMAILS, KEY, DoubtfulCampaign, doubtful_campaign
from tests.support.session import PATIENCE

ADA, ZOE, GRACE = EMAILS
HERE = "Asia/Tokyo"
INVITES = "invites: {cooldown: 5 days, approval: {within: 2 days}}\n"
MOMENT = re.compile(r"\d{4}-\d{2}-\d{2} \d{2}:\d{2}")
DAY = re.compile(r"(?:list since|by other on) (\d{4}-\d{2}-\d{2})")
OTHERS = re.compile(r"UTC|GMT|\bE[SD]T\b|New_York|[+-]\d{2}:\d{2}\b")
SLOW = timedelta(seconds=PATIENCE)  # so long ago at most the first moment of a test was
LATER = timedelta(hours=2)  # than now, by the clock of a day: no two of the zones are that near


def definition(key: str, problem: int, *emails: str) -> str:
    rows = "".join(f"  - {{first_name: A, last_name: B, email1: {one}}}\n" for one in emails)
    project = "{name: Backend engineer, timezone: Asia/Tokyo}"
    return f"campaign: {key}\nproject: {project}\nproblem: {problem}\ncandidates:\n{rows}"


@pytest.fixture
def desk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[DoubtfulCampaign]:
    """A machine in another zone than the campaign's people, neither of them UTC."""
    monkeypatch.setenv("TZ", "America/New_York")
    time.tzset()
    with doubtful_campaign(tmp_path, monkeypatch, capsys) as desk:
        yield desk
    monkeypatch.undo()
    time.tzset()


def by_its_clock(screen: str) -> int:
    """How many moments a screen has; each is of the campaign's zone, which is named."""
    here = now().astimezone(ZoneInfo(HERE))
    moments = [
        datetime.fromisoformat(at).replace(tzinfo=here.tzinfo) for at in MOMENT.findall(screen)
    ]
    for at in moments:
        # Whatever days lie between: a cooldown of some days ends at the same time of the day.
        assert (at - here + SLOW) % timedelta(days=1) < LATER, screen
    for day in DAY.findall(screen):
        assert day in {f"{here:%Y-%m-%d}", f"{here - SLOW:%Y-%m-%d}"}, screen
    assert not OTHERS.search(screen), screen
    assert not moments or HERE in screen, screen
    return len(moments)


def run(desk: DoubtfulCampaign, key: str, *faults: Fault) -> str:
    """All that a run says: in the terminal, in the end, and on its page in Prefect."""
    heard: list[str] = []
    desk.service.faults.clear()
    desk.service.faults.add(*faults)
    local = load_local()
    with desk.ledger() as ledger:
        watching = Heard(on_pause=lambda until: heard.append(paused(until)))
        asked = CampaignSource(desk.folder / f"{key}.yaml", key)
        end = asyncio.run(
            conduct(asked, RunContext(ledger, load_service(), local, observer=watching))
        )
        page, _ = _page(ledger, local, end, {}) or ("", "")
    return "\n".join([*heard, end.reason or "", page])


def test_every_screen_has_the_campaigns_own_time(
    desk: DoubtfulCampaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is held, paused, in doubt, waits for approval, was done or is to be removed by hand."""

    def typed(*words: object) -> int:
        answer = desk.type(*words)
        return by_its_clock(answer.out + answer.err)

    hiring = desk.folder / f"{KEY}.yaml"
    (desk.folder / "other.yaml").write_text(definition("other", 43, ADA))
    hiring.write_text(definition(KEY, 42, *EMAILS) + INVITES)
    monkeypatch.setattr(gate, "LEAST_TOLD", 0)
    slow = Fault("status", "invite", status=429, retry_after=1)
    hours = [now()]
    said = run(desk, "other", slow)
    hours += [now(), now() + timedelta(seconds=1)]
    assert HERE in said
    assert any(f"sending continues at {at.astimezone(ZoneInfo(HERE)):%H:}" in said for at in hours)
    assert by_its_clock(said)

    assert typed("block", ZOE, "--why", "asked") == 0
    assert by_its_clock(run(desk, KEY)) >= 2  # until when the plan waits, and how old the page is
    assert typed("plan", hiring)
    assert typed("approve", KEY)
    lost = Fault("lost", "create_project", after_work=True)
    assert by_its_clock(run(desk, KEY, lost))
    assert typed("settle", KEY)
    assert typed("status", KEY)
    again = ("settle", KEY, "--project", "again", "--no-wait", "--why", "none there")
    assert desk.type(*again).code == 0
    run(desk, KEY)
    assert desk.type("approve", KEY).code == 0
    said = run(desk, KEY, Fault("lost", "invite", email=GRACE, after_work=True))
    assert by_its_clock(said) >= 2
    for words in (("clean-up",), ("status",), ("settle",), ("history",), ("history", GRACE)):
        assert typed(*words[:1], KEY, *words[1:]) or words[0] == "history"
    assert typed("pause", KEY, "--why", "wait") + typed("pause", KEY, "--why", "wait")
    assert typed("plan", hiring)
    assert by_its_clock(run(desk, KEY))
    assert typed("status", KEY)
    monkeypatch.setenv("CAMPAIGN_DATABASE_URL", f"sqlite:///{desk.folder / 'another.db'}")
    assert typed("plan", hiring)  # the receipt says when it was written


def test_runs_in_prefect_have_the_campaigns_zone_or_the_machines(
    desk: DoubtfulCampaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A form is about one campaign, and named by its clock; a folder or an inbox has many, and the
    one zone of the lines that `campaign up` writes."""
    (desk.folder / f"{KEY}.yaml").write_text(definition(KEY, 42, ADA))
    run(desk, KEY)
    asked = {"campaign": KEY, "folder": "hiring/inbox"}
    about = SimpleNamespace(flow_name="settle campaign", parameters=asked)
    for module in (forms, batch):
        monkeypatch.setattr(module, "flow_run", about)
    assert by_its_clock(forms._name()) == 1
    for flow in (watch_inbox, run_batch):
        name = flow.flow_run_name()
        assert name.startswith("inbox ") and name.endswith(f" ({time.strftime('%Z')})")
    monkeypatch.setenv("CAMPAIGN_DATABASE_URL", f"sqlite:///{desk.folder / 'none' / 'at-all.db'}")
    assert forms._name().endswith(f" ({time.strftime('%Z')})")


@pytest.mark.journey
@pytest.mark.parametrize("logger", ["flow_runs", "task_runs", "runner"])
def test_up_names_the_zone_of_its_lines(logger: str, tmp_path: Path) -> None:
    """Among them are runs of campaigns in several zones: each line has the machine's, named."""
    code = (
        "from flows.engine.prefect_settings import prepare; prepare(quiet=False)\n"
        "import logging; from prefect.logging.configuration import setup_logging\n"
        "setup_logging()\n"
        "about = {'flow_run_name': 'ours', 'task_run_name': 'ours'}\n"
        f"logging.getLogger('prefect.{logger}').warning('Here', extra=about)\n"
    )
    own = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "TZ": HERE, "COLUMNS": "200"}
    own["PREFECT_LOGGING_TO_API_ENABLED"] = "false"
    lines = subprocess.run(
        [sys.executable, "-c", code], env=own, capture_output=True, text=True, check=True
    ).stderr
    assert re.search(r"^\d\d:\d\d:\d\d JST \| WARNING \|.*Here$", lines, re.MULTILINE), lines
