"""The golden tour: what a person types, from the README to the last command, and what they read.

tour.txt is both: a line after `$` is typed in a shell, the lines below it are what it says, and a
number in brackets is its exit code if that is not 0. After a change that is meant, or with a new
line to type, write it anew and read the difference:

    TOUR=write make test-all TESTS=tests/flows/cli/test_tour.py
"""

import os
import re
import signal
import subprocess
from pathlib import Path

import pytest

from flows.cli.app import PLACES
from tests.promises.support.commands import BINARY, Campaign, Running, wait_for

TOUR = Path(__file__).with_name("tour.txt")
README = Path(__file__).parents[3] / "README.md"
STAYS = {"sandbox": "AUDIENCE=", "up": "Ready."}  # commands that stay, and what they say at last
VARIES = {  # what differs from day to day, and from machine to machine
    r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d": "DATE TIME",
    r"since \d{4}-\d\d-\d\d \d\d:\d\d": "since DATE TIME",
    r"127\.0\.0\.1:\d+": "127.0.0.1:PORT",
    r"\b[0-9a-f]{16,32}\b": "CODE",
    r"(SECRET|ID)=\S+": r"\1=…",
    r"Prefect: [\d.]+;": "Prefect: VERSION;",
}


class Shell:
    """A person's terminal: a folder, an environment, and what they left running."""

    def __init__(self, person: Campaign) -> None:
        self._person = person
        person.environment |= {
            "PATH": f"{Path(BINARY).parent}:{os.environ['PATH']}",
            "PYTHONUNBUFFERED": "1",  # both outputs in the order in which they are written
            "PREFECT_API_URL": person.prefect(),
            "CAMPAIGN_INVITES_IN_FLIGHT": "1",  # so that it is known who loses an answer
        }
        self._staying: list[Running] = []

    def type(self, line: str) -> list[str]:
        """Type a line, and give what it says, without what varies."""
        name, *words = line.split()
        stays = STAYS.get(words[0]) if name == "campaign" else None
        said, code = self._stay(line, stays) if stays else self._run(line)
        for varies, instead in VARIES.items():
            said = re.sub(varies, instead, said.replace(str(self._person.home.parent), "HOME"))
        return [*said.rstrip("\n").splitlines(), *([f"[{code}]"] if code else [])]

    def _run(self, line: str) -> tuple[str, int]:
        done = subprocess.run(
            ["bash", "-c", line],
            cwd=self._person.folder,
            env=self._person.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        return done.stdout, done.returncode

    def _stay(self, line: str, last: str) -> tuple[str, int]:
        """Leave it running, as in another terminal, and export what it prints to be exported."""
        stays = self._person.start(*line.split()[1:])
        self._staying.append(stays)
        ready = re.compile(rf".*?{re.escape(last)}[^\n]*\n", re.DOTALL)
        shown = wait_for(lambda: ready.match(stays.shown()), seconds=200)[0]
        self._person.environment |= dict(
            re.findall(r"^export (\w+)='?(.*?)'?$", shown, re.MULTILINE)
        )
        return shown, 0

    def stop(self) -> list[int]:
        """Ctrl-C, the last one first."""
        return [each.send(signal.SIGINT).end().code for each in reversed(self._staying)]


def typed(tour: str) -> list[str]:
    return re.findall(r"^\$ (.*)$", tour, re.MULTILINE)


def blocks(page: str) -> list[str]:
    """What stands indented on a page, to be copied."""
    found = re.findall(r"(?:^    .*\n)+", page, re.MULTILINE)
    return [re.sub(r"^    ", "", each, flags=re.MULTILINE) for each in found]


def test_the_tour_types_what_the_readme_types_and_every_command() -> None:
    lines = typed(TOUR.read_text("utf-8"))
    readme = re.findall(r"^(campaign .*?) *(?:#.*)?$", "\n".join(blocks(README.read_text())), re.M)
    tour = iter(lines)
    assert [line for line in readme if line not in tour] == []  # in this order
    every = PLACES.keys() - {"demo"}
    assert {line.split()[1] for line in lines if line.startswith("campaign ")} == every


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_the_tour(campaign: Campaign) -> None:
    (campaign.folder / "campaigns").mkdir()
    for block in blocks(README.read_text("utf-8")):
        if block.startswith("Candidate Name,"):
            (campaign.folder / "export.csv").write_text(block)
        if block.startswith("campaign: "):
            (campaign.home / "filled-in.yaml").write_text(block)
    lines = typed(TOUR.read_text("utf-8"))
    at = Shell(campaign)
    tour = "".join("\n".join([f"$ {line}", *at.type(line)]) + "\n\n" for line in lines)
    assert set(at.stop()) == {0}
    if os.environ.get("TOUR") == "write":
        TOUR.write_text(tour.rstrip("\n") + "\n", "utf-8")
    assert tour.rstrip("\n") == TOUR.read_text("utf-8").rstrip("\n")
