"""The ledger's reading transactions: what is known of campaigns, people, requests and runs."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from sqlalchemy import (
    Connection,
    Row,
    Select,
    bindparam,
    exists,
    func,
    literal_column,
    or_,
    select,
)

from data import answers, forgotten, holding, intake, noes, records, so_far
from data.forgotten import MARK
from data.idle_runs import SENT_NOTHING
from data.part import LedgerPart, reading
from data.recovery import LAST_FIRST
from data.remaining import Known
from data.states import AttemptState, Operation, Step
from data.tables import Attempt, Campaign, Candidate, Run, table_of
from data.turns import SoFar

campaign = table_of(Campaign)
candidate = table_of(Candidate)
attempt = table_of(Attempt)
runs = table_of(Run)

AT_ONCE = 5_000  # candidates in one slice


@dataclass(frozen=True, slots=True)
class ToInvite:
    """One person who is in the project and not yet invited."""

    row: int
    candidate_id: int
    timezone: str | None = None
    pilot: bool = False
    noes: tuple[int, ...] = ()  # statuses by which earlier requests for it were refused


# Built once: a run asks for them again and again.
_CAMPAIGN = select(campaign).where(campaign.c.key == bindparam("wanted"))
_KINDS = (candidate.c.listed, candidate.c.add_state, candidate.c.invite_state)
_COUNTS = (
    select(*_KINDS, func.count())
    .where(candidate.c.campaign_id == bindparam("of"))
    .group_by(*_KINDS)
)
# Emails that went out to people who were withdrawn afterwards.
_WITHDRAWN_SINCE = select(func.count()).where(
    candidate.c.campaign_id == bindparam("of"),
    candidate.c.invite_state == Step.WITHDRAWN,
    exists().where(
        attempt.c.candidate_row == candidate.c.id,
        # Written out, as only then the index over invitations that stand is known to fit.
        literal_column(
            "attempt.operation = 'invite' AND attempt.state IN ('sending', 'done', 'unsure')"
        ),
        attempt.c.state == AttemptState.DONE,
    ),
)
_INVITED_BY = select(func.count()).where(
    attempt.c.run_id == bindparam("run"),
    attempt.c.operation == Operation.INVITE,
    attempt.c.state == AttemptState.DONE,
)
_TO_ADD = (
    select(candidate.c.id)
    .where(
        candidate.c.campaign_id == bindparam("of"),
        candidate.c.add_state == Step.WAITING,
        candidate.c.listed,
    )
    .order_by(candidate.c.id)
)
_TO_INVITE = (
    select(
        candidate.c.id,
        candidate.c.candidate_id,
        candidate.c.timezone,
        (candidate.c.email_key == bindparam("of_pilot")).label("pilot"),
    )
    .where(
        candidate.c.campaign_id == bindparam("of"),
        candidate.c.add_state == Step.DONE,
        candidate.c.invite_state == Step.WAITING,
        candidate.c.candidate_id.is_not(None),
        candidate.c.listed,
    )
    .order_by(candidate.c.id)
)
_LAST_RUN = select(runs).where(runs.c.campaign_id == bindparam("of")).order_by(*LAST_FIRST).limit(1)
_STILL_WAITING = select(candidate.c.id).where(
    candidate.c.id.in_(bindparam("rows", expanding=True)), candidate.c.invite_state == Step.WAITING
)
_CAMPAIGN_OF = select(candidate.c.campaign_id).where(candidate.c.id == bindparam("row"))
_OF_CAMPAIGN = select(candidate.c.email_key, candidate.c.candidate_id).where(
    candidate.c.campaign_id == _CAMPAIGN_OF.scalar_subquery(),
    candidate.c.email_key.in_(bindparam("keys", expanding=True)),
)
_SENT_BESIDE = (
    select(attempt.c.id)
    .where(
        attempt.c.campaign_id == bindparam("of"),
        attempt.c.run_id != bindparam("run"),
        attempt.c.state == AttemptState.SENDING,
    )
    .order_by(attempt.c.id.desc())
    .limit(1)
)


class Looking(LedgerPart):
    """The part of the ledger that only looks."""

    @reading
    def campaign(self, connection: Connection, key: str) -> Campaign | None:
        row = connection.execute(_CAMPAIGN, {"wanted": key}).first()
        return _campaign(row) if row is not None else None

    @reading
    def campaigns(self, connection: Connection) -> list[Campaign]:
        """Every campaign, oldest first."""
        return [_campaign(row) for row in connection.execute(select(campaign))]

    @reading
    def known(self, connection: Connection, campaign_row: int) -> dict[str, Known]:
        """Every candidate ever seen in this campaign, by email key."""
        return intake.known(connection, campaign_row)

    def candidates(self, campaign_row: int) -> Iterator[Row[Any]]:
        """Every candidate's whole row, in the order they came in; read as they are asked for."""
        return self._in_slices(select(candidate), campaign_row)

    def whom_to_link(self, campaign_row: int) -> Iterator[Row[Any]]:
        """Row, first name, last name, address, candidate_id and invitation of everyone, likewise.

        But of whoever was forgotten.
        """
        asked = select(
            candidate.c.id,
            candidate.c.first_name,
            candidate.c.last_name,
            candidate.c.email1,
            candidate.c.candidate_id,
            candidate.c.invite_state,
        )
        return self._in_slices(
            asked.where(candidate.c.email_key.not_like(f"{MARK}%")), campaign_row
        )

    def _in_slices(self, asked: Select[Any], campaign_row: int) -> Iterator[Row[Any]]:
        """Each slice is a transaction of its own: 100,000 rows at once would take 100 MB."""
        first, last = self._ends(campaign_row)
        # `+ 0`: found by number. By campaign, all of them would be sorted again for each slice.
        asked = asked.where(candidate.c.campaign_id + 0 == campaign_row)
        while first <= last:
            some = candidate.c.id.between(first, last)
            rows = self._rows(asked.where(some).order_by(candidate.c.id).limit(AT_ONCE))
            yield from rows
            if len(rows) < AT_ONCE:
                return
            first = rows[-1].id + 1

    @reading
    def _ends(self, connection: Connection, campaign_row: int) -> tuple[int, int]:
        """The numbers of the first and the last candidate of a campaign; (1, 0): there is none."""
        ends = select(func.min(candidate.c.id), func.max(candidate.c.id))
        found = connection.execute(ends.where(candidate.c.campaign_id == campaign_row)).one()
        return (1, 0) if found[0] is None else (found[0], found[1])

    @reading
    def _rows(self, connection: Connection, asked: Select[Any]) -> Sequence[Row[Any]]:
        return connection.execute(asked).all()

    @reading
    def in_need(self, connection: Connection, campaign_row: int) -> Sequence[Row[Any]]:
        """The whole row of whoever was refused or is unsure, or waits and is no longer listed.

        In the order they came in.
        """
        need = (Step.REFUSED, Step.UNSURE)
        return connection.execute(
            select(candidate)
            .where(
                candidate.c.campaign_id == campaign_row,
                or_(
                    candidate.c.add_state.in_(need),
                    candidate.c.invite_state.in_(need),
                    ~candidate.c.listed & (candidate.c.invite_state == Step.WAITING),
                ),
            )
            .order_by(candidate.c.id)
        ).all()

    @reading
    def answers(self, connection: Connection, campaign_row: int) -> answers.Answers:
        """What the service wrote where a step is not done (data/answers.py)."""
        return answers.of(connection, campaign_row)

    @reading
    def counts(
        self, connection: Connection, campaign_row: int
    ) -> dict[tuple[bool, Step, Step], int]:
        """How many candidates stand at each (listed, add, invite)."""
        rows = connection.execute(_COUNTS, {"of": campaign_row})
        return {(bool(r[0]), Step(r[1]), Step(r[2])): int(r[3]) for r in rows}

    @reading
    def withdrawn_since(self, connection: Connection, campaign_row: int) -> int:
        """How many people were invited and withdrawn, or corrected, afterwards."""
        return int(connection.scalar(_WITHDRAWN_SINCE, {"of": campaign_row}) or 0)

    @reading
    def invited_by(self, connection: Connection, run: int) -> int:
        """How many invitations of a run the service has received."""
        return int(connection.scalar(_INVITED_BY, {"run": run}) or 0)

    @reading
    def to_add(self, connection: Connection, campaign_row: int) -> list[int]:
        """Rows of candidates to be added, in the definition's order; who is held is left out."""
        held = holding.held_in(connection, campaign_row, self._now())
        found = connection.scalars(_TO_ADD, {"of": campaign_row})
        return [row for row in found if row not in held]

    @reading
    def to_invite(
        self, connection: Connection, campaign_row: int, pilot: str | None = None
    ) -> list[ToInvite]:
        """Candidates in the project to be invited, in the same order; who is held is left out.

        Whoever was refused before comes last: a service that still refuses is met by somebody to
        whom it has not said no. `pilot` is the email key of the one who is to be told from the
        others.
        """
        held = holding.held_in(connection, campaign_row, self._now())
        rows = connection.execute(_TO_INVITE, {"of": campaign_row, "of_pilot": pilot or ""}).all()
        before = noes.of_people(connection, campaign_row) if rows else {}
        people = [
            ToInvite(row.id, row.candidate_id, row.timezone, row.pilot, before.get(row.id, ()))
            for row in rows
            if row.id not in held
        ]
        return sorted(people, key=lambda person: len(person.noes))

    @reading
    def noes_before(self, connection: Connection, number: int) -> tuple[int, ...]:
        """The statuses by which the same as this attempt was refused before (data/noes.py)."""
        return noes.before(connection, number)

    @reading
    def still_waiting(self, connection: Connection, rows: Sequence[int]) -> set[int]:
        """Of these candidates (ledger rows), those whose invitation nobody has claimed by now."""
        return set(connection.scalars(_STILL_WAITING, {"rows": rows}))

    @reading
    def sent_beside(self, connection: Connection, campaign_row: int, run: int) -> int | None:
        """The newest request of this campaign that another run has on its way (its attempt)."""
        return connection.scalar(_SENT_BESIDE, {"of": campaign_row, "run": run})

    @reading
    def timezones(self, connection: Connection, campaign_row: int) -> list[str | None]:
        """The clocks of the people who are still to be invited, each once."""
        found = connection.scalars(
            select(candidate.c.timezone)
            .distinct()
            .where(
                candidate.c.campaign_id == campaign_row,
                candidate.c.invite_state == Step.WAITING,
                candidate.c.listed,
            )
        )
        return list(found)

    @reading
    def so_far(
        self, connection: Connection, campaign_row: int, key: str, pilot: str | None
    ) -> SoFar:
        """How far a campaign has got with inviting; `pilot` is an email key."""
        return so_far.so_far(connection, campaign_row, key, pilot)

    @reading
    def people(self, connection: Connection, rows: Sequence[int]) -> list[Known]:
        """What is to be sent for these rows, in their order."""
        return intake.people(connection, rows)

    @reading
    def strangers(
        self, connection: Connection, row: int, answered: Mapping[str, Collection[int]]
    ) -> int:
        """How many of these people, by email key, are not of this candidate's campaign, under one
        of these ids. Who has no id yet, and who was forgotten, may well be in the project."""
        found = connection.execute(_OF_CAMPAIGN, {"row": row, "keys": list(answered)}).all()
        strange = answered.keys() - {
            one.email_key
            for one in found
            if one.candidate_id is None or one.candidate_id in answered[one.email_key]
        }
        if strange:
            campaign_row = connection.scalar(_CAMPAIGN_OF, {"row": row})
            strange -= forgotten.among(connection, strange, campaign_row)
        return len(strange)

    @reading
    def last_run(self, connection: Connection, campaign_row: int) -> Row[Any] | None:
        return connection.execute(_LAST_RUN, {"of": campaign_row}).first()

    @reading
    def requests_by_state(self, connection: Connection) -> Sequence[Row[Any]]:
        """How many requests of each campaign (key), operation and state."""
        kinds = (campaign.c.key, attempt.c.operation, attempt.c.state)
        return connection.execute(
            select(*kinds, func.count())
            .join(campaign, attempt.c.campaign_id == campaign.c.id)
            .group_by(*kinds)
            .order_by(*kinds)
        ).all()

    @reading
    def runs_by_ending(self, connection: Connection) -> Sequence[Row[Any]]:
        """How many runs of each campaign (key) and ending; None where a run has not ended.

        Those that sent nothing are not counted: not each of them is kept (data/idle_runs.py).
        """
        kinds = (campaign.c.key, runs.c.ending)
        return connection.execute(
            select(*kinds, func.count())
            .join(campaign, runs.c.campaign_id == campaign.c.id)
            .where(runs.c.process_start != SENT_NOTHING)
            .group_by(*kinds)
            .order_by(*kinds)
        ).all()

    @reading
    def attempts(self, connection: Connection, campaign_row: int) -> Sequence[Row[Any]]:
        """The whole journal of a campaign, oldest first."""
        return connection.execute(
            select(attempt).where(attempt.c.campaign_id == campaign_row).order_by(attempt.c.id)
        ).all()

    @reading
    def records(self, connection: Connection, campaign_row: int) -> records.Records:
        """Everything that was written down about a campaign, as of one moment."""
        return records.read(connection, campaign_row, self._now())


def _campaign(row: Row[Any]) -> Campaign:
    # A row has the table's fields by name and cannot be changed; making a model of it would cost
    # more than reading it, and this is read before every step.
    return cast(Campaign, row)
