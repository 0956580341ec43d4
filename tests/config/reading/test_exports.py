"""Exports of forty kinds and more: from the file to invitations, and back into the file."""

import re
from collections import Counter
from pathlib import Path

import openpyxl
import pytest

from config.reading.reading import read_campaigns
from data.campaigns import queries
from flows.cli.see.writing_back import WritingBack, check_places
from sandbox.server import Sandbox
from tasks.outputs.links import results_of
from tests.config.refusals import messages
from tests.sheets.exports.made import ADA, MADE, MARY, Made, content
from tests.support.campaigns import Office
from tests.support.documents import fits

README = Path(__file__).parents[2] / "sheets" / "exports" / "README.md"
HEAD = "campaign: {}\nproject: {{name: Engineers}}\nproblem: 42\ncandidates:\n  file: {}\n"
GOOD = {name: made for name, made in MADE.items() if not made.complaint}
# One of each way to write a file; the others take longer, and differ in their columns alone.
FIRST = list({made.way: name for name, made in reversed(GOOD.items())}.values())
OTHERS = [name for name in GOOD if name not in FIRST]
SENT = [
    pytest.param(FIRST, id="each way"),
    *(pytest.param(OTHERS[at::4], id=f"others {at}", marks=pytest.mark.journey) for at in range(4)),
]


def write(folder: Path, name: str, made: Made) -> Path:
    """Write an export and its definition, of at most four lines under `candidates`."""
    (folder / name).write_bytes(content(name, made))
    lines = [f"  {line}" for line in made.options.splitlines()]
    assert 1 + len(lines) <= 4
    definition = folder / f"{name.replace('.', '-')}.yaml"
    definition.write_text(HEAD.format(definition.stem, name) + "\n".join(lines))
    return definition


def test_each_export_says_where_it_is_described() -> None:
    """At least forty, and every one with an address in README.md."""
    assert len(MADE) >= 50
    rows = [line.split("|") for line in README.read_text("utf-8").splitlines() if "://" in line]
    named = {file for row in rows for file in re.findall(r"`([^`]+)`", row[1])}
    assert named == MADE.keys()


@pytest.mark.parametrize("name", GOOD)
def test_an_export_is_read_as_it_is(name: str, tmp_path: Path) -> None:
    """Only those whom `where` keeps, each once, with both names and the first address."""
    (definition,) = read_campaigns(write(tmp_path, name, MADE[name])).definitions
    host = f"{name.partition('.')[0]}.example"
    assert [(f"{p.first_name} {p.last_name}", p.email1) for p in definition.candidates] == [
        (ADA, f"ada@{host}"),
        (MARY, f"mary@{host}"),
    ]
    assert {p.stage_id for p in definition.candidates} == {1}
    assert {p.notes for p in definition.candidates} == {""}


@pytest.mark.parametrize("name", [name for name in MADE if name not in GOOD])
def test_a_bad_export_is_refused_at_its_cell(name: str, tmp_path: Path) -> None:
    """With the cell, or with what there is instead."""
    said = messages(read_campaigns, write(tmp_path, name, MADE[name]))
    assert any(fits(f"…{MADE[name].complaint}…", each) for each in said)


@pytest.mark.parametrize("names", SENT)
def test_every_export_is_sent_and_written_back(names: list[str], tmp_path: Path) -> None:
    """Nobody outside gets an email; each row of whoever was invited gets a link to click."""
    copies = {}
    with Sandbox() as service:
        office = Office.at(tmp_path, service)
        for name in names:
            definition = write(tmp_path, name, MADE[name])
            office.run(definition)
            into = tmp_path / name
            copy = tmp_path / f"copy-of-{name}.xlsx"
            with office.ledger() as ledger:
                row = ledger.read(queries.find_campaign, definition.stem)
                assert row is not None
                check_places(into, copy, failed_only=False)
                results = results_of(ledger, row)
                WritingBack(into, copy, row, results, definition).whole()
            copies[name] = copy
        invited = office.emails()
    hosts = Counter(name.partition(".")[0] for name in names)
    assert invited == {
        f"{who}@{host}.example": times for host, times in hosts.items() for who in ("ada", "mary")
    }
    for name, copy in copies.items():
        # Each row of a person, with a link that leads where it says.
        assert _linked_rows(copy) == (3 if MADE[name].twice else 2), name


def _linked_rows(copy: Path) -> int:
    rows = [row for sheet in openpyxl.load_workbook(copy) for row in sheet.iter_rows()]
    invited = [row for row in rows if any(cell.value == "invited" for cell in row)]
    return sum(
        any(cell.hyperlink and cell.hyperlink.target == cell.value for cell in row)
        for row in invited
    )
