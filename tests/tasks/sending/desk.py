"""A campaign of a few people at a sandbox, sent as the flow sends it."""

import asyncio
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sqlmodel import select

from config.settings import Settings
from data.store.lease import lease
from data.store.ledger import Ledger
from data.store.states import Op, State
from data.store.tables import Step
from sandbox.server import Sandbox
from tasks.sending.gate import EndedEarly
from tasks.sending.run import sending
from tests.data.sending import small

PROJECT = {"name": "Backend engineer"}


@dataclass
class Desk:
    """A ledger, a service, and one campaign between them."""

    ledger: Ledger
    service: Sandbox
    folder: Path
    options: dict[str, Any] = field(default_factory=dict)

    def campaign(self, people: int) -> None:
        with self.ledger.writing() as session:
            row = small.campaign(session, people, project=PROJECT)
            row.service, row.account = self.settings().base_url, self.settings().account
            row.file = str(self.folder / "backend.yaml")

    @property
    def url(self) -> str:
        return self.ledger.url.render_as_string(hide_password=False)

    def settings(self) -> Settings:
        six = {name[11:].lower(): value for name, value in self.service.settings.items()}
        return Settings(_env_file=None, **six, **self.options)  # type: ignore[call-arg]

    def run(self) -> EndedEarly | None:
        """One run, to its end; returns why it ended early."""
        return asyncio.run(self.send())

    async def send(self) -> EndedEarly | None:
        with lease(self.ledger, "backend") as held:
            try:
                sends = sending(self.ledger, held, 1, self.settings(), asyncio.Event())
                async with sends as run:
                    await run.everything()
            except EndedEarly as ending:
                return ending
        return None

    def states(self, op: Op) -> Counter[State]:
        with self.ledger.reading() as session:
            return Counter(session.exec(select(Step.state).where(Step.op == op)))

    def received(self, op: str) -> list[dict[str, Any]]:
        """What the service recorded of one operation."""
        return [entry for entry in self.service.entries() if entry["op"] == op]

    async def has_received(self, op: str, number: int) -> None:
        """Wait until the service has recorded so many of an operation."""

        def enough(entries: list[dict[str, Any]]) -> bool:
            return len([entry for entry in entries if entry["op"] == op]) >= number

        await asyncio.to_thread(self.service.wait_for, enough)

    def emails(self) -> Counter[str]:
        """Whom the service wrote to, and how often."""
        return Counter(e["email"] for e in self.received("invite") if e["worked"])
