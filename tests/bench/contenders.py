"""The programs that are measured side by side, and the folder that each of them works in."""

import os
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).parent
BIN = Path(sys.executable).parent
CAMPAIGN = BIN / "campaign"
BENCH_PYTHON = HERE.parent.parent / ".bench" / "bin" / "python"
KEY = "bench"


@dataclass(frozen=True, slots=True)
class Contender:
    """One way to send a campaign: the command, and whether Prefect is in it."""

    name: str
    command: tuple[str | Path, ...]
    with_prefect: bool = False


def _rival(name: str, file: str, python: str | Path = sys.executable, **more: bool) -> Contender:
    # The shell's `$IN_FLIGHT` of these commands is filled in by `Office.command`.
    return Contender(name, (python, HERE / "rivals" / file, "people.csv", "$IN_FLIGHT"), **more)


OURS = Contender("campaign run", (CAMPAIGN, "run", f"{KEY}.yaml"), with_prefect=True)
FLOOR = _rival("the floor", "floor.py")
SECOND_FLOOR = _rival("the second floor, aiohttp", "aiohttp_floor.py", BENCH_PYTHON)
SCRIPT = _rival("one by one", "script.py")
PREFECT = _rival("Prefect, a task each", "prefect_tasks.py", with_prefect=True)
DBOS = _rival("DBOS, a step each", "dbos_steps.py", BENCH_PYTHON)
EMPTY = Contender("an empty flow", (sys.executable, HERE / "rivals" / "empty_flow.py"), True)


@dataclass(frozen=True, slots=True)
class Office:
    """A folder of its own with so many people in it, where one contender works."""

    folder: Path
    people: int
    in_flight: int = 8
    more: dict[str, str] = field(default_factory=dict)

    @property
    def emails(self) -> set[str]:
        return {f"person{number}@example.com" for number in range(self.people)}

    def fill(self, prefect_home: Path | None = None) -> None:
        """Write people.csv and a definition; `prefect_home` is one to copy, already migrated."""
        self.folder.mkdir(parents=True, exist_ok=True)
        self.write_people(self.people)
        (self.folder / f"{KEY}.yaml").write_text(
            f"campaign: {KEY}\nproject: {{name: Engineers}}\nproblem: 42\n"
            "candidates: {file: people.csv}\n"
        )
        if prefect_home is not None:
            shutil.copytree(prefect_home, self.folder / ".prefect")

    def write_people(self, number: int) -> None:
        """Write people.csv with so many people."""
        rows = (f"First{one},Last{one},person{one}@example.com\n" for one in range(number))
        with (self.folder / "people.csv").open("w", encoding="utf-8") as file:
            file.write("first_name,last_name,email1\n")
            file.writelines(rows)

    def command(self, contender: Contender) -> list[str]:
        return [str(self.in_flight) if w == "$IN_FLIGHT" else str(w) for w in contender.command]

    def environment(self, service: Mapping[str, str]) -> dict[str, str]:
        """Everything that a contender is told. Nothing may ask another machine."""
        return {
            "PATH": os.environ["PATH"],
            "HOME": str(self.folder),
            "PREFECT_HOME": str(self.folder / ".prefect"),
            # On a busy machine its server takes longer than Prefect's 20 s to answer.
            "PREFECT_SERVER_EPHEMERAL_STARTUP_TIMEOUT_SECONDS": "120",
            "DO_NOT_TRACK": "1",
            "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
            "CAMPAIGN_DATABASE_URL": f"sqlite:///{self.folder / 'ledger.db'}",
            "CAMPAIGN_OUTPUT_DIR": str(self.folder / "out"),
            "CAMPAIGN_INVITES_IN_FLIGHT": str(self.in_flight),
            **service,
            **self.more,
        }
