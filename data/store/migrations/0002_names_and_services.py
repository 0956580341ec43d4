"""Version 1.1 stores names and services in the form that is compared."""

from contextlib import suppress

import sqlalchemy as sa

from config.emails import email_key
from config.settings import spelled
from data.campaigns.people import name_key
from data.store.tables import CAMPAIGN, DECISION, PART, PERSON

CHANGES = """
ALTER TABLE ledger ADD COLUMN mark INTEGER NOT NULL DEFAULT 0;
ALTER TABLE person ADD COLUMN name_key VARCHAR NOT NULL DEFAULT '';
ALTER TABLE campaign ADD COLUMN pilot_id INTEGER;
ALTER TABLE campaign ADD COLUMN paused_until TIMESTAMP WITH TIME ZONE;
ALTER TABLE part ADD COLUMN mailbox VARCHAR;
ALTER TABLE part ADD COLUMN problem BIGINT;
ALTER TABLE do_not_contact DROP COLUMN kind;
DROP INDEX person_gone;
DROP INDEX person_by_email_key;
DROP INDEX person_by_mailbox;
DROP INDEX ix_decision_campaign_id;
DROP INDEX ix_decision_person_id;
UPDATE campaign SET paused_until = (SELECT paused_until FROM pace
    WHERE pace.service = campaign.service AND pace.account = campaign.account);
DROP TABLE pace;
UPDATE part SET
    mailbox = (SELECT mailbox FROM person JOIN step ON step.person_id = person.id
               WHERE step.id = part.step_id AND mailbox != ''),
    problem = (SELECT attach.service_id FROM step JOIN step AS attach
               ON attach.campaign_id = step.campaign_id AND attach.person_id = 0
               WHERE step.id = part.step_id AND attach.op = 'attach')
WHERE step_id IN (SELECT id FROM step WHERE op = 'invite')
"""


def upgrade(connection: sa.Connection) -> None:
    """Add columns and indexes and fill them; spell the services of campaigns."""
    for change in CHANGES.split(";"):
        connection.execute(sa.text(change))
    people = connection.execute(sa.select(PERSON.c.id, PERSON.c.fields)).all()
    names = [{"number": number, "name": name_key(fields or {})} for number, fields in people]
    this = sa.update(PERSON).where(PERSON.c.id == sa.bindparam("number"))
    if names:
        connection.execute(this.values(name_key=sa.bindparam("name")), names)
    campaigns = sa.select(CAMPAIGN.c.id, CAMPAIGN.c.spec, CAMPAIGN.c.service)
    for row in connection.execute(campaigns).all():
        pilot = email_key((row.spec or {}).get("invites", {}).get("pilot") or "")
        them = (PERSON.c.campaign_id == row.id) & (PERSON.c.email_key == pilot)
        values = {"pilot_id": connection.scalar(sa.select(PERSON.c.id).where(them))}
        with suppress(ValueError):  # a text that is no address stays as it is
            values["service"] = spelled(row.service)
        connection.execute(sa.update(CAMPAIGN).where(CAMPAIGN.c.id == row.id).values(values))
    for table in (PERSON, PART, DECISION):
        for index in table.indexes:
            index.create(connection, checkfirst=True)
