"""Where a campaign stands, for a program and for a person: both are told the same."""

from pathlib import Path

import pytest

from data.states import Operation, Step
from flows.cli.closing import next_steps, summary
from flows.cli.status import left_out, needing_a_person
from tasks.standing import in_short, standing
from tests.small_ledger import Small


def refused_to_add(small: Small, name: str) -> None:
    claimed = small.claim(Operation.ADD, small.rows()[name])
    assert claimed is not None
    small.land(Operation.ADD, claimed, Step.REFUSED, why="The service said no (422).")


@pytest.mark.parametrize("step", [Step.DONE, Step.REFUSED, Step.UNSURE])
@pytest.mark.parametrize("added", [True, False])
def test_what_a_person_reads_leaves_nobody_out_who_matters(
    tmp_path: Path, step: Step, added: bool
) -> None:
    """Whoever is well need not be read for it: the table, the line and the next steps stay."""
    small = Small.at(tmp_path, "ada", "bo", "cy", "di")
    if not added:
        refused_to_add(small, "di")
    small.add_everybody()
    for name in ("ada", "bo"):
        claimed = small.claim(Operation.INVITE, small.rows()[name])
        assert claimed is not None
        small.land(Operation.INVITE, claimed, step)
    whole, short = (look(small.ledger, small.campaign()) for look in (standing, in_short))
    assert len(whole["candidates"]) == 4
    if step is Step.DONE and added:
        assert short["candidates"] == []
    assert list(needing_a_person(short["candidates"])) == list(
        needing_a_person(whole["candidates"])
    )
    assert list(left_out(short)) == list(left_out(whole))
    assert summary(short) == summary(whole)
    assert next_steps(short, "a.yaml") == next_steps(whole, "a.yaml")
    assert {**short, "candidates": []} == {**whole, "candidates": []}
    small.ledger.close()
