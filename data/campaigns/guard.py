"""The guard: if many people are gone from a definition, the run stops and a person decides."""

from collections.abc import Mapping

from config.definition.model import Guard
from config.timetable.waves import in_percent
from data.campaigns.changes import Changes, Known


def too_many_gone(
    guard: Guard, changes: Changes, in_ledger: Mapping[str, Known], finished: int = 0
) -> str | None:
    """Say that more people are gone than a definition allows; None if it allows this.

    `finished` counts people who are listed as well, but not in `in_ledger`.
    """
    listed = finished + sum(1 for person in in_ledger.values() if person.listed)
    gone = len(changes.removed)
    if guard.removed is None or not gone or gone < guard.removed * listed:
        return None
    return (
        f"{gone:,} of {listed:,} people are gone from the definition "
        f"(guard removed: {in_percent(guard.removed)})"
    )
