"""The story of a campaign, or of one person in it: what happened, in order. Pure."""

from collections.abc import Iterable, Iterator

from config.definition.model import PILOT
from data.campaigns.approvals import CODE, Answer
from data.campaigns.whose_turn import timetable
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
from data.history.records import Person, Records
from data.history.stretches import wave_numbers
from data.receipts.receipt_doubts import ACCEPTED
from data.store.states import SENT_NOTHING
from data.store.tables import Run


def story(records: Records) -> list[Event]:
    """Tell everything, request by request, in the order in which it happened."""
    events: list[Event] = list(_readings(records))
    events += _plans(records)
    events += _pauses(records)
    events += _receipts(records)
    events += _blocks(records)
    events += _runs_begun(records)
    events += records.requests
    events += _decisions(records)
    events += _runs_ended(records)
    return sorted(events, key=lambda event: event.at)  # equal times stay in the order above


def numbers(records: Records, events: Iterable[Event]) -> dict[int, int]:
    """Number the waves that the campaign's definition asks for (data/history/stretches.py).

    Without waves and a pilot, nobody has a number.
    """
    table = timetable(records.campaign.timetable)
    if table.waves is None and table.pilot is None:
        return {}
    pilots = {
        row
        for row, person in records.people.items()
        if person.email_key == table.pilot or _was_pilot(person)
    }
    sent = (event for event in events if isinstance(event, Request))
    return wave_numbers(sent, table.waves, pilots)


def _was_pilot(person: Person) -> bool:
    named = (person.first_name, person.last_name, person.source)
    return not person.listed and named == PILOT


def _readings(records: Records) -> Iterator[Event]:
    if not records.readings or records.readings[0].read_at > records.campaign.created_at:
        yield CameIn(records.campaign.created_at, None)
    for reading in records.readings:
        yield CameIn(reading.read_at, reading.file)


def _plans(records: Records) -> Iterator[Event]:
    for approval in records.approvals:
        code = approval.digest[:CODE]
        yield PlanShown(approval.asked_at, code, approval.told, approval.answer_by)
    # A person who changed their mind answered twice; the plan itself has only the last answer.
    for decision in records.decisions:
        if decision.verdict in tuple(Answer):
            code = (decision.value or "")[:CODE]
            yield PlanAnswered(
                decision.decided_at, code, Answer(decision.verdict), decision.who, decision.why
            )


def _pauses(records: Records) -> Iterator[Event]:
    for pause in records.pauses:
        yield Paused(pause.paused_at, pause.who, pause.why)
        if pause.resumed_at is not None:
            yield Resumed(pause.resumed_at, pause.resumed_by or "", pause.resumed_why or "")


def _receipts(records: Records) -> Iterator[Event]:
    for receipt in records.receipts:
        yield ReceiptDoubted(receipt.seen_at, receipt.file, receipt.says)
        if receipt.accepted_at is not None:
            yield ReceiptAccepted(
                receipt.accepted_at, receipt.file, receipt.who or "", receipt.why or ""
            )


def _blocks(records: Records) -> Iterator[Event]:
    blocked = {block.email_key for block in records.blocks}
    everybody = records.people.items()
    rows = {person.email_key: (row,) for row, person in everybody if person.email_key in blocked}
    for block in records.blocks:
        yield Blocked(block.listed_at, rows[block.email_key], block.who, block.why)
        if block.lifted_at is not None:
            people = rows[block.email_key]
            yield Unblocked(block.lifted_at, people, block.lifted_by or "", block.lifted_why or "")


def _runs_begun(records: Records) -> Iterator[Event]:
    codes = {approval.id: approval.digest[:CODE] for approval in records.approvals}
    for run in _runs_that_sent(records):
        yield RunBegan(run.started_at, run.id, run.host, codes.get(run.approval_id or 0))


def _runs_ended(records: Records) -> Iterator[Event]:
    for run in _runs_that_sent(records):
        if run.ended_at is not None:
            yield RunEnded(run.ended_at, run.id, run.ending or "", run.reason)


def _runs_that_sent(records: Records) -> Iterator[Run]:
    """Runs with a row of their own: of the others the last is kept (data/sending/idle_runs.py)."""
    return (run for run in records.runs if run.process_start != SENT_NOTHING)


def _decisions(records: Records) -> Iterator[Event]:
    settled = {decision.attempt_id for decision in records.decisions}
    operations = {
        request.number: request.operation
        for request in records.requests
        if request.number in settled
    }
    elsewhere = {ACCEPTED, *Answer}  # told by the receipt's and plan's events
    for decision in records.decisions:
        if decision.verdict not in elsewhere:
            yield Decided(
                at=decision.decided_at,
                attempt=decision.attempt_id,
                verdict=decision.verdict,
                value=decision.value,
                operation=operations.get(decision.attempt_id or 0),
                people=() if decision.candidate_row is None else (decision.candidate_row,),
                who=decision.who,
                why=decision.why,
            )
