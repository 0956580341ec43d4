"""Whether it is time: a timetable and the clock, and why people wait, in words."""

from dataclasses import dataclass
from datetime import datetime

from config.timetable.moments import in_zone, minute_from
from config.timetable.timetable import Timetable
from data.campaigns import intake, queries
from data.campaigns import send_progress as progress
from data.campaigns.changes import Known
from data.campaigns.whose_turn import (
    SendProgress,
    Turn,
    Wait,
    Waiting,
    allowed_now,
    ended,
    timetable,
)
from data.sending.queue import ToInvite
from data.store.ledger import Ledger
from data.store.states import Step
from data.store.tables import Campaign
from tasks.plan.pilot import explained
from tasks.plan.target import Target


@dataclass(frozen=True, slots=True)
class Later:
    """Why invitations wait. `again`: the first moment at which a run can go on; None: only a person
    can change it.
    """

    wait: Wait
    reason: str
    again: datetime | None = None


def timetable_of(wanted: Target) -> Timetable:
    """The timetable that a definition asks for now."""
    if wanted.definition is not None:
        return wanted.definition.invites.timetable
    return timetable(wanted.known.timetable) if wanted.known else Timetable()


def over(table: Timetable, at: datetime) -> str | None:
    """Say that the time for invitations is over; None if it is not."""
    end, window = ended(table, at), table.window
    if end is Wait.OVER and window is not None and window.not_after is not None:
        last = window.wall(window.not_after)
        return (
            f"The time for invitations ended on {last} ({window.timezone}) (invites.not_after), so "
            "nothing more is sent. To invite the others: give a later not_after, then run again."
        )
    if end is Wait.TOO_LATE:
        return (
            "Less time is left before the project ends than invites.least_time asks for, so "
            "nothing more is sent. To invite the others anyway: give a shorter least_time, then "
            "run again."
        )
    return None


def over_for(campaign: Campaign, at: datetime) -> str | None:
    """Say that the time for a campaign's invitations is over, if it sends any."""
    return over(timetable(campaign.timetable), at) if campaign.send_invites else None


def before_it_begins(wanted: Target, ledger: Ledger | None, at: datetime) -> Later | None:
    """Say that no invitation at all can go out now; None if one might."""
    table = timetable_of(wanted)
    if table == Timetable():
        return None
    campaign = wanted.known
    so_far = (
        ledger.read(progress.send_progress, campaign.id, campaign.key, table.pilot)
        if campaign and ledger
        else SendProgress()
    )
    clocks = _clocks(wanted, ledger)
    pilot = _pilot(wanted, ledger, table.pilot)
    answer = allowed_now(table, pilot, [Waiting(0, zone) for zone in clocks], so_far, at)
    if answer.now:
        return None
    if campaign and ledger:
        answer = explained(answer, ledger, campaign, table)
    return later(answer, table, wanted.timezone)


def _clocks(wanted: Target, ledger: Ledger | None) -> set[str | None]:
    if wanted.definition is not None:
        return {candidate.timezone for candidate in wanted.definition.candidates}
    return (
        set(ledger.read(queries.timezones, wanted.known.id)) if wanted.known and ledger else set()
    )


def _pilot(wanted: Target, ledger: Ledger | None, key: str | None) -> Waiting | None:
    """The pilot while still to be invited."""
    person: Known | None = None
    if key is None:
        return None
    if wanted.known is not None and ledger is not None:
        person = ledger.read(intake.everybody, wanted.known.id).get(key)
    if person is not None and person.invite is not Step.WAITING:
        return None
    return Waiting(0, person.timezone if person else None)


def whose_turn(
    table: Timetable, people: list[ToInvite], so_far: SendProgress, at: datetime
) -> tuple[Turn, list[ToInvite]]:
    """Say whose turn it is now, of the people to invite; returns these people as well."""
    by_row = {person.row: person for person in people}
    pilot = next((person for person in people if person.pilot), None)
    others = [Waiting(person.row, person.timezone) for person in people if not person.pilot]
    first = Waiting(pilot.row, pilot.timezone) if pilot else None
    answer = allowed_now(table, first, others, so_far, at)
    return answer, [by_row[row] for row, _ in answer.now]


def later(answer: Turn, table: Timetable, zone: str | None) -> Later | None:
    """Say in words why people wait; None if nobody has to.

    `zone` is the campaign's timezone, if it has one.
    """
    wait = answer.wait
    if wait is None:
        return None
    clock = clock_of(table, zone)
    if answer.again is not None and (end := ended(table, answer.again)) is not None:
        return Later(wait, _never(end, in_zone(answer.again, clock)))
    return Later(wait, _reason(wait, answer, table, clock), answer.again)


def _never(end: Wait, again: str) -> str:
    """Say that the time for invitations ends before anybody's next turn, while it can be mended."""
    if end is Wait.OVER:
        why, mend = "after invites.not_after", "a later not_after"
    else:
        why, mend = "when less than invites.least_time is left", "a shorter least_time"
    return (
        f"The next invitation would go out on {again}, {why}, so nobody else is invited. "
        f"Give {mend}, then run again."
    )


def _reason(wait: Wait, answer: Turn, table: Timetable, clock: str | None) -> str:
    match wait:
        case Wait.PILOT:
            return answer.why or ""
        case Wait.EARLY:
            return f"{_from(answer, clock)} (invites.not_before). {_THEN}"
        case Wait.BETWEEN:
            what = f"Wave {answer.wave} of the invitations goes out"
            return f"{_from(answer, clock, what)} (invites.between). {_THEN}"
        case Wait.HOURS if answer.again is not None:
            what = "Whoever waits is outside the hours for invitations; they go out"
            return f"{_from(answer, clock, what)} (invites.hours: {table.hours}). {_THEN}"
        case Wait.HOURS:
            return (
                "invites.hours has no hours within a year, so nobody can be invited. Change the "
                "hours or the holidays, then run again."
            )
        case Wait.HELD:
            return f"{answer.why}, so nobody else is invited until a person resumes it"
    return WAITING


WAITING = "Some candidates are still waiting."
_THEN = "Then run again, or let a schedule do it."
_PREPARED = "Everything is prepared; invitations go out"


def _from(answer: Turn, zone: str | None, what: str = _PREPARED) -> str:
    if answer.again is None:
        return what
    return f"{what} from {minute_from(answer.again, zone)}"


def clock_of(table: Timetable, zone: str | None) -> str | None:
    """The zone in which people read the times of invitations: the campaign's, if it has one."""
    return zone or (table.hours.timezone if table.hours else None)


def warned(table: Timetable, at: datetime) -> str | None:
    """Warn that people who are invited now have less time left than `least_time` advises."""
    if table.advised is None or table.latest is not None or at <= table.advised:
        return None
    return "Less time is left before the project ends than invites.least_time advises."
