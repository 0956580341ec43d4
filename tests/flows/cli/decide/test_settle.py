"""Settling: what a person decides, what it does to the ledger, and what the next run then sends."""

import asyncio
import csv
import os
import pty
import re
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from io import StringIO
from itertools import product
from pathlib import Path
from threading import Timer
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from sqlalchemy import func, select, update

from config.settings import load_local, load_service
from data.campaigns import queries
from data.decisions import resending, settling
from data.decisions.verdicts import (
    LARGEST_ID,
    PATIENCE,
    WORDS,
    Decided,
    Doubt,
    Doubts,
    NotDecided,
    objections,
)
from data.sending import recovery, runs
from data.sending.claims import Claim
from data.sending.outcomes import Outcome
from data.sending.runs import Begun
from data.store import tables
from data.store.clock import now
from data.store.ledger import Ledger
from data.store.states import AttemptState, By, Ending, Operation, Step, Word
from data.store.tables import Candidate
from flows.cli.decide import one_by_one, settle
from flows.run.order import RunContext, conduct
from flows.words.doubts import HOW_FAR
from sandbox.faults.faults import Fault
from tasks.plan.target import CampaignSource, Target, intent_of
from tests.support import session
from tests.support.doubtful_campaign import DEFINITION, EMAILS, KEY, DoubtfulCampaign
from tests.support.doubtful_campaign import doubtful as desk
from tests.support.ledgers.databases import ledger_at
from tests.support.ledgers.journal import attempts

__all__ = ["desk"]

ADA, ZOE, GRACE = EMAILS
ALL = ["create_project", "attach_problem", "add_candidates", "invite", "invite", "invite"]
LOST_PROJECT = Fault("lost", "create_project", after_work=True)
LOST_PROBLEM = Fault("lost", "attach_problem", after_work=True)
LOST_ADD = Fault("lost", "add_candidates", after_work=True)
LOST_INVITE = Fault("lost", "invite", email=ZOE, after_work=True)
NEVER_CAME = Fault("lost", "invite", email=ZOE)


# Where a ledger lies is all the same to what is only typed, shown or asked.
on_each_database = pytest.mark.usefixtures("each_database")

NOTHING = {"format_version": 1, "campaign": KEY, "unsure": []}


# -- which verdicts can be taken, as a table ------------------------------------------------

NOON = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)
OLD = NOON - PATIENCE
FRESH = OLD + timedelta(seconds=1)


def doubt(operation: Operation, sent_at: datetime = OLD, *, alive: bool = False) -> Doubt:
    row = 7 if operation in (Operation.ADD, Operation.INVITE) else None
    return Doubt(operation, 3, sent_at, alive, row=row)


@pytest.mark.parametrize("operation", list(Operation))
@pytest.mark.parametrize("word", list(Word))
def test_each_call_takes_its_own_words(operation: Operation, word: Word) -> None:
    """A project has an id, a problem is attached, an invitation was sent; nothing else fits."""
    one = doubt(operation)
    said = Decided(one.attempt, one.row, word, 5001 if word is Word.ID else None)
    found = objections(Doubts((one,)), [said], NOON)
    assert (not found) is (word in WORDS[operation])


@pytest.mark.parametrize(
    ("sent_at", "alive", "soon", "taken"),
    [
        (OLD, False, False, True),
        (FRESH, False, False, False),
        (FRESH, False, True, True),
        (NOON + timedelta(days=1), False, False, False),  # a clock that was set back
        (OLD, True, False, False),
        (OLD, True, True, False),
    ],
)
@pytest.mark.parametrize("operation", list(Operation))
def test_again_waits_for_gateways_and_for_the_run(
    operation: Operation, sent_at: datetime, alive: bool, soon: bool, taken: bool
) -> None:
    """Again: after 15 minutes, or with --no-wait; never while the run that sent it lives."""
    one = doubt(operation, sent_at, alive=alive)
    said = [Decided(one.attempt, one.row, Word.AGAIN)]
    assert (not objections(Doubts((one,)), said, NOON, soon=soon)) is taken


@pytest.mark.parametrize("value", [None, 0, -1, LARGEST_ID + 1])
def test_an_id_is_a_positive_number_of_64_bits(value: int | None) -> None:
    """What no service can have given as an id is refused."""
    one = doubt(Operation.CREATE)
    assert objections(Doubts((one,)), [Decided(3, None, Word.ID, value)], NOON)
    assert not objections(Doubts((one,)), [Decided(3, None, Word.ID, LARGEST_ID)], NOON)


def test_an_id_belongs_to_one_person_and_a_project_to_one_campaign() -> None:
    """An id that somebody has, or that is given twice at once, is refused."""
    one = doubt(Operation.ADD)
    other = Doubt(Operation.ADD, 3, OLD, row=8)
    adds = Doubts((one, other), people=frozenset({5001}), projects=frozenset({101}))
    said = [Decided(3, 7, Word.ID, 5002), Decided(3, 8, Word.ID, 5002)]
    assert list(objections(adds, said, NOON)) == [1]
    assert list(objections(adds, [Decided(3, 7, Word.ID, 5001)], NOON)) == [0]
    assert not objections(adds, [Decided(3, 7, Word.ID, 101)], NOON)
    project = Doubts((doubt(Operation.CREATE),), projects=frozenset({101}))
    assert list(objections(project, [Decided(3, None, Word.ID, 101)], NOON)) == [0]
    assert not objections(project, [Decided(3, None, Word.ID, 102)], NOON)


@pytest.mark.parametrize(
    ("elsewhere", "taken"),
    [
        ({}, True),
        ({5002: {"bob@example.com"}}, True),
        ({5001: {"bob@example.com"}}, False),
        ({5001: {"ada@example.com"}}, True),
        ({5001: {"ada@example.com", "bob@example.com"}}, True),
    ],
)
def test_an_id_that_another_campaign_knows_is_that_persons(
    elsewhere: dict[int, set[str]], taken: bool
) -> None:
    """The same person may have one id everywhere; somebody else's would go to a wrong address."""
    one = replace(doubt(Operation.ADD), email1="Ada@Example.com")
    said = [Decided(3, 7, Word.ID, 5001)]
    assert (not objections(Doubts((one,), elsewhere=elsewhere), said, NOON)) is taken


def test_one_doubt_takes_one_verdict() -> None:
    """Two verdicts on one step, or one on a step that is not unsure, are refused."""
    one = doubt(Operation.INVITE)
    twice = [Decided(3, 7, Word.SENT), Decided(3, 7, Word.AGAIN)]
    assert list(objections(Doubts((one,)), twice, NOON)) == [1]
    assert list(objections(Doubts((one,)), [Decided(4, 7, Word.SENT)], NOON)) == [0]


# -- what the next run sends ----------------------------------------------------------------


@on_each_database
def test_a_project_seen_in_the_web_application_is_used(desk: DoubtfulCampaign) -> None:
    """The id a person read is adopted; the run goes on from there and creates nothing."""
    desk.run(LOST_PROJECT)
    answer = desk.settle("--project", "101")
    assert answer.code == 0
    assert answer.out.splitlines()[-1] == f"  waiting: campaign run {desk.file}"
    assert desk.steps() == ("done", "waiting")
    desk.run()
    assert desk.requests() == ALL
    assert {one.project_id for one in desk.service.record.invitations} == {101}
    assert desk.attempts("create_project") == ["done"]
    assert desk.decisions() == [("id", "101", "rita", "")]


@on_each_database
def test_a_project_that_is_not_there_is_created_again(desk: DoubtfulCampaign) -> None:
    """Again: exactly one more create, and everything after it once."""
    desk.run(Fault("lost", "create_project"))
    desk.later(15)
    answer = desk.settle("--project", "again", "--why", "not in the list", "--by", "Omar")
    assert answer.code == 0
    assert desk.decisions() == [("again", None, "Omar", "not in the list")]
    desk.run()
    assert desk.requests() == ["create_project", *ALL]
    assert len(desk.service.projects) == 1
    assert desk.attempts("create_project") == ["overruled", "done"]


@on_each_database
@pytest.mark.parametrize(
    ("fault", "words", "attached"),
    [
        (LOST_PROBLEM, ("--problem", "attached"), 1),
        (Fault("lost", "attach_problem"), ("--problem", "again", "--why", "none there"), 2),
    ],
)
def test_a_problem_is_attached_or_sent_again(
    desk: DoubtfulCampaign, fault: Fault, words: tuple[str, ...], attached: int
) -> None:
    """Attached goes on without a request; again sends exactly one."""
    desk.run(fault)
    assert desk.steps() == ("done", "unsure")
    desk.later(16)
    assert desk.settle(*words).code == 0
    desk.run()
    assert desk.requests().count("attach_problem") == attached
    assert desk.service.projects[0].problem_ids == [42]
    assert desk.emails() == dict.fromkeys(EMAILS, 1)


@on_each_database
def test_people_are_adopted_by_id_and_the_others_added_again(desk: DoubtfulCampaign) -> None:
    """Ids seen in the web application are kept; whoever was not there is added alone."""
    desk.run(LOST_ADD)
    desk.later(16)
    answer = desk.settle(
        *("--candidate", "ADA@example.com=5001", "--candidate", f"{ZOE}=5002"),
        *("--candidates", "again", "--why", "Grace is missing"),
    )
    assert answer.code == 0, answer.err
    assert desk.attempts("add_candidates") == ["done"]
    desk.run()
    first, second = desk.service.record.of("add_candidates")
    assert [row["email1"] for row in first.body] == list(EMAILS)
    assert [row["email1"] for row in second.body] == [GRACE]
    assert desk.emails() == dict.fromkeys(EMAILS, 1)
    ids = {one.email: one.candidate_id for one in desk.service.record.invitations}
    assert (ids[ADA], ids[ZOE]) == (5001, 5002)
    words = sorted((word, value) for word, value, _, _ in desk.decisions())
    assert words == [("again", None), ("id", "5001"), ("id", "5002")]


@on_each_database
def test_who_was_withdrawn_before_being_added_is_never_invited(desk: DoubtfulCampaign) -> None:
    """Withdrawn adds stay out, also when the answer to the add arrives after all."""
    desk.run(LOST_ADD)
    assert desk.settle("--candidates", "withdraw", "--why", "the role is filled").code == 0
    assert desk.steps(ADA) == ("withdrawn", "withdrawn")
    assert desk.attempts("add_candidates") == ["overruled"]
    with desk.ledger() as ledger:
        campaign = ledger.read(queries.find_campaign, KEY)
        assert campaign is not None
        rows = tuple(person.id for person in queries.candidates(ledger, campaign.id))
        [number] = [
            a.id for a in ledger.read(attempts, campaign.id) if a.operation == Operation.ADD
        ]
        ids = dict(zip(rows, (5001, 5002, 5003), strict=True))
        late = Outcome(number, Operation.ADD, AttemptState.DONE, Step.UNSURE, now(), rows, ids=ids)
        ledger.write_beside(runs.commit, [late], [], ledger.gone)
    assert desk.steps(ADA) == ("done", "withdrawn")
    before = len(desk.requests())
    desk.run()
    assert len(desk.requests()) == before
    assert desk.emails() == {}


@on_each_database
@pytest.mark.parametrize(
    ("fault", "words", "sent", "state"),
    [
        (LOST_INVITE, ("--invites", "sent"), 0, ["done"]),
        (NEVER_CAME, ("--invites", "again", "--why", "nothing came"), 1, ["overruled", "done"]),
        (NEVER_CAME, ("--invites", "withdraw", "--why", "declined"), 0, ["overruled"]),
    ],
)
def test_an_invitation_arrived_is_sent_again_or_withdrawn(
    desk: DoubtfulCampaign, fault: Fault, words: tuple[str, ...], sent: int, state: list[str]
) -> None:
    """Sent and withdraw send nothing more; again sends exactly one more request, to that person."""
    desk.run(fault)
    before = desk.service.api_requests()
    invites = len(desk.service.record.of("invite"))
    desk.later(16)
    assert desk.settle(*words).code == 0
    assert desk.service.api_requests() == before  # settling asks no service
    desk.run()
    more = desk.service.record.of("invite")[invites:]
    assert len(more) == sent
    if not sent:
        assert desk.service.api_requests() == before
    expected = {ADA: 1, ZOE: 1, GRACE: 1}
    if "withdraw" in words:
        del expected[ZOE]
    assert desk.emails() == expected
    with desk.ledger() as ledger:
        campaign = ledger.read(queries.find_campaign, KEY)
        assert campaign is not None
        [row] = [one.id for one in queries.candidates(ledger, campaign.id) if one.email1 == ZOE]
        theirs = [a.state for a in ledger.read(attempts, campaign.id) if a.candidate_row == row]
    assert theirs == state


# -- what is refused, and then nothing is changed --------------------------------------------


def test_again_at_once_is_told_as_a_whole_line(desk: DoubtfulCampaign) -> None:
    """What it says is taken as it is, once there is a reason in the place of TEXT."""
    desk.run(NEVER_CAME)
    told = desk.settle("--invites", "again").err.splitlines()[-1]
    line = told.partition(": ")[2].split()
    assert line[:2] == ["campaign", "settle"]
    assert desk.type(*line[1:]).code == 0
    assert desk.steps(ZOE) == ("done", "waiting")
    # Where something else is wrong as well, haste alone would not do.
    desk.run(NEVER_CAME)
    assert "at once: " not in desk.settle("--invites", "again", "--problem", "again").err


def test_again_and_withdraw_need_a_reason(desk: DoubtfulCampaign) -> None:
    """What may cost a second email, or somebody's invitation, is recorded with why."""
    desk.run(NEVER_CAME)
    for word in ("again", "withdraw"):
        answer = desk.settle("--invites", word, "--no-wait", "--why", " ")
        assert answer.code == 2
        assert "--why TEXT" in answer.err
    assert desk.steps(ZOE) == ("done", "unsure")


def test_only_what_is_unsure_can_be_settled(desk: DoubtfulCampaign) -> None:
    """Each wrong verdict is answered by where that step stands; the right ones wait with them."""
    desk.run(LOST_INVITE)
    answer = desk.settle(
        *("--project", "7", "--problem", "again", "--candidate", "adda@example.com=7"),
        *("--candidate", f"{ADA}=7", "--candidates", "again", "--invites", "sent", "--why", "x"),
    )
    assert answer.code == 2
    assert "--project: the project is done; " in answer.err
    assert "--problem: the problem is done; " in answer.err
    assert "--candidates: no add is unsure (3 done)" in answer.err
    assert f"--candidate {ADA}=7: the add is done" in answer.err
    assert f"did you mean {ADA}?" in answer.err
    assert len(answer.err.splitlines()) == 5 + 1  # each verdict, and what that means
    assert desk.steps(ZOE) == ("done", "unsure")
    assert desk.decisions() == []


def test_every_screen_of_a_campaign_has_its_time_zone(desk: DoubtfulCampaign) -> None:
    """Whoever compares two of them compares like with like, and the zone is named."""
    text = DEFINITION.replace(
        "{name: Backend engineer", "{timezone: Asia/Tokyo, name: Backend engineer"
    )
    desk.file.write_text(text, encoding="utf-8")
    begun = datetime.now(ZoneInfo("Asia/Tokyo"))
    desk.run(Fault("lost", "invite", email=ADA))

    def moment() -> str:
        """Any time since it begun, and when an email may be sent again; midnight may be between."""
        until = datetime.now(begun.tzinfo) + timedelta(minutes=15)
        days = "|".join(f"{at:%Y-%m-%d}" for at in (begun, until))
        return rf"(?:{days}) \d\d:\d\d(?::\d\d)? \(Asia/Tokyo\)"

    more = "  - {first_name: New, last_name: Person, email1: new@example.com}\n"
    desk.file.write_text(text + more, encoding="utf-8")
    for words in (
        ("pause", KEY, "--why", "a look"),
        ("status", KEY),
        ("plan", desk.file),
        ("settle", KEY),
        ("settle", KEY, "--invites", "again", "--why", "nothing came"),
    ):
        answer = desk.type(*words)
        shown = answer.out + answer.err
        assert (
            len(re.findall(moment(), shown)) == len(re.findall(r"20\d\d-\d\d-\d\d \d", shown)) > 0
        )
    assert len(re.findall(moment(), desk.type("status", KEY).out)) == 2


def test_an_id_of_somebody_else_is_refused(desk: DoubtfulCampaign) -> None:
    """One id for two people would send one of them two emails and the other none."""
    desk.run(Fault("partial", "add_candidates"))
    assert desk.steps(GRACE) == ("unsure", "waiting")
    answer = desk.settle("--candidate", f"{GRACE}=5001")
    assert (answer.code, "the id 5001\n" in answer.err) == (2, True)
    assert desk.steps(GRACE) == ("unsure", "waiting")
    assert desk.settle("--candidate", f"{GRACE}=5003").code == 0
    desk.run()
    assert desk.emails() == dict.fromkeys(EMAILS, 1)


@pytest.mark.parametrize("spelled", ["127.0.0.1", "localhost"])
def test_a_project_of_another_campaign_is_refused(
    desk: DoubtfulCampaign, monkeypatch: pytest.MonkeyPatch, spelled: str
) -> None:
    """Two campaigns never share a project that one of them may have created."""
    desk.run()
    here = desk.service.base_url.replace("127.0.0.1", spelled)
    monkeypatch.setenv("ASSESSMENT_BASE_URL", here)
    other = desk.folder / "frontend.yaml"
    other.write_text(DEFINITION.replace(KEY, "frontend"), encoding="utf-8")
    desk.service.faults.add(LOST_PROJECT)
    with desk.ledger() as ledger:
        at = RunContext(ledger, load_service(), load_local())
        asyncio.run(conduct(CampaignSource(other, "frontend"), at))
    answer = desk.type("settle", "frontend", "--project", "101")
    assert answer.code == 2
    assert "the project 101 " in answer.err
    assert "what to type: campaign settle frontend" in answer.err
    assert desk.type("settle", "frontend", "--project", "102").code == 0


@on_each_database
def test_an_id_of_another_campaigns_person_is_refused(desk: DoubtfulCampaign) -> None:
    """Nobody takes over the id of somebody who is a candidate elsewhere."""
    desk.run()
    other = desk.folder / "frontend.yaml"
    text = re.sub(r"\w+@", r"other.\g<0>", DEFINITION.replace(KEY, "frontend"))
    other.write_text(text, encoding="utf-8")
    desk.service.faults.add(LOST_ADD)
    with desk.ledger() as ledger:
        at = RunContext(ledger, load_service(), load_local())
        asyncio.run(conduct(CampaignSource(other, "frontend"), at))
    answer = desk.type("settle", "frontend", "--candidate", f"other.{ZOE}=5001")
    assert answer.code == 2
    assert "the id 5001 " in answer.err
    assert "what to type: campaign settle frontend" in answer.err
    assert desk.type("settle", "frontend", "--candidate", f"other.{ZOE}=5005").code == 3


@pytest.mark.parametrize(
    "words",
    [
        ("--project", "x1"),
        ("--candidate", "ada@example.com"),
        ("--candidate", "ada@example.com=x"),
        ("--invites", "yes"),
        ("--invites", "sent", "--export"),
        ("--from", "v.csv", "--invites", "sent"),
        ("-o", "v.csv"),
    ],
)
def test_mistyped_verdicts_end_with_2(desk: DoubtfulCampaign, words: tuple[str, ...]) -> None:
    """Usage is said before anything is recorded."""
    desk.run(LOST_INVITE)
    assert desk.settle(*words).code == 2
    assert desk.steps(ZOE) == ("done", "unsure")


def test_what_is_refused_names_nobody_in_the_error() -> None:
    """The text of the error may be logged; the people are only on the terminal."""
    assert "ada" not in str(NotDecided({0: "ada@example.com is done"}))


# -- runs that live, runs that died, answers that come late ------------------------------------


def sending(desk: DoubtfulCampaign, ledger: Ledger) -> tuple[Begun, int, int]:
    """Ready to invite everyone: begin a run and claim Zoë; answers run, attempt and row."""
    desk.run(Fault("status", "invite", None, status=403))
    begun = runs.begin(ledger, KEY, None, None)
    [row] = [one.id for one in queries.candidates(ledger, begun.campaign) if one.email1 == ZOE]
    claim = Claim(Operation.INVITE, begun.campaign, begun.run, now(), (row,))
    [claimed] = ledger.write_beside(runs.commit, [], [claim], ledger.gone)
    assert claimed is not None
    return begun, claimed.attempt, row


def outcome(attempt: int, row: int, state: AttemptState, step: Step) -> Outcome:
    return Outcome(attempt, Operation.INVITE, state, step, now(), (row,))


@on_each_database
def test_again_is_refused_while_the_run_lives(desk: DoubtfulCampaign) -> None:
    """However long ago and with --no-wait: the run may yet send what it has claimed."""
    with desk.ledger() as ledger:
        begun, attempt, row = sending(desk, ledger)
        ledger.write_beside(
            runs.commit, [outcome(attempt, row, AttemptState.UNSURE, Step.UNSURE)], [], ledger.gone
        )
        desk.later(60)
        answer = desk.settle("--invites", "again", "--why", "x", "--no-wait")
        assert answer.code == 2
        assert "still in progress" in answer.err
        assert desk.settle("--invites", "sent").code == 0  # sends nothing, so it may be said
        runs.end(ledger, begun.run, Ending.STOPPED, None)


@on_each_database
def test_what_a_dead_run_was_sending_is_unsure_when_listed(desk: DoubtfulCampaign) -> None:
    """Settling looks for dead runs first; until then nobody would know."""
    with desk.ledger() as ledger:
        begun, _, _ = sending(desk, ledger)
        assert desk.settle().code == 0  # the run lives: nothing is unsure
        recovery.OWN_RUNS.discard(begun.run)
        answer = desk.settle()
    assert answer.code == 3
    assert "invite 1 candidate" in answer.out and ZOE in answer.out
    assert "The run stopped while this request may have been in flight." in answer.out
    assert desk.steps(ZOE) == ("done", "unsure")


@on_each_database
def test_what_was_answered_meanwhile_is_not_overruled(desk: DoubtfulCampaign) -> None:
    """Between looking and deciding the answer arrives: none of the verdicts is taken."""
    desk.run(LOST_INVITE, Fault("lost", "invite", email=GRACE))
    with desk.ledger() as ledger:
        campaign = ledger.read(queries.find_campaign, KEY)
        assert campaign is not None
        zoe, grace = ledger.read(settling.find, campaign.id).steps
        assert zoe.row is not None
        ledger.write_beside(
            runs.commit,
            [outcome(zoe.attempt, zoe.row, AttemptState.DONE, Step.DONE)],
            [],
            ledger.gone,
        )
        said = [Decided(one.attempt, one.row, Word.AGAIN) for one in (zoe, grace)]
        with pytest.raises(NotDecided) as refused:
            ledger.write(settling.settle, campaign.id, said, By("rita", "looked"), soon=True)
    assert list(refused.value.objections) == [0]
    assert desk.steps(ZOE) == ("done", "done")
    assert desk.steps(GRACE) == ("done", "unsure")
    assert desk.decisions() == []


@on_each_database
def test_a_late_yes_after_again_prevents_the_second_email(desk: DoubtfulCampaign) -> None:
    """Said again, and then the answer arrives after all: the run has nothing left to send."""
    desk.run(LOST_INVITE)
    desk.later(16)
    assert desk.settle("--invites", "again", "--why", "nothing came").code == 0
    with desk.ledger() as ledger:
        campaign = ledger.read(queries.find_campaign, KEY)
        assert campaign is not None
        [person] = [one for one in queries.candidates(ledger, campaign.id) if one.email1 == ZOE]
        late = outcome(person.invite_attempt, person.id, AttemptState.DONE, Step.DONE)
        ledger.write_beside(runs.commit, [late], [], ledger.gone)
    assert desk.steps(ZOE) == ("done", "done")
    before = desk.service.api_requests()
    desk.run()
    assert desk.service.api_requests() == before
    assert desk.emails() == dict.fromkeys(EMAILS, 1)


LATE = {
    "late done": (AttemptState.DONE, Step.DONE),
    "late refused": (AttemptState.REFUSED, Step.REFUSED),
    "late not sent": (AttemptState.NOT_SENT, Step.WAITING),
}
EVENTS = (*LATE, "newest done", "claim", "sent", "again", "withdraw", "resend")
LONG = 3


class Crowd:
    """One person for each order in which LONG things may happen; step by step, all at once."""

    def __init__(self, ledger: Ledger, begun: Begun) -> None:
        self.ledger, self.begun = ledger, begun
        self.rows = [one.id for one in queries.candidates(ledger, begun.campaign)]
        self.first = self.claim(self.rows)

    def claim(self, rows: list[int]) -> dict[int, int]:
        run, campaign = self.begun.run, self.begun.campaign
        numbers = {}
        for start in range(0, len(rows), 100):
            part = rows[start : start + 100]
            claims = [Claim(Operation.INVITE, campaign, run, now(), (row,)) for row in part]
            granted = self.ledger.write_beside(runs.commit, [], claims, self.ledger.gone)
            numbers |= {row: one.attempt for row, one in zip(part, granted, strict=True) if one}
        return numbers

    def people(self, rows: list[int]) -> list[Candidate]:
        chosen = set(rows)
        return [
            one for one in queries.candidates(self.ledger, self.begun.campaign) if one.id in chosen
        ]  # type: ignore[misc]

    def happens(self, event: str, rows: list[int]) -> None:
        if event in LATE:
            state, step = LATE[event]
            self.ledger.write_beside(
                runs.commit,
                [outcome(self.first[row], row, state, step) for row in rows],
                [],
                self.ledger.gone,
            )
        elif event == "newest done":
            late = [
                outcome(one.invite_attempt, one.id, AttemptState.DONE, Step.DONE)
                for one in self.people(rows)
                if one.invite_attempt is not None
            ]
            self.ledger.write_beside(runs.commit, late, [], self.ledger.gone)
        elif event == "claim":
            self.claim(rows)
        elif event == "resend":
            against = self.ledger.read(resending.objections, self.begun.campaign, rows)
            fit = [row for position, row in enumerate(rows) if position not in against]
            self.ledger.write(
                resending.resend, self.begun.campaign, fit, By("rita", "asked for it")
            )
        else:
            doubts = self.ledger.read(settling.find, self.begun.campaign).steps
            chosen = set(rows)
            said = [
                Decided(one.attempt, one.row, Word(event)) for one in doubts if one.row in chosen
            ]
            self.ledger.write(
                settling.settle, self.begun.campaign, said, By("rita", "looked"), soon=True
            )


@on_each_database
def test_no_order_of_verdicts_and_late_answers_breaks_the_schema(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever comes in whatever order, one invitation of a generation is the most that stands.

    A late yes before anything new was claimed means that the next claim is not granted.
    """
    orders = list(product(EVENTS, repeat=LONG))
    with Ledger.open(ledger_at(tmp_path)) as ledger:
        crowd = Crowd(ledger, ready_to_invite(ledger, tmp_path, len(orders)))
        unsure = [
            outcome(number, row, AttemptState.UNSURE, Step.UNSURE)
            for row, number in crowd.first.items()
        ]
        ledger.write_beside(runs.commit, unsure, [], ledger.gone)
        runs.end(ledger, crowd.begun.run, Ending.STOPPED, None)
        start = now()
        # In whichever run: one that lives would have none of these doubts settled.
        monkeypatch.setattr("data.sending.claims.no_claims", lambda *_: None)
        monkeypatch.setattr("data.store.clock.now", lambda: start + timedelta(hours=1))
        for step in range(LONG):
            for event in EVENTS:
                people = zip(crowd.rows, orders, strict=True)
                crowd.happens(event, [row for row, order in people if order[step] == event])
        for event in ("claim", "late done", "newest done"):
            crowd.happens(event, crowd.rows)
        attempt = tables.attempt
        with ledger._transactions.reading() as connection:
            standing = connection.execute(
                select(func.count())
                .where(attempt.c.state.in_(["sending", "done", "unsure"]))
                .group_by(attempt.c.candidate_row, attempt.c.generation)
            ).scalars()
            assert max(standing) == 1
        claimed = Counter(one.candidate_row for one in ledger.read(attempts, crowd.begun.campaign))
    for row, order in zip(crowd.rows, orders, strict=True):
        if order[:2] in (("again", "late done"), ("withdraw", "late done")):
            assert claimed[row] == 1 + (order[2] == "resend"), order
        elif order[:2] == ("again", "claim"):
            assert claimed[row] == 2, order


def ready_to_invite(ledger: Ledger, folder: Path, number: int) -> Begun:
    """A run of a campaign whose people are all added."""
    from config.reading.reading import read_campaigns
    from tests.flows.cli.test_cli import SERVICE

    people = "\n".join(
        f"  - {{first_name: A, last_name: B, email1: p{one}@example.com}}" for one in range(number)
    )
    file = folder / "crowd.yaml"
    file.write_text(DEFINITION.partition("  - ")[0] + people)
    [definition] = read_campaigns(file).definitions
    wanted = Target(definition.campaign, "digest", definition, None)
    begun = runs.begin(
        ledger, KEY, definition, intent_of(wanted, CampaignSource(file), SERVICE, None)
    )
    with ledger._transactions.writing() as connection:
        candidate = tables.candidate
        connection.execute(
            update(candidate).values(add_state="done", candidate_id=candidate.c.id + 5000)
        )
    return begun


# -- listing, files, programs, questions -----------------------------------------------------


def test_listing_says_what_happened_and_what_to_type(desk: DoubtfulCampaign) -> None:
    """Every unsure call with when, how far it got, what it means; exit 3, nothing changed."""
    desk.run(LOST_INVITE, Fault("status", "invite", email=GRACE, status=504))
    answer = desk.settle()
    assert answer.code == 3
    assert "2 calls unsure" in answer.out
    [zoe] = [line for line in answer.out.splitlines() if ZOE in line]
    [grace] = [line for line in answer.out.splitlines() if GRACE in line]
    assert datetime.fromisoformat(zoe[:19]).astimezone() <= datetime.now().astimezone()
    unsure = desk.settle("--json").object["unsure"]
    [meaning] = [each["meaning"] for each in unsure if each["email1"] == ZOE]
    assert HOW_FAR[2] in zoe and meaning in zoe
    assert "answered, status 504" in grace
    assert f"campaign settle {KEY} --invites sent --listed " in answer.out
    assert re.search(rf"{KEY} --invites again --listed \w{{8}} --why TEXT", answer.out)
    assert desk.steps(ZOE) == ("done", "unsure")


@on_each_database
def test_a_printed_verdict_is_about_what_was_listed(desk: DoubtfulCampaign) -> None:
    """What became unsure between the listing and the command is settled by nobody's word."""
    desk.run(LOST_INVITE)
    [code] = set(re.findall(r"--listed (\w+)", desk.settle().out))
    tim = "tim@example.com"
    person = f"{{first_name: Tim, last_name: Berners-Lee, email1: {tim}}}"
    desk.file.write_text(f"{DEFINITION}  - {person}\n", encoding="utf-8")
    desk.run(Fault("lost", "invite", email=tim))
    too_late = desk.settle("--invites", "sent", "--listed", code)
    assert (too_late.code, desk.steps(ZOE)) == (2, ("done", "unsure"))
    assert f"campaign settle {KEY}\n" in too_late.err
    [code] = set(re.findall(r"--listed (\w+)", desk.settle().out))
    assert desk.settle("--invites", "sent", "--listed", code).code == 0
    assert (desk.steps(ZOE), desk.steps(tim)) == (("done", "done"), ("done", "done"))


def _printed(desk: DoubtfulCampaign) -> list[str]:
    """What `status` prints for people whose add was refused, with a reason."""
    [line] = re.findall(r"campaign (settle .* --candidates again .*)", desk.type("status", KEY).out)
    return [*line.removesuffix("TEXT").split(), "it is right"]


def _refuse_zoe(desk: DoubtfulCampaign, *faults: Fault, more: str = "") -> None:
    no = Fault("status", "add_candidates", status=422, email=ZOE, count=None)
    desk.file.write_text(DEFINITION + more, encoding="utf-8")
    desk.run(no, *faults)
    desk.later(16)


TIM = "tim@example.com"
AND_TIM = f"  - {{first_name: Tim, last_name: Berners-Lee, email1: {TIM}}}\n"
LOST_TIM = Fault("lost", "add_candidates", email=TIM, after_work=True)


def test_what_is_printed_for_refused_adds_settles_no_add_that_is_unsure_since(
    desk: DoubtfulCampaign,
) -> None:
    """Nobody has looked whether that person was added: settled as not added, there twice."""
    _refuse_zoe(desk)
    typed = _printed(desk)
    _refuse_zoe(desk, LOST_TIM, more=AND_TIM)
    assert (desk.steps(ZOE)[0], desk.steps(TIM)[0]) == ("refused", "unsure")
    assert desk.type(*typed).code == 3
    assert (desk.steps(ZOE)[0], desk.steps(TIM)[0]) == ("waiting", "unsure")


def test_what_is_printed_for_refused_adds_is_about_these_alone(desk: DoubtfulCampaign) -> None:
    """Not about those who are unsure beside them, nor about those who were refused since."""
    _refuse_zoe(desk, LOST_TIM, more=AND_TIM)
    typed = _printed(desk)
    assert desk.type(*typed).code == 3
    assert (desk.steps(ZOE)[0], desk.steps(TIM)[0]) == ("waiting", "unsure")
    _refuse_zoe(desk, more=AND_TIM)
    too_late = desk.type(*typed)
    assert (too_late.code, desk.steps(ZOE)[0]) == (2, "refused")


def test_a_list_of_unsure_adds_is_not_about_refused_ones(desk: DoubtfulCampaign) -> None:
    """The code is that of a list, and only those on it were seen."""
    _refuse_zoe(desk, LOST_TIM, more=AND_TIM)
    [code] = set(re.findall(r"--listed (\w+)", desk.settle().out))
    assert desk.settle("--candidates", "again", "--listed", code, "--why", "x").code == 0
    assert (desk.steps(ZOE)[0], desk.steps(TIM)[0]) == ("refused", "waiting")


@on_each_database
def test_again_that_may_mean_refused_or_unsure_adds_decides_nothing(
    desk: DoubtfulCampaign,
) -> None:
    """It says what to type for each. With a verdict on each unsure one, it means the refused."""
    _refuse_zoe(desk, LOST_TIM, more=AND_TIM)
    again = ("--candidates", "again", "--why", "it is right")
    both = desk.settle(*again)
    assert (both.code, desk.steps(ZOE)[0], desk.steps(TIM)[0]) == (2, "refused", "unsure")
    [typed] = re.findall(r"the refused: (campaign settle .*)TEXT", both.err)
    assert typed.split()[1:] == _printed(desk)[:-1]
    assert f"the unsure: campaign settle {KEY}\n" in both.err
    named = ("--candidate", f"{TIM}=5009", "--candidate", f"{GRACE}=5008")
    assert desk.settle(*named, *again).code == 0
    assert (desk.steps(ZOE)[0], desk.steps(TIM)[0]) == ("waiting", "done")


@pytest.mark.parametrize(
    ("fault", "shown"),
    [
        (LOST_PROJECT, 'whether the project "Backend engineer" exists'),
        (LOST_PROBLEM, "whether project 101 has problem 42"),
        (LOST_ADD, "who is in project 101"),
    ],
)
def test_listing_says_where_to_look(desk: DoubtfulCampaign, fault: Fault, shown: str) -> None:
    """A person is told what to look for, and no run is offered that could send nothing."""
    desk.run(fault)
    answer = desk.settle()
    assert answer.code == 3
    assert shown in answer.out
    assert "campaign run" not in answer.out + desk.type("status", KEY).out


def test_json_holds_every_doubt_and_nothing_else(desk: DoubtfulCampaign) -> None:
    """A program reads one object: before a verdict the doubts, after it what is left of them."""
    desk.run(LOST_INVITE)
    answer = desk.settle("--json")
    assert answer.code == 3
    [one] = answer.object["unsure"]
    assert (one["step"], one["email1"], one["candidate_id"]) == ("invite", ZOE, 5002)
    assert (one["reached"], one["status"]) == ("left whole", None)
    assert one["verdicts"] == ["sent", "again", "withdraw"]
    assert datetime.fromisoformat(one["sent_at"]) + PATIENCE == datetime.fromisoformat(
        one["again_from"]
    )
    assert desk.settle("--invites", "sent", "--json").object == NOTHING
    refused = desk.settle("--invites", "sent", "--json")
    assert refused.code == 2
    assert refused.object["ok"] is False and "@" not in refused.out


def filled_in(text: str, verdicts: dict[str, tuple[str, str]], delimiter: str = ",") -> str:
    """Do what a person does in a spreadsheet: verdict and value by email1."""
    reader = csv.DictReader(StringIO(text.removeprefix("\ufeff")))
    out = StringIO(newline="")
    writer = csv.DictWriter(out, reader.fieldnames or [], delimiter=delimiter)
    writer.writeheader()
    for row in reader:
        row["verdict"], row["value"] = verdicts.get(row["email1"], ("", ""))
        writer.writerow(row)
    return out.getvalue()


@pytest.mark.parametrize(("delimiter", "encoding"), [(",", "utf-8-sig"), (";", "cp1252")])
def test_a_file_goes_out_and_comes_back(
    desk: DoubtfulCampaign, delimiter: str, encoding: str
) -> None:
    """What was exported and filled in settles exactly the rows that have a verdict."""
    desk.run(LOST_ADD)
    exported = desk.settle("--export")
    assert exported.code == 0
    assert desk.settle("--export", "-o", "verdicts.csv").code == 0
    file = desk.folder / "verdicts.csv"
    assert file.read_bytes() == b"\xef\xbb\xbf" + exported.out.encode()
    for more in ((), ("-o", "again.csv")):  # a program has the same in its one object
        told = desk.settle("--export", "--json", *more)
        assert [each["email1"] for each in told.object["unsure"]] == [*EMAILS]
    assert (desk.folder / "again.csv").read_bytes() == file.read_bytes()
    said = {ADA: ("ID", "5001"), ZOE: ("again", "")}
    file.write_text(filled_in(exported.out, said, delimiter), encoding=encoding, newline="")
    desk.later(16)
    answer = desk.settle("--from", "verdicts.csv", "--why", "looked")
    assert answer.code == 3, answer.err  # Grace has no verdict
    assert [desk.steps(one)[0] for one in EMAILS] == ["done", "waiting", "unsure"]
    assert desk.attempts("add_candidates") == ["unsure"]
    desk.run()
    assert [one["email1"] for one in desk.service.record.of("add_candidates")[1].body] == [ZOE]
    assert desk.emails() == {ADA: 1, ZOE: 1}


def test_with_nothing_unsure_there_is_nothing_to_fill_in(desk: DoubtfulCampaign) -> None:
    """The file has no row; what comes next is the campaign's own, and no verdicts."""
    desk.run()
    answer = desk.settle("--export", "-o", "verdicts.csv")
    assert answer.code == 0
    assert "--from" not in answer.err
    assert answer.out == desk.settle().out
    assert len((desk.folder / "verdicts.csv").read_text("utf-8-sig").splitlines()) == 1


def test_what_was_filled_in_is_not_written_over(desk: DoubtfulCampaign) -> None:
    """Who exports once more by mistake keeps the verdicts."""
    desk.run(LOST_ADD)
    export = ("--export", "-o", "verdicts.csv")
    assert [desk.settle(*export).code for _ in range(2)] == [0, 0]
    file = desk.folder / "verdicts.csv"
    file.write_text(filled_in(file.read_text("utf-8-sig"), {ADA: ("ID", "5001")}))
    before = file.read_bytes()
    again = desk.settle(*export)
    assert (again.code, "--from verdicts.csv" in again.err) == (1, True)
    assert file.read_bytes() == before
    file.write_bytes(before + b'"a quote that nobody closed\n')  # their work all the same
    assert desk.settle(*export).code == 1


def test_each_row_of_the_file_says_which_words_fit(desk: DoubtfulCampaign) -> None:
    """Nobody has to look up what may be written into the column."""
    desk.run(LOST_PROJECT)
    [row] = csv.DictReader(StringIO(desk.settle("--export").out))
    assert (row["step"], row["verdict"], row["value"]) == ("project", "", "")
    assert "id = " in row["words"] and "again = " in row["words"]
    (desk.folder / "v.csv").write_text(filled_in(desk.settle("--export").out, {"": ("id", "101")}))
    assert desk.settle("--from", "v.csv").code == 0
    assert desk.steps() == ("done", "waiting")


def test_a_file_that_was_taken_is_not_to_be_typed_again(desk: DoubtfulCampaign) -> None:
    """Nothing is unsure any more: the second time it says so, and where to look."""
    desk.run(LOST_INVITE)
    text = filled_in(desk.settle("--export").out, {ZOE: ("sent", "")})
    (desk.folder / "v.csv").write_text(text)
    assert desk.settle("--from", "v.csv").code == 0
    again = desk.settle("--from", "v.csv")
    assert again.code == 2
    assert again.err.startswith("v.csv:2, step: this is done; ")
    assert again.err.splitlines()[-1].endswith(f"campaign status {KEY}")
    assert desk.settle("--invites", "sent").err.splitlines()[-1].endswith(f"status {KEY}")


def test_whoever_settles_second_is_told_why(
    desk: DoubtfulCampaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also if the first verdict came between a person's look and the record of the second one."""
    desk.run(LOST_INVITE)
    (desk.folder / "v.csv").write_text(filled_in(desk.settle("--export").out, {ZOE: ("sent", "")}))
    look, looks = settle.standing_of, []

    def overtaken(*what: Any) -> Any:
        looks.append(look(*what))
        if len(looks) == 1:
            with monkeypatch.context() as patch:
                patch.setattr(settle, "standing_of", look)
                assert desk.settle("--invites", "sent").code == 0
        return looks[-1]

    monkeypatch.setattr(settle, "standing_of", overtaken)
    answer = desk.settle("--from", "v.csv")
    assert (answer.code, answer.err[:10]) == (2, "v.csv:2, s")
    assert answer.err.splitlines()[-1].endswith(f"campaign status {KEY}")


def test_a_wrong_file_names_every_line_and_changes_nothing(desk: DoubtfulCampaign) -> None:
    """All problems at once, each with its line; the right rows are not taken either."""
    desk.run(LOST_ADD)
    text = desk.settle("--export").out
    said = {ADA: ("id", "5001"), ZOE: ("sent", ""), GRACE: ("again", "")}
    stranger = f"9,add,{ADA.replace('ada', 'bob')},,,,,,,again,\n"
    invited = f"9,invite,{ADA},,,,,,,sent,\n"
    earlier = f"9,add,{ADA},,,,,,,again,\n"
    worded = f"3,add,{ADA},,,,,,,id,12a\n"
    (desk.folder / "v.csv").write_text(
        filled_in(text, said) + stranger + invited + earlier + worded
    )
    answer = desk.settle("--from", "v.csv", "--why", "looked")
    assert answer.code == 2
    problems = [line for line in answer.err.splitlines() if line.startswith("v.csv:")]
    places = [
        line.partition(", ")[0] + "," + line.split(", ")[1].split(":")[0] for line in problems[:-1]
    ]
    assert places == [
        "v.csv:3,verdict",
        "v.csv:4,verdict",
        "v.csv:5,email1",
        "v.csv:6,step",
        "v.csv:7,call",
        "v.csv:8,value",
    ]
    assert "--no-wait" in problems[1]
    assert [desk.steps(one)[0] for one in EMAILS] == ["unsure"] * 3
    assert desk.decisions() == []


@pytest.mark.parametrize("content", ["", "email1,verdict\n", "\0\0", "a;b\n1;2\n"])
def test_what_is_no_file_of_verdicts_is_said(desk: DoubtfulCampaign, content: str) -> None:
    """An empty file, a binary one and another table end with 2 and change nothing."""
    desk.run(LOST_INVITE)
    (desk.folder / "v.csv").write_text(content)
    answer = desk.settle("--from", "v.csv")
    assert answer.code == 2
    assert answer.err.startswith("v.csv")
    assert desk.settle("--from", "missing.csv").code == 2
    assert desk.steps(ZOE) == ("done", "unsure")


@pytest.mark.parametrize("value", ['"5001', '"50"01'])
def test_a_stray_quote_in_the_file_of_verdicts_is_a_mistake(
    desk: DoubtfulCampaign, value: str
) -> None:
    """It would hide the verdicts below it."""
    desk.run(LOST_ADD)
    text = desk.settle("--export").out
    filled = filled_in(text, {ADA: ("id", "X"), ZOE: ("id", "5002"), GRACE: ("id", "5003")})
    (desk.folder / "v.csv").write_text(filled.replace("X", value))
    answer = desk.settle("--from", "v.csv")
    assert (answer.code, desk.decisions()) == (2, [])
    assert re.match(r"v.csv:2: .* stray quote", answer.err)


def test_no_cell_of_the_file_is_a_formula(desk: DoubtfulCampaign) -> None:
    """A name from somebody else does nothing in a spreadsheet, and the row still comes back."""
    desk.file.write_text(DEFINITION.replace(ADA, "+ada@example.com").replace("Ada", '"=1+1"'))
    desk.run(Fault("lost", "add_candidates", after_work=True))
    text = desk.settle("--export").out
    [row, *_] = csv.DictReader(StringIO(text))
    assert (row["email1"], row["first_name"]) == ("'+ada@example.com", "'=1+1")
    (desk.folder / "v.csv").write_text(filled_in(text, {"'+ada@example.com": ("id", "5001")}))
    assert desk.settle("--from", "v.csv").code == 3
    assert desk.steps("+ada@example.com") == ("done", "waiting")


@on_each_database
def test_a_terminal_is_asked_one_by_one(desk: DoubtfulCampaign) -> None:
    """Each doubt is a question; an empty answer leaves it, and what is not yet allowed is said."""
    desk.run(LOST_ADD)
    desk.at_terminal("", "5002", "again", "maybe", "withdraw", "left us")
    answer = desk.settle()
    assert answer.code == 3
    assert "1 of 3: add Ada Lovelace <ada@example.com>" in answer.out
    assert "  Not accepted: " in answer.out and "  maybe is not " in answer.out
    assert [desk.steps(one)[0] for one in EMAILS] == ["unsure", "done", "withdrawn"]
    assert [one[0] for one in desk.decisions()] == ["id", "withdraw"]
    assert desk.decisions()[1][3] == "left us"


def test_at_the_question_again_may_be_said_at_once(desk: DoubtfulCampaign) -> None:
    """What cannot be typed there is not named: `again now` is, and works."""
    desk.run(NEVER_CAME)
    desk.at_terminal("again", "again now", "asked her")
    answer = desk.settle()
    assert answer.code == 0
    assert "or at once by typing  again now." in answer.out
    assert "--no-wait" not in answer.out
    assert desk.steps(ZOE) == ("done", "waiting")


def test_at_the_question_somebody_else_may_be_quicker(
    desk: DoubtfulCampaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is said, and the questions go on."""
    desk.run(NEVER_CAME)
    desk.at_terminal("again now", "asked her")
    answer_to = one_by_one.answer_to

    def overtaken(question: str) -> str | None:
        if "Why" in question:
            with desk.ledger() as ledger:
                [doubt] = ledger.read(settling.find, 1).steps
                sent = Decided(doubt.attempt, doubt.row, Word.SENT)
                ledger.write(settling.settle, 1, [sent], By("rita", "she has it"), soon=True)
        return answer_to(question)

    monkeypatch.setattr(one_by_one, "answer_to", overtaken)
    answer = desk.settle()
    assert (answer.code, "  Not accepted: " in answer.out) == (0, True)
    assert desk.steps(ZOE) == ("done", "done")


@pytest.mark.parametrize("answers", [("quit",), ("stop",), ()], ids=["quit", "stop", "nothing"])
def test_asking_ends_when_told(desk: DoubtfulCampaign, answers: tuple[str, ...]) -> None:
    """Nothing is settled by leaving."""
    desk.run(LOST_INVITE)
    desk.at_terminal(*answers)
    assert desk.settle().code == 3
    assert desk.steps(ZOE) == ("done", "unsure")


def test_the_last_answer_ends_with_0(desk: DoubtfulCampaign) -> None:
    """When nothing is unsure any more the command says so and what to type next."""
    desk.run(LOST_INVITE)
    desk.at_terminal("sent", "")
    answer = desk.settle()
    assert answer.code == 0
    assert "nothing is unsure; 3 invited" in answer.out
    assert f"campaign links {KEY}" in answer.out


def test_a_program_is_never_asked(desk: DoubtfulCampaign) -> None:
    """With --json the object is printed at once, terminal or not."""
    desk.run(LOST_INVITE)
    desk.at_terminal("sent")
    assert len(desk.settle("--json").object["unsure"]) == 1
    assert desk.steps(ZOE) == ("done", "unsure")


def test_a_real_terminal_is_asked(desk: DoubtfulCampaign) -> None:
    """In a process of its own, on a pseudo-terminal: the question comes, and the answer counts."""
    desk.run(LOST_INVITE)
    near, far = pty.openpty()
    person = subprocess.Popen(
        [sys.executable, "-c", "from flows.cli.main import main; main()", "settle", KEY],
        stdin=far,
        stdout=far,
        stderr=far,
        cwd=desk.folder,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[4]), "TERM": "dumb"},
    )
    os.close(far)  # when the process ends, reading ends too
    watch = Timer(session.PATIENCE, person.kill)
    watch.start()
    seen = b""
    try:
        while b"Your verdict (Enter: decide later): " not in seen:
            seen += os.read(near, 4096)
        os.write(near, b"sent\n")
        assert person.wait() == 0
    finally:
        watch.cancel()
        watch.join()
        person.kill()
        person.wait()
        os.close(near)
    assert b"1 of 1: invite" in seen
    assert desk.steps(ZOE) == ("done", "done")


@pytest.mark.usefixtures("hasty")
def test_whoever_has_it_sent_again_gives_it_all_its_repetitions(desk: DoubtfulCampaign) -> None:
    """Noes from before a person's word count no more: the first of them would be a new doubt."""

    def noes(count: int) -> Fault:
        return Fault("status", "add_candidates", status=421, count=count)

    assert desk.run(noes(3)).counts["unsure"] == len(EMAILS)
    desk.later(16)
    assert desk.settle("--candidates", "again", "--why", "not there").code == 0
    assert desk.run(noes(2)).ending is Ending.COMPLETED
    assert set(desk.emails().values()) == {1}
