"""Forget people: everything that names them is deleted, and the counts stay.

The rows stay, without a name: the journal refers to them, and a campaign's counts stay true. The
functions work inside a transaction that their caller commits.
"""

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from urllib.parse import unquote_plus

from sqlalchemy import Connection, Table, bindparam, delete, exists, select, update
from sqlmodel import col
from sqlmodel import select as whole

from config.command_line import command
from config.email_key import email_key
from data.campaigns import forgotten
from data.campaigns.intake import AT_ONCE
from data.campaigns.whose_turn import kept, timetable
from data.decisions.verdicts import NotDecided
from data.decisions.withdrawing import UNDER_WAY, withdraw
from data.holds.second_addresses import would_release
from data.privacy.masking import replaced_in, words_of_names
from data.sending.row_ranges import read as rows_in
from data.store.states import SENT_NOTHING, By, Step, Word
from data.store.tables import (
    Campaign,
    Candidate,
    Decision,
    approvals,
    attempt,
    box_of,
    campaign,
    candidate,
    decision,
    do_not_contact,
    pauses,
    receipt_doubts,
    rows_of,
    runs,
)

GONE = "[forgotten]"
HOLDS = (
    "is why somebody at another address is held, who would be invited then: decide about them "
    "first: {}"
)
_NUMBERS = re.compile(r"[0-9]+")
_UNFINISHED = (Step.WAITING, Step.SENDING, Step.UNSURE)
# Texts that people typed, or that may name somebody: names in them are deleted too.
_WRITTEN: tuple[tuple[Table, tuple[str, ...]], ...] = (
    (approvals, ("told", "why")),
    (attempt, ("evidence",)),
    (candidate, ("why",)),
    (decision, ("why",)),
    (do_not_contact, ("why", "lifted_why")),
    (pauses, ("why", "resumed_why")),
    (receipt_doubts, ("why",)),
    (runs, ("reason",)),
)
_EMPTY = ("mailbox", "first_name", "last_name", "source", "notes")
_BLANK = {**dict.fromkeys(_EMPTY, ""), "email1": GONE}


@dataclass(frozen=True, slots=True)
class AtTheService:
    """What the service still has of somebody: it has no delete (interface 4).

    `candidate_id` is None for a person forgotten earlier: the id was shown then, and deleted.
    """

    campaign: str
    project_id: int | None
    candidate_id: int | None


def forget(connection: Connection, keys: Collection[str], by: By) -> list[AtTheService]:
    """Forget the people at these addresses, in every campaign, and keep them out.

    Returns what the service has of them, also of those who were forgotten before. Whoever was
    corrected from or to one of them is the same person. Raises NotDecided, by position, while a run
    is sending to one of them, or while somebody at another address is held because of one.
    """
    of_each = [lineage(connection, [key]) for key in keys]
    people = list({person.id: person for them in of_each for person in them}.values())
    every = [*keys, *(person.email_key for person in people if person.email_key not in keys)]
    against = _against_forgetting(connection, people)
    if refused := {
        n: against[person.id]
        for n, them in enumerate(of_each)
        for person in them
        if person.id in against
    }:
        raise NotDecided(refused)
    numbers = forgotten.hashes(connection, every)
    scrubbed = _scrubber(people, every)
    left = _forgotten_before(connection, numbers)
    left += _erase(connection, people, numbers, replace(by, why=scrubbed(by.why)))
    # Nothing is sent to them because of the hash; the list would still name them.
    for key in every:
        connection.execute(delete(do_not_contact).where(do_not_contact.c.email_key == key))
    _take_out_names(connection, people, scrubbed)
    forgotten.write(connection, numbers, replace(by, why=scrubbed(by.why)))
    forgotten.hold_spellings(connection, of_mailboxes(connection, every))
    return left


def of_mailboxes(connection: Connection, keys: Iterable[str]) -> dict[str, str]:
    """Whom the ledger has in these mailboxes, in whatever spelling: addresses by email key."""
    boxes = col(Candidate.mailbox).in_({*map(box_of, keys)})
    return {
        each.email_key: each.email1 for each in rows_of(connection, whole(Candidate).where(boxes))
    }


def _against_forgetting(connection: Connection, people: Sequence[Candidate]) -> dict[int, str]:
    """Say who cannot be forgotten now and why, by row."""
    against: dict[int, str] = {}
    for of in {person.campaign_id for person in people}:
        rows = {person.id for person in people if person.campaign_id == of}
        if holding := would_release(connection, of, rows):
            key = connection.scalar(select(campaign.c.key).where(campaign.c.id == of))
            against |= dict.fromkeys(holding, HOLDS.format(command("status", key)))
    sending = [p.id for p in people if Step.SENDING in (p.add_state, p.invite_state)]
    return against | dict.fromkeys(sending, UNDER_WAY)


def forget_if_still(connection: Connection, campaign_row: int, moment: datetime, by: By) -> int:
    """Forget everybody in one campaign, unless something happened in it since the moment; other
    campaigns keep them and may invite them. Returns how many people that were.

    Looks again in this transaction: people who came since somebody asked who is due stay.
    """
    if campaign_row not in {row for row, _ in still_since(connection, moment)}:
        return 0
    mine = rows_of(connection, whole(Candidate).where(Candidate.campaign_id == campaign_row))
    people = [person for person in mine if not forgotten.is_forgotten(person.email_key)]
    numbers = forgotten.hashes(connection, [person.email_key for person in people])
    _erase(connection, people, numbers, by)
    _take_out_names(connection, people, _scrubber(people, numbers))
    return len(people)


def still_since(connection: Connection, moment: datetime) -> list[tuple[int, str]]:
    """Campaigns, by row and key, that have people and no run and no decision since then.

    A run that sent nothing does not count: otherwise a schedule would keep people for ever. While
    anybody in a campaign is waiting or unsure, nobody in it is forgotten: they would never be
    invited.
    """
    named = exists().where(
        candidate.c.campaign_id == campaign.c.id,
        candidate.c.email_key.not_like(f"{forgotten.MARK}%"),
    )
    moved = exists().where(
        runs.c.campaign_id == campaign.c.id,
        runs.c.heartbeat_at >= moment,
        runs.c.process_start != SENT_NOTHING,
    )
    decided = exists().where(
        decision.c.campaign_id == campaign.c.id, decision.c.decided_at >= moment
    )
    unfinished = exists().where(
        candidate.c.campaign_id == campaign.c.id,
        candidate.c.listed,
        candidate.c.add_state.in_(_UNFINISHED)
        | (campaign.c.send_invites & candidate.c.invite_state.in_(_UNFINISHED)),
    )
    still = select(campaign.c.id, campaign.c.key).where(
        named, ~moved, ~decided, ~unfinished, campaign.c.created_at < moment
    )
    return [(row.id, row.key) for row in connection.execute(still.order_by(campaign.c.id))]


def lineage(connection: Connection, keys: Collection[str]) -> list[Candidate]:
    """Every candidate row of these addresses, and of those they were corrected from or to."""
    people: dict[int, Candidate] = {}
    more = whole(Candidate).where(col(Candidate.email_key).in_(keys))
    while new := {row.id: row for row in rows_of(connection, more) if row.id not in people}:
        people |= new
        keys_of_new = [row.email_key for row in new.values()]
        after = [row.corrected_to for row in new.values() if row.corrected_to is not None]
        more = whole(Candidate).where(
            col(Candidate.email_key).in_(keys_of_new)
            | col(Candidate.id).in_(after)
            | col(Candidate.corrected_to).in_(new)
        )
    return list(people.values())


def _erase(
    connection: Connection, people: Sequence[Candidate], numbers: Mapping[str, str], by: By
) -> list[AtTheService]:
    """Blank these rows; whatever was still to be sent or to be settled is withdrawn first."""
    projects = {row.id: row for row in rows_of(connection, whole(Campaign))}
    for of in {person.campaign_id for person in people}:
        open_ones = [p.id for p in people if p.campaign_id == of and _is_open(p)]
        for start in range(0, len(open_ones), AT_ONCE):
            withdraw(connection, of, open_ones[start : start + AT_ONCE], by)
    if people:
        connection.execute(
            update(candidate)
            .where(candidate.c.id == bindparam("row"))
            .values(
                **_BLANK,
                email_key=bindparam("number"),
                timezone=None,
                candidate_id=None,
                listed=False,
                why=None,
            ),
            [
                {"row": person.id, "number": forgotten.MARK + numbers[person.email_key]}
                for person in people
            ],
        )
    _take_out_pilots(connection, people, numbers)
    _take_out_answers(connection, people)
    doubles = _doubles_of(connection, {person.id for person in people})
    return [
        AtTheService(
            projects[person.campaign_id].key, projects[person.campaign_id].project_id, number
        )
        for person in people
        for number in (person.candidate_id, *doubles.get(person.id, ()))
        if number is not None
    ]


def _take_out_pilots(
    connection: Connection, people: Sequence[Candidate], numbers: Mapping[str, str]
) -> None:
    """A campaign's timetable names its pilot: by the number that stands for the person as well."""
    of = {person.campaign_id for person in people}
    for row in rows_of(connection, whole(Campaign).where(col(Campaign.id).in_(of))):
        table = timetable(row.timetable)
        if table.pilot is not None and table.pilot in numbers:
            without = replace(table, pilot=forgotten.MARK + numbers[table.pilot])
            connection.execute(
                update(campaign).where(campaign.c.id == row.id).values(timetable=kept(without))
            )


def _take_out_answers(connection: Connection, people: Sequence[Candidate]) -> None:
    """Delete what the service wrote about every request for these people, for good.

    An add's answer may name anybody in it, so the whole text is deleted.
    """
    rows = {person.id for person in people}
    requests = connection.execute(
        select(attempt.c.id, attempt.c.candidate_row, attempt.c.carried).where(
            attempt.c.campaign_id.in_({person.campaign_id for person in people})
        )
    )
    theirs = [
        number
        for number, row, spans in requests
        if row in rows or any(not rows.isdisjoint(span) for span in rows_in(spans))
    ]
    _delete_answers(connection, theirs)


def _delete_answers(connection: Connection, numbers: Iterable[int]) -> None:
    if these := [{"number": number} for number in numbers]:
        answer = update(attempt).where(attempt.c.id == bindparam("number")).values(answer="")
        connection.execute(answer, these)


def _doubles_of(connection: Connection, rows: Collection[int]) -> dict[int, list[int]]:
    """Take out the ids under which the service has these people once more; returns them."""
    doubles: dict[int, list[int]] = {}
    read = whole(Decision).where(Decision.verdict == Word.DOUBLE, col(Decision.value).is_not(None))
    for row in rows_of(connection, read):
        person = row.candidate_row or 0
        if person in rows:
            doubles.setdefault(person, []).append(int(row.value or 0))
            connection.execute(update(decision).where(decision.c.id == row.id).values(value=None))
    return doubles


def _forgotten_before(connection: Connection, numbers: Mapping[str, str]) -> list[AtTheService]:
    """The projects of rows without a name: the service may still have these people."""
    rows = connection.execute(
        select(campaign.c.key, campaign.c.project_id)
        .join(candidate, candidate.c.campaign_id == campaign.c.id)
        .where(
            candidate.c.email_key.in_([forgotten.MARK + number for number in numbers.values()]),
            candidate.c.add_state == Step.DONE,
        )
        .order_by(candidate.c.id)
    )
    return [AtTheService(row.key, row.project_id, None) for row in rows]


def _is_open(person: Candidate) -> bool:
    """Whether something may still be sent to this person, or settled about them."""
    if person.corrected_to is not None or person.invite_state == Step.WITHDRAWN:
        return False
    return (person.add_state, person.invite_state) != (Step.DONE, Step.DONE)


def _scrubber(people: Iterable[Candidate], keys: Collection[str]) -> Callable[[str], str]:
    """Remove these people's names and addresses from a text that somebody typed."""
    names = words_of_names((person.first_name, person.last_name) for person in people)

    def scrubbed(text: str) -> str:
        return replaced_in(
            text,
            names,
            name=lambda _: GONE,
            address=lambda typed: GONE if email_key(typed) in keys else typed,
        )

    return scrubbed


def _take_out_names(
    connection: Connection, people: Sequence[Candidate], scrubbed: Callable[[str], str]
) -> None:
    """Remove these people's names from texts that people typed, and with their ids from what the
    service wrote about others.

    The service may spell them in its own way, as in an address: then the whole text is deleted.
    """
    for table, columns in _WRITTEN:
        for column in (table.c[name] for name in columns):
            texts = connection.execute(select(table.c.id, column).where(column != "")).all()
            changed = [
                {"row": row, "now": now} for row, text in texts if (now := scrubbed(text)) != text
            ]
            if changed:
                statement = update(table).where(table.c.id == bindparam("row"))
                connection.execute(statement.values({column: bindparam("now")}), changed)
    ids = {str(person.candidate_id) for person in people if person.candidate_id is not None}
    wrote = select(attempt.c.id, attempt.c.answer).where(attempt.c.answer != "")
    naming = []
    for number, answer in connection.execute(wrote):
        plain = unquote_plus(answer)
        if scrubbed(plain) != plain or not ids.isdisjoint(_NUMBERS.findall(plain)):
            naming.append(number)
    _delete_answers(connection, naming)
