"""What a definition may say, and what each mistake in one is answered with."""

from dataclasses import fields
from datetime import datetime
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
from tests.config.refusals import mistakes
from tests.support import yaml_definition as sample


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each test writes its definition into a folder of its own."""
    monkeypatch.chdir(tmp_path)


def read(text: str) -> Definition:
    path = Path("campaign.yaml")
    path.write_text(text, encoding="utf-8")
    (definition,) = read_campaigns(path).definitions
    return definition


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
    (missing,) = mistakes(read, sample.MINIMAL.replace("ada@example.com", ""))
    assert (missing.field, missing.found) == ("email1", "nothing")


def test_a_problem_is_named_by_id_or_title() -> None:
    """`problem: 42`, `{id: 42}` and `{title: Two sum}`; both at once is one too many."""
    assert read(sample.with_problem("{id: 42}")).problem == ProblemById(42)
    assert read(sample.with_problem("{title: Two sum}")).problem == ProblemByTitle("Two sum")
    (both,) = mistakes(read, sample.with_problem("{id: 42, title: x}"))
    assert (both.field, both.found) == ("problem.title", '"x"')
    unlisted = read(sample.with_problem("{id: 42, unlisted: true}")).problem
    assert isinstance(unlisted, ProblemById)
    assert unlisted.unlisted
    (by_title,) = mistakes(read, sample.with_problem("{title: x, unlisted: true}"))
    assert (by_title.field, by_title.found) == ("problem.unlisted", "true")


def test_a_project_of_the_web_application_is_used_as_it_is() -> None:
    """Its problem may be left out; its fields cannot be changed (the interface has no update)."""
    text = sample.with_project("{id: 123}").replace("problem: 1\n", "")
    assert read(text).project.id == 123
    assert read(text).problem is None
    for extra in ("name: x", "state: open", "timezone: UTC", "endtime: 2026-12-01 09:00"):
        (mistake,) = mistakes(read, sample.with_project(f"{{id: 123, {extra}}}"))
        assert mistake.field == f"project.{extra.partition(':')[0]}"
        assert "project 123 " in str(mistake.message)


MISTAKES = [
    ("campaign: a", "campaign: Has Capitals", "1:11, campaign", '"Has Capitals"'),
    ("campaign: a", "campaign: " + "a" * 101, "1:11, campaign", '"' + "a" * 59 + '…"'),
    ("campaign: a", 'campaign: "a\\n"', "1:11, campaign", '"a\\n"'),
    ("campaign: a", "campaign: 2026", "1:11, campaign", "2026"),
    ("campaign: a\n", "", "1:1, campaign", "nothing"),
    ("campaign: a", "campaign: a\nstarttime: x", "2:1, starttime", "project.starttime?"),
    ("campaign: a", "campaign: a\ncadence: x", "2:1, cadence", '"cadence"'),
    ("{name: A}", "A", "2:10, project", '"A"'),
    ("{name: A}", "{}", "2:10, project.name", "nothing"),
    ("{name: A}", "{name: 2026}", "2:17, project.name", "2026"),
    ("{name: A}", '{name: "\\u200b "}', "2:17, project.name", '"\\u200b "'),
    ("{name: A}", '{name: "A\\x07"}', "2:17, project.name", "U+0007"),
    ("{name: A}", '{name: "\\ud800"}', "2:17, project.name", "U+D800"),
    ("{name: A}", "{id: 0}", "2:15, project.id", "0"),
    ("{name: A}", "{id: true}", "2:15, project.id", "true"),
    ("{name: A}", "{name: A, descripton: x}", "2:20, project.descripton", "description?"),
    ("{name: A}", "{name: A, starttime: 2026-12-01}", "2:31, project.starttime", '"2026-12-01"'),
    ("{name: A}", "{name: A, starttime: 20261201}", "2:31, project.starttime", "20261201"),
    (
        "{name: A}",
        "{name: A, starttime: 2026-12-01 09:00, endtime: 2026-12-01 09:00}",
        "2:58, project.endtime",
        '"2026-12-01 09:00"',
    ),
    ("{name: A}", "{name: A, timezone: CEST}", "2:30, project.timezone", '"CEST"'),
    (
        "{name: A}",
        "{name: A, starttime: 2026-03-29 02:30, timezone: Europe/Paris}",
        "2:31, project.starttime",
        '"2026-03-29 02:30"',
    ),
    ("problem: 1", "problem: 0", "3:10, problem", "0"),
    ("problem: 1", "problem: Two sum", "3:10, problem", '"Two sum"'),
    ("problem: 1", "problem: [1]", "3:10, problem", "a list"),
    ("problem: 1", "problem: {id: 1, name: x}", "3:18, problem.name", '"name"'),
    ("problem: 1", "problem: {}", "3:10, problem.title", "nothing"),
    ("problem: 1\n", "", "1:1, problem", "nothing"),
    ("problem: 1", "problem: 1\ninvites: {send: yes}", "4:17, invites.send", '"yes"'),
    ("problem: 1", "problem: 1\ninvites: false", "4:10, invites", "false"),
    ("problem: 1", "problem: 1\nstage_id: first", "4:11, stage_id", '"first"'),
    ("ada@example.com", "ana@", "5:52, email1", '"ana@"'),
    ("ada@example.com", "Ann <a@x.org>", "5:52, email1", ": a@x.org"),
    ("ada@example.com", '"a\\u200bb@x.org"', "5:52, email1", "ZERO WIDTH SPACE"),
    ("ada@example.com", '"a@x.org\\u202e"', "5:52, email1", "RIGHT-TO-LEFT OVERRIDE"),
    ("ada@example.com", '"a@x\\ufe0f.org"', "5:52, email1", "VARIATION SELECTOR-16"),
    ("ada@example.com", '"a\\u3164@x.org"', "5:52, email1", "HANGUL FILLER"),
    ("ada@example.com", "a" * 65 + "@x.org", "5:52, email1", " 64 "),
    ("ada@example.com", "a@localhost", "5:52, email1", '"a@localhost"'),
    ("ada@example.com", "a@x.org; b@x.org", "5:52, email1", '"a@x.org; b@x.org"'),
    ("ada@example.com", "5", "5:52, email1", "5"),
    ("Lovelace", '"  "', "5:34, last_name", '"  "'),
    ("Lovelace", "007", "5:34, last_name", "007"),
    ("Lovelace", "L, notes: 0049", "5:44, notes", "0049"),
    ("Lovelace", "L, notes: 1_000", "5:44, notes", "1_000"),
    ("Lovelace", "L, notes: 0x1F", "5:44, notes", "0x1F"),
    ("Lovelace", "L, notes: 1.50", "5:44, notes", "1.50"),
    ("Lovelace", "L, stage_id: 0x" + "f" * 5_000, "5:47, stage_id", '"0x' + "f" * 57 + '…"'),
    ("Lovelace", "9" * 400, "5:34, last_name", "9" * 59 + "…"),
    ("Lovelace", "[x]", "5:34, last_name", "a list"),
    ("Lovelace", "L, stage_id: 3.0", "5:47, stage_id", "3.0"),
    ("Lovelace", "L, stage_id: -1", "5:47, stage_id", "-1"),
    ("Lovelace", "L, frist_name: x", "5:49, frist_name", "first_name?"),
    ("Lovelace", "L, notes: " + "x" * 10_001, "5:44, notes", "10,001"),
    ("{first_name", "text\n  - {first_name", "5:5, candidates", '"text"'),
]


@pytest.mark.parametrize(("right", "wrong", "where", "value"), MISTAKES)
def test_each_mistake_is_told_at_its_place(right: str, wrong: str, where: str, value: str) -> None:
    """One mistake, one complaint: where, and either all that was found there or what it lacks."""
    assert right in sample.MINIMAL
    (mistake,) = mistakes(read, sample.MINIMAL.replace(right, wrong))
    assert f"{mistake.place}, {mistake.field}" == f"campaign.yaml:{where}"
    assert value == mistake.found or value in (mistake.message or mistake.wanted or "")


def test_a_misspelt_field_is_told_beside_the_one_that_lacks() -> None:
    """The nearest known name is offered at the misspelt one."""
    told = mistakes(read, sample.MINIMAL.replace("campaign:", "campaing:"))
    misspelt, missing = sorted(told, key=lambda mistake: str(mistake.field), reverse=True)
    assert (misspelt.field, misspelt.found) == ("campaing", '"campaing"')
    assert "campaign?" in str(misspelt.message)
    assert (missing.field, missing.found) == ("campaign", "nothing")
    assert str(misspelt.place) == str(missing.place) == "campaign.yaml:1:1"


@pytest.mark.parametrize("people", ["", "[]", "{}", "people.csv", "{file: 3}", "{file: x.pdf}"])
def test_a_campaign_needs_candidates(people: str) -> None:
    """Nobody to invite is a mistake, in whatever way it is written."""
    text = sample.MINIMAL.partition("candidates:")[0] + f"candidates: {people}\n"
    (mistake,) = mistakes(read, text)
    assert str(mistake.field).startswith("candidates")


def test_all_problems_come_at_once_in_the_order_of_the_file() -> None:
    """A person mends a file in one go; one mistake hides no other."""
    text = (
        sample.MINIMAL.replace("campaign: a", "campaign: A")
        .replace("{name: A}", "{id: x, descripton: 1}")
        .replace("problem: 1", "problem: -1")
        .replace("Lovelace", "''")
    )
    assert [mistake.place.line for mistake in mistakes(read, text)] == [1, 2, 2, 3, 5]


def test_the_same_person_twice_names_both_rows() -> None:
    """One address, one invitation: spellings of one address are one person."""
    text = sample.MINIMAL + "  - {first_name: B, last_name: B, email1: ' ADA@example.com'}\n"
    (mistake,) = mistakes(read, text)
    assert (str(mistake.place), mistake.field) == ("campaign.yaml:6:43", "email1")
    assert str(mistake.message).endswith(" campaign.yaml:5:5")


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
