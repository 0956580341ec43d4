"""Claims: the only statements that move a step to SENDING. data/sending/outcomes.py moves it on.

Each function works inside a transaction that its caller commits. A batch holds the claims and
outcomes of many senders at about the same moment, so one durable commit serves them all.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, bindparam, insert, select, update

from config.errors import CampaignError
from data.campaigns.intake import Version
from data.holds.reasons import MAY_BE_HELD, held_rows
from data.sending.prepared import Prepared
from data.sending.recovery import no_claims
from data.sending.row_ranges import written
from data.store import server_locks
from data.store.states import AttemptState, Operation, Step
from data.store.tables import attempt, campaign, candidate

# Built once: composing a statement costs more than running it, and these run for every person.
_FREE = select(candidate.c.id, candidate.c.generation, MAY_BE_HELD).where(
    candidate.c.invite_state == Step.WAITING,
    candidate.c.add_state == Step.DONE,
    candidate.c.candidate_id.is_not(None),
    candidate.c.listed,
)
_FREE_TO_INVITE = Prepared(
    _FREE.where(candidate.c.id == bindparam("row")),
    # A person whom another run is claiming at this moment belongs to that run.
    _FREE.where(candidate.c.id.in_(bindparam("row", expanding=True))).with_for_update(
        of=candidate, key_share=True, skip_locked=True
    ),
)
_FREE_TO_ADD = (
    select(candidate.c.id)
    .where(
        candidate.c.id.in_(bindparam("rows", expanding=True)),
        candidate.c.add_state == Step.WAITING,
        candidate.c.listed,
    )
    .order_by(candidate.c.id)
    .with_for_update(key_share=True, skip_locked=True)
)
_WRITE_ENTRIES = Prepared(insert(attempt).returning(attempt.c.id, sort_by_parameter_order=True))
_TAKE_ADD = (
    update(candidate)
    .where(candidate.c.id.in_(bindparam("rows", expanding=True)))
    .values(add_state=Step.SENDING, add_attempt=bindparam("number"), why=None)
)
_TAKE_INVITE = Prepared(
    update(candidate)
    .where(candidate.c.id == bindparam("row"))
    .values(invite_state=Step.SENDING, invite_attempt=bindparam("number"), why=None)
)
_SINGLE_FREE = {
    name: select(campaign.c.id)
    .where(
        campaign.c.id == bindparam("of"),
        campaign.c[f"{name}_state"].in_([Step.WAITING, Step.REFUSED]),
    )
    # If another transaction has the row, wait for it: it may be about something else.
    .with_for_update(key_share=True)
    for name in ("project", "problem")
}
_TAKE_SINGLE = {
    name: update(campaign)
    .where(campaign.c.id == bindparam("of"))
    .values({f"{name}_state": Step.SENDING, f"{name}_attempt": bindparam("number"), "why": None})
    for name in ("project", "problem")
}


@dataclass(frozen=True, slots=True)
class Claim:
    """A request for permission to send one request. `rows` are ledger rows of candidates (add,
    invite). `version` is what the run carries out; None: whatever the ledger has.
    """

    operation: Operation
    campaign: int
    run: int
    at: datetime
    rows: tuple[int, ...] = ()
    version: Version | None = None


@dataclass(frozen=True, slots=True)
class Claimed:
    """A claim that was granted: `attempt` may now be sent, for exactly `rows`."""

    attempt: int
    rows: tuple[int, ...] = ()


# Or why this run gets no more claims.
Granted = Claimed | CampaignError | None


def grant(connection: Connection, claims: Sequence[Claim]) -> list[Granted]:
    """Move what is still WAITING to SENDING, with a row each in the journal.

    A compare-and-set: what another run has claimed meanwhile, or a person took out of the
    definition, is not granted (None), or is granted without those rows (add). The same applies to
    anybody held at this moment, whatever a plan said before (data/holds/rule.py). A run that others
    took over gets no more claims (TakenOver), nor does one whose definition was changed since it
    began, also if the change was undone (ReadAnew): nobody knows then whom it would invite twice
    (data/holds/second_addresses.py).
    """
    by_run = {claim.run: (claim.run, claim.campaign, claim.version) for claim in claims}
    over = {run: no_claims(connection, *asks) for run, asks in by_run.items()}
    granted: dict[int, Granted] = {id(claim): over[claim.run] for claim in claims}
    claims, asked = [claim for claim in claims if over[claim.run] is None], claims
    invites = [claim for claim in claims if claim.operation is Operation.INVITE]
    granted |= zip(map(id, invites), _grant_invites(connection, invites), strict=True)
    for claim in claims:
        if claim.operation is Operation.ADD:
            granted[id(claim)] = _grant_add(connection, claim)
        elif claim.operation is not Operation.INVITE:
            granted[id(claim)] = _grant_single(connection, claim)
    return [granted[id(claim)] for claim in asked]


def _grant_invites(connection: Connection, claims: Sequence[Claim]) -> list[Claimed | None]:
    if not claims:
        return []
    free = _FREE_TO_INVITE.rows(connection, *({"row": claim.rows[0]} for claim in claims))
    doubtful = [row for row, _, may_be_held in free if may_be_held]
    server_locks.for_persons(connection, doubtful)
    held = held_rows(connection, doubtful, claims[0].at)
    generation = {row: generation for row, generation, _ in free if row not in held}
    # Of two claims for one person in a batch, the first is granted.
    first = {claim.rows[0]: claim for claim in reversed(claims) if claim.rows[0] in generation}
    granted = [claim for claim in claims if first.get(claim.rows[0]) is claim]
    if not granted:
        return [None] * len(claims)
    journal = [
        _entry(claim, candidate_row=claim.rows[0], generation=generation[claim.rows[0]])
        for claim in granted
    ]
    numbers = _write_entries(connection, journal)
    _TAKE_INVITE.change(
        connection,
        *(
            {"row": claim.rows[0], "number": number}
            for claim, number in zip(granted, numbers, strict=True)
        ),
    )
    by_claim = {
        id(claim): Claimed(number, claim.rows)
        for claim, number in zip(granted, numbers, strict=True)
    }
    return [by_claim.get(id(claim)) for claim in claims]


def _grant_add(connection: Connection, claim: Claim) -> Claimed | None:
    rows = tuple(connection.scalars(_FREE_TO_ADD, {"rows": claim.rows}))
    held = held_rows(connection, rows, claim.at)
    rows = tuple(row for row in rows if row not in held)
    if not rows:
        return None
    [number] = _write_entries(connection, [_entry(claim, rows=len(rows), carried=written(rows))])
    connection.execute(_TAKE_ADD, {"rows": rows, "number": number})
    return Claimed(number, rows)


def _grant_single(connection: Connection, claim: Claim) -> Claimed | None:
    """Grant the project or the problem. A refused one may be tried again: nothing happened."""
    name = "project" if claim.operation is Operation.CREATE else "problem"
    if connection.scalar(_SINGLE_FREE[name], {"of": claim.campaign}) is None:
        return None
    [number] = _write_entries(connection, [_entry(claim)])
    connection.execute(_TAKE_SINGLE[name], {"of": claim.campaign, "number": number})
    return Claimed(number)


def _entry(
    claim: Claim,
    candidate_row: int | None = None,
    generation: int = 1,
    rows: int = 1,
    carried: str | None = None,
) -> dict[str, Any]:
    return {
        "campaign_id": claim.campaign,
        "candidate_row": candidate_row,
        "generation": generation,
        "operation": claim.operation,
        "rows": rows,
        "carried": carried,
        "state": AttemptState.SENDING,
        "run_id": claim.run,
        "claimed_at": claim.at,
    }


def _write_entries(connection: Connection, entries: list[dict[str, Any]]) -> list[int]:
    """Insert journal rows; returns their numbers in the order given."""
    return [number for (number,) in _WRITE_ENTRIES.rows(connection, *entries)]
