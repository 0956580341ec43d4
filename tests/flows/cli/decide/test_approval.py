"""A person approves the plan before anything is sent, and the approval covers nothing else."""

import asyncio
import re
from collections.abc import Awaitable, Callable, Iterator
from datetime import UTC, datetime, timedelta
from io import StringIO
from pathlib import Path
from typing import Any

import openpyxl
import pytest

from config.settings import load_local, load_service
from data.campaigns import approvals, pauses, queries
from data.campaigns.approvals import (
    Answer,
    NotAnswered,
    Overtaken,
    PlanInWords,
    Standing,
    code_of,
    code_to_approve,
    standing,
)
from data.decisions import settling
from data.decisions.verdicts import Decided
from data.sending import idle_runs, runs
from data.store import clock
from data.store.states import By, Ending, Word
from data.store.tables import Approval
from flows.pages.final_states import state_of
from flows.run.ending import Finish
from flows.run.order import CHECK_SERVICE, RunContext, conduct
from sandbox.faults.faults import Fault
from sandbox.server import Sandbox
from tasks.plan.asking_approval import BEFORE, VOID, decide
from tasks.plan.target import CampaignSource
from tests.support.campaigns import Office, people
from tests.support.doubtful_campaign import DEFINITION, KEY, DoubtfulCampaign
from tests.support.doubtful_campaign import doubtful as unasked
from tests.support.ledgers.small_ledger import definition, intent

__all__ = ["unasked"]

NOON = datetime(2026, 12, 1, 12, tzinfo=UTC)
REQUIRED = "invites: {approval: required}\n"
IN_TIME = "invites: {approval: {within: 2 days}}\n"

# Where a ledger lies is all the same to what is only typed, shown or asked.
on_each_database = pytest.mark.usefixtures("each_database")


@pytest.fixture
def office(tmp_path: Path) -> Iterator[Office]:
    with Sandbox() as service:
        yield Office.at(tmp_path, service)


@pytest.fixture
def doubtful(unasked: DoubtfulCampaign) -> DoubtfulCampaign:
    """A campaign whose plan waits for two days."""
    unasked.file.write_text(DEFINITION + IN_TIME, encoding="utf-8")
    return unasked


def answered(office: Office, given: Answer = Answer.APPROVED, code: str | None = None) -> Approval:
    with office.ledger() as ledger:
        return decide(ledger, "asked", given, code, "grace", "looks right")


def another(shown: Approval) -> PlanInWords:
    """The plan of another definition, with the same words."""
    return PlanInWords("asked", "other", shown.service, shown.file, None, shown.told)


def waits(end: Finish) -> bool:
    return end.ending is Ending.AWAITS_APPROVAL


# -- where a plan stands ----------------------------------------------------------------------


def shown(answer: Answer | None = None, by: datetime | None = None) -> Approval:
    return Approval(read="read", digest="digest", answer_by=by, answer=answer)


@pytest.mark.parametrize(
    ("asked", "read", "digest", "stands"),
    [
        (None, "read", "digest", Standing.NEW),
        (shown(), "read", "digest", Standing.OPEN),
        (shown(), "other", "digest", Standing.CHANGED),
        (shown(), "read", "other", Standing.OVERTAKEN),
        (shown(by=NOON + timedelta(seconds=1)), "read", "digest", Standing.OPEN),
        (shown(by=NOON), "read", "digest", Standing.LATE),
        (shown(Answer.APPROVED), "read", "digest", Standing.APPROVED),
        (shown(Answer.APPROVED, by=NOON), "read", "digest", Standing.APPROVED),
        (shown(Answer.APPROVED), "other", "digest", Standing.CHANGED),
        (shown(Answer.APPROVED), "read", "other", Standing.OVERTAKEN),
        (shown(Answer.REJECTED), "read", "digest", Standing.REJECTED),
        (shown(Answer.REJECTED), "other", "digest", Standing.CHANGED),
    ],
)
def test_where_a_plan_stands(
    asked: Approval | None, read: str, digest: str, stands: Standing
) -> None:
    """An answer counts for the very plan that was shown, and for no other."""
    assert standing(asked, read, digest, NOON) is stands


# -- what a run does --------------------------------------------------------------------------


@on_each_database
def test_nothing_is_sent_before_a_person_approves(office: Office) -> None:
    """However often it is run; then the approved run does everything, once."""
    path = office.write("asked", people("ada", "grace"), more=REQUIRED)
    assert waits(office.run(path))
    assert waits(office.run(path))
    assert office.changing() == []
    answered(office)
    assert office.changing() == []
    assert office.run(path).ending is Ending.COMPLETED
    assert office.emails() == {"ada@example.com": 1, "grace@example.com": 1}
    assert office.run(path).ending is Ending.COMPLETED
    assert set(office.emails().values()) == {1}


def test_the_plan_says_what_would_be_sent_and_names_nobody(office: Office) -> None:
    """Counts, and people masked: the plan leaves the ledger for whoever approves."""
    end = office.run(office.write("asked", people("ada", "grace"), more=REQUIRED))
    assert end.plan is not None
    told = end.plan.told
    assert 'project: create "Engineers"' in told
    assert "add: 2 to the project" in told
    assert "invite: 2 by email" in told
    assert "A*** E*** (a***@e***.com), G*** E*** (g***@e***.com)" in told
    assert "Ada" not in told
    assert code_of(end.plan) in (end.reason or "")
    assert "campaign approve asked" in (end.reason or "")


def test_the_plan_names_the_project_that_newcomers_come_into(office: Office) -> None:
    """Its id is in the ledger: the definition knows only the name of what it had created."""
    office.run(office.write("asked", people("ada"), more=REQUIRED))
    answered(office)
    office.run(office.folder / "asked.yaml")
    [project] = office.service.record.projects
    end = office.run(office.write("asked", people("ada", "grace"), more=REQUIRED))
    assert end.plan is not None
    assert f"project: {project.id}, as it is" in end.plan.told


@on_each_database
def test_who_waits_for_an_approval_is_not_forgotten(office: Office) -> None:
    """The ledger has everyone, and who was taken out of the sheet; only nothing is sent."""
    office.run(office.write("asked", people("ada", "grace"), more=REQUIRED))
    assert office.status("asked")["counts"]["waiting"] == 2  # type: ignore[index]
    end = office.run(office.write("asked", people("grace", "edsger"), more=REQUIRED))
    assert (end.counts["waiting"], end.removed) == (3, 1)
    answered(office)
    assert office.run(office.folder / "asked.yaml").ending is Ending.COMPLETED
    assert set(office.emails()) == {"grace@example.com", "edsger@example.com"}


def test_the_plan_says_when_emails_go_out(office: Office) -> None:
    """Whoever approves people for a window knows the window."""
    more = (
        "invites: {approval: required, not_before: 2020-01-01 09:00, "
        "not_after: 2050-01-01 18:00, waves: [1]}\n"
    )
    project = "{name: Engineers, timezone: Europe/Paris}"
    end = office.run(office.write("asked", people("ada"), project=project, more=more))
    assert end.plan is not None
    window = "from 2020-01-01 09:00 until 2050-01-01 18:00 (Europe/Paris)"
    assert f"after the approval; emails {window}\nwaves: 1, rest" in end.plan.told


@on_each_database
def test_what_waits_for_its_time_is_approved_before_it(office: Office) -> None:
    """Also where a change leaves nothing else to send: nobody has to be there when it begins."""

    def asked(day: int) -> Path:
        more = f"invites: {{approval: required, not_before: 2049-01-0{day} 09:00}}\n"
        project = "{name: Engineers, timezone: Europe/Paris}"
        return office.write("asked", people("ada"), project=project, more=more)

    office.run(asked(day=1))
    answered(office)
    assert office.run(asked(day=1)).ending is Ending.NOT_YET
    sent = office.changing()
    end = office.run(asked(day=2))
    assert waits(end) and waits(office.run(asked(day=2)))
    assert end.plan is not None and "emails from 2049-01-02 09:00" in end.plan.told
    answered(office)
    assert office.run(asked(day=2)).ending is Ending.NOT_YET
    assert office.changing() == sent
    begun = office.run(asked(day=2), clock=lambda: datetime(2049, 1, 3, tzinfo=UTC))
    assert (begun.ending, office.emails()) == (Ending.COMPLETED, {"ada@example.com": 1})


def test_what_is_approved_as_its_time_comes_is_sent_once(office: Office) -> None:
    """The run that only shows the plan finds it approved, and its time come, on the way."""
    more = "invites: {approval: required, not_before: 2049-01-01 09:00}\n"
    project = "{name: Engineers, timezone: Europe/Paris}"
    path = office.write("asked", people("ada"), project=project, more=more)
    office.run(path)
    answered(office)
    office.run(path)
    path.write_text(path.read_text() + "# another digest\n")
    assert waits(office.run(path))
    times = [datetime(2048, 12, 31, tzinfo=UTC)]

    async def perform(name: str, work: Callable[[], Awaitable[Any]]) -> Any:
        if name == CHECK_SERVICE:
            answered(office)
            times.append(datetime(2049, 1, 2, tzinfo=UTC))
        return await work()

    end = office.run(path, clock=lambda: times[-1], perform=perform)
    assert (end.ending, office.emails()) == (Ending.COMPLETED, {"ada@example.com": 1})
    office.run(path, clock=lambda: times[-1])
    assert office.emails() == {"ada@example.com": 1}


def test_a_rejected_plan_is_not_sent(office: Office) -> None:
    """The run says who and why; a person may decide otherwise."""
    path = office.write("asked", people("ada"), more=REQUIRED)
    office.run(path)
    answered(office, Answer.REJECTED)
    end = office.run(path)
    assert (end.ending, office.changing()) == (Ending.STOPPED, [])
    assert "grace rejected this plan" in (end.reason or "")
    assert "looks right" in (end.reason or "")
    assert end.plan is not None
    answered(office, code=code_to_approve(end.plan))
    assert office.run(path).ending is Ending.COMPLETED


@on_each_database
def test_what_people_write_as_their_reason_does_not_reach_prefect(office: Office) -> None:
    """It may name a candidate: states and notices say who decided, and the ledger has the why."""
    why = "Ada Lovelace (ada@example.com) withdrew"
    path = office.write("asked", people("ada"), more=REQUIRED)
    office.run(path)
    with office.ledger() as ledger:
        decide(ledger, "asked", Answer.REJECTED, None, "grace", why)
        ledger.write(pauses.pause, "other", By("grace", why))
    ends = office.run(path), office.run(office.write("other", people("ada")))
    for end, verb in zip(ends, ("grace rejected this plan", "paused by grace"), strict=True):
        message = state_of(end).message or ""
        assert why in (end.reason or "")
        assert verb in message and "Ada" not in message and "@" not in message


def test_a_changed_sheet_makes_the_approval_void(office: Office) -> None:
    """Whoever approved two invitations has not approved three: the new plan is shown."""
    path = office.write("asked", people("ada", "grace"), more=REQUIRED)
    office.run(path)
    answered(office)
    end = office.run(office.write("asked", people("ada", "grace", "edsger"), more=REQUIRED))
    assert waits(end)
    assert (end.reason or "").startswith(BEFORE[Standing.CHANGED])
    assert office.changing() == []
    answered(office)
    assert office.run(path).ending is Ending.COMPLETED
    assert len(office.emails()) == 3


def test_what_has_changed_since_it_was_shown_cannot_be_approved(office: Office) -> None:
    """Not even before the next run finds out; and then the new plan is the one to approve."""
    path = office.write("asked", people("ada"), more=REQUIRED)
    first = office.run(path).plan
    assert first is not None
    office.write("asked", people("ada", "grace"), more=REQUIRED)
    with pytest.raises(NotAnswered, match=VOID[Standing.CHANGED]):
        answered(office)
    assert waits(office.run(path))
    with pytest.raises(NotAnswered, match="latest"):
        answered(office, code=code_of(first))
    assert code_of(answered(office)) != code_of(first)
    assert office.run(path).ending is Ending.COMPLETED


@on_each_database
def test_an_approval_is_void_once_a_person_settled_something(office: Office) -> None:
    """The ledger has moved since the plan was shown: another plan, another answer."""
    office.service.faults.add(Fault("lost", "invite", email="ada@example.com"))
    path = office.write("asked", people("ada"))
    office.run(path)
    office.service.faults.clear()
    path = office.write("asked", people("ada", "grace"), more=REQUIRED)
    assert waits(office.run(path))
    answered(office)
    with office.ledger() as ledger:
        campaign = ledger.read(queries.find_campaign, "asked")
        assert campaign is not None
        [doubt] = ledger.read(settling.find, campaign.id).steps
        settled = [Decided(doubt.attempt, doubt.row, Word.AGAIN)]
        ledger.write(
            settling.settle, campaign.id, settled, By("grace", "nothing arrived"), soon=True
        )
    end = office.run(path)
    assert waits(end)
    assert (end.reason or "").startswith(BEFORE[Standing.OVERTAKEN])
    assert end.plan is not None
    assert "invite: 2 by email" in end.plan.told
    answered(office)
    assert office.run(path).ending is Ending.COMPLETED
    assert office.emails() == {"ada@example.com": 1, "grace@example.com": 1}


@on_each_database
def test_an_approval_that_becomes_void_at_the_last_moment_begins_no_run(office: Office) -> None:
    """Between the look at the answer and the begin of the run another plan was shown."""
    path = office.write("asked", people("ada"), more=REQUIRED)
    office.run(path)
    with office.ledger() as ledger:
        approved = answered(office)
        ledger.write(approvals.seek, another(approved))
        with pytest.raises(Overtaken, match="Nothing was sent"):
            runs.begin(ledger, "asked", definition("ada", key="asked"), intent(), approved.id)
        assert ledger.read(queries.last_run, 1) is None


@on_each_database
def test_an_answer_to_a_plan_that_is_no_longer_shown_is_not_taken(office: Office) -> None:
    """Between the look at the plan and the answer another plan was shown."""
    office.run(office.write("asked", people("ada"), more=REQUIRED))
    with office.ledger() as ledger:
        seen, _ = ledger.read(approvals.look, "asked")
        assert seen is not None
        newer, stood = ledger.write(approvals.seek, another(seen))
        assert stood is Standing.CHANGED
        with pytest.raises(NotAnswered, match="A newer plan"):
            ledger.write(approvals.answer, seen, Answer.APPROVED, By("grace", ""))
        assert ledger.read(approvals.look, "asked", "other") == (newer, Standing.OPEN)


@on_each_database
def test_what_a_run_has_begun_under_an_approval_it_may_end(office: Office) -> None:
    """A stop in the middle asks nobody again: the rest is part of what was approved."""
    names = [f"person{number}" for number in range(6)]
    path = office.write("asked", people(*names), more=REQUIRED)
    office.run(path)
    answered(office)
    office.service.faults.add(Fault("status", "invite", status=403, skip=2, count=None))
    assert office.run(path).ending is Ending.STOPPED
    assert 0 < len(office.emails()) < 6
    office.service.faults.clear()
    assert office.run(path).ending is Ending.COMPLETED
    assert len(office.emails()) == 6
    assert set(office.emails().values()) == {1}


@pytest.mark.parametrize("given", list(Answer))
def test_a_plan_that_was_carried_out_takes_no_other_answer(office: Office, given: Answer) -> None:
    """Whoever rejects it then would believe that nothing was sent."""
    path = office.write("asked", people("ada"), more=REQUIRED)
    office.run(path)
    answered(office)
    assert office.run(path).ending is Ending.COMPLETED
    with pytest.raises(NotAnswered, match="approved by grace and carried out"):
        answered(office, given)


def test_nobody_is_asked_where_nothing_is_to_be_sent(office: Office) -> None:
    """A finished campaign completes, and no plan waits for an answer."""
    path = office.write("asked", people("ada"))
    office.run(path)
    assert office.run(office.write("asked", people("ada"), more=REQUIRED)).ending is (
        Ending.COMPLETED
    )
    with office.ledger() as ledger:
        assert ledger.read(approvals.look, "asked") == (None, Standing.NEW)


def test_adding_without_inviting_waits_as_well(office: Office) -> None:
    """Before anything is sent: not only before an email."""
    more = "invites: {send: false, approval: required}\n"
    end = office.run(office.write("asked", people("ada"), more=more))
    assert waits(end)
    assert office.changing() == []
    assert end.plan is not None
    assert "invite: nobody" in end.plan.told


# -- what a person types ----------------------------------------------------------------------


def test_approving_at_the_command_line(doubtful: DoubtfulCampaign) -> None:
    """The plan is shown, the answer is kept with who and why, and the next run sends; who approves
    it once more is told who did."""
    assert doubtful.run().ending is Ending.AWAITS_APPROVAL
    assert doubtful.requests() == []
    answer = doubtful.type("approve", KEY, "--by", "grace", "--why", "checked with Ada")
    assert answer.code == 0
    assert "3 by email" in answer.out
    assert "Z*** M***" in answer.out
    assert "answer by" in answer.out
    assert "campaign run" in answer.out
    assert "Lovelace" not in answer.out + answer.err
    with doubtful.ledger() as ledger:
        asked, stands = ledger.read(approvals.look, KEY)
    assert stands is Standing.APPROVED
    assert asked is not None
    assert (asked.who, asked.why) == ("grace", "checked with Ada")
    again = doubtful.type("approve", KEY, "--by", "rita")
    assert (again.code, "was already approved by grace on" in again.out) == (0, True)
    assert "campaign run" in again.out
    with doubtful.ledger() as ledger:
        assert ledger.read(approvals.last, KEY) == asked
    assert [who for word, _, who, _ in doubtful.decisions() if word == Answer.APPROVED] == ["grace"]
    assert doubtful.run().ending is Ending.COMPLETED
    assert len(doubtful.emails()) == 3


@on_each_database
def test_a_plan_that_nobody_answers_in_time_is_void(doubtful: DoubtfulCampaign) -> None:
    """It cannot be approved any more, and the next run shows it anew with its own time."""
    doubtful.run()
    doubtful.later(minutes=2 * 24 * 60)
    answer = doubtful.type("approve", KEY)
    assert (answer.code, VOID[Standing.LATE] in answer.err) == (2, True)
    end = doubtful.run()
    assert (end.reason or "").startswith(BEFORE[Standing.LATE])
    assert doubtful.type("approve", KEY).code == 0
    assert doubtful.run().ending is Ending.COMPLETED


def test_at_a_terminal_the_plan_is_shown_before_it_is_answered(doubtful: DoubtfulCampaign) -> None:
    """Anything but yes decides nothing."""
    doubtful.run()
    doubtful.at_terminal("")
    answer = doubtful.type("approve", KEY)
    assert (answer.code, "Nothing was decided" in answer.out) == (1, True)
    assert waits(doubtful.run())
    doubtful.at_terminal("y")
    assert doubtful.type("approve", KEY).code == 0
    assert doubtful.run().ending is Ending.COMPLETED


def test_a_plan_that_comes_while_a_person_thinks_is_not_approved_with_the_other(
    doubtful: DoubtfulCampaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever types y means what stands on the screen."""

    def thinks(_: str) -> bool:
        person = "  - {first_name: Mallory, last_name: X, email1: mallory@example.com}\n"
        doubtful.file.write_text(DEFINITION + person + IN_TIME, encoding="utf-8")
        assert waits(doubtful.run())
        return True

    assert waits(doubtful.run())
    doubtful.at_terminal("y")
    monkeypatch.setattr("flows.cli.decide.approve.agrees", thinks)
    answer = doubtful.type("approve", KEY)
    assert answer.code == 2 and "latest plan" in answer.err
    assert waits(doubtful.run())


@pytest.mark.parametrize("looks_again", [True, False])
def test_a_rejection_that_comes_while_a_person_thinks_is_not_overruled_unseen(
    doubtful: DoubtfulCampaign, monkeypatch: pytest.MonkeyPatch, looks_again: bool
) -> None:
    """Whoever types y, or the plan's code, has not seen it. Whoever has may approve all the same:
    by looking again, or by the code that the refusal names.
    """

    def thinks(_: str) -> bool:
        with doubtful.ledger() as ledger:
            decide(ledger, KEY, Answer.REJECTED, None, "grace", "the wrong list")
        return True

    assert waits(doubtful.run())
    doubtful.at_terminal("y")
    with monkeypatch.context() as patched:
        patched.setattr("flows.cli.decide.approve.agrees", thinks)
        answer = doubtful.type("approve", KEY)
    assert answer.code == 2 and "grace rejected" in answer.err
    named = answer.err.rpartition("campaign ")[2].split()
    monkeypatch.setattr("sys.stdin", StringIO())
    for words in (named[:2], [*named[:3], named[3].partition("-")[0]]):
        assert doubtful.type(*words).err == answer.err
    end = doubtful.run()
    assert (end.ending, " ".join(named) in (end.reason or "")) == (Ending.STOPPED, True)
    if looks_again:
        doubtful.at_terminal("y")
        named = named[:2]
    again = doubtful.type(*named)
    assert (again.code, "by grace: the wrong list" in again.out) == (0, True)


def test_an_approval_overrules_the_rejection_that_was_seen_and_no_later_one(
    doubtful: DoubtfulCampaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither by its code nor by a y to a question that showed the earlier one."""

    def reject(who: str) -> str:
        with doubtful.ledger() as ledger:
            decide(ledger, KEY, Answer.REJECTED, None, who, "stop")
            asked, _ = ledger.read(approvals.look, KEY)
        assert asked is not None
        return code_to_approve(asked)

    def thinks(_: str) -> bool:
        assert reject("carol") != seen
        return True

    assert waits(doubtful.run())
    seen = reject("bob")
    doubtful.at_terminal("y")
    with monkeypatch.context() as patched:
        patched.setattr("flows.cli.decide.approve.agrees", thinks)
        answers = [doubtful.type("approve", KEY), doubtful.type("approve", KEY, "--plan", seen)]
    for answer in answers:
        assert (answer.code, "carol rejected" in answer.err) == (2, True)
    assert doubtful.run().ending is Ending.STOPPED


def test_a_rejection_stands_when_the_same_plan_is_shown_again(doubtful: DoubtfulCampaign) -> None:
    """Another plan was shown in between. An approval that overruled it ends it."""
    before = doubtful.file.read_text()
    assert waits(doubtful.run())
    assert doubtful.type("approve", KEY, "--reject", "--why", "not Ada").code == 0
    doubtful.file.write_text(f"{before}# seen\n")
    assert waits(doubtful.run())
    doubtful.file.write_text(before)
    end = doubtful.run()
    assert (end.ending, "not Ada" in (end.reason or "")) == (Ending.STOPPED, True)
    assert end.plan is not None
    assert doubtful.type("approve", KEY, "--plan", code_of(end.plan)).code == 2
    assert doubtful.type("approve", KEY, "--plan", code_to_approve(end.plan)).code == 0
    assert doubtful.run().ending is Ending.COMPLETED


def test_a_void_plan_is_not_rejected(doubtful: DoubtfulCampaign) -> None:
    """A late no would count as an answer in time, and an approval could overrule it."""
    assert waits(doubtful.run())
    doubtful.later(49 * 60)
    late = doubtful.type("approve", KEY, "--reject", "--why", "too late")
    assert (late.code, VOID[Standing.LATE] in late.err) == (2, True)
    assert waits(doubtful.run())


def test_only_the_plan_that_was_seen_is_approved(doubtful: DoubtfulCampaign) -> None:
    """A code of another plan is refused, and says which one is shown now."""
    doubtful.run()
    answer = doubtful.type("approve", KEY, "--plan", "00000000")
    assert answer.code == 2
    with doubtful.ledger() as ledger:
        asked, stands = ledger.read(approvals.look, KEY)
    assert stands is Standing.OPEN
    assert asked is not None
    assert code_of(asked) in answer.err
    assert doubtful.type("approve", KEY, "--plan", code_of(asked)).code == 0


def test_plan_and_status_say_that_an_approval_is_needed(doubtful: DoubtfulCampaign) -> None:
    """Before the run that asks, and while its plan waits."""
    ada = "  - {first_name: Ada, last_name: Byron, email1: byron@example.com}\n"
    doubtful.file.write_text(DEFINITION, encoding="utf-8")
    doubtful.run()
    doubtful.file.write_text(DEFINITION + ada + IN_TIME, encoding="utf-8")
    assert "\n  approval " in doubtful.type("plan", doubtful.file).out
    assert f"campaign approve {KEY}" not in doubtful.type("status", KEY).out
    end = doubtful.run()
    with doubtful.ledger() as ledger:
        ledger.write(idle_runs.note, KEY, clock.now(), end.ending, end.reason)
    asks = re.compile(rf"plan \w+ is waiting until .+: campaign approve {KEY}$", re.MULTILINE)
    assert all(asks.search(doubtful.type("status", *key).out) for key in ((), (KEY,)))
    doubtful.type("approve", KEY)
    assert not any(f"approve {KEY}" in doubtful.type("status", *key).out for key in ((), (KEY,)))


def test_without_a_plan_there_is_nothing_to_approve(doubtful: DoubtfulCampaign) -> None:
    """A campaign that asks nobody has shown no plan."""
    doubtful.file.write_text(DEFINITION, encoding="utf-8")
    doubtful.run()
    answer = doubtful.type("approve", KEY)
    assert (answer.code, "No plan" in answer.err) == (2, True)


def test_what_is_typed_after_an_approval_runs_no_other_campaign(doubtful: DoubtfulCampaign) -> None:
    """A workbook may hold several; only the approved one was looked at."""
    file = doubtful.folder / "year.xlsx"
    book = openpyxl.Workbook()
    book.remove(book["Sheet"])
    campaigns, candidates = book.create_sheet("campaigns"), book.create_sheet("candidates")
    campaigns.append(("campaign", "project.name", "problem", "approval"))
    candidates.append(("campaign", "first_name", "last_name", "email1"))
    for key, approval in (("spring", "required"), ("summer", None)):
        campaigns.append((key, "Engineers", 42, approval))
        candidates.append((key, "Ada", "Lovelace", "ada@example.com"))
    book.save(file)
    with doubtful.ledger() as ledger:
        desk = RunContext(ledger, load_service(), load_local())
        end = asyncio.run(conduct(CampaignSource(file, "spring"), desk))
    assert end.ending is Ending.AWAITS_APPROVAL
    approved = doubtful.type("approve", "spring")
    assert f"campaign run {file} --only spring" in approved.out
    planned = doubtful.type("plan", file, "--only", "spring")
    assert ("spring" in planned.out, "summer" in planned.out) == (True, False)
