"""The story of a campaign, or of one person in it: what happened, in its order. Pure."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from data.campaigns.approvals import CODE, Answer
from data.campaigns.timetables import timetable
from data.decisions.doubts import MOVES
from data.history.events import (
    Blocked,
    CameIn,
    Decided,
    Event,
    Paused,
    PlanAnswered,
    PlanShown,
    ReceiptAccepted,
    ReceiptDoubted,
    Request,
    Resumed,
    RunBegan,
    RunEnded,
    Unblocked,
)
from data.history.records import Records
from data.history.stretches import wave_numbers
from data.receipts.receipt_doubts import ACCEPTED
from data.sending.row_ranges import read as rows_in
from data.store.states import SENT_NOTHING, AttemptState, Operation


def story(records: Records) -> list[Event]:
    """Tell everything, request by request, in the order in which it happened."""
    told: list[Event] = list(_readings(records))
    told += _plans(records)
    told += _pauses(records)
    told += _receipts(records)
    told += _blocks(records)
    told += _runs_begun(records)
    told += requests(records)
    told += _decisions(records)
    told += _runs_ended(records)
    return sorted(told, key=lambda event: event.at)  # what is as old stays in the order above


def numbers(records: Records, told: Iterable[Event]) -> dict[int, int]:
    """Number the waves that the campaign's definition asks for (data/stretches.wave_numbers)."""
    table = timetable(records.campaign.timetable)
    pilot = next((n for n, one in records.people.items() if one.email_key == table.pilot), None)
    sent = (event for event in told if isinstance(event, Request))
    return wave_numbers(sent, table.waves, pilot)


def requests(records: Records) -> list[Request]:
    """Every request of the journal, oldest first, with what it came to when it was made."""
    settled = _Settled.of(records.decisions)
    return [_request(one, records, settled) for one in records.attempts]


@dataclass(slots=True)
class _Settled:
    """Which requests a person settled, and for whom."""

    requests: set[int] = field(default_factory=set)
    people: set[tuple[int, int]] = field(default_factory=set)

    @classmethod
    def of(cls, decisions: Iterable[Any]) -> "_Settled":
        found = cls()
        for one in decisions:
            # Other verdicts, as a resend, follow a request that had come to its end.
            if one.attempt_id is not None and one.verdict in MOVES:
                found.requests.add(one.attempt_id)
                found.people.add((one.attempt_id, one.candidate_row))
        return found


def _request(one: Any, records: Records, settled: _Settled) -> Request:
    people = tuple(_people_of(one, records))
    state = AttemptState(one.state)
    decided = state is AttemptState.OVERRULED or (
        one.id in settled.requests and not (state is AttemptState.DONE and one.evidence is None)
    )
    if one.operation == Operation.ADD and state is AttemptState.DONE:
        # Of an answer that had ids for some, only the others were settled.
        decided = decided and all((one.id, row) in settled.people for row in people)
    # A person may have what the service refused tried again; that was never in doubt.
    was_unsure = decided and state is not AttemptState.REFUSED
    return Request(
        at=one.claimed_at,
        number=one.id,
        run=one.run_id,
        operation=Operation(one.operation),
        people=people,
        carried=one.rows,
        generation=one.generation,
        came_to=AttemptState.UNSURE if was_unsure else state,
        settled=decided,
        ended_at=one.ended_at,
        phase=one.phase,
        status=one.status,
        evidence=one.evidence,
        service_wrote=one.answer or None,
    )


def _people_of(one: Any, records: Records) -> Iterator[int]:
    carried = [row for span in rows_in(one.carried) for row in span]
    for row in carried if one.candidate_row is None else [one.candidate_row]:
        if row in records.people and records.person in (None, row):
            yield row


def _readings(records: Records) -> Iterator[Event]:
    if not records.readings or records.readings[0].read_at > records.campaign.created_at:
        yield CameIn(records.campaign.created_at, None)
    for one in records.readings:
        yield CameIn(one.read_at, one.file)


def _plans(records: Records) -> Iterator[Event]:
    for one in records.approvals:
        code = one.digest[:CODE]
        yield PlanShown(one.asked_at, code, one.told, one.answer_by)
    # Whoever thought better of it answered twice: the plan itself has the last answer alone.
    for one in records.decisions:
        if one.verdict in tuple(Answer):
            code = (one.value or "")[:CODE]
            yield PlanAnswered(one.decided_at, code, Answer(one.verdict), one.who, one.why)


def _pauses(records: Records) -> Iterator[Event]:
    for one in records.pauses:
        yield Paused(one.paused_at, one.who, one.why)
        if one.resumed_at is not None:
            yield Resumed(one.resumed_at, one.resumed_by or "", one.resumed_why or "")


def _receipts(records: Records) -> Iterator[Event]:
    for one in records.receipts:
        yield ReceiptDoubted(one.seen_at, one.file, one.says)
        if one.accepted_at is not None:
            yield ReceiptAccepted(one.accepted_at, one.file, one.who or "", one.why or "")


def _blocks(records: Records) -> Iterator[Event]:
    rows = {one.email_key: (row,) for row, one in records.people.items()}
    for one in records.blocks:
        yield Blocked(one.listed_at, rows[one.email_key], one.who, one.why)
        if one.lifted_at is not None:
            people = rows[one.email_key]
            yield Unblocked(one.lifted_at, people, one.lifted_by or "", one.lifted_why or "")


def _runs_begun(records: Records) -> Iterator[Event]:
    codes = {one.id: one.digest[:CODE] for one in records.approvals}
    for one in _runs_that_sent(records):
        yield RunBegan(one.started_at, one.id, one.host, codes.get(one.approval_id))


def _runs_ended(records: Records) -> Iterator[Event]:
    for one in _runs_that_sent(records):
        if one.ended_at is not None:
            yield RunEnded(one.ended_at, one.id, one.ending, one.reason)


def _runs_that_sent(records: Records) -> Iterator[Any]:
    """Those that opened themselves: of the others only the last is kept
    (data/sending/idle_runs.py)."""
    return (one for one in records.runs if one.process_start != SENT_NOTHING)


def _decisions(records: Records) -> Iterator[Event]:
    operations = {one.id: Operation(one.operation) for one in records.attempts}
    elsewhere = {ACCEPTED, *Answer}  # told with the receipt, and with the plan
    for one in records.decisions:
        if one.verdict not in elsewhere:
            yield Decided(
                at=one.decided_at,
                attempt=one.attempt_id,
                verdict=one.verdict,
                value=one.value,
                operation=operations.get(one.attempt_id),
                people=() if one.candidate_row is None else (one.candidate_row,),
                who=one.who,
                why=one.why,
            )
