"""When a run of a definition would send its invitations, from the ledger and the clock alone."""

from dataclasses import dataclass

from data.campaigns import send_progress as progress
from data.campaigns.forecast import Foresight, foresee
from data.campaigns.remaining import by_row
from data.campaigns.whose_turn import SendProgress, Waiting
from data.store.ledger import Ledger
from tasks.plan.plan import Plan
from tasks.plan.timing import timetable_of


@dataclass(frozen=True, slots=True)
class Foreseen:
    """The legs of sending; their rows are positions in `keys`, the email keys in the order of
    sending.

    `hurried` counts people who would have less time left than `least_time` advises.
    """

    keys: tuple[str, ...]
    legs: Foresight
    hurried: int


def foreseen(plan: Plan, ledger: Ledger | None) -> Foreseen:
    """Say who would be invited when, if a run began at the plan's moment."""
    table, campaign, at = timetable_of(plan.target), plan.target.known, plan.at
    people = [person for person in by_row(plan.people) if person.invite]
    keys = tuple(person.key for person in people)
    so_far = SendProgress()
    if campaign is not None and ledger is not None:
        so_far = ledger.read(progress.send_progress, campaign.id, campaign.key, table.pilot)
    first = keys.index(table.pilot) if table.pilot in keys else None
    others = [Waiting(row, person.timezone) for row, person in enumerate(people) if row != first]
    pilot = None if first is None else Waiting(first, people[first].timezone)
    legs = foresee(table, pilot, others, so_far, at)
    advised = None if table.latest else table.advised
    hurried = 0
    for leg in legs.legs:
        for place in range(len(leg.rows)):
            hurried += advised is not None and leg.begins + place * table.gap > advised
    return Foreseen(keys, legs, hurried)
