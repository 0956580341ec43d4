"""Short commands and a small campaign, each beside a bare program of the same libraries."""

import sys
from pathlib import Path

from tests.bench.contenders import CAMPAIGN, HERE, KEY, OURS, Office
from tests.bench.place import Place, Round, Sample, empty, in_the_middle, sample, send, sent
from tests.bench.service import service
from tests.bench.weighing import weigh
from tests.support.prefects.prefect_home import prefect_server

PEOPLE = 100
FEW = 10
RUN, RUN_STANDING = "campaign run, 10 people", "campaign run, 10 people, standing server"
EMPTY_STANDING = "an empty flow, standing server"
HELP, CHECK, STATUS, LINKS = (
    "campaign --help",
    "campaign check",
    "campaign status",
    "campaign links",
)
TWO_COMMANDS = "two bare commands, --help"
READING, LEDGER = "import what reads YAML", "import what reads a ledger"

COMMANDS: dict[str, list[str | Path]] = {
    TWO_COMMANDS: [sys.executable, HERE / "rivals" / "two_commands.py", "--help"],
    HELP: [CAMPAIGN, "--help"],
    READING: [sys.executable, "-c", "import pydantic, typer, ruamel.yaml, email_validator"],
    CHECK: [CAMPAIGN, "check", "listed.yaml"],
    LEDGER: [sys.executable, "-c", "import sqlmodel, typer"],
    STATUS: [CAMPAIGN, "status", KEY],
    LINKS: [CAMPAIGN, "links", KEY],
}


def measure(place: Place, taken: Round) -> None:
    """Take one round."""
    with place.office(PEOPLE) as office, service(0) as there:
        sent(office, OURS, there)
        _list_people(office)
        environment = office.environment(there.environment)
        typed: dict[str, list[Sample]] = {name: [] for name in COMMANDS}
        for _ in range(place.size.starts):
            for name, command in COMMANDS.items():
                typed[name].append(sample(weigh(command, office.folder, environment)))
    taken |= {name: in_the_middle(samples) for name, samples in typed.items()}
    taken[RUN] = send(place, OURS, FEW, 0, 8)
    _with_a_standing_server(place, taken)


def _with_a_standing_server(place: Place, taken: Round) -> None:
    home = place.folder / "standing"
    home.mkdir(exist_ok=True)
    with prefect_server(home) as server:
        empty(place, PREFECT_API_URL=server.api)  # whatever a server does once
        taken[EMPTY_STANDING] = empty(place, PREFECT_API_URL=server.api)
        taken[RUN_STANDING] = send(place, OURS, FEW, 0, 8, PREFECT_API_URL=server.api)


def _list_people(office: Office) -> None:
    """Write listed.yaml, a definition that lists its people itself."""
    rows = "".join(
        f"  - {{first_name: First{n}, last_name: Last{n}, email1: person{n}@example.com}}\n"
        for n in range(PEOPLE)
    )
    (office.folder / "listed.yaml").write_text(
        f"campaign: listed\nproject: {{name: Engineers}}\nproblem: 42\ncandidates:\n{rows}"
    )
