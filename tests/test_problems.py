"""Finding a problem by text, skill and difficulty, and what speaks against one."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from flows.cli.problems import matching, narrowed
from sandbox.problems import problem
from tasks.problem_doubts import doubt_about
from tasks.service.problem import Problem
from tests.doubtful_campaign import DoubtfulCampaign, doubtful_campaign


@pytest.fixture
def campaign(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[DoubtfulCampaign]:
    with doubtful_campaign(tmp_path, monkeypatch, capsys) as campaign:
        yield campaign


LISTED = [
    Problem(id=4, title="Brackets", skills="Data structures, Parsing", difficulty="easy"),
    Problem(id=42, title="Two sum", skills="Algorithms", difficulty="Easy", description="Add up."),
    Problem(id=57, title="Rate limiter", skills="Backend", difficulty="medium"),
    Problem(id=1004, title="42 ways", skills=None, difficulty=None),
]


@pytest.mark.parametrize(
    ("search", "skill", "difficulty", "ids"),
    [
        ("", "", "", [4, 42, 57, 1004]),
        ("sum", "", "", [42]),
        ("ADD UP", "", "", [42]),
        ("42", "", "", [42]),  # an id is that problem, whatever else has it in its title
        ("00", "", "", [1004]),
        ("ways", "", "", [1004]),
        ("", "pars", "", [4]),
        ("", "", "EASY", [4, 42]),
        ("", "", "eas", []),
        ("", "algo", "easy", [42]),
        ("brackets", "algo", "", []),
        ("42", "backend", "", []),
    ],
)
def test_problems_are_found_by_text_skill_and_difficulty(
    search: str, skill: str, difficulty: str, ids: list[int]
) -> None:
    """In any case; all that is asked for has to fit; a problem without a field has none to fit."""
    found = narrowed(matching(search, LISTED), skill=skill, difficulty=difficulty)
    assert [one.id for one in found] == ids


def listed(*described: dict[str, Any]) -> list[Problem]:
    return [
        Problem.model_validate(problem(number, f"P{number}", **fields))
        for number, fields in enumerate(described, start=1)
    ]


@pytest.mark.parametrize(
    ("first", "others", "says"),
    [
        ({}, [], None),
        ({"open": 0}, [{"open": 0}], None),  # the interface's own example is not open
        ({"open": 0}, [{"open": 1}], "is not open, while others are"),
        ({"open": 1}, [{"open": 0}], None),
        ({"public": 0, "_public": False}, [], "is not public, and belongs to somebody else"),
        ({"public": 0}, [], "is not public"),
        ({"_public": False}, [], "is not public"),
        ({"public": 0, "_public": False, "is_current_user_admin": True}, [], None),
        ({"public": None, "_public": "?", "open": "no"}, [{"open": 1}], None),
        ({"public": 0, "open": 0}, [{"open": 2}], "belongs to somebody else and is not open"),
    ],
)
def test_what_speaks_against_a_problem_is_said(
    first: dict[str, Any], others: list[dict[str, Any]], says: str | None
) -> None:
    """Only what the service's own list bears out: a field that is missing says nothing."""
    doubt = doubt_about(1, listed(first, *others))
    assert (doubt is None) if says is None else (says in (doubt or ""))


def test_a_problem_that_is_not_listed_is_doubted() -> None:
    """Whoever cannot see it cannot tell whether candidates can."""
    assert "does not list problem 9" in (doubt_about(9, listed({})) or "")


def test_one_problem_is_told_with_everything_the_interface_gives(
    campaign: DoubtfulCampaign,
) -> None:
    """All 21 fields, in the interface's own spelling, but for those that the service left out."""
    answer = campaign.type("problems", "42")
    assert answer.code == 0
    for name in problem(42, "Two sum").keys() - {"id", "title", "description"}:
        assert f"\n  {name} " in answer.out, name
    assert answer.out.startswith("42  Two sum\n")
    assert "positions" in answer.out and "problem: 42" in answer.out
    [told] = campaign.type("problems", "42", "--json").object["problems"]
    assert told.keys() == problem(42, "Two sum").keys()


def test_where_nothing_fits_the_choices_are_told(campaign: DoubtfulCampaign) -> None:
    """Nobody can know the words for a difficulty: the interface does not list them."""
    answer = campaign.type("problems", "--skill", "cooking", "--difficulty", "hard")
    assert "No problem fits" in answer.out
    assert "--difficulty: easy, medium, hard" in answer.out and "SQL" in answer.out
