"""Finding a problem by text, skill and difficulty, and what speaks against one."""

import asyncio
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from config.settings import load_local, load_service
from flows.cli.prepare.problems import matching, narrowed
from flows.run.order import RunContext, conduct
from sandbox.faults.faults import Fault
from sandbox.service.problems import problem
from tasks.plan.problem_doubts import doubt_about
from tasks.plan.target import CampaignSource
from tasks.service.problem import Problem
from tests.support.campaigns import Heard
from tests.support.doubtful_campaign import EMAILS, KEY, DoubtfulCampaign, doubtful_campaign


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
    ("first", "others", "against"),
    [
        ({}, [], []),
        ({"open": 0}, [{"open": 0}], []),  # the interface's own example is not open
        ({"open": 0}, [{"open": 1}], ["open"]),
        ({"open": 1}, [{"open": 0}], []),
        ({"public": 0, "_public": False}, [], ["public"]),
        ({"public": 0}, [], ["public"]),
        ({"_public": False}, [], ["public"]),
        ({"public": 0, "_public": False, "is_current_user_admin": True}, [], []),
        ({"public": None, "_public": "?", "open": "no"}, [{"open": 1}], []),
        ({"public": 0, "open": 0}, [{"open": 2}], ["public", "open"]),
    ],
)
def test_what_speaks_against_a_problem_is_said(
    first: dict[str, Any], others: list[dict[str, Any]], against: list[str]
) -> None:
    """Only what the service's own list bears out: a field that is missing says nothing."""
    doubt = doubt_about(1, listed(first, *others))
    assert re.findall("is not (public|open)", doubt or "") == against
    assert (doubt is None) is (against == [])


def test_a_problem_that_is_not_listed_is_doubted() -> None:
    """Whoever cannot see it cannot tell whether candidates can."""
    assert "problem 9 " in (doubt_about(9, listed({})) or "")


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
    assert "No problem matches" in answer.out
    assert "--difficulty: easy, medium, hard" in answer.out and "SQL" in answer.out


# -- the warning ----------------------------------------------------------------------------


def lists(*described: dict[str, Any]) -> Fault:
    """The service lists these problems from now on."""
    return Fault("body", "list_problems", count=None, body=list(described))


# The campaign's problem is not open, while another one is.
CLOSED = lists(problem(42, "Two sum", open=0), problem(43, "Brackets", open=1))
DOUBT = doubt_about(42, [Problem.model_validate(each) for each in CLOSED.body])
OPEN_AGAIN = lists(problem(42, "Two sum", open=1))
GONE = lists(problem(43, "Brackets"))


def test_a_plan_without_a_look_asks_nobody(campaign: DoubtfulCampaign) -> None:
    """The plan's contract; with --ask-service the list is asked for, and nothing else."""
    before = len(campaign.service.record.requests)
    assert "  look" not in campaign.type("plan", campaign.file).out
    assert len(campaign.service.record.requests) == before
    answer = campaign.type("plan", campaign.file, "--ask-service")
    assert 'problem 42 "Two sum" looks fine' in answer.out
    asked = [one.operation for one in campaign.service.record.requests[before:]]
    assert asked == ["token", "list_problems"]


def test_a_look_before_the_first_run_says_what_speaks_against_the_problem(
    campaign: DoubtfulCampaign,
) -> None:
    """A person sees it, and a program; a problem that the service does not have is a mistake."""
    campaign.service.faults.add(CLOSED)
    answer = campaign.type("plan", campaign.file, "--ask-service", "--json")
    [plan] = answer.object["campaigns"]
    assert plan["problem_doubt"] == DOUBT
    assert "warning" in answer.err and str(DOUBT) in answer.err
    campaign.service.faults.clear()
    campaign.service.faults.add(GONE)
    answer = campaign.type("plan", campaign.file, "--ask-service")
    assert (answer.code, "hiring.yaml" in answer.err) == (2, True)


def test_a_run_warns_before_it_sends_and_the_plan_remembers(campaign: DoubtfulCampaign) -> None:
    """Said once before the first change; the ledger keeps it for every plan without a network."""
    campaign.service.faults.add(CLOSED)
    said: list[tuple[str, int]] = []
    with campaign.ledger() as ledger:
        desk = RunContext(
            ledger,
            load_service(),
            load_local(),
            observer=Heard(on_warning=lambda doubt: said.append((doubt, len(campaign.requests())))),
        )
        asyncio.run(conduct(CampaignSource(campaign.file, KEY), desk))
    [(doubt, before)] = said
    assert (before, doubt) == (0, DOUBT)
    assert len(campaign.emails()) == 3  # a doubt is no refusal
    requests = len(campaign.service.record.requests)
    plan = campaign.type("plan", campaign.file).out
    assert f"warning     {doubt} (as of 20" in plan
    assert f"warning   {doubt} (as of 20" in campaign.type("status", KEY).out
    assert campaign.type("status", KEY, "--json").object["problem_doubt"] == doubt
    assert len(campaign.service.record.requests) == requests


def test_a_later_look_takes_the_warning_back(campaign: DoubtfulCampaign) -> None:
    """What is in order again is not warned of for ever."""
    campaign.run(CLOSED)
    campaign.type("resend", KEY, EMAILS[0], "--why", "deleted", "--yes")
    campaign.run(OPEN_AGAIN)
    assert "warning" not in campaign.type("plan", campaign.file).out


def test_whoever_approves_sees_the_warning(campaign: DoubtfulCampaign) -> None:
    """It is part of the plan that waits."""
    with campaign.file.open("a", encoding="utf-8") as file:
        file.write("invites: {approval: required}\n")
    campaign.run(CLOSED)
    for command in (("approve", KEY), ("plan", campaign.file)):
        assert str(DOUBT) in campaign.type(*command).out


def test_a_doubt_about_another_problem_is_not_told(campaign: DoubtfulCampaign) -> None:
    """Whoever puts another problem into the definition has heeded it."""
    text = campaign.file.read_text("utf-8")
    campaign.file.write_text(text + "invites: {approval: required}\n", encoding="utf-8")
    campaign.run(CLOSED)
    campaign.file.write_text(text.replace("problem: 42", "problem: 43"), encoding="utf-8")
    assert "warning" not in campaign.type("plan", campaign.file).out


def test_an_attached_problem_that_is_gone_from_the_list_is_warned_of(
    campaign: DoubtfulCampaign,
) -> None:
    """People are still invited to it: the project has it; whether they can open it is doubtful."""
    campaign.run(Fault("status", "invite", status=403, count=None))
    campaign.run(GONE)
    assert str(doubt_about(42, [])) in campaign.type("plan", campaign.file).out
