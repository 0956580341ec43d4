"""What the ledger has against adding and inviting single people: one statement for all of them.

It finds what concerns a mailbox, a domain, a name or a forgotten person; whom that keeps back, and
in which words, is judged in holds.py.
"""

# ruff: noqa: S608 - every word of the statement is of this program

from collections import defaultdict
from collections.abc import Collection, Sequence
from typing import Any

from sqlalchemy import JSON, Row, bindparam, select, text
from sqlmodel import Session

from data.campaigns.people import hashed, steps_of
from data.store.states import Op
from data.store.tables import PERSON, STEP, one_of

LISTING, ERASED, PROBLEM, MAILBOX, NAME = "listing", "erased", "problem", "mailbox", "name"
_whose = STEP.alias("whose")
ABOUT = (
    *(PERSON.c[each] for each in ("id", "email_key", "mailbox", "email1", "name_key")),
    *(PERSON.c.let_through, PERSON.c.listed),
    *(_whose.c.state.label("invited"), _whose.c.why.label("withdrawn")),
)
"""What is to be known of a person, who is joined with WHOSE."""
WHOSE = (_whose, steps_of(_whose, Op.INVITE))
Found = dict[tuple[str, str], list[Row[Any]]]
"""By its kind, and what it concerns: rows with `person`, whom it is about (not against), their
`email1`, the `state` of their invitation, and the `campaign` that invited them."""


def of_people(
    session: Session, people: Collection[int] | None, campaign_id: int = 0
) -> Sequence[Row[Any]]:
    """These people, or (None) whoever of a campaign is still to be added or invited, in order."""
    of = {"campaign": campaign_id, "people": dict.fromkeys(people or ())}
    return session.connection().execute(_ALL if people is None else _THESE, of).all()


def against(session: Session, facts: Any, people: Sequence[Row[Any]] | None) -> Found:
    """All that concerns these people, or (None) anybody still to be added or invited."""
    of: dict[str, Any] = {"campaign": facts.id, "service": facts.service, "problem": facts.problem}
    if people is not None:
        of["boxes"] = boxes = dict.fromkeys(row.mailbox for row in people)
        of["words"] = boxes | dict.fromkeys(row.email_key.rpartition("@")[2] for row in people)
        of["names"] = dict.fromkeys(row.name_key for row in people if row.name_key)
        of["signs"] = dict.fromkeys(hashed(facts.uuid, boxes).values())
    found: Found = defaultdict(list)
    for row in session.connection().execute(_OF_ALL if people is None else _OF_THESE, of):
        found[row.kind, row.what].append(row)
    return found


_TO_COME = """
    FROM person AS p
    JOIN step AS a ON a.campaign_id = p.campaign_id AND a.person_id = p.id AND a.op = 'add'
    JOIN step AS i ON i.campaign_id = p.campaign_id AND i.person_id = p.id AND i.op = 'invite'
    WHERE p.campaign_id = :campaign AND p.listed
    AND (a.state = 'waiting' OR (a.state = 'done' AND i.state = 'waiting'))
"""
_LISTED = "FROM do_not_contact WHERE listed_by != 'lifted'"
_CAME = "part.state NOT IN ('waiting', 'refused')"  # as far as anybody knows
_TOUCHED = (
    f"(step.state = 'given up' OR EXISTS (SELECT 1 FROM part WHERE step_id = step.id AND {_CAME}))"
)
# What comes behind the @ of a mailbox, on either database.
_DOMAIN = "replace({0}, rtrim({0}, replace({0}, '@', '')), '')".format("person.mailbox")
_BLOCKED = f"EXISTS (SELECT 1 {_LISTED} AND email_key IN (person.mailbox, {_DOMAIN}))"
_SO_FAR = f"CASE WHEN {_TOUCHED} THEN step.state END"
_INVITE = "step.campaign_id = person.campaign_id AND step.person_id = person.id AND op = 'invite'"
# CROSS JOIN is the order for SQLite: it begins with the few people of a mailbox or a name.
_EVIDENCE = f"""
SELECT '{LISTING}' AS kind, email_key AS what, CAST(NULL AS BIGINT) AS person, NULL AS email1,
    CAST(NULL AS VARCHAR(16)) AS state, NULL AS campaign
{_LISTED} AND (email_key IN {{words}})
UNION ALL SELECT '{ERASED}', mailbox_digest, NULL, NULL, NULL, NULL
FROM forgotten WHERE mailbox_digest IN {{signs}}
UNION ALL SELECT '{PROBLEM}', part.mailbox, coalesce(became, person.id), NULL, NULL, campaign.key
FROM part JOIN step ON step.id = part.step_id JOIN person ON person.id = step.person_id
    JOIN campaign ON campaign.id = step.campaign_id
WHERE part.mailbox IN {{boxes}} AND part.problem = :problem AND {_CAME}
    AND campaign.service = :service AND campaign.id != :campaign
UNION ALL SELECT '{MAILBOX}', person.mailbox, coalesce(became, person.id), email1, step.state, NULL
FROM person CROSS JOIN step WHERE {_INVITE}
    AND person.campaign_id = :campaign AND person.mailbox IN {{boxes}} AND {_TOUCHED}
UNION ALL SELECT '{NAME}', name_key, person.id, email1, {_SO_FAR}, NULL
FROM person CROSS JOIN step WHERE {_INVITE}
    AND person.campaign_id = :campaign AND NOT listed AND name_key IN {{names}} AND became IS NULL
    AND ({_TOUCHED} OR {_BLOCKED})
"""
_LISTS = ("words", "signs", "boxes", "names")
_OF_THESE = (
    text(_EVIDENCE.format(**{name: f"(SELECT key FROM json_each(:{name}))" for name in _LISTS}))
    .bindparams(*(bindparam(name, type_=JSON) for name in _LISTS))
    .columns(state=STEP.c.state.type)
)
_OF_ALL = text(
    f"WITH waiting AS MATERIALIZED (SELECT p.mailbox AS box {_TO_COME})"
    + _EVIDENCE.format(
        words="(SELECT box FROM waiting) OR email_key NOT LIKE '%@%'",
        signs="(SELECT mailbox_digest FROM forgotten)",
        boxes="(SELECT box FROM waiting)",
        names="(SELECT name_key FROM person WHERE campaign_id = :campaign AND NOT listed "
        "AND name_key != '')",
    )
).columns(state=STEP.c.state.type)
_about = select(*ABOUT).join(*WHOSE).order_by(PERSON.c.id)
_THESE = _about.where(one_of(PERSON.c.id, "people"))
_ALL = _about.where(PERSON.c.id.in_(text(f"SELECT p.id {_TO_COME}")))
