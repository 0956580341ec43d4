"""Settle what is unsure: the only statements that do so without an answer of the service.

They run inside a transaction that the ledger opens. Every verdict is recorded with who, when and
why. A late answer to an overruled request may still change its step until the step is claimed again
(outcomes.record_outcomes).
"""

from collections.abc import Collection, Sequence
from typing import Any

from sqlalchemy import Connection, Select, bindparam, exists, insert, select, update

from config.service_address import same_service
from data.decisions import typed_ids
from data.decisions.doubt_rows import SEEN, WHO, doubts_in
from data.decisions.verdicts import MOVES, Decided, Doubt, Doubts, NotDecided, listed, objections
from data.store.states import AttemptState, By, Operation, Step, Word
from data.store.tables import attempt, campaign, candidate, decision

# What is unsure, in the order sent. Composed once, because many commands ask for it.
_REFUSED = (
    select(*WHO)
    .join(candidate, attempt.c.id == candidate.c.add_attempt)
    .where(
        candidate.c.campaign_id == bindparam("of"),
        candidate.c.add_state == Step.REFUSED,
        candidate.c.listed,
    )
    .order_by(attempt.c.id, candidate.c.id)
)
_UNSURE: dict[Operation, Select[Any]] = {
    operation: select(*SEEN)
    .join(campaign, attempt.c.id == number)
    .where(campaign.c.id == bindparam("of"), state == Step.UNSURE)
    for operation, state, number in (
        (Operation.CREATE, campaign.c.project_state, campaign.c.project_attempt),
        (Operation.ATTACH, campaign.c.problem_state, campaign.c.problem_attempt),
    )
} | {
    operation: select(*WHO)
    .join(candidate, attempt.c.id == number)
    .where(candidate.c.campaign_id == bindparam("of"), state == Step.UNSURE)
    .order_by(attempt.c.id, candidate.c.id)
    for operation, state, number in (
        (Operation.ADD, candidate.c.add_state, candidate.c.add_attempt),
        (Operation.INVITE, candidate.c.invite_state, candidate.c.invite_attempt),
    )
}
_IDS_HERE = select(candidate.c.candidate_id).where(
    candidate.c.campaign_id == bindparam("of"), candidate.c.candidate_id.is_not(None)
)
_CAMPAIGNS = select(campaign.c.id, campaign.c.service, campaign.c.project_id)
_PEOPLE_OF_OTHERS = select(candidate.c.candidate_id, candidate.c.email_key).where(
    candidate.c.campaign_id.in_(bindparam("others", expanding=True)),
    candidate.c.candidate_id.is_not(None),
)


def find(connection: Connection, campaign_row: int, *, typed: bool = False) -> Doubts:
    """Read everything unsure: project, problem, adds, invitations, each in the order sent.

    `typed`: also the ids that a person may replace (data/decisions/typed_ids.py).
    """
    steps: list[Doubt] = []
    for operation, unsure in _UNSURE.items():
        rows = connection.execute(unsure, {"of": campaign_row}).all()
        steps += doubts_in(connection, operation, rows)
    people = connection.scalars(_IDS_HERE, {"of": campaign_row})
    others = _at_the_same_service(connection, campaign_row)
    mistyped = typed_ids.find(connection, campaign_row) if typed else []
    return Doubts(
        tuple(steps),
        tuple(refused_adds(connection, campaign_row)),
        frozenset(people),
        frozenset(project for project in others.values() if project is not None),
        _people_of_others(connection, list(others), [*steps, *mistyped]),
        tuple(mistyped),
    )


def refused_adds(connection: Connection, campaign_row: int) -> list[Doubt]:
    """The adds that the service refused, of people in the definition: they can be sent again."""
    refused = connection.execute(_REFUSED, {"of": campaign_row}).all()
    return doubts_in(connection, Operation.ADD, refused)


def listed_refused(connection: Connection, campaign_row: int) -> str | None:
    """The code that lists them; None if there are none."""
    refused = refused_adds(connection, campaign_row)
    return listed(refused, Operation.ADD) if refused else None


def _at_the_same_service(connection: Connection, campaign_row: int) -> dict[int, int | None]:
    """The other campaigns at this campaign's service, however it is spelled, and their projects."""
    campaigns = {row.id: row for row in connection.execute(_CAMPAIGNS)}
    here = campaigns.pop(campaign_row).service
    return {
        number: row.project_id
        for number, row in campaigns.items()
        if same_service(row.service, here)
    }


def _people_of_others(
    connection: Connection, others: Sequence[int], steps: Sequence[Doubt]
) -> dict[int, set[str]]:
    """Who has each id in other campaigns, if somebody here has no id. Only adds take an id."""
    keys_of: dict[int, set[str]] = {}
    if any(doubt.operation is Operation.ADD for doubt in steps):
        for number, key in connection.execute(_PEOPLE_OF_OTHERS, {"others": others}):
            keys_of.setdefault(number, set()).add(key)
    return keys_of


def settle(
    connection: Connection, campaign_row: int, decided: Sequence[Decided], by: By, *, soon: bool
) -> None:
    """Take all these verdicts, or raise NotDecided and take none."""
    typed = any(verdict.word is Word.ID for verdict in decided)
    doubts = find(connection, campaign_row, typed=typed)
    if refused := objections(doubts, decided, by.at, soon=soon):
        raise NotDecided(refused)
    operations = {doubt.place: doubt.operation for doubt in (*doubts.steps, *doubts.refused)}
    mistyped = {doubt.place: doubt for doubt in doubts.typed}
    anew: list[tuple[Doubt, Decided]] = []
    groups: dict[tuple[Operation, Word], list[Decided]] = {}
    for verdict in decided:
        if (doubt := mistyped.get(verdict.place)) is not None:
            anew.append((doubt, verdict))
        elif verdict.word is not Word.DOUBLE:  # written down beside the verdict, for clean-up
            kind = (operations[verdict.place], verdict.word)
            groups.setdefault(kind, []).append(verdict)
    for (operation, word), alike in groups.items():
        if operation is Operation.ADD:
            settle_adds(connection, word, alike, by)
        elif operation is Operation.INVITE:
            _settle_invites(connection, word, alike, by)
        else:
            _settle_call(connection, campaign_row, operation, alike[0])
    typed_ids.replace_ids(connection, campaign_row, anew)
    close_adds(connection, {d.attempt for d in doubts.steps if d.operation is Operation.ADD})
    write_down(connection, campaign_row, decided, by)


def _settle_call(
    connection: Connection, campaign_row: int, operation: Operation, verdict: Decided
) -> None:
    name = "project" if operation is Operation.CREATE else "problem"
    values: dict[str, Any] = {f"{name}_state": MOVES[verdict.word][0], "why": None}
    if verdict.value is not None:
        values["project_id"] = verdict.value
    connection.execute(
        update(campaign)
        .where(campaign.c.id == campaign_row, campaign.c[f"{name}_state"] == Step.UNSURE)
        .values(values)
    )
    _move_attempts(connection, [verdict])


def settle_adds(connection: Connection, word: Word, verdicts: Sequence[Decided], by: By) -> None:
    """Move the adds of some people as a verdict says, unless they have got further already."""
    values: dict[str, Any] = {
        "add_state": MOVES[word][0],
        "candidate_id": bindparam("number"),
        "why": reason(word, by),
    }
    if word is Word.WITHDRAW:
        # Otherwise a late answer to the add would cause this person to be invited after all.
        values["invite_state"] = Step.WITHDRAWN
    connection.execute(
        update(candidate)
        .where(
            candidate.c.id == bindparam("person"),
            # Not `in`, which does not accept that many rows at once.
            (candidate.c.add_state == Step.UNSURE) | (candidate.c.add_state == Step.REFUSED),
        )
        .values(values),
        [{"person": verdict.row, "number": verdict.value} for verdict in verdicts],
    )


def _settle_invites(
    connection: Connection, word: Word, verdicts: Sequence[Decided], by: By
) -> None:
    connection.execute(
        update(candidate)
        .where(candidate.c.id == bindparam("person"), candidate.c.invite_state == Step.UNSURE)
        .values(invite_state=MOVES[word][0], why=reason(word, by)),
        [{"person": verdict.row} for verdict in verdicts],
    )
    _move_attempts(connection, verdicts)


def reason(word: Word, by: By) -> str | None:
    """The reason that is kept with a person whom a verdict leaves out: who decided it, and why."""
    if word is not Word.WITHDRAW:
        return None
    return f"withdrawn by {by.who}" + (f": {by.why}" if by.why else "")


def _move_attempts(connection: Connection, verdicts: Sequence[Decided]) -> None:
    connection.execute(
        update(attempt)
        .where(attempt.c.id == bindparam("number"), attempt.c.state == AttemptState.UNSURE)
        .values(state=bindparam("moved")),
        [{"number": verdict.attempt, "moved": MOVES[verdict.word][1]} for verdict in verdicts],
    )


def close_adds(connection: Connection, numbers: Collection[int]) -> None:
    """An add is settled once nobody in it is unsure: done if anybody got an id from it."""
    of_this = candidate.c.add_attempt == attempt.c.id
    settled = (
        attempt.c.id.in_(numbers),
        attempt.c.state == AttemptState.UNSURE,
        ~exists().where(of_this, candidate.c.add_state == Step.UNSURE),
    )
    brought = exists().where(of_this, candidate.c.add_state == Step.DONE)
    connection.execute(update(attempt).where(*settled, brought).values(state=AttemptState.DONE))
    connection.execute(update(attempt).where(*settled).values(state=AttemptState.OVERRULED))


def accept_removed(connection: Connection, campaign_row: int, by: By) -> None:
    """Record that a person let a run go on although the guard would have stopped it."""
    write_down(connection, campaign_row, [Decided(None, None, Word.REMOVED)], by)


def write_down(
    connection: Connection, campaign_row: int, decided: Sequence[Decided], by: By
) -> None:
    """Record each verdict as a decision: on which request, about whom, by whom, when and why."""
    if not decided:
        return
    connection.execute(
        insert(decision),
        [
            {
                "campaign_id": campaign_row,
                "attempt_id": verdict.attempt,
                "candidate_row": verdict.row,
                "verdict": verdict.word,
                "value": None if verdict.value is None else str(verdict.value),
                "who": by.who,
                "why": by.why,
                "decided_at": by.at,
            }
            for verdict in decided
        ],
    )
