"""What simultaneous runs share: the rate of invitations, and the pause after a 429.

If each run kept the rate for itself, the rate would be too high by the number of runs. So the
ledger, which all of them share, gives out turns; data/store/clock.py says which clock counts.
"""

from datetime import datetime, timedelta

from sqlalchemy import Connection, bindparam, select, text, update

from data.store import clock
from data.store.tables import pace

_KNOWN = text("INSERT INTO pace (name, paused_for) VALUES (:name, 0) ON CONFLICT (name) DO NOTHING")
_PAUSE = select(pace.c.paused_until, pace.c.paused_for).where(
    pace.c.name == bindparam("name"), pace.c.paused_until.is_not(None)
)

# Each run asks for a few turns at a time, and for more only once it has used them. Turns further
# ahead than this many shares come from a clock that has been set back since.
SHARES = 200
AT_LEAST = timedelta(minutes=1)
SLACK = timedelta(seconds=0.1)


def first_free(turn_at: datetime | None, at: datetime, share: timedelta) -> datetime:
    """Return the first free turn; `share` is how much a run asks for at a time.

    A run that is late by less than `SLACK` still gets the turn that has just passed: otherwise the
    time that asking takes would lower the rate. Turns missed by more are lost.
    """
    if turn_at is None or turn_at - at > max(SHARES * share, AT_LEAST):
        return at
    return turn_at if turn_at > at - SLACK else at


def take_turns(connection: Connection, name: str, gap: timedelta, number: int) -> timedelta:
    """Take the next turns of a service (its canonical address) or of a campaign, `gap` apart.

    Returns how long until the first turn; slightly negative if it has just passed.
    """
    connection.execute(_KNOWN, {"name": name})
    turn_at = connection.scalar(select(pace.c.turn_at).where(pace.c.name == name).with_for_update())
    at = clock.shared_now(connection)  # after taking the lock, which may have taken time
    first = first_free(turn_at, at, gap * number)
    connection.execute(update(pace).where(pace.c.name == name).values(turn_at=first + gap * number))
    return first - at


def pause_service(connection: Connection, service: str, pause: timedelta) -> None:
    """Let nobody send to a service for this long, because the service asked for a pause."""
    connection.execute(_KNOWN, {"name": service})
    mine = pace.c.name == service
    until = connection.scalar(select(pace.c.paused_until).where(mine).with_for_update())
    wanted = clock.shared_now(connection) + pause
    if until is None or until < wanted:
        values = {"paused_until": wanted, "paused_for": pause.total_seconds()}
        connection.execute(update(pace).where(mine).values(values))


def service_pause(connection: Connection, service: str) -> timedelta:
    """How much longer nobody may send to a service; zero or less: the pause is over."""
    pause = connection.execute(_PAUSE, {"name": service}).first()
    if pause is None:
        return timedelta(0)
    left: timedelta = pause.paused_until - clock.shared_now(connection)
    # Longer than the service asked for: the clock was set back since, so the rest is not known.
    return left if left <= timedelta(seconds=pause.paused_for) else timedelta(0)
