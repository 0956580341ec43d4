"""`invites: {approval: …}` in a definition."""

from datetime import timedelta
from pathlib import Path

import pytest

from config.definition.model import Approval
from config.reading.reading import read_campaigns
from tests.config.refusals import mistakes
from tests.sheets.writers import workbook

HEAD = """\
campaign: asked
project: {name: Engineers}
problem: 42
candidates: [{first_name: Ada, last_name: Lovelace, email1: ada@example.com}]
"""


@pytest.mark.parametrize(
    ("invites", "approval"),
    [
        ("{send: true}", None),
        ("{approval: required}", Approval()),
        ("{approval: {}}", Approval()),
        ("{approval: within 2 days}", Approval(timedelta(days=2))),
        ("{approval: {within: 36 hours}}", Approval(timedelta(hours=36))),
    ],
)
def test_approval_is_read(tmp_path: Path, invites: str, approval: Approval | None) -> None:
    """Required without a limit, or within a time, in either spelling."""
    path = tmp_path / "asked.yaml"
    path.write_text(f"{HEAD}invites: {invites}\n")
    [definition] = read_campaigns(path).definitions
    assert definition.invites.approval == approval


@pytest.mark.parametrize(
    ("invites", "where", "value"),
    [
        ("{approval: maybe}", "5:21, invites.approval", '"maybe"'),
        ("{approval: true}", "5:21, invites.approval", "true"),
        ("{approval: {within: 2}}", "5:30, invites.approval.within", "2"),
        ("{approval: within long}", "5:21, invites.approval.within", '"long"'),
        ("{approval: {witin: 2 days}}", "5:22, invites.approval.witin", "within?"),
        ("{aproval: required}", "5:11, invites.aproval", "approval?"),
    ],
)
def test_what_is_no_approval_is_told_with_its_place(
    tmp_path: Path, invites: str, where: str, value: str
) -> None:
    """A limit that cannot be read must not become a run that waits for nobody."""
    path = tmp_path / "asked.yaml"
    path.write_text(f"{HEAD}invites: {invites}\n")
    (mistake,) = mistakes(read_campaigns, path)
    assert f"{mistake.place}, {mistake.field}" == f"{path}:{where}"
    assert value == mistake.found or value in str(mistake.message)


def test_a_workbook_asks_for_approval_too(tmp_path: Path) -> None:
    """One cell says it: required, or within a time."""
    fields = (
        ("campaign", "asked"),
        ("project.name", "Engineers"),
        ("problem", 42),
        ("invites.approval", "within 2 days"),
    )
    people = (("first_name", "last_name", "email1"), ("Ada", "Lovelace", "ada@example.com"))
    path = tmp_path / "asked.xlsx"
    path.write_bytes(workbook({"campaign": fields, "candidates": people}))
    [definition] = read_campaigns(path).definitions
    assert definition.invites.approval == Approval(timedelta(days=2))
