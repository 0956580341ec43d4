"""A ledger with one campaign in it, for tests of the data room: no service, no network."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from config.definition.model import Candidate, Definition, Invites, ProblemById, Project
from config.email_key import email_key
from config.mistakes import Place
from data.campaigns import queries
from data.campaigns.intake import Intent
from data.sending import runs
from data.sending.claims import Claim, Claimed
from data.sending.outcomes import Outcome
from data.sending.runs import Begun
from data.store.ledger import Ledger
from data.store.states import AttemptState, Operation, Step
from data.store.tables import Campaign
from tests.support.ledgers.databases import empty_ledger_at
from tests.support.ledgers.empty_ledger import open_ledger
from tests.support.ledgers.journal import attempts

NOON = datetime(2026, 12, 1, 12, tzinfo=UTC)
FIRST_ID = 5001


def definition(*names: str, key: str = "a", notes: str = "", send: bool = True) -> Definition:
    """A campaign of these people, each at example.com."""
    place = Place("a.yaml")
    rows = (
        Candidate(
            name, "X", f"{name}@example.com", "", notes, 1, email_key(f"{name}@example.com"), place
        )
        for name in names
    )
    project = Project(None, "A", "", "open", None, None, None)
    return Definition(key, project, ProblemById(42), tuple(rows), Invites(send), place)


def intent(digest: str = "one", **more: Any) -> Intent:
    """What that campaign asks of the project."""
    asked: dict[str, Any] = {
        "service": "https://api.example.com",
        "app_url": "https://app.example.com",
        "definition": "a.yaml",
        "digest": digest,
        "name": "A",
        "description": "",
        "state": "open",
        "starttime": "",
        "endtime": "",
        "send_invites": True,
        "project_id": None,
        "problem_id": 42,
        "problem_title": None,
    }
    return Intent(Campaign(**asked | more))


@dataclass
class Small:
    """An open ledger and a run of its campaign, and short ways to claim and to record."""

    ledger: Ledger
    begun: Begun

    @classmethod
    def at(cls, folder: Path, *names: str) -> "Small":
        ledger = open_ledger(empty_ledger_at(folder))
        return cls(ledger, runs.begin(ledger, "a", definition(*names), intent()))

    def rows(self) -> dict[str, int]:
        """The ledger's row of each person, by first name."""
        return {one.first_name: one.id for one in self.people()}

    def people(self) -> Any:
        return list(queries.candidates(self.ledger, self.begun.campaign))

    def attempts(self) -> Any:
        return self.ledger.read(attempts, self.begun.campaign)

    def campaign(self) -> Any:
        return self.ledger.read(queries.find_campaign, "a")

    def wish(self, operation: Operation, *rows: int, run: int | None = None) -> Claim:
        return Claim(
            operation, self.begun.campaign, run or self.begun.run, NOON, rows, self.begun.version
        )

    def claim(self, operation: Operation, *rows: int, run: int | None = None) -> Claimed | None:
        [claimed] = self.ledger.write_beside(
            runs.commit, [], [self.wish(operation, *rows, run=run)], self.ledger.gone
        )
        return claimed  # type: ignore[return-value]  # of a run that others took for dead alone

    def land(self, operation: Operation, claimed: Claimed, step: Step, **more: Any) -> None:
        """Record what came of an attempt; an add that is done gives ids to all its rows."""
        self.ledger.write_beside(
            runs.commit, [outcome(operation, claimed, step, **more)], [], self.ledger.gone
        )

    def add_everybody(self) -> None:
        claimed = self.claim(Operation.ADD, *self.rows().values())
        assert claimed is not None
        ids = {row: FIRST_ID + number for number, row in enumerate(claimed.rows)}
        self.land(Operation.ADD, claimed, Step.DONE, ids=ids)

    def end_of(self, name: str) -> tuple[Step, Step]:
        [found] = [one for one in self.people() if one.first_name == name]
        return Step(found.add_state), Step(found.invite_state)


def outcome(operation: Operation, claimed: Claimed, step: Step, **more: Any) -> Outcome:
    """The outcome that puts a step there."""
    state = more.pop("state", None)
    state = state or (AttemptState.NOT_SENT if step is Step.WAITING else AttemptState(step))
    at = NOON + timedelta(seconds=1)
    return Outcome(claimed.attempt, operation, state, step, at, claimed.rows, **more)
