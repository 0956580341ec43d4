"""Requests of the journal as parts of the story, each with the outcome it had when made."""

from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass, field

from data.decisions.verdicts import MOVES
from data.history.events import Request
from data.sending.row_ranges import read as rows_in
from data.store.states import AttemptState, Operation
from data.store.tables import Attempt, Decision


def requests_of(
    journal: Iterable[Attempt], people: Container[int], decisions: Iterable[Decision]
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


def _request(attempt: Attempt, everybody: Container[int], settled: _Settled) -> Request:
    people = tuple(row for row in _carried(attempt) if row in everybody)
    state = AttemptState(attempt.state)
    decided = state is AttemptState.OVERRULED or (
        attempt.id in settled.requests
        and not (state is AttemptState.DONE and attempt.evidence is None)
    )
    if attempt.operation == Operation.ADD and state is AttemptState.DONE:
        # If an answer had ids for some people, only the others were settled.
        decided = decided and all((attempt.id, row) in settled.people for row in people)
    # A person may let a refused request be tried again; it was never in doubt.
    was_unsure = decided and state is not AttemptState.REFUSED
    return Request(
        at=attempt.claimed_at,
        number=attempt.id,
        run=attempt.run_id,
        operation=Operation(attempt.operation),
        people=people,
        carried=attempt.rows,
        generation=attempt.generation,
        came_to=AttemptState.UNSURE if was_unsure else state,
        settled=decided,
        ended_at=attempt.ended_at,
        phase=attempt.phase,
        status=attempt.status,
        evidence=attempt.evidence,
        service_wrote=attempt.answer or None,
    )


def _carried(attempt: Attempt) -> Iterator[int]:
    if attempt.candidate_row is not None:
        yield attempt.candidate_row
    else:
        for span in rows_in(attempt.carried):
            yield from span
