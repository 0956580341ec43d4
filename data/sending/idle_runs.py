"""Runs that sent nothing: only the last one is kept, so that the last run shown is the last one.

Runs that send open a row of their own (data/sending/runs.py). A schedule often finds nothing to do:
such runs in a row share one row, that of the last. They are not part of a campaign's history, are
not counted, and are no reason to keep people.
"""

from datetime import datetime

from sqlalchemy import Connection, insert, select, update

from data.campaigns.queries import LAST_FIRST
from data.sending.processes import this_process
from data.store import clock
from data.store.states import SENT_NOTHING, Ending
from data.store.tables import campaign, runs


def note(
    connection: Connection, key: str, since: datetime, ending: Ending, reason: str | None
) -> None:
    """Record how a run ended that began at `since` and opened no row of its own.

    Nothing is recorded for a campaign that the ledger does not have, nor while another run of it is
    at work or if one has ended meanwhile: that run says more.
    """
    of = connection.scalar(select(campaign.c.id).where(campaign.c.key == key))
    mine = select(runs).where(runs.c.campaign_id == of)
    if of is None or connection.execute(mine.where(runs.c.ended_at.is_(None))).first():
        return
    last = connection.execute(mine.order_by(*LAST_FIRST).limit(1)).first()
    if last is not None and last.ended_at >= since:
        return
    here, at = this_process(), clock.now()
    values = {
        "host": here.host,
        "pid": here.pid,
        "process_start": SENT_NOTHING,
        "started_at": since,
        "heartbeat_at": at,
        "ended_at": at,
        "ending": ending,
        "reason": reason,
    }
    alike = (SENT_NOTHING, ending, reason)
    if last is not None and (last.process_start, last.ending, last.reason) == alike:
        connection.execute(update(runs).where(runs.c.id == last.id).values(**values))
    else:
        connection.execute(insert(runs).values(campaign_id=of, **values))
