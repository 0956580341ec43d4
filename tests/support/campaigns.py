"""Campaigns for tests: written to a folder, run against a sandbox, without Prefect."""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from config.settings import LocalSettings, ServiceSettings
from data.campaigns import queries
from data.store.ledger import Ledger
from flows.run.ending import Finish
from flows.run.observer import RunObserver
from flows.run.order import RunContext, conduct
from sandbox.server import Sandbox
from tasks.plan.target import CampaignSource
from tasks.status.standing import standing
from tests.support.ledgers.databases import empty_ledger_at
from tests.support.ledgers.empty_ledger import open_ledger

PROJECT = "{name: Engineers}"


def settings_of(service: Sandbox) -> ServiceSettings:
    """The settings that lead to a sandbox."""
    return ServiceSettings.model_validate(service.environment())


@dataclass
class Office:
    """A folder with a ledger in it, and the service it works with."""

    folder: Path
    service: Sandbox
    local: LocalSettings

    @classmethod
    def at(cls, folder: Path, service: Sandbox, **local: object) -> "Office":
        return cls(
            folder,
            service,
            LocalSettings(
                database_url=empty_ledger_at(folder),
                output_dir=folder / "out",
                **local,  # type: ignore[arg-type]
            ),
        )

    def write(
        self, key: str, people: str, *, project: str = PROJECT, problem: str = "42", more: str = ""
    ) -> Path:
        """Write KEY.yaml; `people` are comma-separated rows of first_name,last_name,email1."""
        table = self.folder / f"{key}.csv"
        table.write_text("first_name,last_name,email1\n" + people)
        path = self.folder / f"{key}.yaml"
        asked = f"problem: {problem}\n" if problem else ""
        listed = f"candidates: {{file: {table.name}}}\n"
        path.write_text(f"campaign: {key}\nproject: {project}\n{asked}{listed}{more}")
        return path

    def run(self, path: Path, *, digest: str | None = None, **watching: Any) -> Finish:
        """Run it to its end, as `campaign run` does, without Prefect; `watching` as of a Desk.

        `digest` is that of the bytes which were shown before, if any were.
        """
        with self.ledger() as ledger:
            desk = RunContext(ledger, settings_of(self.service), self.local, **watching)
            return asyncio.run(conduct(CampaignSource(path, path.stem, digest=digest), desk))

    def ledger(self) -> Ledger:
        return open_ledger(self.local.database_url)

    def status(self, key: str) -> dict[str, object]:
        """The status object of a campaign."""
        with self.ledger() as ledger:
            campaign = ledger.read(queries.find_campaign, key)
            assert campaign is not None
            return standing(ledger, campaign)

    def emails(self) -> Counter[str]:
        """How many invitations went to each address."""
        return Counter(invitation.email for invitation in self.service.record.invitations)

    def changing(self) -> list[str]:
        """The operations of the changing requests received, in order."""
        harmless = {"token", "list_problems"}
        operations = (request.operation for request in self.service.record.requests)
        return [str(operation) for operation in operations if str(operation) not in harmless]


@pytest.fixture
def office(tmp_path: Path) -> Iterator[Office]:
    """An office in an empty folder, and its service."""
    with Sandbox() as service:
        yield Office.at(tmp_path, service)


def people(*names: str) -> str:
    """Rows for these names, each at example.com."""
    return "".join(f"{name.title()},Example,{name}@example.com\n" for name in names)


class Heard(RunObserver):
    """An observer of a test: what it hears goes where the test says, by the method's name."""

    def __init__(self, **by_name: Callable[..., object]) -> None:
        for name, hear in by_name.items():
            assert hasattr(RunObserver, name), name
            setattr(self, name, hear)
