"""A definition may have people added once more whose add is unsure: nobody waits for a person."""

from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import update

from config.definition.model import Definition
from config.errors import BadInput
from config.reading.reading import read_campaigns
from data.campaigns import approvals
from data.campaigns.approvals import PlanInWords, Standing
from data.decisions import adding_again, cleaning, withdrawing
from data.decisions.adding_again import ADDS
from data.decisions.cleaning import What
from data.history import records as campaign_records
from data.privacy import forgetting
from data.sending import recovery, runs
from data.store import tables
from data.store.states import AttemptState, By, Ending, Operation, Step, Word
from sandbox.faults.faults import Fault
from tasks.plan.plan import make_plan
from tasks.plan.target import beside
from tests.support.campaigns import Office, people
from tests.support.ledgers.small_ledger import NOON, Small, definition
from tests.support.yaml_definition import HEAD

ADA, BO = 5001, 5002


@pytest.fixture
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, each_database: str):
    monkeypatch.setattr(recovery, "OWN_RUNS", set())
    small = Small.at(tmp_path, "ada", "bo")
    with small.ledger as ledger:
        with ledger._transactions.writing() as connection:
            connection.execute(update(tables.campaign).values(add_again=True))
        yield small


def add(small: Small, *names: str) -> object:
    rows = small.rows()
    return small.claim(Operation.ADD, *(rows[name] for name in names))


def die_while_adding(small: Small, *names: str) -> object:
    """A run that died in the middle of an add, and the next one."""
    claimed = add(small, *names)
    assert claimed is not None
    recovery.OWN_RUNS.clear()
    adding_again.recover(small.ledger, small.begun.campaign)
    small.begun = runs.begin(small.ledger, "a", None, None)
    return claimed


def listed(small: Small) -> list[tuple[bool, int | None]]:
    return [
        (one.certain, one.candidate_id)
        for one in small.ledger.read(cleaning.find, small.begun.campaign)
    ]


def verdicts(small: Small) -> list[tuple[str, str]]:
    records = small.ledger.read(campaign_records.read, small.begun.campaign)
    return [(one.verdict, one.who) for one in records.decisions]


def test_who_may_have_been_added_waits_for_the_next_add(small: Small) -> None:
    """Everybody of the add, each with a decision of the definition; and clean-up lists them."""
    die_while_adding(small, "ada", "bo")
    assert [small.end_of(name)[0] for name in ("ada", "bo")] == [Step.WAITING] * 2
    assert verdicts(small) == [(Word.ADD_AGAIN, "the definition")] * 2
    assert small.attempts()[0].state == AttemptState.OVERRULED
    assert listed(small) == []  # nothing is there twice until the second add
    small.add_everybody()
    assert listed(small) == [(False, ADA), (False, BO)]


def test_nobody_is_added_again_where_the_definition_asks(small: Small) -> None:
    """The default: doubt is shown, and a person settles it."""
    with small.ledger._transactions.writing() as connection:
        connection.execute(update(tables.campaign).values(add_again=False))
    die_while_adding(small, "ada")
    assert small.end_of("ada")[0] is Step.UNSURE
    assert (
        adding_again.recover(small.ledger, small.begun.campaign, True) == 0
    )  # as it says from now on
    assert small.end_of("ada")[0] is Step.WAITING


def test_after_so_many_adds_a_person_is_asked(small: Small) -> None:
    """Each may leave a record; the count is each person's own."""
    for _ in range(ADDS - 1):
        die_while_adding(small, "ada")
        assert small.end_of("ada")[0] is Step.WAITING
    die_while_adding(small, "ada", "bo")
    assert [small.end_of(name)[0] for name in ("ada", "bo")] == [Step.UNSURE, Step.WAITING]


def test_a_plan_adds_nobody_more_often_than_the_run_would(small: Small) -> None:
    """A run that died over the last add that is allowed leaves it unsure, which no run has said."""
    for _ in range(ADDS - 1):
        die_while_adding(small, "ada")
    assert add(small, "ada") is not None
    recovery.OWN_RUNS.clear()
    sought = replace(definition("ada", "bo"), add_again=True)
    plan = make_plan(beside(sought, "", small.ledger, ""), small.ledger, NOON)
    assert [person.first_name for person in plan.people if person.add] == ["bo"]


def test_who_is_gone_from_the_definition_is_left_to_a_person(small: Small) -> None:
    """They would wait for ever, and nobody would be asked."""
    with small.ledger._transactions.writing() as connection:
        gone = tables.candidate.c.first_name == "ada"
        connection.execute(update(tables.candidate).where(gone).values(listed=False))
    claimed = small.claim(Operation.ADD, small.rows()["bo"])
    small.land(Operation.ADD, claimed, Step.DONE, ids={small.rows()["bo"]: BO})
    with small.ledger._transactions.writing() as connection:
        connection.execute(update(tables.candidate).where(gone).values(add_state=Step.UNSURE))
    adding_again.recover(small.ledger, small.begun.campaign)
    assert small.end_of("ada")[0] is Step.UNSURE


@pytest.mark.parametrize("moment", ["waiting", "sending", "done"])
def test_a_late_answer_spares_the_second_add_or_is_kept_as_the_double(
    small: Small, moment: str
) -> None:
    """It takes the place of no newer id; of two known ids one is used, the other listed."""
    row = small.rows()["ada"]
    first = die_while_adding(small, "ada")
    second = add(small, "ada") if moment != "waiting" else None
    if moment == "done":
        small.land(Operation.ADD, second, Step.DONE, ids={row: BO})
    small.land(Operation.ADD, first, Step.DONE, ids={row: ADA})
    if moment == "sending":
        assert small.end_of("ada")[0] is Step.SENDING
        small.land(Operation.ADD, second, Step.DONE, ids={row: BO})
    used = ADA if moment == "waiting" else BO
    assert [one.candidate_id for one in small.people() if one.id == row] == [used]
    assert listed(small) == ([] if moment == "waiting" else [(True, ADA)])


def test_who_is_withdrawn_between_two_adds_may_be_there_twice(small: Small) -> None:
    """Each add that may have worked is one record to look for, although nobody sends it again."""
    for _ in range(2):
        die_while_adding(small, "ada")
    small.ledger.write(
        withdrawing.withdraw, small.begun.campaign, [small.rows()["ada"]], By("rita", "moved away")
    )
    assert small.end_of("ada")[0] is Step.WITHDRAWN
    left = small.ledger.read(cleaning.find, small.begun.campaign)
    assert [item.what for item in left] == [What.DOUBLE, What.PERSON]


def test_what_a_forgotten_person_has_twice_is_told_once_and_kept_no_more(small: Small) -> None:
    """The number of a record at the service is theirs as well."""
    row = small.rows()["ada"]
    first = die_while_adding(small, "ada")
    small.land(Operation.ADD, add(small, "ada"), Step.DONE, ids={row: BO})
    small.land(Operation.ADD, first, Step.DONE, ids={row: ADA})
    recovery.OWN_RUNS.clear()
    left = small.ledger.write(forgetting.forget, {"ada@example.com"}, By("rita", "asked"))
    assert {one.candidate_id for one in left} == {ADA, BO}
    records = small.ledger.read(campaign_records.read, small.begun.campaign)
    assert [one.value for one in records.decisions if one.verdict == Word.DOUBLE] == [None]
    assert listed(small) == []


def test_an_approval_holds_although_its_run_died_while_adding(small: Small) -> None:
    """What the definition itself decides is no verdict that a person had to see first."""
    plan = PlanInWords("a", "one", "https://api.example.com", "a.yaml", None, "add: 2")
    shown, _ = small.ledger.write(approvals.seek, plan)
    small.ledger.write(approvals.answer, shown, "approved", By("rita", ""))
    recovery.OWN_RUNS.clear()
    small.begun = runs.begin(small.ledger, "a", None, None, shown.id)
    die_while_adding(small, "ada", "bo")
    assert verdicts(small)[-1] == (Word.ADD_AGAIN, "the definition")
    assert small.ledger.read(approvals.look, "a")[1] is Standing.APPROVED


@pytest.mark.parametrize("lost", [1, ADDS - 1])
def test_a_run_whose_add_loses_its_answer_adds_once_more_itself(office: Office, lost: int) -> None:
    """Everybody is invited once, nobody is asked, and the doubled records are listed."""
    path = office.write("a", people("ada", "bo"))
    path.write_text(path.read_text().replace("{file", "{when_unsure: add_again, file"))
    office.service.faults.add(Fault("lost", "add_candidates", after_work=True, count=lost))
    assert office.run(path).ending == Ending.COMPLETED
    assert office.emails() == {"ada@example.com": 1, "bo@example.com": 1}
    double = [one["what"] for one in office.status("a")["clean_up"]]  # type: ignore[attr-defined]
    assert double == ["double"] * 2 * lost


def test_a_definition_that_is_changed_to_it_clears_up_what_was_unsure(office: Office) -> None:
    """Whoever meets a hundred people in doubt writes it down then, and runs again."""
    path = office.write("a", people("ada"))
    office.service.faults.add(Fault("lost", "add_candidates", after_work=True))
    assert office.run(path).ending == Ending.NEEDS_ATTENTION
    path.write_text(path.read_text().replace("{file", "{when_unsure: add_again, file"))
    assert office.run(path).ending == Ending.COMPLETED
    assert office.emails() == {"ada@example.com": 1}


PERSON = "{first_name: Ada, last_name: Lovelace, email1: ada@example.com}"
ELSEWHERE = HEAD + "candidates: "


def read(folder: Path, candidates: str) -> Definition:
    (folder / "people.csv").write_text("first_name,last_name,email1\nAda,X,ada@example.com\n")
    path = folder / "a.yaml"
    path.write_text(ELSEWHERE + candidates)
    [definition] = read_campaigns(path).definitions
    return definition


@pytest.mark.parametrize(
    ("candidates", "again"),
    [
        (f"[{PERSON}]", False),
        (f"{{people: [{PERSON}]}}", False),
        (f"{{when_unsure: ask, people: [{PERSON}]}}", False),
        (f"{{when_unsure: add_again, people: [{PERSON}]}}", True),
        ("{when_unsure: add_again, file: people.csv}", True),
    ],
)
def test_a_definition_says_it_beside_its_people(
    tmp_path: Path, candidates: str, *, again: bool
) -> None:
    """Whether they stand in it or in a file; left out, a person is asked."""
    definition = read(tmp_path, candidates)
    assert definition.add_again is again
    assert [one.key for one in definition.candidates] == ["ada@example.com"]


def test_with_a_table_of_its_own_a_definition_says_it_alone(tmp_path: Path) -> None:
    """`campaign run people.csv --campaign a.yaml`; its own people are set aside, with a note."""
    read(tmp_path, f"[{PERSON}]")
    path = tmp_path / "a.yaml"
    for candidates, notes in (("", 0), (f", people: [{PERSON}]", 1)):
        path.write_text(f"{ELSEWHERE}{{when_unsure: add_again{candidates}}}")
        reading = read_campaigns(tmp_path / "people.csv", path)
        assert reading.definitions[0].add_again
        assert len(reading.notes) == notes


@pytest.mark.parametrize(
    ("candidates", "complaint"),
    [
        ("{when_unsure: again, file: people.csv}", 'candidates.when_unsure: found "again", wanted'),
        (f"{{file: people.csv, people: [{PERSON}]}}", "not both"),
        ("{people: ada@example.com}", "candidates.people: found"),
        ("{when_unsure: add_again}", "candidates.file: missing"),
        ("{people: [{first_name: Ada, last_name: X, email1: ada@}]}", 'email1: found "ada@"'),
        ("{people: [{first_name: Ada, first_name: X}]}", "first_name is written twice"),
    ],
)
def test_what_is_wrong_there_is_told_at_its_place(
    tmp_path: Path, candidates: str, complaint: str
) -> None:
    """In the words of the definition, with its line."""
    with pytest.raises(BadInput) as raised:
        read(tmp_path, candidates)
    told = [str(problem) for problem in raised.value.problems]
    assert any(complaint in problem and "a.yaml:4:" in problem for problem in told), told
