"""Where a campaign stands, for a program and for a person: both are told the same."""

import re
from pathlib import Path

import pytest

from data.decisions import withdrawing
from data.holds import do_not_contact
from data.sending import runs
from data.store.states import By, Operation, Step
from flows.cli.see.status import left_out, needing_a_person, removed
from flows.pages.markdown import percent
from flows.words.closing import next_steps, summary
from tasks.status.standing import counts_of, in_short, standing
from tests.support.ledgers.small_ledger import FIRST_ID, Small, definition, intent


def refused_to_add(small: Small, name: str) -> None:
    claimed = small.claim(Operation.ADD, small.rows()[name])
    assert claimed is not None
    small.land(Operation.ADD, claimed, Step.REFUSED, why="The service said no (422).")


def test_an_email_that_went_out_stays_counted(tmp_path: Path) -> None:
    """Whoever is withdrawn, or corrected, after an invitation had one all the same."""
    small = Small.at(tmp_path, "ada", "bo", "cy", "di")
    small.add_everybody()
    for name in ("ada", "bo", "cy"):
        claimed = small.claim(Operation.INVITE, small.rows()[name])
        assert claimed is not None
        small.land(Operation.INVITE, claimed, Step.REFUSED if name == "cy" else Step.DONE)
    rows = small.rows()
    gone = [rows["ada"], rows["cy"], rows["di"]]  # of these, only ada had an email
    small.ledger.write(withdrawing.withdraw, small.begun.campaign, gone, By("rita", "hired"))
    stand = standing(small.ledger, small.campaign())
    assert (stand["counts"]["invited"], stand["withdrawn_since"]) == (2, 1)
    assert stand["counts"]["withdrawn"] == 3
    assert re.fullmatch(r"2 invited \(1 of them [^)]+\), 4 added, 2 withdrawn", summary(stand))
    assert percent(counts_of(small.ledger, small.campaign()), send=True) == 100
    small.ledger.write(
        withdrawing.correct,
        small.begun.campaign,
        rows["bo"],
        ("eve@example.com",) * 2,
        By("rita", "a typo"),
    )
    assert standing(small.ledger, small.campaign())["counts"]["invited"] == 2
    small.ledger.close()


@pytest.mark.parametrize("added", [True, False])
def test_who_left_the_sheet_before_being_invited_waits_for_no_run(
    tmp_path: Path, added: bool
) -> None:
    """They are told as removed, by name, and no run is offered that would do nothing."""
    small = Small.at(tmp_path, "ada", "bo")
    if added:
        small.add_everybody()
    small.begun = runs.begin(small.ledger, "a", definition("ada"), intent("two"))
    if not added:
        claimed = small.claim(Operation.ADD, small.rows()["ada"])
        assert claimed is not None
        small.land(Operation.ADD, claimed, Step.DONE, ids={small.rows()["ada"]: FIRST_ID})
    claimed = small.claim(Operation.INVITE, small.rows()["ada"])
    assert claimed is not None
    small.land(Operation.INVITE, claimed, Step.DONE)
    stand = in_short(small.ledger, small.campaign())
    assert (stand["counts"]["waiting"], stand["removed"]) == (1, 1)
    also = ", 2 added" if added else ""
    assert summary(stand) == f"1 invited{also}, 1 removed from the file before being invited"
    assert next_steps({**stand, "project": "done", "problem": "done"}, "a.yaml") == [
        "links: campaign links a",
        "removed: they are not invited; to withdraw one for good: campaign withdraw a EMAIL "
        "--why TEXT",
    ]
    step = "invite" if added else "add"
    why = "no longer in the definition; left alone"
    assert list(removed(stand["candidates"], send=True)) == [
        ("bo@example.com", step, "removed", why)
    ]
    assert percent(counts_of(small.ledger, small.campaign()), send=True) == 100
    small.ledger.write(
        withdrawing.withdraw, small.begun.campaign, [small.rows()["bo"]], By("rita", "gone")
    )
    assert standing(small.ledger, small.campaign())["removed"] == 0
    small.ledger.close()


def test_where_everybody_is_on_the_list_there_is_no_link_to_give(tmp_path: Path) -> None:
    small = Small.at(tmp_path, "ada", "bo")
    everybody = {f"{name}@example.com": f"{name}@example.com" for name in ("ada", "bo")}
    small.ledger.write(do_not_contact.block, everybody, By("rita", "asked"))
    stand = in_short(small.ledger, small.campaign())
    [step] = next_steps({**stand, "project": "done", "problem": "done"}, "a.yaml")
    assert step.startswith("do-not-contact list: 2 people are left out")
    small.ledger.close()


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
