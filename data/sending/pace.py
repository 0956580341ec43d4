"""What runs beside each other keep together: the rate of invitations, and the pause of a 429.

A rate that each run kept for itself would be as many times too high as there are runs. Turns are
given out by the ledger, which all of them share; which clock counts is said in data/store/clock.py.
"""

from datetime import datetime, timedelta

from sqlalchemy import Connection, bindparam, select, text, update

from data.store import clock
from data.store.tables import pace

_KNOWN = text("INSERT INTO pace (name, paused_for) VALUES (:name, 0) ON CONFLICT (name) DO NOTHING")
_PAUSE = select(pace.c.paused_until, pace.c.paused_for).where(
    pace.c.name == bindparam("name"), pace.c.paused_until.is_not(None)
)

# Each run asks for a few turns at a time, and for no more before it has used them. Turns further
# ahead than so many such shares were given out by a clock that has been put back since.
SHARES = 200
AT_LEAST = timedelta(minutes=1)
SLACK = timedelta(seconds=0.1)


def first_free(turn_at: datetime | None, at: datetime, share: timedelta) -> datetime:
    """Say when the first turn is that nobody has; `share` is what a run asks for at a time.

    Who is late by less than `SLACK` gets the turn that is just over: what asking itself takes
    would else make the rate lower. What was missed for longer is gone.
    """
    if turn_at is None or turn_at - at > max(SHARES * share, AT_LEAST):
        return at
    return turn_at if turn_at > at - SLACK else at


def take_turns(connection: Connection, name: str, gap: timedelta, number: int) -> timedelta:
    """Take the next turns of a service (its canonical address) or of a campaign, `gap` apart.

    Answers after which time the first of them is; a little below zero where it is just over.
    """
    connection.execute(_KNOWN, {"name": name})
    turn_at = connection.scalar(select(pace.c.turn_at).where(pace.c.name == name).with_for_update())
    at = clock.shared_now(connection)  # behind the lock: it may have been waited for
    first = first_free(turn_at, at, gap * number)
    connection.execute(update(pace).where(pace.c.name == name).values(turn_at=first + gap * number))
    return first - at


def pause_service(connection: Connection, service: str, pause: timedelta) -> None:
    """Let nobody send to a service for so long, because it asked for it."""
    connection.execute(_KNOWN, {"name": service})
    mine = pace.c.name == service
    until = connection.scalar(select(pace.c.paused_until).where(mine).with_for_update())
    wanted = clock.shared_now(connection) + pause
    if until is None or until < wanted:
        values = {"paused_until": wanted, "paused_for": pause.total_seconds()}
        connection.execute(update(pace).where(mine).values(values))


def service_pause(connection: Connection, service: str) -> timedelta:
    """For how long still nobody may send to a service; nothing or less: no more."""
    pause = connection.execute(_PAUSE, {"name": service}).first()
    if pause is None:
        return timedelta(0)
    left: timedelta = pause.paused_until - clock.shared_now(connection)
    # Longer than was asked for: the clock was put back since, nobody knows how much is left.
    return left if left <= timedelta(seconds=pause.paused_for) else timedelta(0)
