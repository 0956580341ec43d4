"""Store a definition in the ledger: new people are added, known people are never overwritten."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    Row,
    Select,
    bindparam,
    case,
    exists,
    func,
    insert,
    select,
    update,
)
from sqlmodel import select as whole

from config.definition.model import Candidate, Definition
from config.definition.sent_fields import FIELDS
from config.errors import CampaignError
from config.mistakes import Place
from data.campaigns import forgotten
from data.campaigns.changes import Changes, Known, Unfinished, compare, fields_of
from data.campaigns.queries import find_campaign
from data.campaigns.same_campaign import OPEN, refuse_another
from data.store import clock
from data.store.states import AttemptState, Step
from data.store.tables import (
    INVITATION_STANDS,
    Campaign,
    Reading,
    attempt,
    campaign,
    candidate,
    readings,
    rows_of,
)

# The latest invitation that reached somebody, or may have, whatever came after it: a resend, a
# refusal, a withdrawal. The journal is asked only about those who were tried, and are not invited.
_REACHED = case(
    (
        candidate.c.invite_state.in_((Step.DONE, Step.UNSURE, Step.SENDING)),
        candidate.c.invite_attempt,
    ),
    (candidate.c.invite_attempt.is_(None) & (candidate.c.generation == 1), None),
    else_=func.coalesce(
        select(func.max(attempt.c.id))
        .where(attempt.c.candidate_row == candidate.c.id, INVITATION_STANDS)
        .scalar_subquery(),
        # Withdrawn while it was unsure: nobody ever said that it did not arrive.
        select(attempt.c.id)
        .where(
            candidate.c.invite_state == Step.WITHDRAWN,
            attempt.c.id == candidate.c.invite_attempt,
            attempt.c.state == AttemptState.OVERRULED,
        )
        .scalar_subquery(),
    ),
)
COLUMNS = (
    candidate.c.id,
    candidate.c.email_key,
    *(candidate.c[name] for name in FIELDS),
    candidate.c.add_state,
    candidate.c.invite_state,
    candidate.c.listed,
    candidate.c.timezone,
    _REACHED,
    candidate.c.allowed_attempt,
    candidate.c.add_attempt,
)
_EVERYBODY = (
    select(*COLUMNS).where(candidate.c.campaign_id == bindparam("of")).order_by(candidate.c.id)
)
_CORRECTED = select(candidate.c.id, candidate.c.corrected_to).where(
    candidate.c.campaign_id == bindparam("of"), candidate.c.corrected_to.is_not(None)
)
_DIGEST = select(campaign.c.digest).where(campaign.c.key == bindparam("wanted"))
_NEW = insert(campaign).returning(campaign.c.id)
_FOLLOW = update(campaign).where(campaign.c.id == bindparam("row"))
_ADD = insert(candidate)
_READ = insert(readings)
_LATEST = select(func.coalesce(func.max(readings.c.id), 0))
# A version that differs from a run's own was stored after it began. The digest alone does not tell:
# what is changed and changed back is the same bytes, but it may have moved people meanwhile.
CHANGED_SINCE = (
    exists()
    .where(
        readings.c.id > bindparam("since"),
        readings.c.campaign_id == bindparam("version_of"),
        readings.c.digest != bindparam("digest"),
    )
    .label("changed_since")
)
AT_ONCE = 5_000  # how many new people are prepared at a time; there is still only one commit
KEPT = ("timezone",)  # what a definition says of a person, and the service is not told
# What of a campaign always follows its definition; project and problem only until they are sent.
_OF_DEFINITION = (
    *("app_url", "definition", "belongs_to", "sheet", "digest", "send_invites", "ask_first"),
    *("answer_within", "cooldown", "add_again", "trust", "timetable", "timezone"),
)
_PROJECT = ("name", "description", "state", "starttime", "endtime", "project_id")
_PROBLEM = ("problem_id", "problem_title")
_STEPS = {step.value: step for step in Step}


class ReadAnew(CampaignError):
    """A newer version of the definition than this one has been stored."""


@dataclass(frozen=True, slots=True)
class Version:
    """Which version a run carries out; `since` is the `latest_reading` when the run began."""

    key: str
    digest: str
    since: int


@dataclass(frozen=True, slots=True)
class Intent:
    """What a definition asks of the campaign itself, in the service's own words.

    The row of `campaign` is not in the ledger: what is known there of its steps is not in it. If
    problem_id and the title are missing, the project already has its problem. `keep_project`: a
    person said that it is the same campaign. `since` is the `latest_reading` before the file was
    read; None: nothing was read in between.
    """

    campaign: Campaign
    keep_project: bool = False
    since: int | None = None


def latest_reading(connection: Connection) -> int:
    """The number of the last definition that was stored for any campaign; 0: none."""
    return int(connection.execute(_LATEST).scalar_one())


def version(connection: Connection, key: str, digest: str | None) -> Version:
    """What a run carries out that begins now; without a `digest`, what the ledger has."""
    if digest is None:
        digest = str(connection.execute(_DIGEST, {"wanted": key}).scalar_one())
    return Version(key, digest, latest_reading(connection))


def unfinished(connection: Connection, campaign_row: int, definition: Definition) -> Unfinished:
    """Leave out finished people while a campaign is read.

    Most people of a campaign that has run are finished; 100,000 of them would take half a second
    and 60 MB more.
    """
    listed = {candidate.key: candidate for candidate in definition.candidates}
    people = _people(connection, campaign_row, listed, send=definition.invites.send)
    left = tuple(candidate for candidate in definition.candidates if candidate.key in listed)
    finished = len(definition.candidates) - len(left)
    return Unfinished(replace(definition, candidates=left), people, finished)


def everybody(connection: Connection, campaign_row: int) -> dict[str, Known]:
    """Every candidate of a campaign by email key, in the order in which they were stored."""
    return _people(connection, campaign_row, {})


def _people(
    connection: Connection, campaign_row: int, listed: dict[str, Candidate], *, send: bool = True
) -> dict[str, Known]:
    """Everybody but those who are finished, who are removed from `listed` as well."""
    of = {"of": campaign_row}
    corrected = dict(connection.execute(_CORRECTED, of).tuples().all())
    corrections = {*corrected, *corrected.values()}  # both stay: the old one says who it is now
    by_key = {}
    for row in connection.execute(_EVERYBODY, of):
        candidate = listed.get(row[1])
        if candidate and _is_finished(row, candidate, send=send) and row[0] not in corrections:
            del listed[candidate.key]
        else:
            by_key[row[1]] = _person(row)
    keys = {person.row: key for key, person in by_key.items() if person.row in corrections}
    for row in corrected:
        now = row
        while now in corrected:
            now = corrected[now]
        by_key[keys[row]] = replace(by_key[keys[row]], instead=keys[now])
    return by_key


def people(connection: Connection, rows: Sequence[int]) -> list[Known]:
    """The candidates with these ledger rows, ordered by row."""
    return selected(connection, _OF_ROWS, rows=rows)


def of_whom(*which: ColumnElement[bool]) -> Select[Any]:
    """Compose, once, the query for candidates that match all conditions, ordered by row."""
    return select(*COLUMNS).where(*which).order_by(candidate.c.id)


_OF_ROWS = of_whom(candidate.c.id.in_(bindparam("rows", expanding=True)))


def selected(connection: Connection, asked: Select[Any], **values: Any) -> list[Known]:
    """The candidates that the query `of_whom` finds, without who replaces whom."""
    return [_person(row) for row in connection.execute(asked, values)]


# Rows are taken apart by position: by name, the columns of 100,000 people take half a second more.
def _person(row: Row[Any]) -> Known:
    number, key, *fields, add, invite, listed, zone, tried, allowed, added = row
    steps = _STEPS[add], _STEPS[invite]
    return Known(number, key, tuple(fields), *steps, listed, None, zone, tried, allowed, added)


def _is_finished(row: Row[Any], candidate: Candidate, *, send: bool) -> bool:
    _, _, *fields, add, invite, listed, zone, _, _, _ = row
    done = listed and add == Step.DONE and (invite == Step.DONE or not send)
    return done and zone == candidate.timezone and tuple(fields) == fields_of(candidate)


def take_over(
    connection: Connection, definition: Definition, intent: Intent
) -> tuple[int, Changes]:
    """Write what is new. The campaign's own fields follow the definition until they have been sent.

    Raises AnotherCampaign if its key was taken by another one since the definition was read, and
    ReadAnew if another version of it was stored since.
    """
    at, asked = clock.now(), intent.campaign
    before = find_campaign(connection, definition.campaign)
    if before is None:
        row = connection.execute(_NEW, _first(definition, asked, at)).scalar_one()
        changes = compare(definition, {})
    else:
        row = before.id
        if not intent.keep_project:
            belongs_to = Path(asked.belongs_to) if asked.belongs_to else None
            typed = (Path(asked.definition), belongs_to, asked.sheet)
            refuse_another(definition, before, asked.digest, *typed)
        _refuse_an_old_version(connection, before, intent)
        connection.execute(_FOLLOW, {"row": row, **_followed(before, asked)})
        left = unfinished(connection, row, definition)
        changes = compare(left.definition, left.people)
    if before is None or (before.definition, before.digest) != (asked.definition, asked.digest):
        file = str(Place(asked.definition, sheet=asked.sheet))
        of_it = {"file": file, "digest": asked.digest, "read_at": at}
        connection.execute(_READ, {"campaign_id": row, **of_it})
    # Ask again, whatever a plan said before: somebody may have been forgotten meanwhile.
    gone = forgotten.among(connection, (person.key for person in changes.new), row)
    changes.new[:] = [person for person in changes.new if person.key not in gone]
    _write_people(connection, row, changes)
    forgotten.hold_spellings(connection, {person.key: person.email1 for person in changes.new})
    return row, changes


def _refuse_an_old_version(connection: Connection, before: Campaign, intent: Intent) -> None:
    """A file that was read earlier never takes the place of what was read later."""
    if intent.since is not None and before.digest != intent.campaign.digest:
        stored = whole(Reading).where(Reading.campaign_id == before.id, Reading.id > intent.since)
        if rows_of(connection, stored.limit(1)):
            raise overtaken(before.key)


def carries_out(connection: Connection, key: str, digest: str) -> None:
    """Raise ReadAnew unless the ledger still has this version of the definition."""
    if connection.execute(_DIGEST, {"wanted": key}).scalar() not in (digest, ""):
        raise overtaken(key)


def overtaken(key: str) -> ReadAnew:
    return ReadAnew(
        f"Another version of {key} was read after this one, so nothing more was sent from this "
        "one. The next run goes on with the newest version."
    )


def _first(definition: Definition, asked: Campaign, at: datetime) -> dict[str, Any]:
    return {
        "key": definition.campaign,
        "service": asked.service,
        "created_at": at,
        "project_state": Step.WAITING if asked.project_id is None else Step.DONE,
        "problem_state": Step.WAITING if _has_problem(asked) else Step.DONE,
        **asked.model_dump(include={*_OF_DEFINITION, *_PROJECT, *_PROBLEM}),
    }


def _followed(before: Campaign, asked: Campaign) -> dict[str, Any]:
    values = asked.model_dump(include={*_OF_DEFINITION})
    if before.project_state in OPEN:
        values |= asked.model_dump(include={*_PROJECT})
        if asked.project_id is not None:
            values["project_state"] = Step.DONE
    if before.problem_state in OPEN:
        values |= asked.model_dump(include={*_PROBLEM})
        if not _has_problem(asked):
            values["problem_state"] = Step.DONE
        elif asked.problem_id is None and asked.problem_title == before.problem_title:
            del values["problem_id"]  # a run that had no need to ask must not forget the answer
    return values


def _has_problem(asked: Campaign) -> bool:
    return asked.problem_id is not None or asked.problem_title is not None


def _write_people(connection: Connection, campaign_row: int, changes: Changes) -> None:
    for start in range(0, len(changes.new), AT_ONCE):
        connection.execute(
            _ADD,
            [
                {
                    "campaign_id": campaign_row,
                    "email_key": person.key,
                    **{name: getattr(person, name) for name in (*FIELDS, *KEPT)},
                }
                for person in changes.new[start : start + AT_ONCE]
            ],
        )
    waits_again = {"add_state": Step.WAITING, "why": None}
    for others, names, also in (
        (changes.reworded, FIELDS, waits_again),
        (changes.noted, KEPT, {}),
    ):
        if others:
            connection.execute(
                update(candidate)
                .where(candidate.c.id == bindparam("row"))
                .values({name: bindparam(f"new_{name}") for name in names} | also),
                [
                    {"row": before.row} | {f"new_{name}": getattr(person, name) for name in names}
                    for before, person in others
                ],
            )
    for people_now, listed in ((changes.removed, False), (changes.returned, True)):
        if people_now:
            connection.execute(
                update(candidate).where(candidate.c.id == bindparam("row")).values(listed=listed),
                [{"row": person.row} for person in people_now],
            )
