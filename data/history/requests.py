"""Requests of the journal as parts of the story, each with the outcome it had when made."""

from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from sqlalchemy import Connection, Row, select

from data.decisions.verdicts import MOVES
from data.history.events import Request
from data.sending.row_ranges import read as rows_in
from data.store.states import AttemptState, Operation
from data.store.tables import Decision, attempt

_COLUMNS = (
    attempt.c.id,
    attempt.c.run_id,
    attempt.c.claimed_at,
    attempt.c.ended_at,
    attempt.c.operation,
    attempt.c.state,
    attempt.c.candidate_row,
    attempt.c.carried,
    attempt.c.rows,
    attempt.c.generation,
    attempt.c.phase,
    attempt.c.status,
    attempt.c.evidence,
    attempt.c.answer,
)
_OPERATIONS = {operation.value: operation for operation in Operation}
_STATES = {state.value: state for state in AttemptState}


def journal_of(
    connection: Connection, campaign_row: int, person: int | None = None
) -> Iterator[Row[Any]]:
    """The rows of the journal, the oldest first, while the transaction lasts: those of a campaign,
    or those that may be about one `person` in it.
    """
    wanted = select(*_COLUMNS).where(attempt.c.campaign_id == campaign_row).order_by(attempt.c.id)
    if person is not None:
        adds = attempt.c.operation == Operation.ADD
        wanted = wanted.where(adds | (attempt.c.candidate_row == person))
    yield from connection.execute(wanted, execution_options={"yield_per": 1_000})


def requests_of(
    journal: Iterable[Row[Any]], people: Container[int], decisions: Iterable[Decision]
) -> list[Request]:
    """Every request in the journal, in its order; `people` are the candidate rows that the story is
    about, and `decisions` those about them.
    """
    settled = _Settled.of(decisions)
    return [_request(attempt, people, settled) for attempt in journal]


@dataclass(slots=True)
class _Settled:
    """Which requests a person settled, and for whom."""

    requests: set[int] = field(default_factory=set)
    people: set[tuple[int, int | None]] = field(default_factory=set)

    @classmethod
    def of(cls, decisions: Iterable[Decision]) -> "_Settled":
        settled = cls()
        for decision in decisions:
            # Other verdicts, such as a resend, follow a request that was finished.
            if decision.attempt_id is not None and decision.verdict in MOVES:
                settled.requests.add(decision.attempt_id)
                settled.people.add((decision.attempt_id, decision.candidate_row))
        return settled


def _request(attempt: Row[Any], everybody: Container[int], settled: _Settled) -> Request:
    # By position: by name, the columns of 100,000 requests take half a second more.
    number, run, at, ended_at, operation, state, person, carried, rows, *others = attempt
    generation, phase, status, evidence, answer = others
    kind, came_to = _OPERATIONS[operation], _STATES[state]
    candidates = chain.from_iterable(rows_in(carried)) if person is None else (person,)
    people = tuple(row for row in candidates if row in everybody)
    decided = came_to is AttemptState.OVERRULED or (
        number in settled.requests and not (came_to is AttemptState.DONE and evidence is None)
    )
    if decided and kind is Operation.ADD and came_to is AttemptState.DONE:
        # If an answer had ids for some people, only the others were settled.
        decided = all((number, row) in settled.people for row in people)
    # A person may let a refused request be tried again; it was never in doubt.
    was_unsure = decided and came_to is not AttemptState.REFUSED
    return Request(
        at,
        number,
        run,
        kind,
        people,
        rows,
        generation,
        AttemptState.UNSURE if was_unsure else came_to,
        decided,
        ended_at,
        phase,
        status,
        evidence,
        answer or None,
    )
