"""What a definition may say, and what each mistake in one is answered with."""

from dataclasses import fields
from datetime import datetime
from functools import partial
from pathlib import Path

import pytest

from config.definition.model import (
    Candidate,
    Definition,
    Invites,
    ProblemById,
    ProblemByTitle,
    Project,
)
from config.errors import BadInput
from config.reading.reading import read_campaigns
from tests.config.refusals import messages, mistakes
from tests.support import yaml_definition as sample
from tests.wording import BEFORE_AT, BETWEEN_BRACKETS, NO_FIELD, PUT_QUOTES, SAME_PERSON


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each test writes its definition into a folder of its own."""
    monkeypatch.chdir(tmp_path)


def read(text: str) -> Definition:
    path = Path("campaign.yaml")
    path.write_text(text, encoding="utf-8")
    (definition,) = read_campaigns(path).definitions
    return definition


complaints = partial(messages, read)


def test_a_full_definition_is_read_as_written() -> None:
    """Every field of the design's example reaches its place, text untouched."""
    definition = read(
        """\
campaign: backend-2026
project:
  name: Backend engineer
  description: Take-home
  state: open
  starttime: 2026-12-01 09:00
  endtime: 2026-12-14 18:00:00
  timezone: Europe/Paris
problem: 42
stage_id: 7
candidates:
  - {first_name: " Zoë ", last_name: NO, email1: " Zoe@Example.org ", source: x, stage_id: 3}
  - {first_name: Null, last_name: 'No', email1: b@example.org, notes: 2026-12-01}
invites: {send: false}
"""
    )
    assert definition.campaign == "backend-2026"
    assert definition.project == Project(
        id=None,
        name="Backend engineer",
        description="Take-home",
        state="open",
        starttime=datetime.fromisoformat("2026-12-01T09:00"),
        endtime=datetime.fromisoformat("2026-12-14T18:00"),
        timezone="Europe/Paris",
    )
    assert definition.problem == ProblemById(42)
    assert definition.invites == Invites(send=False)
    zoe, null = definition.candidates
    assert (zoe.first_name, zoe.last_name, zoe.email1) == ("Zoë", "NO", "Zoe@Example.org")
    assert (zoe.source, zoe.notes, zoe.stage_id, zoe.key) == ("x", "", 3, "zoe@example.org")
    assert str(zoe.place) == "campaign.yaml:12:5"
    assert (null.first_name, null.last_name, null.notes) == ("Null", "No", "2026-12-01")
    assert (null.source, null.stage_id) == ("", 7)


def test_what_is_left_out_has_the_interface_s_types() -> None:
    """Optional fields become "" or the campaign's stage; people are invited unless told not to."""
    definition = read(sample.MINIMAL)
    assert definition.project == Project(None, "A", "", "open", None, None, None)
    assert definition.invites.send is True
    person = definition.candidates[0]
    assert (person.source, person.notes, person.stage_id) == ("", "", 1)
    staged = read(sample.MINIMAL + "stage_id: 9\n")
    assert staged.candidates[0].stage_id == 9


def test_empty_fields_count_as_left_out() -> None:
    """`description:` with nothing after it is not a value."""
    text = sample.MINIMAL.replace("{name: A}", "\n  name: A\n  description:\n  starttime: ''")
    assert read(text).project == Project(None, "A", "", "open", None, None, None)
    assert "email1: missing" in complaints(sample.MINIMAL.replace("ada@example.com", "")).pop()


def test_a_problem_is_named_by_id_or_title() -> None:
    """`problem: 42`, `{id: 42}` and `{title: Two sum}`; both at once is one too many."""
    assert read(sample.with_problem("{id: 42}")).problem == ProblemById(42)
    assert read(sample.with_problem("{title: Two sum}")).problem == ProblemByTitle("Two sum")
    assert "not both" in complaints(sample.with_problem("{id: 42, title: x}")).pop()
    unlisted = read(sample.with_problem("{id: 42, unlisted: true}")).problem
    assert isinstance(unlisted, ProblemById)
    assert unlisted.unlisted
    both = complaints(sample.with_problem("{title: x, unlisted: true}")).pop()
    assert "only be given by its id" in both


def test_a_project_of_the_web_application_is_used_as_it_is() -> None:
    """Its problem may be left out; its fields cannot be changed (the interface has no update)."""
    text = sample.with_project("{id: 123}").replace("problem: 1\n", "")
    assert read(text).project.id == 123
    assert read(text).problem is None
    for extra in ("name: x", "state: open", "timezone: UTC", "endtime: 2026-12-01 09:00"):
        (said,) = complaints(sample.with_project(f"{{id: 123, {extra}}}"))
        assert "project 123 already exists and is used as it is" in said


MISTAKES = [
    ("campaign: a", "campaign: Has Capitals", '1:11, campaign: found "Has Capitals", wanted a key'),
    ("campaign: a", "campaign: " + "a" * 101, "1:11, campaign: found"),
    ("campaign: a", 'campaign: "a\\n"', "1:11, campaign: found"),
    ("campaign: a", "campaign: 2026", "found 2026, wanted a key"),
    ("campaign: a\n", "", "1:1, campaign: missing, wanted a key"),
    ("campaign: a", "campaign: a\nstarttime: x", "did you mean project.starttime?"),
    ("campaign: a", "campaign: a\ncadence: x", f"2:1, cadence: {NO_FIELD} cadence"),
    ("{name: A}", "A", '2:10, project: found "A", wanted a mapping with name'),
    ("{name: A}", "{}", "2:10, project.name: missing, wanted the project's name"),
    (
        "{name: A}",
        "{name: 2026}",
        "2:17, project.name: found 2026, wanted the project's name; put",
    ),
    ("{name: A}", '{name: "\\u200b "}', "project.name: found"),
    ("{name: A}", '{name: "A\\x07"}', "control character U+0007"),
    ("{name: A}", '{name: "\\ud800"}', "U+D800"),
    ("{name: A}", "{id: 0}", "project.id: found 0, wanted a whole number above 0"),
    ("{name: A}", "{id: true}", "project.id: found true"),
    ("{name: A}", "{name: A, descripton: x}", "did you mean description?"),
    ("{name: A}", "{name: A, starttime: 2026-12-01}", "2:31, project.starttime: found"),
    ("{name: A}", "{name: A, starttime: 20261201}", "found 20261201, wanted a date and time"),
    (
        "{name: A}",
        "{name: A, starttime: 2026-12-01 09:00, endtime: 2026-12-01 09:00}",
        "after start",
    ),
    ("{name: A}", "{name: A, timezone: CEST}", "wanted a timezone"),
    (
        "{name: A}",
        "{name: A, starttime: 2026-03-29 02:30, timezone: Europe/Paris}",
        '2:31, project.starttime: found "2026-03-29 02:30", wanted a time that exists',
    ),
    ("problem: 1", "problem: 0", "3:10, problem: found 0, wanted the problem's id"),
    ("problem: 1", "problem: Two sum", '3:10, problem: found "Two sum"'),
    ("problem: 1", "problem: [1]", "3:10, problem: found a list"),
    ("problem: 1", "problem: {id: 1, name: x}", f"3:18, problem.name: {NO_FIELD} name"),
    ("problem: 1", "problem: {}", "3:10, problem.title: missing"),
    ("problem: 1\n", "", "1:1, problem: missing, wanted the problem's id"),
    ("problem: 1", "problem: 1\ninvites: {send: yes}", 'invites.send: found "yes", wanted true'),
    ("problem: 1", "problem: 1\ninvites: false", "4:10, invites: found false, wanted a mapping"),
    ("problem: 1", "problem: 1\nstage_id: first", '4:11, stage_id: found "first", wanted a whole'),
    ("ada@example.com", "ana@", '5:52, email1: found "ana@", wanted an email address'),
    ("ada@example.com", "Ann <a@x.org>", f"{BETWEEN_BRACKETS}: a@x.org"),
    ("ada@example.com", '"a\\u200bb@x.org"', "ZERO WIDTH SPACE"),
    ("ada@example.com", '"a@x.org\\u202e"', "RIGHT-TO-LEFT OVERRIDE"),
    ("ada@example.com", '"a@x\\ufe0f.org"', "without the invisible VARIATION SELECTOR-16"),
    ("ada@example.com", '"a\\u3164@x.org"', "without the invisible HANGUL FILLER"),
    ("ada@example.com", "a" * 65 + "@x.org", f"64 {BEFORE_AT}"),
    ("ada@example.com", "a@localhost", "an email address"),
    ("ada@example.com", "a@x.org; b@x.org", "an email address"),
    ("ada@example.com", "5", "email1: found 5, wanted an email address"),
    ("Lovelace", '"  "', '5:34, last_name: found "  ", wanted a last name'),
    ("Lovelace", "007", f"last_name: found 007, wanted a last name; {PUT_QUOTES}"),
    ("Lovelace", "L, notes: 0049", f"notes: found 0049, wanted text; {PUT_QUOTES}"),
    ("Lovelace", "L, notes: 1_000", f"notes: found 1_000, wanted text; {PUT_QUOTES}"),
    ("Lovelace", "L, notes: 0x1F", f"notes: found 0x1F, wanted text; {PUT_QUOTES}"),
    ("Lovelace", "L, notes: 1.50", f"notes: found 1.50, wanted text; {PUT_QUOTES}"),
    ("Lovelace", "L, stage_id: 0x" + "f" * 5_000, 'stage_id: found "0xff'),
    ("Lovelace", "9" * 400, f"wanted a last name; {PUT_QUOTES}"),
    ("Lovelace", "[x]", "last_name: found a list"),
    ("Lovelace", "L, stage_id: 3.0", "stage_id: found 3.0, wanted a whole number"),
    ("Lovelace", "L, stage_id: -1", "stage_id: found -1"),
    (
        "Lovelace",
        "L, frist_name: x",
        f"frist_name: {NO_FIELD} frist_name; did you mean first",
    ),
    ("Lovelace", "L, notes: " + "x" * 10_001, "notes: found"),
    ("{first_name", "text\n  - {first_name", '5:5, candidates: found "text", wanted a mapping'),
]


@pytest.mark.parametrize(("right", "wrong", "said"), MISTAKES)
def test_each_mistake_is_told_at_its_place(right: str, wrong: str, said: str) -> None:
    """One mistake, one complaint, with what was found, what is wanted, and where."""
    assert right in sample.MINIMAL
    (complaint,) = complaints(sample.MINIMAL.replace(right, wrong))
    assert complaint.startswith("campaign.yaml:")
    assert said in complaint


def test_a_misspelt_field_is_told_beside_the_one_that_lacks() -> None:
    """The nearest known name is offered at the misspelt one."""
    misspelt, missing = sorted(complaints(sample.MINIMAL.replace("campaign:", "campaing:")))[::-1]
    assert f"1:1, campaing: {NO_FIELD} campaing; did you mean campaign?" in misspelt
    assert "1:1, campaign: missing" in missing


@pytest.mark.parametrize("people", ["", "[]", "{}", "people.csv", "{file: 3}", "{file: x.pdf}"])
def test_a_campaign_needs_candidates(people: str) -> None:
    """Nobody to invite is a mistake, in whatever way it is written."""
    text = sample.MINIMAL.partition("candidates:")[0] + f"candidates: {people}\n"
    (complaint,) = complaints(text)
    assert ", candidates" in complaint


def test_all_problems_come_at_once_in_the_order_of_the_file() -> None:
    """A person mends a file in one go; one mistake hides no other."""
    text = (
        sample.MINIMAL.replace("campaign: a", "campaign: A")
        .replace("{name: A}", "{id: x, descripton: 1}")
        .replace("problem: 1", "problem: -1")
        .replace("Lovelace", "''")
    )
    places = [said.split(",")[0] for said in complaints(text)]
    lines = [place.split(":")[1] for place in places]
    assert lines == ["1", "2", "2", "3", "5"]


def test_the_same_person_twice_names_both_rows() -> None:
    """One address, one invitation: spellings of one address are one person."""
    text = sample.MINIMAL + "  - {first_name: B, last_name: B, email1: ' ADA@example.com'}\n"
    (complaint,) = complaints(text)
    assert complaint.startswith("campaign.yaml:6:43, email1:")
    assert complaint.endswith(f"{SAME_PERSON} campaign.yaml:5:5")


def test_no_personal_data_in_texts_that_may_be_logged() -> None:
    """Exception texts and representations name files and places, never people."""
    text = sample.MINIMAL.replace("ada@example.com", "ada@")
    with pytest.raises(BadInput) as raised:
        read(text)
    assert "ada" not in str(raised.value) + repr(raised.value)
    assert "campaign.yaml: 1 mistake" in str(raised.value)
    shown = repr(read(sample.MINIMAL))
    assert "Candidate(" in shown
    assert "Lovelace" not in shown
    assert "ada@" not in shown


def test_only_what_says_nothing_of_a_person_is_shown() -> None:
    """A new field of theirs is `repr=False`, or named here."""
    shown = {each.name for each in fields(Candidate) if each.repr}
    assert shown == {"stage_id", "place", "timezone", "hidden"}


def test_a_problem_as_json_has_every_key() -> None:
    """The object that `campaign check --json` prints, null where it does not apply."""
    told = mistakes(read, sample.MINIMAL.replace("ada@example.com", "ana@"))[0].as_json()
    assert list(told) == [
        *("file", "line", "column", "sheet", "cell"),
        *("field", "found", "wanted", "message"),
    ]
    assert (told["file"], told["line"], told["column"]) == ("campaign.yaml", 5, 52)
    assert (told["sheet"], told["cell"], told["found"]) == (None, None, '"ana@"')
