"""How a run ended: a kind, an exit code, a state that Prefect's pages know, and a situation."""

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from config.errors import BadInput, BadSettings, CampaignError, Place
from data.decisions import decisions
from data.decisions.decisions import By
from data.decisions.doubts import Settlement, settle_all
from data.eligibility.holds import Hold, Kind, Scope
from data.store.lease import AtWork
from data.store.receipts import NotTheNewest
from data.store.states import Op, State
from data.store.tables import now
from flows.cli.words import planned
from flows.ending import End, Ending, broken_off, ended
from tasks.plan import make_plan
from tasks.sending.gate import EndedEarly, How
from tasks.service.auth import Unreachable
from tests.data.desk import Desk

MARA = By("mara", "she asked")
FILE = Path("backend.yaml")


def plan(desk: Desk, *who: str, **definition):
    return make_plan(desk.read(*(who or ("Ada", "Ben")), **definition), desk.ledger, desk.settings)


def is_sent(desk: Desk, ben: State = State.DONE) -> None:
    """Ada is invited, and of Ben the service said this."""
    plan(desk)
    desk.sends("Ada")
    desk.does(Op.INVITE, "Ben", state=ben, why="no answer")


# -- after all that may be sent ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("ben", "end", "says", "then"),
    [
        (State.DONE, End.DONE, "2 of 2 invited.", None),
        (State.UNSURE, End.ATTENTION, "1 invited, 1 unsure.", "campaign settle backend"),
        (State.REFUSED, End.ATTENTION, "1 invited, 1 refused.", "campaign status backend"),
    ],
)
def test_what_the_service_said_decides(desk, ben, end, says, then) -> None:
    is_sent(desk, ben)
    ending = ended(desk.ledger, plan(desk))
    assert (ending.kind, ending.sentence, ending.next_step) == (end, says, then)
    assert ending.over == ("",)


def test_nobody_is_named_who_is_held(desk) -> None:
    is_sent(desk)
    with desk.ledger.writing() as session:
        decisions.block(session, ["cyd@x.org"], MARA)
    made = plan(desk, "Ada", "Ben", "Cyd")
    ending = ended(desk.ledger, made)
    assert (ending.kind, ending.sentence) == (End.ATTENTION, "2 invited, 1 held.")
    assert "@" not in str(ending)


def test_whoever_is_only_added_is_counted_as_such(desk) -> None:
    made = plan(desk, invites={"send": False})
    desk.does(Op.CREATE), desk.does(Op.ATTACH), desk.does(Op.ADD)
    assert ended(desk.ledger, made).sentence == "2 of 2 added."


# -- held before any request -------------------------------------------------------------------


def test_a_plan_waits_for_its_approval_under_its_code(desk) -> None:
    made = plan(desk, invites={"approval": "required"})
    ending = ended(desk.ledger, made)
    assert (ending.kind, ending.situations) == (End.APPROVAL, (made.code,))
    assert f"Plan {made.code}: 2 to add, 2 to invite." in ending.sentence
    assert ending.next_step == f"campaign approve backend --plan {made.code}"


def test_one_more_email_is_told_and_waits_as_any_other(desk) -> None:
    is_sent(desk)
    desk.call(decisions.invite, ["ada@x.org"], MARA)
    made = plan(desk, invites={"approval": "required"})
    said = f"Plan {made.code}: 0 to add, 1 to invite, 1 of them once more."
    assert ended(desk.ledger, made).sentence.endswith(said)
    assert "  invite    1 email, 1 of them once more" in planned(made, desk.read("Ada", "Ben"))
    waits = ended(desk.ledger, replace(plan(desk), waits=[HOURS]))
    assert str(waits) == f"not yet: 2 of 2 invited, 1 to get one more email. {HOURS.why}."


def test_a_pause_needs_a_person_unless_nothing_is_left_to_send(desk) -> None:
    plan(desk)
    desk.call(decisions.pause, MARA)
    ending = ended(desk.ledger, plan(desk))
    assert (ending.kind, ending.next_step) == (End.ATTENTION, "campaign resume backend")
    assert ending.over[0] is End.STOPPED
    desk.call(decisions.pause, MARA, resume=True)
    desk.sends()
    desk.call(decisions.pause, MARA)
    assert ended(desk.ledger, plan(desk)).kind is End.DONE


# -- ended early -------------------------------------------------------------------------------

LATER = now() + timedelta(hours=5)
HOURS = Hold(Kind.HOURS, Scope.INVITES, "no invitation goes out before 09:00", until=LATER)
PILOT = Hold(Kind.PILOT, Scope.INVITES, "the pilot has an email", None, "campaign approve backend")
FIRST = replace(PILOT, why="the pilot is invited first", type_this=None)
GO_ON, SETTLE = "campaign run backend.yaml", "campaign settle backend"


@pytest.mark.parametrize(
    ("early", "end", "then"),
    [
        (EndedEarly(How.INTERRUPTED, "The run was stopped", GO_ON), End.INTERRUPTED, GO_ON),
        (EndedEarly(How.STOPPED, "The service said 403", GO_ON), End.STOPPED, GO_ON),
        (EndedEarly(How.UNSURE, "To create is unsure", SETTLE), End.ATTENTION, SETTLE),
        (EndedEarly(How.HELD, HOURS.why, "", HOURS), End.NOT_YET, None),
        (EndedEarly(How.HELD, PILOT.why, "", PILOT), End.APPROVAL, PILOT.type_this),
    ],
    ids=lambda each: each.how if isinstance(each, EndedEarly) else None,
)
def test_what_ended_a_run_early_decides(desk, early, end, then) -> None:
    made = plan(desk)
    desk.sends("Ada")
    ending = ended(desk.ledger, made, early)
    assert (ending.kind, ending.next_step, "" in ending.over) == (end, then, end is End.NOT_YET)
    assert ending.sentence.startswith("1 of 2 invited. ")
    assert ending.until == (early.hold and early.hold.until)


def test_whoever_waits_though_nothing_is_due_is_told_why(desk) -> None:
    ending = ended(desk.ledger, replace(plan(desk), to_do={}, waits=[FIRST]))
    assert str(ending) == f"not yet: 0 of 2 invited. {FIRST.why}."


def test_each_email_to_each_pilot_is_another_situation(desk) -> None:
    told = []
    for pilot in ("me@x.org", "me@x.org", "you@x.org"):
        plan(desk, invites={"pilot": pilot})
        desk.call(decisions.invite, [pilot], MARA) if len(told) == 1 else None
        desk.sends(pilot)
        told += ended(desk.ledger, plan(desk, invites={"pilot": pilot})).situations
    assert len({*told}) == 3


def test_somebody_who_needs_a_person_keeps_nobody_else_from_going_on(desk) -> None:
    is_sent(desk, State.UNSURE)
    made = plan(desk, "Ada", "Ben", "Cyd")
    waits = ended(desk.ledger, made, EndedEarly(How.HELD, HOURS.why, "", HOURS))
    over = ended(desk.ledger, made)
    assert (waits.kind, waits.until, waits.over[0]) == (End.ATTENTION, LATER, End.STOPPED)
    assert waits.next_step == SETTLE
    assert waits.sentence == f"1 of 3 invited, 1 unsure. The others wait: {HOURS.why}."
    assert (over.until, over.situations) == (None, waits.situations)


# -- broken off --------------------------------------------------------------------------------

BEHIND = NotTheNewest(evidence="The receipt r cannot be read", here="l", key="backend")


@pytest.mark.parametrize(
    ("error", "end", "then"),
    [
        (BadInput.at(Place(FILE, 3), "no"), End.BAD_INPUT, "campaign check backend.yaml"),
        (BadSettings(problem="A setting lacks."), End.BAD_INPUT, "campaign doctor"),
        (AtWork(key="backend", host="box", pid=7, since="now"), End.ELSEWHERE, GO_ON),
        (BEHIND, End.ATTENTION, "campaign settle backend --accept-ledger --why TEXT"),
        (Unreachable(variable="ASSESSMENT_BASE_URL", why="refused"), End.STOPPED, GO_ON),
    ],
    ids=lambda each: type(each).__name__ if isinstance(each, CampaignError) else None,
)
def test_what_broke_a_run_off_decides(error, end, then) -> None:
    ending = broken_off("backend", FILE, error)
    assert (ending.kind, ending.next_step) == (end, then)


# -- kinds, and what Prefect shows -------------------------------------------------------------


@pytest.mark.parametrize(
    ("end", "code", "name", "told"),
    [
        (End.DONE, 0, "Completed", False),
        (End.NOT_YET, 0, "Completed", False),
        (End.ELSEWHERE, 1, "Completed", False),
        (End.INTERRUPTED, 130, "Cancelled", False),
        (End.ATTENTION, 3, "Failed", True),
        (End.APPROVAL, 3, "Failed", True),
        (End.STOPPED, 1, "Failed", True),
        (End.BAD_INPUT, 2, "Failed", True),
    ],
)
def test_a_kind_has_a_code_and_a_state_that_tells_the_ending(end, code, name, told) -> None:
    ending = Ending("backend", end, "1 of 2 invited: so far.", "campaign run 'my file.yaml'")
    state = ending.state()
    assert (end.exit_code, state.name, end.needs_a_person) == (code, name, told)
    assert state.message == f"{end}: 1 of 2 invited: so far.\ncampaign run 'my file.yaml'"


# -- situations --------------------------------------------------------------------------------


def test_what_is_settled_makes_no_new_situation_of_the_others(desk) -> None:
    is_sent(desk, State.UNSURE)
    first, again = (ended(desk.ledger, plan(desk)).situations for _ in range(2))
    plan(desk, "Ada", "Ben", "Cyd")
    desk.does(Op.ADD)
    desk.does(Op.INVITE, "Cyd", state=State.UNSURE)
    made = plan(desk, "Ada", "Ben", "Cyd")
    other = ended(desk.ledger, made)
    desk.call(settle_all, [Settlement("sent", "ben@x.org")], By("me"))
    after = ended(desk.ledger, made)
    assert other.sentence != after.sentence
    assert first == again == other.situations[:1]
    assert after.situations == other.situations[1:] != ()


def test_amounts_make_no_new_situation_of_a_stop(desk) -> None:
    made = plan(desk)
    stops = (EndedEarly(How.STOPPED, f"{n} tries failed", GO_ON) for n in (3, 4))
    one, two = (ended(desk.ledger, made, early).situations for early in stops)
    assert one == two


def test_another_mistake_is_another_situation() -> None:
    errors = (BadInput.at(Place(FILE, line), "no") for line in (3, 3, 4))
    one, same, other = (broken_off("backend", FILE, error).situations for error in errors)
    assert one == same != other


def test_nothing_in_an_ending_is_obeyed_where_it_is_shown() -> None:
    ending = Ending("backend", End.STOPPED, "\x1b[2J\u202ex.yaml.", "campaign run x")
    assert ending.state().message == "stopped: \\u001b[2J\\u202ex.yaml.\ncampaign run x"
