"""Large sheets: reading and judging 100,000 people, beside what reads or checks them barely.

    .venv/bin/python -m tests.bench.measured.sheets [--people 100000] [--rounds 5]

Each contender is a process of its own and they take turns, so that a busy machine slows all of
them. Only the reading is timed, without the start of a program and its imports. Linux only.
"""

import argparse
import csv
import json
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import xlsxwriter
from rich.console import Console
from rich.table import Table

from tests.bench.weighing import Failed, weigh

HOME = Path(__file__).parents[3]
HEADER = ("first_name", "last_name", "email1", "source", "notes", "stage_id")
HEAD = "campaign: a\nproject: {name: A}\nproblem: 42\n"
Row = Sequence[str | int]
FEW = 10  # people, to weigh everything but them
KILOBYTE = 1024

# Runs one reading and prints its seconds, its seconds of processor time with those of the processes
# it started, and the largest memory of this process and of those, in kilobytes.
TIMED = """
import json, os, re, resource, sys, time
from pathlib import Path
file = Path(sys.argv[1])
{before}
begun, cpu = time.perf_counter(), sum(os.times()[:4])
{reading}
took, cpu = time.perf_counter() - begun, sum(os.times()[:4]) - cpu
own = int(re.search(r"VmHWM:\\s*(\\d+)", Path("/proc/self/status").read_text())[1])
children = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
print(json.dumps({{"seconds": took, "cpu": cpu, "own": own, "children": children}}))
"""


@dataclass(frozen=True, slots=True)
class Contender:
    """One way to read a file: what is done before the clock starts, and the reading."""

    name: str
    file: str
    before: str
    reading: str


@dataclass(frozen=True, slots=True)
class Taken:
    """What one reading took: seconds of time and of processor, kilobytes at the most."""

    seconds: float
    cpu: float
    own: int
    children: int


OURS = "from config.reading.reading import read_campaigns"
PANDAS = Contender(
    "pandas with openpyxl, the bare sheet",
    "people.xlsx",
    "import openpyxl, pandas",
    "pandas.read_excel(file, sheet_name='candidates', header=None, dtype=object, na_filter=False)",
)
WORKBOOK = Contender(
    "campaign, .xlsx",
    "people.xlsx",
    f"{OURS}\nimport config.reading.campaign_sheets",
    "read_campaigns(file)",
)
ADDRESSES = Contender(
    "email-validator, the addresses alone",
    "people.csv",
    "import csv\nfrom email_validator import validate_email\n"
    "rows = list(csv.DictReader(file.open(encoding='utf-8')))",
    "for row in rows: validate_email(row['email1'], check_deliverability=False)",
)
TEXT = Contender(
    "campaign, .csv",
    "people.csv",
    OURS,
    "read_campaigns(file, file.with_suffix('.yaml'))",
)
# Ours, the floor beside it, how many times the floor's seconds are allowed (issue: at most).
PAIRS = ((WORKBOOK, PANDAS, 1.6), (TEXT, ADDRESSES, 2.5))


def main() -> int:
    """Measure and print. 0 also where figures are missed: they are this machine's."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--people", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=5)
    asked = parser.parse_args()
    taken: dict[str, list[Taken]] = {}
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        few, many = Path(folder) / "few", Path(folder) / "many"
        write(few, FEW)
        write(many, asked.people)
        try:
            for _ in range(asked.rounds):
                for ours, floor, _allowed in PAIRS:
                    for contender in (floor, ours):
                        taken.setdefault(contender.name, []).append(take(contender, many))
            least = {one.name: take(one, few) for pair in PAIRS for one in pair[:2]}
        except Failed as error:
            print(error, file=sys.stderr)
            return 1
    show(taken, least, asked.people)
    return 0


def write(folder: Path, people: int) -> None:
    """Write the same people as a workbook and as a text."""
    folder.mkdir()
    with (folder / "people.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([HEADER, *rows(people)])
    (folder / "people.yaml").write_text(f"{HEAD}candidates: {{file: people.csv}}\n")
    with xlsxwriter.Workbook(folder / "people.xlsx", {"constant_memory": True}) as book:
        head: list[Row] = [("campaign", "a"), ("project.name", "A"), ("problem", 42)]
        for name, content in (("campaign", head), ("candidates", [HEADER, *rows(people)])):
            sheet = book.add_worksheet(name)
            for number, cells in enumerate(content):
                sheet.write_row(number, 0, cells)


def rows(people: int) -> Iterator[Row]:
    for number in range(people):
        email = f"first{number}.last@company{number % 997}.example.com"
        yield f"First{number}", f"Last{number}", email, "referral", f"Note {number}", number % 5


def take(contender: Contender, folder: Path) -> Taken:
    """Read once, in a process of its own. Raises Failed."""
    program = TIMED.format(before=contender.before, reading=contender.reading)
    command = [sys.executable, "-c", program, str(folder / contender.file)]
    said = weigh(command, folder, {"PYTHONPATH": str(HOME), "PATH": "/usr/bin:/bin"}).said
    return Taken(**json.loads(said.splitlines()[-1]))


def show(taken: dict[str, list[Taken]], least: dict[str, Taken], people: int) -> None:
    """Print the middle of each figure; a ratio is that of the two readings of one round."""
    table = Table(box=None, pad_edge=False, title=f"{people:,} people", title_justify="left")
    headings = ("seconds", "times", "of processor", "times", "MB", "MB of its process", "kB a row")
    for heading in ("", *headings):
        table.add_column(heading, justify="right" if heading else "left")
    for ours, floor, allowed in PAIRS:
        beside = list(zip(taken[ours.name], taken[floor.name], strict=True))
        seconds = spread([one.seconds / bare.seconds for one, bare in beside])
        cpu = spread([one.cpu / bare.cpu for one, bare in beside])
        for contender, times in ((floor, ("", "")), (ours, (f"{seconds} of {allowed}", cpu))):
            some = taken[contender.name]
            own = median(one.own for one in some)
            table.add_row(
                contender.name,
                f"{median(one.seconds for one in some):.1f}",
                times[0],
                f"{median(one.cpu for one in some):.1f}",
                times[1],
                f"{own / KILOBYTE:.0f}",
                f"{median(one.children for one in some) / KILOBYTE:.0f}",
                f"{(own - least[contender.name].own) / people:.2f}",
            )
    Console(width=140).print(table)


def spread(ratios: Sequence[float]) -> str:
    """The middle one, and between which they lie."""
    return f"{median(ratios):.2f} ({min(ratios):.2f}-{max(ratios):.2f})"


if __name__ == "__main__":
    sys.exit(main())
