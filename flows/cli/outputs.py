"""Where `-o` leads: what a command may not write over is refused before anything is written."""

from pathlib import Path
from typing import TYPE_CHECKING

from config.errors import CampaignError

if TYPE_CHECKING:
    from data.store.ledger import Ledger


class Irreplaceable(CampaignError):
    """At the place that was named lies something that must stay."""

    exit_code = 2

    def __init__(self, place: Path, what: str) -> None:
        super().__init__(f"{place} is {what}, so nothing was written. Name another place with -o.")


class NotOurs(CampaignError):
    """There is a file already, and it is no such page of this campaign."""

    exit_code = 2

    def __init__(self, place: Path, what: str, instead: str) -> None:
        super().__init__(
            f"{place} already exists and is not a {what}, so nothing was written. {instead}"
        )


def or_here(typed: Path | None) -> Path | None:
    """Take `-` for standard output, as most programs do: a place of None."""
    return None if typed == Path("-") else typed


def check_output(place: Path | None, ledger: "Ledger") -> None:
    """Refuse to write over what nobody could put back; None is standard output.

    Raises Irreplaceable.
    """
    from data.campaigns import queries
    from flows.cli.irreplaceable import irreplaceable

    if place is None:
        return
    definitions = [
        Path(name)
        for campaign in ledger.read(queries.every_campaign)
        for name in (campaign.definition, campaign.belongs_to)
        if name
    ]
    if (what := irreplaceable(place, Path(ledger.place), definitions)) is not None:
        raise Irreplaceable(place, what)


def check_page(place: Path, kind: str, key: str, *, what: str, instead: str) -> None:
    """Refuse to write over a page that the same command did not write about the same campaign.

    `kind` is the command. Raises NotOurs, CannotWrite.
    """
    from data.own_files import CannotWrite
    from tasks.outputs.page_mark import is_marked

    if not place.is_file():
        return
    try:
        ours = is_marked(place, kind, key)
    except OSError as error:
        raise CannotWrite(place, error.strerror or "it cannot be read") from None
    if not ours:
        raise NotOurs(place, what, instead)
