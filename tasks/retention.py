"""How long people are kept: a campaign without activity for CAMPAIGN_KEEP is forgotten."""

from datetime import datetime
from pathlib import Path

from config.settings import LocalSettings
from data.decisions.verdicts import NotDecided
from data.own_files import CannotWrite
from data.privacy import forgetting
from data.store.ledger import Ledger
from data.store.states import By
from tasks.outputs.links import WRITTEN_BY_RUNS

WHO, WHY = "CAMPAIGN_KEEP", "kept long enough"


def forget_due(ledger: Ledger, local: LocalSettings, at: datetime) -> list[str]:
    """Forget everybody in the campaigns whose time is over; returns a line about each.

    The time counts from the last run and the last decision. Files that runs wrote are removed
    first: a campaign whose files cannot be removed stays due. Raises LedgerUnusable, CannotWrite.
    """
    if local.keep is None:
        return []
    lines = []
    moment = at - local.keep
    for row, key in ledger.read(forgetting.still_since, moment):
        _remove(local.output_dir / key)
        try:
            people = ledger.write(forgetting.forget_if_still, row, moment, By(WHO, WHY))
        except NotDecided:  # a run that was suspended may still be sending
            continue
        if people:
            lines.append(f"{key}: {people:,} forgotten, as their time was over (CAMPAIGN_KEEP)")
    if lines:
        ledger.rewrite()
    return lines


def _remove(folder: Path) -> None:
    """Remove what runs wrote; raises CannotWrite."""
    for name in WRITTEN_BY_RUNS:
        try:
            (folder / name).unlink(missing_ok=True)
        except OSError as error:
            raise CannotWrite(folder / name, error.strerror or "unknown cause") from None
