"""A small campaign against a sandbox that loses answers, and a person at the command line."""

import asyncio
import json
import os
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from config.reading.reading import read_campaigns
from config.settings import load_local, load_service
from data.campaigns import queries
from data.store import clock, tables
from data.store.ledger import Ledger
from flows.cli.main import main
from flows.run.ending import Finish
from flows.run.order import RunContext, conduct
from sandbox.faults.faults import Fault
from sandbox.server import Sandbox
from tasks.plan.target import CampaignSource
from tests.promise.promise import check_promise
from tests.support.ledgers.databases import empty_ledger_at
from tests.support.ledgers.empty_ledger import open_ledger
from tests.support.ledgers.journal import attempts

KEY = "backend-2026"
EMAILS = ("ada@example.com", "Zoe@Example.com", "grace@example.com")
DEFINITION = """\
campaign: backend-2026
project: {name: Backend engineer}
problem: 42
candidates:
  - {first_name: Ada, last_name: Lovelace, email1: ada@example.com}
  - {first_name: Zoë, last_name: Müller, email1: Zoe@Example.com}
  - {first_name: Grace, last_name: Hopper, email1: grace@example.com}
"""


@dataclass(frozen=True)
class Answer:
    """What a command left behind."""

    code: int
    out: str
    err: str

    @property
    def object(self) -> Any:
        return json.loads(self.out)


class DoubtfulCampaign:
    """One campaign, its ledger and its service; `type` is a person at the command line."""

    def __init__(
        self,
        service: Sandbox,
        folder: Path,
        monkeypatch: pytest.MonkeyPatch,
        capsys: pytest.CaptureFixture[str],
    ) -> None:
        self.service = service
        self.folder = folder
        self.file = folder / "hiring.yaml"
        self.file.write_text(DEFINITION, encoding="utf-8")
        self._monkeypatch = monkeypatch
        self._capsys = capsys

    def ledger(self) -> Ledger:
        return open_ledger(load_local().database_url)

    def run(self, *faults: Fault) -> Finish:
        """Do what `campaign run` does, while the service misbehaves; the promise holds after it."""
        self.service.faults.clear()
        self.service.faults.add(*faults)
        with self.ledger() as ledger:
            desk = RunContext(ledger, load_service(), load_local())
            finish = asyncio.run(conduct(CampaignSource(self.file, KEY), desk))
            [definition] = read_campaigns(self.file).definitions
            keys = {person.key for person in definition.candidates}
            check_promise(ledger, KEY, self.service.record, keys)
        return finish

    def type(self, *words: object) -> Answer:
        """Type a command and wait for its end."""
        self._monkeypatch.setattr(sys, "argv", ["campaign", *map(str, words)])
        self._capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            main()
        out, err = self._capsys.readouterr()
        return Answer(ended.value.code or 0, out, err)  # type: ignore[arg-type]

    def settle(self, *words: object) -> Answer:
        return self.type("settle", KEY, *words)

    def at_terminal(self, *answers: str) -> None:
        """Let the next command be typed on a terminal, with these answers to its questions."""
        terminal = StringIO("".join(f"{answer}\n" for answer in answers))
        self._monkeypatch.setattr(terminal, "isatty", lambda: True)
        self._monkeypatch.setattr(sys, "stdin", terminal)
        self._monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)

    def later(self, minutes: float) -> None:
        """Move the clock of the ledger on."""
        before = clock.now
        at: timedelta = timedelta(minutes=minutes)

        def now() -> datetime:
            return before() + at

        self._monkeypatch.setattr(clock, "now", now)

    def requests(self) -> list[str]:
        """The changing requests that the service received, in order."""
        changing = ("create_project", "attach_problem", "add_candidates", "invite")
        return [one.operation for one in self.service.record.requests if one.operation in changing]

    def emails(self) -> dict[str, int]:
        """How many invitations each address got."""
        return dict(Counter(one.email for one in self.service.record.invitations))

    def steps(self, email: str = "") -> tuple[str, str]:
        """Where project and problem stand, or the add and the invitation of a person."""
        with self.ledger() as ledger:
            campaign = ledger.read(queries.find_campaign, KEY)
            assert campaign is not None
            if not email:
                return campaign.project_state, campaign.problem_state
            [person] = [
                one for one in queries.candidates(ledger, campaign.id) if one.email1 == email
            ]
            return person.add_state, person.invite_state

    def attempts(self, operation: str) -> list[str]:
        """The states of the requests of one operation, oldest first."""
        with self.ledger() as ledger:
            campaign = ledger.read(queries.find_campaign, KEY)
            assert campaign is not None
            journal = ledger.read(attempts, campaign.id)
            return [one.state for one in journal if one.operation == operation]

    def decisions(self) -> list[tuple[str, str | None, str, str]]:
        """The recorded verdicts: word, value, who and why."""
        table = tables.decision
        with self.ledger() as ledger, ledger._transactions.reading() as connection:
            rows = connection.execute(select(table).order_by(table.c.id)).all()
        return [(one.verdict, one.value, one.who, one.why) for one in rows]


@contextmanager
def doubtful_campaign(
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    sandbox: Sandbox | None = None,
) -> Iterator[DoubtfulCampaign]:
    """Set the table: an empty ledger, a definition of three people, a service, a login name."""
    for name in os.environ:
        if name.startswith(("ASSESSMENT_", "CAMPAIGN_")):
            monkeypatch.delenv(name)
    monkeypatch.setattr("config.folders.home", lambda: folder / "home")
    monkeypatch.setattr("getpass.getuser", lambda: "rita")
    monkeypatch.chdir(folder)
    with sandbox or Sandbox() as service:
        here = {
            "CAMPAIGN_DATABASE_URL": empty_ledger_at(folder),
            "CAMPAIGN_OUTPUT_DIR": str(folder / "out"),
            "CAMPAIGN_INVITES_IN_FLIGHT": "1",
        }
        for name, value in (service.environment() | here).items():
            monkeypatch.setenv(name, value)
        yield DoubtfulCampaign(service, folder, monkeypatch, capsys)


@pytest.fixture
def doubtful(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[DoubtfulCampaign]:
    """Such a campaign in the test's own folder; a module may import it under a name of its own."""
    with doubtful_campaign(tmp_path, monkeypatch, capsys) as set_up:
        yield set_up
