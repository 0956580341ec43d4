"""Claims and outcomes: who may send what, and where an answer may still put a step."""

from pathlib import Path

import pytest
from sqlalchemy import insert, text, update
from sqlalchemy.exc import IntegrityError

from data.campaigns.intake import ReadAnew
from data.holds import do_not_contact
from data.sending import claims, runs
from data.sending.row_ranges import written
from data.store import tables
from data.store.states import AttemptState, By, Operation, Step
from tests.support.ledgers.small_ledger import FIRST_ID, NOON, Small, definition, intent, outcome

PEOPLE = tables.candidate
CAMPAIGNS = tables.campaign
JOURNAL = tables.attempt


pytestmark = pytest.mark.usefixtures("each_database")


@pytest.fixture
def small(tmp_path: Path):
    small = Small.at(tmp_path, "ada", "bo", "cy")
    with small.ledger:
        yield small


def put(small: Small, table, row: int, **values) -> None:
    with small.ledger._transactions.writing() as connection:
        connection.execute(update(table).where(table.c.id == row).values(values))


@pytest.mark.parametrize("invite", list(Step))
@pytest.mark.parametrize("add", list(Step))
def test_only_who_is_added_and_waits_may_be_invited(small: Small, add: Step, invite: Step) -> None:
    """An invitation is granted for (done, waiting) and for no other pair of steps."""
    row = small.rows()["ada"]
    put(small, PEOPLE, row, add_state=add, invite_state=invite, candidate_id=FIRST_ID)
    granted = small.claim(Operation.INVITE, row)
    assert (granted is not None) is ((add, invite) == (Step.DONE, Step.WAITING))


@pytest.mark.parametrize("back", [False, True], ids=["changed", "changed and changed back"])
def test_a_run_of_an_older_version_claims_nothing_more(small: Small, back: bool) -> None:
    """Nobody knows whom it would invite twice, not even if the file is the same again."""
    assert small.claim(Operation.CREATE) is not None
    for digest in ("two", "one") if back else ("two",):
        small.ledger.write_beside(runs.take_over, definition("ada", "bo", "cy"), intent(digest))
    refused = small.claim(Operation.ATTACH)
    assert isinstance(refused, ReadAnew)
    assert "Another version of a was read" in str(refused)


@pytest.mark.parametrize("missing", [{"candidate_id": None}, {"listed": False}])
def test_nobody_is_invited_without_an_id_or_outside_the_definition(
    small: Small, missing: dict[str, object]
) -> None:
    """Who has no id cannot be, and who is no longer listed must not be invited."""
    row = small.rows()["ada"]
    put(small, PEOPLE, row, **{"add_state": Step.DONE, "candidate_id": FIRST_ID, **missing})
    assert small.claim(Operation.INVITE, row) is None
    assert len(small.attempts()) == 0


@pytest.mark.parametrize("standing", list(Step))
def test_an_add_takes_only_who_waits(small: Small, standing: Step) -> None:
    """What another run has claimed meanwhile is left out of the request, not sent twice."""
    ada, bo, cy = small.rows().values()
    put(small, PEOPLE, bo, add_state=standing)
    put(small, PEOPLE, cy, listed=False)
    granted = small.claim(Operation.ADD, ada, bo, cy)
    assert granted is not None
    assert granted.rows == ((ada, bo) if standing is Step.WAITING else (ada,))
    assert small.attempts()[0].rows == len(granted.rows)


@pytest.mark.parametrize("operation", [Operation.CREATE, Operation.ATTACH])
@pytest.mark.parametrize("standing", list(Step))
def test_a_single_call_is_made_again_only_when_nothing_happened(
    small: Small, operation: Operation, standing: Step
) -> None:
    """The project and its problem may be claimed while waiting or refused, never else."""
    name = "project" if operation is Operation.CREATE else "problem"
    put(small, CAMPAIGNS, small.begun.campaign, **{f"{name}_state": standing})
    granted = small.claim(operation)
    assert (granted is not None) is (standing in (Step.WAITING, Step.REFUSED))


@pytest.mark.parametrize("operation", list(Operation))
def test_of_two_who_want_the_same_one_gets_it(small: Small, operation: Operation) -> None:
    """In one commit or in two, a step is granted once."""
    small.add_everybody() if operation is Operation.INVITE else None
    rows = {
        Operation.ADD: tuple(small.rows().values()),
        Operation.INVITE: (small.rows()["bo"],),
    }.get(operation, ())
    wishes = [small.wish(operation, *rows), small.wish(operation, *rows, run=small.begun.run)]
    first, second = small.ledger.write_beside(runs.commit, [], wishes, small.ledger.gone)
    assert first is not None
    assert second is None
    assert small.claim(operation, *rows) is None


def test_grants_come_back_in_the_order_of_the_wishes(small: Small) -> None:
    """Each sender gets the answer to its own wish, whatever else was in the commit."""
    small.add_everybody()
    ada, bo, cy = small.rows().values()
    wishes = [
        small.wish(Operation.INVITE, cy),
        small.wish(Operation.ADD, ada),
        small.wish(Operation.CREATE),
        small.wish(Operation.INVITE, ada),
        small.wish(Operation.INVITE, cy),
        small.wish(Operation.INVITE, bo),
    ]
    granted = small.ledger.write_beside(runs.commit, [], wishes, small.ledger.gone)
    assert [g.rows if g else None for g in granted] == [(cy,), None, (), (ada,), None, (bo,)]
    numbers = {one.id: (one.operation, one.candidate_row) for one in small.attempts()}
    for wish, claimed in zip(wishes, granted, strict=True):
        if claimed is not None:
            row = wish.rows[0] if wish.rows else None
            assert numbers[claimed.attempt] == (wish.operation, row)


# A late DONE overtakes even a decision; everything else lands only where the doubt stands.
MOVES = {
    Step.DONE: {Step.SENDING, Step.UNSURE, Step.WAITING, Step.WITHDRAWN},
    Step.WAITING: {Step.SENDING, Step.UNSURE},
    Step.REFUSED: {Step.SENDING, Step.UNSURE},
    Step.UNSURE: {Step.SENDING, Step.UNSURE},
}


@pytest.mark.parametrize("operation", list(Operation))
@pytest.mark.parametrize("standing", list(Step))
@pytest.mark.parametrize("to", list(MOVES))
def test_an_outcome_moves_only_what_may_still_move(
    small: Small, operation: Operation, standing: Step, to: Step
) -> None:
    """Where the step has moved on, the answer is kept as evidence and changes nothing."""
    claimed, row = claim_one(small, operation)
    stand(small, operation, row, standing)
    ids = {row: FIRST_ID} if operation is Operation.ADD and to is Step.DONE else {}
    small.land(operation, claimed, to, status=299, ids=ids)
    assert where(small, operation) == (to if standing in MOVES[to] else standing)
    attempt = small.attempts()[-1]
    assert attempt.status == 299
    if standing not in MOVES[to]:
        assert attempt.state == AttemptState.SENDING


@pytest.mark.parametrize("operation", list(Operation))
def test_an_answer_to_an_earlier_attempt_never_moves_a_later_one(
    small: Small, operation: Operation
) -> None:
    """Once the step was claimed anew it belongs to the new request."""
    claimed, row = claim_one(small, operation)
    small.land(operation, claimed, Step.WAITING)
    again = small.claim(operation, *([row] if row else []))
    assert again is not None
    small.land(operation, claimed, Step.DONE, ids={row: FIRST_ID} if row else {}, project_id=7)
    assert where(small, operation) == Step.SENDING


@pytest.mark.parametrize("operation", list(Operation))
@pytest.mark.parametrize("proven", [Step.WAITING, Step.REFUSED])
def test_a_late_yes_lands_where_the_later_request_had_no_effect(
    small: Small, operation: Operation, proven: Step
) -> None:
    """Doubted, overruled, sent anew without effect: the first request's late yes still counts."""
    claimed, row = claim_one(small, operation)
    small.land(operation, claimed, Step.UNSURE)
    put(small, JOURNAL, claimed.attempt, state=AttemptState.OVERRULED)
    stand(small, operation, row, Step.WAITING)  # a person said: again
    again = small.claim(operation, *([row] if row else []))
    assert again is not None
    small.land(operation, again, proven)
    small.land(operation, claimed, Step.DONE, ids={row: FIRST_ID} if row else {}, project_id=7)
    assert where(small, operation) == Step.DONE
    assert small.claim(operation, *([row] if row else [])) is None


@pytest.mark.parametrize("proven", [Step.WAITING, Step.REFUSED, Step.UNSURE])
def test_a_late_yes_counts_once_the_request_under_way_had_no_effect(
    small: Small, proven: Step
) -> None:
    """The yes to a doubted invitation comes while it is sent again: nobody gets a third request."""
    small.add_everybody()
    ada, bo, cy = (small.rows()[name] for name in ("ada", "bo", "cy"))
    doubted = {row: small.claim(Operation.INVITE, row) for row in (ada, bo, cy)}
    for row, first in doubted.items():
        assert first is not None
        small.land(Operation.INVITE, first, Step.UNSURE)
        put(small, JOURNAL, first.attempt, state=AttemptState.OVERRULED)
        stand(small, Operation.INVITE, row, Step.WAITING)  # a person said: again
    put(small, PEOPLE, cy, generation=2)  # a resend: another invitation
    again = {row: small.claim(Operation.INVITE, row) for row in (ada, bo, cy)}
    late_yes, late_doubt, of_another = doubted[ada], doubted[bo], doubted[cy]
    assert late_yes is not None
    assert late_doubt is not None
    assert of_another is not None
    small.land(Operation.INVITE, late_yes, Step.DONE, status=200)
    small.land(Operation.INVITE, of_another, Step.DONE, status=200)
    small.land(Operation.INVITE, late_doubt, Step.UNSURE, status=200, evidence="half an answer")
    for second in again.values():
        assert second is not None
        small.land(Operation.INVITE, second, proven)
    stands = Step.UNSURE if proven is Step.UNSURE else Step.DONE
    assert [small.end_of(name)[1] for name in ("ada", "bo", "cy")] == [stands, proven, proven]
    [yes] = [entry for entry in small.attempts() if entry.id == late_yes.attempt]
    assert yes.state == (AttemptState.OVERRULED if proven is Step.UNSURE else AttemptState.DONE)
    if stands is Step.DONE:
        assert small.claim(Operation.INVITE, ada) is None
        assert next(p for p in small.people() if p.id == ada).invite_attempt == late_yes.attempt


@pytest.mark.parametrize("second", [Step.DONE, Step.UNSURE])
def test_late_yeses_to_both_invitations_of_somebody_withdrawn_count_once(
    small: Small, second: Step
) -> None:
    """Doubted, sent again, withdrawn: each answer is kept, whatever else is in its commit."""
    first, row = claim_one(small, Operation.INVITE)
    other = small.claim(Operation.INVITE, small.rows()["bo"])
    small.land(Operation.INVITE, first, Step.UNSURE)
    put(small, JOURNAL, first.attempt, state=AttemptState.OVERRULED)
    stand(small, Operation.INVITE, row, Step.WAITING)
    again = small.claim(Operation.INVITE, row)
    assert again is not None
    assert other is not None
    small.land(Operation.INVITE, again, second)
    if second is Step.UNSURE:
        put(small, JOURNAL, again.attempt, state=AttemptState.OVERRULED)
    stand(small, Operation.INVITE, row, Step.WITHDRAWN)
    late = [
        outcome(Operation.INVITE, claimed, Step.DONE, evidence="late")
        for claimed in (first, again, other)
    ]
    small.ledger.write_beside(runs.commit, late, [], small.ledger.gone)
    assert small.end_of("bo") == (Step.DONE, Step.DONE)
    journal = {entry.id: entry for entry in small.attempts()}
    sent = [journal[claimed.attempt] for claimed in (first, again)]
    assert [entry.state for entry in sent].count(AttemptState.DONE) == 1
    assert all(entry.evidence == "late" for entry in sent)


def claim_one(small: Small, operation: Operation):
    row = None
    if operation is Operation.INVITE:
        small.add_everybody()
    if operation in (Operation.ADD, Operation.INVITE):
        row = small.rows()["ada"]
    return small.claim(operation, *([row] if row else [])), row


def stand(small: Small, operation: Operation, row: int | None, step: Step) -> None:
    column = {
        Operation.CREATE: "project_state",
        Operation.ATTACH: "problem_state",
        Operation.ADD: "add_state",
        Operation.INVITE: "invite_state",
    }[operation]
    put(small, PEOPLE if row else CAMPAIGNS, row or small.begun.campaign, **{column: step})


def where(small: Small, operation: Operation) -> Step:
    match operation:
        case Operation.CREATE:
            return Step(small.campaign().project_state)
        case Operation.ATTACH:
            return Step(small.campaign().problem_state)
        case Operation.ADD:
            return small.end_of("ada")[0]
    return small.end_of("ada")[1]


def test_an_add_is_done_for_whom_it_brought_an_id_and_unsure_for_the_others(small: Small) -> None:
    """Ids are matched to people; who got none may have been added all the same."""
    ada, bo, cy = small.rows().values()
    claimed = small.claim(Operation.ADD, ada, bo, cy)
    ids = {cy: 9, ada: 7}
    part = outcome(Operation.ADD, claimed, Step.UNSURE, ids=ids, why="no id")
    small.ledger.write_beside(runs.commit, [part], [], small.ledger.gone)
    found = {one.id: (one.add_state, one.candidate_id, one.why) for one in small.people()}
    assert found == {
        ada: (Step.DONE, 7, None),
        bo: (Step.UNSURE, None, "no id"),
        cy: (Step.DONE, 9, None),
    }
    assert {one.add_attempt for one in small.people()} == {claimed.attempt}


def test_an_add_that_is_done_late_leaves_no_reason_behind(small: Small) -> None:
    """Who was unsure is done by the attempt that proved it, and nothing is said against them."""
    ada = small.rows()["ada"]
    claimed = small.claim(Operation.ADD, ada)
    small.land(Operation.ADD, claimed, Step.UNSURE, why="nobody answered")
    small.land(Operation.ADD, claimed, Step.DONE, ids={ada: 7})
    [one] = [one for one in small.people() if one.id == ada]
    assert (one.add_state, one.candidate_id, one.why) == (Step.DONE, 7, None)
    assert one.add_attempt == claimed.attempt


@pytest.mark.parametrize("operation", [Operation.CREATE, Operation.ATTACH])
def test_what_waits_in_another_campaign_grants_nothing(small: Small, operation: Operation) -> None:
    """Each campaign has its own project and problem, however many wait in the ledger."""
    done = {"project_state": Step.DONE, "project_id": 101, "problem_state": Step.DONE}
    put(small, CAMPAIGNS, small.begun.campaign, **done)
    other = Small(
        small.ledger, runs.begin(small.ledger, "b", definition("di", key="b"), intent("two"))
    )
    assert small.claim(operation) is None
    claimed = other.claim(operation)
    assert claimed is not None
    other.land(operation, claimed, Step.DONE, project_id=102)
    assert (small.campaign().project_id, small.campaign().project_state) == (101, Step.DONE)


def test_another_campaign_may_have_the_same_ids(small: Small) -> None:
    """An id belongs to a project (interface 4.5): what one campaign has says nothing of another."""
    small.add_everybody()
    other = Small(
        small.ledger, runs.begin(small.ledger, "b", definition("di", key="b"), intent("two"))
    )
    [row] = other.rows().values()
    claimed = other.claim(Operation.ADD, row)
    assert claimed is not None
    other.land(Operation.ADD, claimed, Step.DONE, ids={row: FIRST_ID})
    assert other.end_of("di")[0] is Step.DONE


def test_an_id_that_is_somebody_elses_is_nobodys(small: Small) -> None:
    """One id for two people would send one of them two emails and the other none."""
    ada, bo, _ = small.rows().values()
    small.land(Operation.ADD, small.claim(Operation.ADD, ada), Step.DONE, ids={ada: 7})
    claimed = small.claim(Operation.ADD, bo)
    small.ledger.write_beside(
        runs.commit,
        [outcome(Operation.ADD, claimed, Step.UNSURE, ids={bo: 7})],
        [],
        small.ledger.gone,
    )
    assert small.end_of("bo")[0] is Step.UNSURE
    with pytest.raises(IntegrityError), small.ledger._engine.begin() as connection:
        connection.execute(update(PEOPLE).where(PEOPLE.c.id == bo).values(candidate_id=7))


@pytest.mark.parametrize("standing", list(AttemptState))
@pytest.mark.parametrize("operation", [Operation.INVITE, Operation.CREATE, Operation.ATTACH])
def test_the_schema_itself_refuses_a_second_one(
    small: Small, operation: Operation, standing: AttemptState
) -> None:
    """While one invitation, project or problem may exist, no second claim can be written."""
    row = small.rows()["ada"] if operation is Operation.INVITE else None
    entry = {
        "campaign_id": small.begun.campaign,
        "candidate_row": row,
        "generation": 1,
        "operation": operation,
        "rows": 1,
        "run_id": small.begun.run,
        "claimed_at": NOON,
    }
    table = tables.attempt
    taken = standing in (AttemptState.SENDING, AttemptState.DONE, AttemptState.UNSURE)
    with small.ledger._engine.begin() as connection:
        connection.execute(insert(table), [entry | {"state": standing}])
        try:
            with connection.begin_nested():
                connection.execute(insert(table), [entry | {"state": AttemptState.SENDING}])
        except IntegrityError:
            refused = True
        else:
            refused = False
        another = entry | {"state": AttemptState.SENDING, "generation": 2}
        if operation is Operation.INVITE:
            connection.execute(insert(table), [another])  # a deliberate resend
    assert refused is taken


def test_attempt_numbers_are_never_used_again(small: Small) -> None:
    """A receipt tells by them how far a ledger had got."""
    small.claim(Operation.CREATE)
    with small.ledger._engine.begin() as connection:
        connection.execute(text("DELETE FROM attempt"))
        granted = claims.grant(connection, [small.wish(Operation.ATTACH)])
    assert granted[0] is not None
    assert granted[0].attempt == 2


def test_a_claim_says_what_it_carries(small: Small) -> None:
    """How many people and which, and which invitation of somebody it is."""
    ada, bo, cy = small.rows().values()
    small.claim(Operation.ADD, cy, ada, bo)
    [added] = small.attempts()
    assert (added.rows, added.carried, added.generation) == (3, written((ada, bo, cy)), 1)
    put(small, PEOPLE, bo, add_state=Step.DONE, candidate_id=FIRST_ID, generation=2, why="late")
    small.claim(Operation.INVITE, bo)
    invited = small.attempts()[-1]
    assert (invited.rows, invited.carried, invited.generation) == (1, None, 2)
    assert {one.why for one in small.people()} == {None}


def test_whoever_is_held_at_this_moment_is_not_claimed(small: Small) -> None:
    """Whatever a plan said before: the list counts when the request would leave."""
    ada, bo, cy = small.rows().values()
    small.ledger.write(
        do_not_contact.block, {"bo@example.com": "bo@example.com"}, By("rita", "asked for it")
    )
    claimed = small.claim(Operation.ADD, ada, bo, cy)
    assert claimed is not None
    assert claimed.rows == (ada, cy)
    put(small, PEOPLE, bo, add_state=Step.DONE, candidate_id=FIRST_ID + 9)
    assert small.claim(Operation.INVITE, bo) is None


def test_each_person_of_an_add_has_a_reason_of_their_own(small: Small) -> None:
    """What the answer says about a row, else what it says about all; and a single call's own."""
    ada, bo, _ = small.rows().values()
    claimed = small.claim(Operation.ADD, ada, bo)
    small.land(Operation.ADD, claimed, Step.UNSURE, why="no id", whys={bo: "another name"})
    assert {one.first_name: one.why for one in small.people()} == {
        "ada": "no id",
        "bo": "another name",
        "cy": None,
    }
    small.land(Operation.CREATE, small.claim(Operation.CREATE), Step.REFUSED, why="not allowed")
    assert small.campaign().why == "not allowed"


def test_what_comes_behind_an_invitation_in_a_commit_is_recorded_too(small: Small) -> None:
    """Waves go on while others are added: one commit may hold outcomes of both."""
    ada, bo, _ = small.rows().values()
    small.land(Operation.ADD, small.claim(Operation.ADD, ada), Step.DONE, ids={ada: FIRST_ID})
    invited, added = small.claim(Operation.INVITE, ada), small.claim(Operation.ADD, bo)
    small.ledger.write_beside(
        runs.commit,
        [
            outcome(Operation.INVITE, invited, Step.DONE),
            outcome(Operation.ADD, added, Step.DONE, ids={bo: FIRST_ID + 1}),
        ],
        [],
        small.ledger.gone,
    )
    assert (small.end_of("ada"), small.end_of("bo")[0]) == ((Step.DONE, Step.DONE), Step.DONE)
