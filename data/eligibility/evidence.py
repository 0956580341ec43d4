"""The evidence for holds: `facts_of` a campaign, its people, and what is `against` them.

Each row of `against` says what the ledger has on a mailbox, a domain, a name or a forgotten person.
holds.py judges who is held by it, and says that in words.
"""

# ruff: noqa: S608 - no word of a statement comes from outside this program

from collections import defaultdict
from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import JSON, Row, bindparam, func, select, text
from sqlmodel import Session

from config.timetable import span
from data.campaigns.people import hashed, invites_of, steps_of
from data.store.states import OF_PERSON, OPERATIONS, Op, State
from data.store.tables import (
    PART,
    PERSON,
    REQUEST,
    SENDS_MORE,
    STEP,
    UtcTime,
    now,
    one_of,
)

APPROVE, REJECT, SHOWN = "approve", "reject", "shown"
LISTING, ERASED, PROBLEM, MAILBOX, NAME = "listing", "erased", "problem", "mailbox", "name"
RECENT, CORRECTED = "recent", "corrected"
_whose = STEP.alias("whose")
ABOUT = (
    *(PERSON.c[each] for each in ("id", "email_key", "mailbox", "email1", "name_key")),
    *(PERSON.c.let_through, PERSON.c.listed),
    *(_whose.c.state.label("invited"), _whose.c.why.label("withdrawn")),
)
"""The columns about a person and their invitation, for a query with `join(*WHOSE)`."""
WHOSE = (_whose, steps_of(_whose, Op.INVITE))
Found = dict[tuple[str, str], list[Row[Any]]]
"""Evidence by kind, and by the mailbox, domain, name or hash it is about. A row has what its kind
needs: the `person`, their `email1`, the `state` of their invitation, its `campaign`, and when."""


def facts_of(session: Session, campaign_id: int, per_second: float | None = None) -> Any:
    """The row of a campaign: its own columns, and those of `_FACTS`; None if there is no such row.

    With `per_second`, `last_of_all` says when the ledger's last invitation was claimed.
    """
    session.flush()  # a statement on the connection does not see what the session still keeps
    of = {"of": campaign_id, "hourly": False, "of_all": per_second is not None}
    row = session.connection().execute(_FACTS, of).first()
    if row is not None and invites_of(row).per_hour is not None:
        row = session.connection().execute(_FACTS, of | {"hourly": True}).first()
    return row


def of_people(
    session: Session, people: Collection[int] | None, campaign_id: int = 0
) -> Sequence[Row[Any]]:
    """The rows of these people, or (None) of all who are to be added or invited, sorted by id."""
    of = {"campaign": campaign_id, "people": dict.fromkeys(people or ())}
    return session.connection().execute(_ALL if people is None else _THESE, of).all()


def against(session: Session, facts: Any, people: Sequence[Row[Any]] | None) -> Found:
    """The evidence against these people, or (None) against all who are to be added or invited."""
    of: dict[str, Any] = {"campaign": facts.id, "service": facts.service, "problem": facts.problem}
    if people is not None:
        of["boxes"] = boxes = dict.fromkeys(row.mailbox for row in people)
        of["keys"] = dict.fromkeys(row.email_key for row in people)
        of["words"] = boxes | dict.fromkeys(key.rpartition("@")[2] for key in of["keys"])
        of["names"] = dict.fromkeys(row.name_key for row in people if row.name_key)
        of["digests"] = dict.fromkeys(hashed(facts.uuid, boxes).values())
    found: Found = defaultdict(list)
    for row in session.connection().execute(_OF_ALL if people is None else _OF_THESE, of):
        found[row.kind, row.what].append(row)
    if not_within := invites_of(facts).not_within:
        of["since"] = now() - span(not_within)
        lately = _OF_ALL_LATELY if people is None else _OF_THESE_LATELY
        for row in session.connection().execute(lately, of):
            found[RECENT, row.what].append(row)
    return found


def tried(session: Session, campaign_id: int, without: int) -> tuple[int, datetime | None]:
    """How many people, except `without`, a run has tried to invite, and when the last time."""
    had = (
        select(func.count(STEP.c.id.distinct()), func.max(REQUEST.c.claimed_at))
        .join(PART, PART.c.step_id == STEP.c.id)
        .join(REQUEST, REQUEST.c.id == PART.c.request_id)
        .where(STEP.c.campaign_id == campaign_id, STEP.c.op == Op.INVITE)
        .where(STEP.c.person_id != without, PART.c.state != State.WAITING)
    )
    number, last = session.execute(had).one()
    return int(number), last


_EMAILS = ", ".join(f"'{op}'" for op in Op if OPERATIONS[op].emails)
_LAST_INVITED = f"""
    SELECT claimed_at FROM request CROSS JOIN run WHERE run.id = run_id AND op IN ({_EMAILS}) {{}}
    AND EXISTS (SELECT 1 FROM part WHERE request_id = request.id AND state != 'waiting')
    ORDER BY request.id DESC LIMIT 1
"""
_NEWEST = "SELECT max(id) FROM decision WHERE campaign_id = c.id AND person_id {} AND word IN ({})"
# `whose_project`: another campaign that has the same project. Several definitions may name one
# project if they name the same problem, and none of these campaigns created it. `decided` does not
# count the word `sent` about an invitation, because nothing more is sent after this word.
_FACTS = text(f"""
SELECT c.*, (SELECT uuid FROM ledger) AS uuid, (SELECT version_num FROM alembic_version) AS version,
    made.state AS creation, made.part_id AS made, made.service_id AS project,
    attached.state AS attachment, attached.service_id AS problem,
    paused.word AS paused, paused.at AS paused_at, shown.value AS shown, shown.who AS shown_to,
    answer.word AS answer, answer.value AS answered,
    (SELECT id FROM decision WHERE campaign_id = c.id AND {SENDS_MORE}
     AND NOT (word = 'sent' AND person_id IS NOT NULL AND value IS NULL) -- sends nothing more
     ORDER BY id DESC LIMIT 1) AS decided,
    (SELECT id FROM decision WHERE campaign_id IS NULL AND {SENDS_MORE}
     ORDER BY id DESC LIMIT 1) AS lifted,
    added.state AS pilot_add, invited.state AS pilot_invite,
    invited.generation AS pilot_generation,
    about.word AS pilot_answer, about.value AS pilot_answered,
    CASE WHEN :hourly THEN ({_LAST_INVITED.format("AND campaign_id = c.id")}) END AS last_invited,
    CASE WHEN :of_all THEN ({_LAST_INVITED.format("")}) END AS last_of_all,
    (SELECT other.key FROM step AS theirs JOIN campaign AS other ON other.id = theirs.campaign_id
     WHERE theirs.service_id = made.service_id AND theirs.person_id = 0 AND theirs.op = 'create'
         AND other.service = c.service AND other.id != c.id
         AND (made.part_id IS NOT NULL OR theirs.part_id IS NOT NULL OR EXISTS (
             SELECT 1 FROM step WHERE campaign_id = other.id AND person_id = 0 AND op = 'attach'
             AND state NOT IN ('waiting', 'refused')
             AND coalesce(service_id, 0) != coalesce(attached.service_id, 0)))
     ORDER BY other.id LIMIT 1) AS whose_project
FROM campaign AS c
JOIN step AS made ON made.campaign_id = c.id AND made.person_id = 0 AND made.op = 'create'
JOIN step AS attached
    ON attached.campaign_id = c.id AND attached.person_id = 0 AND attached.op = 'attach'
LEFT JOIN step AS added
    ON added.campaign_id = c.id AND added.person_id = c.pilot_id AND added.op = 'add'
LEFT JOIN step AS invited
    ON invited.campaign_id = c.id AND invited.person_id = c.pilot_id AND invited.op = 'invite'
LEFT JOIN decision AS paused ON paused.id = ({_NEWEST.format("IS NULL", "'pause', 'resume'")})
LEFT JOIN decision AS shown ON shown.id = ({_NEWEST.format("IS NULL", f"'{SHOWN}'")})
LEFT JOIN decision AS answer
    ON answer.id = ({_NEWEST.format("IS NULL", f"'{APPROVE}', '{REJECT}'")})
LEFT JOIN decision AS about
    ON about.id = ({_NEWEST.format("= c.pilot_id", f"'{APPROVE}', '{REJECT}'")})
WHERE c.id = :of
""").columns(
    **{name: JSON() for name in ("spec", "answered", "shown", "pilot_answered")},
    **dict.fromkeys(("creation", "attachment", "pilot_add", "pilot_invite"), STEP.c.state.type),
    **dict.fromkeys(("paused_until", "paused_at", "last_invited", "last_of_all"), UtcTime()),
)
_THEIRS = """EXISTS (SELECT 1 FROM step
    WHERE campaign_id = p.campaign_id AND person_id = p.id AND op = '{}' AND state = '{}')"""


def _waits(op: Op) -> str:
    """The condition, in SQL, that a person's step waits and the steps it needs are done."""
    states = {op: "waiting"} | {each: "done" for each in OPERATIONS[op].needs if each in OF_PERSON}
    return " AND ".join(_THEIRS.format(*each) for each in states.items())


_WAIT = " OR ".join(map(_waits, OF_PERSON))
_TO_COME = f"FROM person AS p WHERE p.campaign_id = :campaign AND p.listed AND ({_WAIT})"
_LISTED = "FROM do_not_contact WHERE listed_by != 'lifted'"
_CAME = "part.state NOT IN ('waiting', 'refused')"  # the request may have worked
_TOUCHED = (
    f"(step.state = 'given up' OR EXISTS (SELECT 1 FROM part WHERE step_id = step.id AND {_CAME}))"
)
# The domain of a mailbox, in SQL for both databases.
_DOMAIN = "replace({0}, rtrim({0}, replace({0}, '@', '')), '')".format("person.mailbox")
_BLOCKED = f"EXISTS (SELECT 1 {_LISTED} AND email_key IN (person.mailbox, {_DOMAIN}))"
# An email went to this mailbox in this campaign, or about the same problem in another campaign.
_SENT = f"""EXISTS (SELECT 1 FROM part JOIN step AS s ON s.id = part.step_id
    JOIN campaign AS c ON c.id = s.campaign_id WHERE part.mailbox = person.mailbox AND {_CAME}
    AND c.service = :service AND (c.id = :campaign OR part.problem = :problem))"""
_SO_FAR = f"CASE WHEN {_TOUCHED} AND NOT {_BLOCKED} THEN step.state END"
_INVITE = "step.campaign_id = person.campaign_id AND step.person_id = person.id AND op = 'invite'"
# CROSS JOIN makes SQLite begin with the few people of a mailbox or a name.
_EVIDENCE = f"""
SELECT '{LISTING}' AS kind, email_key AS what, CAST(NULL AS BIGINT) AS person, NULL AS email1,
    CAST(NULL AS VARCHAR(16)) AS state, NULL AS campaign
{_LISTED} AND (email_key IN {{words}})
UNION ALL SELECT '{ERASED}', mailbox_digest, NULL, NULL, NULL, NULL
FROM forgotten WHERE mailbox_digest IN {{digests}}
UNION ALL SELECT '{PROBLEM}', part.mailbox, coalesce(became, person.id), NULL, NULL, campaign.key
FROM part JOIN step ON step.id = part.step_id JOIN person ON person.id = step.person_id
    JOIN campaign ON campaign.id = step.campaign_id
WHERE part.mailbox IN {{boxes}} AND part.problem = :problem AND {_CAME}
    AND campaign.service = :service AND campaign.id != :campaign
UNION ALL SELECT '{MAILBOX}', person.mailbox, coalesce(became, person.id), email1, step.state, NULL
FROM person CROSS JOIN step WHERE {_INVITE}
    AND person.campaign_id = :campaign AND person.mailbox IN {{boxes}} AND {_TOUCHED}
UNION ALL SELECT '{CORRECTED}', o.email_key, its.id, its.email1, NULL, c.key
FROM person AS o CROSS JOIN person AS its CROSS JOIN campaign AS c WHERE o.email_key IN {{keys}}
    AND o.became > 0 AND its.id = o.became AND c.id = o.campaign_id
UNION ALL SELECT '{NAME}', name_key, person.id, email1, {_SO_FAR}, NULL
FROM person CROSS JOIN step WHERE {_INVITE}
    AND person.campaign_id = :campaign AND NOT listed AND name_key IN {{names}} AND became IS NULL
    AND ({_TOUCHED} OR {_BLOCKED} OR {_SENT})
"""
# When other campaigns invited somebody, the latest first.
_LATELY = f"""
SELECT part.mailbox AS what, coalesce(became, person.id) AS person, campaign.key AS campaign,
    request.claimed_at AS at
FROM part JOIN request ON request.id = part.request_id JOIN step ON step.id = part.step_id
    JOIN person ON person.id = step.person_id JOIN campaign ON campaign.id = step.campaign_id
WHERE part.mailbox IN {{boxes}} AND {_CAME}
    AND campaign.id != :campaign AND request.claimed_at > :since
ORDER BY request.id DESC
"""
_LISTS = ("keys", "words", "digests", "boxes", "names")
_AMONG = "(SELECT key FROM json_each(:{}))"
_OF_THESE = (
    text(_EVIDENCE.format(**{name: _AMONG.format(name) for name in _LISTS}))
    .bindparams(*(bindparam(name, type_=JSON) for name in _LISTS))
    .columns(state=STEP.c.state.type)
)
_OF_ALL = text(
    f"WITH waiting AS MATERIALIZED (SELECT p.mailbox AS box, p.email_key AS key {_TO_COME})"
    + _EVIDENCE.format(
        keys="(SELECT key FROM waiting)",
        words="(SELECT box FROM waiting) OR email_key NOT LIKE '%@%'",
        digests="(SELECT mailbox_digest FROM forgotten)",
        boxes="(SELECT box FROM waiting)",
        names="(SELECT name_key FROM person WHERE campaign_id = :campaign AND NOT listed "
        "AND name_key != '')",
    )
).columns(state=STEP.c.state.type)
_since = bindparam("since", type_=UtcTime())
_OF_ALL_LATELY = (
    text(_LATELY.format(boxes=f"(SELECT p.mailbox {_TO_COME})"))
    .bindparams(_since)
    .columns(at=UtcTime())
)
_OF_THESE_LATELY = (
    text(_LATELY.format(boxes=_AMONG.format("boxes")))
    .bindparams(_since, bindparam("boxes", type_=JSON))
    .columns(at=UtcTime())
)
_about = select(*ABOUT).join(*WHOSE).order_by(PERSON.c.id)
_THESE = _about.where(one_of(PERSON.c.id, "people"))
_ALL = _about.where(PERSON.c.id.in_(text(f"SELECT p.id {_TO_COME}")))
