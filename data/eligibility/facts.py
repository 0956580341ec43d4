"""What a campaign is asked before anything is sent of it: one row, in one statement.

It is what the ledger says now. The rules that judge it are in holds.py.
"""

# ruff: noqa: S608 - every word of the statement is of this program

from typing import Any

from sqlalchemy import JSON, text
from sqlmodel import Session

from data.campaigns.people import invites_of
from data.store.tables import SENDS_MORE, STEP, UtcTime

APPROVE, REJECT, SHOWN = "approve", "reject", "shown"


def facts_of(session: Session, campaign_id: int, per_second: float | None = None) -> Any:
    """The row of a campaign: its own columns, and those of `_FACTS`. None: there is none.

    With `per_second` it says as well when the last invitation of the whole ledger was claimed.
    """
    of = {"of": campaign_id, "hourly": False, "of_all": per_second is not None}
    row = session.connection().execute(_FACTS, of).first()
    if row is not None and invites_of(row).per_hour is not None:
        row = session.connection().execute(_FACTS, of | {"hourly": True}).first()
    return row


# `whose_project`: another campaign that has this one's. Unless a request of one of them made it,
# several definitions may name one project, if they name one problem.
_LAST_INVITED = """
    SELECT claimed_at FROM request CROSS JOIN run WHERE run.id = run_id AND op = 'invite' {}
    AND EXISTS (SELECT 1 FROM part WHERE request_id = request.id AND state != 'waiting')
    ORDER BY request.id DESC LIMIT 1
"""
_NEWEST = "SELECT max(id) FROM decision WHERE campaign_id = c.id AND person_id {} AND word IN ({})"
_FACTS = text(f"""
SELECT c.*, (SELECT uuid FROM ledger) AS uuid,
    made.state AS creation, made.part_id AS made, made.service_id AS project,
    attached.state AS attachment, attached.service_id AS problem,
    paused.word AS paused, paused.at AS paused_at, shown.value AS shown,
    answer.word AS answer, answer.value AS answered,
    (SELECT id FROM decision WHERE campaign_id = c.id AND {SENDS_MORE}
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
