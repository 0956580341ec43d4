"""The table of moves: what a claim takes, what an outcome moves, and what the schema holds."""

from collections.abc import Callable, Iterable, Iterator
from itertools import product

import pytest
from sqlalchemy import update
from sqlalchemy.exc import IntegrityError
from sqlmodel import Session

from data.decisions.decisions import By, move, note
from data.decisions.doubts import leftovers
from data.eligibility.holds import Hold, Kind
from data.sending.outcomes import Outcome, refusals, throttle
from data.sending.runs import CUT_SHORT, recover
from data.store.ledger import Ledger
from data.store.states import BRINGS_ID, COUNTS, OF_PROJECT, OPERATIONS, Op, State
from data.store.tables import PERSON, STEP, Campaign, Decision, Request, Run, Step
from tests.data.sending.small import claim, claimed, parts, prepared, record, steps

S = State
ENDS = (S.WAITING, S.DONE, S.REFUSED, S.UNSURE)


@pytest.fixture
def session(ledger: Ledger) -> Iterator[Session]:
    with ledger.writing() as writing:
        yield writing


def pairs(ops: Iterable[Op], others: Iterable[object]) -> list[tuple[object, ...]]:
    return list(product(ops, others))


def put(session: Session, state: State, *of: int) -> None:
    session.execute(update(STEP).where(STEP.c.id.in_(of)).values(state=state))


def decided(session: Session, step_id: int, word: str) -> None:
    """A person's word on one step."""
    step = session.get_one(Step, step_id, populate_existing=True)
    by, part = By("x"), step.part_id
    assert move(session, step, word)
    note(session, word, by, 1, part_id=part)


def state(session: Session, step: int) -> State:
    return State(session.execute(STEP.select().where(STEP.c.id == step)).one().state)


@pytest.mark.parametrize(("op", "stands"), pairs(Op, State))
def test_a_claim_takes_what_is_open(session: Session, op: Op, stands: State) -> None:
    run, [step, *_] = prepared(session, op)
    put(session, stands, step.id)
    if stands not in (S.WAITING, *((S.REFUSED,) if op in OF_PROJECT else ())):
        assert claim(session, run, op, [step.id]) is None
        assert state(session, step.id) is stands
        return
    granted = claimed(session, run, op, step.id)
    assert [each.step_id for each in granted.steps] == [step.id]
    assert state(session, step.id) is S.SENDING
    assert [part.state for part in parts(session, step)] == [S.SENDING]


@pytest.mark.parametrize(("op", "stands"), pairs([op for op in Op if OPERATIONS[op].needs], State))
def test_a_claim_needs_what_comes_before(session: Session, op: Op, stands: State) -> None:
    for needed in OPERATIONS[op].needs:
        run, [step, *_] = prepared(session, op, key=needed)
        put(session, stands, *(each.id for each in steps(session, needed, step.campaign_id)))
        assert (claim(session, run, op, [step.id]) is not None) == (stands is S.DONE)


def test_who_is_held_is_not_claimed_with_the_others(session: Session) -> None:
    run, adds = prepared(session, Op.ADD)
    session.execute(update(PERSON).where(PERSON.c.id == adds[1].person_id).values(listed=False))
    granted = claimed(session, run, Op.ADD, *(each.id for each in adds))
    assert [each.step_id for each in granted.steps] == [adds[0].id, adds[2].id]
    assert claim(session, run, Op.ADD, [adds[1].id]) is None


def test_a_paused_campaign_answers_with_its_hold(session: Session) -> None:
    run, adds = prepared(session, Op.ADD)
    session.add(Decision(who="Ada", word="pause", campaign_id=1))
    session.flush()
    held = claim(session, run, Op.ADD, [adds[0].id])
    assert isinstance(held, Hold)
    assert held.kind is Kind.PAUSED
    assert state(session, adds[0].id) is S.WAITING


def test_a_pause_that_a_service_asked_for_holds_every_campaign_there(session: Session) -> None:
    other, [create] = prepared(session, Op.CREATE, key="same-service")
    run, adds = prepared(session, Op.ADD)
    add = adds[0]
    until = throttle(session, add.campaign_id, 60)
    assert throttle(session, add.campaign_id, 1) == until
    held = claim(session, run, Op.ADD, [add.id])
    assert isinstance(held, Hold)
    assert (held.kind, held.until) == (Kind.THROTTLED, until)
    assert claim(session, other, Op.CREATE, [create.id]) == held
    run, [create] = prepared(session, Op.CREATE, key="elsewhere")
    session.get_one(Campaign, create.campaign_id).service = "https://other.example"
    claimed(session, run, Op.CREATE, create.id)


@pytest.mark.parametrize(("op", "to"), pairs(Op, ENDS))
def test_an_outcome_moves_its_step(session: Session, op: Op, to: State) -> None:
    run, [step, *_] = prepared(session, op)
    granted = claimed(session, run, op, step.id)
    evidence = {"phase": 3, "status": 200, "answer": "words"}
    outcome = Outcome(granted.request, to, why="because", evidence=evidence)
    for _ in range(2):  # again changes nothing
        assert record(session, outcome) == []
        [now] = [each for each in steps(session, op) if each.id == step.id]
        assert (now.state, now.why) == (to, None if to in (S.DONE, S.WAITING) else "because")
        assert [part.state for part in parts(session, step)] == [to]
    request = session.get_one(Request, granted.request, populate_existing=True)
    assert (request.phase, request.status, request.answer) == (3, 200, "words")
    assert request.ended_at is not None


def test_ids_make_some_of_an_add_done(session: Session) -> None:
    run, adds = prepared(session, Op.ADD, people=4)
    granted = claimed(session, run, Op.ADD, *(each.id for each in adds[:3]))
    ids = {adds[0].id: 2**60, adds[2].id: 7}
    record(session, Outcome(granted.request, S.UNSURE, ids, why="no id"))
    after = steps(session, Op.ADD)
    assert [(each.state, each.service_id) for each in after] == [
        (S.DONE, 2**60),
        (S.UNSURE, None),
        (S.DONE, 7),
        (S.WAITING, None),
    ]
    granted = claimed(session, run, Op.ADD, adds[3].id)
    whose = record(session, Outcome(granted.request, S.DONE, {adds[3].id: 7}))
    assert (whose, state(session, adds[3].id)) == ([adds[3].id], S.UNSURE)


def late(session: Session, op: Op, between: Callable[[Session, int, int], None]) -> int:
    """One request is cut short, something happens, and then its yes arrives."""
    run, [step, *_] = prepared(session, op)
    granted = claimed(session, run, op, step.id)
    recover(session, "backend")
    between(session, run, step.id)
    yes = Outcome(granted.request, S.DONE, {step.id: 77} if op in BRINGS_ID else {})
    for _ in range(2):
        record(session, yes)
    return step.id


def again(session: Session, run: int, step: int) -> None:
    decided(session, step, "again")


def again_and(to: State | None) -> Callable[[Session, int, int], None]:
    def sent_again(session: Session, run: int, step: int) -> None:
        again(session, run, step)
        op = Op(session.execute(STEP.select().where(STEP.c.id == step)).one().op)
        granted = claimed(session, run, op, step)
        if to is not None:
            record(session, Outcome(granted.request, to, why="second"))

    return sent_again


LATE = {
    "nothing": (lambda *_: None, S.DONE, [S.DONE]),
    "settled as sent": (lambda s, _, step: decided(s, step, "sent"), S.DONE, [S.DONE]),
    "let go again": (again, S.DONE, [S.DONE]),
    "withdrawn": (lambda s, _, step: decided(s, step, "withdraw"), S.DONE, [S.DONE]),
    "being sent again": (again_and(None), S.SENDING, [S.GIVEN_UP, S.SENDING]),
    "done again": (again_and(S.DONE), S.DONE, [S.GIVEN_UP, S.DONE]),
    "unsure again": (again_and(S.UNSURE), S.UNSURE, [S.GIVEN_UP, S.UNSURE]),
    "refused again": (again_and(S.REFUSED), S.DONE, [S.DONE, S.REFUSED]),
    "not sent again": (again_and(S.WAITING), S.DONE, [S.DONE, S.WAITING]),
}


@pytest.mark.parametrize(("op", "case"), pairs(Op, LATE))
def test_a_late_yes_counts_where_nothing_else_does(session: Session, op: Op, case: str) -> None:
    between, to, expected = LATE[case]
    step = late(session, op, between)
    assert state(session, step) is to
    [row] = [each for each in steps(session, op) if each.id == step]
    assert [part.state for part in parts(session, row)] == expected
    assert parts(session, row)[0].said_yes is (case not in ("nothing", "settled as sent"))
    assert len([part for part in parts(session, row) if part.state in COUNTS]) == 1


@pytest.mark.parametrize("then", [S.WAITING, S.REFUSED])
def test_an_earlier_late_yes_counts_once_the_newest_proved_nothing(
    session: Session, then: State
) -> None:
    step = late(session, Op.ADD, again_and(None))
    newest = parts(session, steps(session, Op.ADD)[0])[-1]
    record(session, Outcome(newest.request_id, then, why="no"))
    [row, *_] = steps(session, Op.ADD)
    assert (row.id, row.state, row.service_id) == (step, S.DONE, 77)
    assert leftovers(session, 1) == []


def test_a_resend_keeps_the_answers_of_the_first_apart(session: Session) -> None:
    run, [step, *_] = prepared(session, Op.INVITE)
    granted = claimed(session, run, Op.INVITE, step.id)
    record(session, Outcome(granted.request, S.DONE))
    decided(session, step.id, "invite")
    second = claimed(session, run, Op.INVITE, step.id)
    record(session, Outcome(granted.request, S.DONE))
    assert state(session, step.id) is S.SENDING
    record(session, Outcome(second.request, S.UNSURE, why="lost"))
    assert [part.state for part in parts(session, step)] == [S.DONE, S.UNSURE]


def test_what_the_service_may_have_besides(session: Session) -> None:
    late(session, Op.ADD, again_and(S.DONE))
    assert leftovers(session, 1) == [(Op.ADD, 77)]


def test_refusals_are_counted_until_somebody_says_again(session: Session) -> None:
    run, [step, *_] = prepared(session, Op.INVITE)

    def sent(to: State, status: int | None) -> None:
        granted = claimed(session, run, Op.INVITE, step.id)
        record(session, Outcome(granted.request, to, evidence={"status": status}))

    sent(S.WAITING, None)
    sent(S.WAITING, 429)
    sent(S.REFUSED, 404)
    assert refusals(session, [step.id])[step.id] == (429, 404)
    decided(session, step.id, "again")
    assert refusals(session, [step.id])[step.id] == ()
    sent(S.WAITING, 403)
    assert refusals(session, [step.id])[step.id] == (403,)
    sent(S.UNSURE, 500)
    decided(session, step.id, "again")
    assert refusals(session, [step.id])[step.id] == ()


def test_a_split_add_blames_nobody_in_it(session: Session) -> None:
    run, adds = prepared(session, Op.ADD)
    every = [each.id for each in adds]
    for rows in (every, every[:1]):
        granted = claimed(session, run, Op.ADD, *rows)
        record(session, Outcome(granted.request, S.WAITING, evidence={"status": 400}))
    assert not any(refusals(session, every[1:]).values())
    assert refusals(session, every[:1]) == {every[0]: (400,)}


def test_recovery_ends_what_dead_runs_left(session: Session) -> None:
    run, adds = prepared(session, Op.ADD)
    claim(session, run, Op.ADD, [each.id for each in adds])
    recover(session, "backend")
    assert {each.state for each in steps(session, Op.ADD)} == {S.UNSURE}
    assert {each.why for each in steps(session, Op.ADD)} == {CUT_SHORT}
    assert session.get_one(Run, run, populate_existing=True).ending == "died"


# -- the schema -----------------------------------------------------------------------------------


@pytest.mark.parametrize(("op", "counts"), pairs(Op, COUNTS))
def test_the_index_holds_when_every_rule_above_it_is_broken(
    session: Session, op: Op, counts: State
) -> None:
    run, [step, *_] = prepared(session, op)
    first = claimed(session, run, op, step.id)
    if counts is not S.SENDING:
        record(session, Outcome(first.request, counts))
    put(session, S.WAITING, step.id)  # somebody writes past every rule: the step looks open
    with pytest.raises(IntegrityError), session.begin_nested():
        claim(session, run, op, [step.id])
    assert len(parts(session, step)) == 1
