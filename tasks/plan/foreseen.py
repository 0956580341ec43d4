"""When a run of a definition would send its invitations, from the ledger and the clock alone."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime

from config.definition.model import Definition
from data.campaigns import send_progress as progress
from data.campaigns.forecast import Foresight, foresee
from data.campaigns.remaining import Changes, Known, waiting
from data.campaigns.turns import SendProgress, Waiting
from data.store.ledger import Ledger
from data.store.tables import Campaign


@dataclass(frozen=True, slots=True)
class Foreseen:
    """The legs of sending, whose rows are places in `keys`: email keys in the order of sending.

    `hurried` counts those who would have less time left than the definition would like.
    """

    keys: tuple[str, ...]
    legs: Foresight
    hurried: int


def foreseen(
    definition: Definition,
    campaign: Campaign | None,
    known: Mapping[str, Known],
    changes: Changes,
    held: Collection[str],
    ledger: Ledger | None,
    at: datetime,
) -> Foreseen:
    """Say who would be invited when, if a run began `at` a moment (aware)."""
    table = definition.invites.timetable
    people = waiting(definition, changes, known, held)
    keys = tuple(key for key, _ in people)
    so_far = SendProgress()
    if campaign is not None and ledger is not None:
        so_far = ledger.read(progress.send_progress, campaign.id, campaign.key, table.pilot)
    first = keys.index(table.pilot) if table.pilot in keys else None
    others = [Waiting(row, zone) for row, (_, zone) in enumerate(people) if row != first]
    pilot = None if first is None else Waiting(first, people[first][1])
    legs = foresee(table, pilot, others, so_far, at)
    advised = None if table.latest else table.advised
    hurried = 0
    for leg in legs.legs:
        for place in range(len(leg.rows)):
            hurried += advised is not None and leg.begins + place * table.gap > advised
    return Foreseen(keys, legs, hurried)
