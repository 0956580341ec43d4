"""The receipt beside a definition: which ledger sent a campaign, and how far it had got.

Pure: what a receipt says, whether it fits this ledger, and what the next one says. One
receipt carries every campaign of its definition, and holds nothing about candidates.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from hashlib import sha256
from typing import Self

from pydantic import AwareDatetime, BaseModel, ConfigDict, NonNegativeInt, ValidationError

from config.service_address import on_this_machine, same_service


class Fit(StrEnum):
    """How a receipt and this ledger fit."""

    FITS = "fits"  # the same ledger, at the same entry or a later one
    ANOTHER_LEDGER = "another ledger"  # the campaign was sent from another ledger
    OLDER_LEDGER = "older ledger"  # the same ledger was at a later entry: this is an old copy
    UNREADABLE = "unreadable"  # nobody can tell


@dataclass(frozen=True, slots=True)
class Reach:
    """How far one campaign has got in a ledger: the number of its last attempt, 0 for none.

    Receipts call these records `ledger`, a UUID. Before a person accepted a receipt that did not
    fit, receipts called them by a name in `earlier`, up to that attempt.
    """

    ledger: str
    attempt: int
    earlier: Mapping[str, int] = field(default_factory=dict)

    def known_by(self, name: str) -> tuple[str, int]:
        """Return `name` and its last attempt if it is an earlier one, or else the current ones."""
        return (name, self.earlier[name]) if name in self.earlier else (self.ledger, self.attempt)


class _Written(BaseModel):
    # An unknown field may mean more than this version understands, so such a receipt is unreadable.
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Entry(_Written):
    """How far one campaign at one service had got, and in which ledger."""

    campaign: str
    service: str  # base URL
    ledger: str  # the UUID by which its records are known (Reach)
    attempt: NonNegativeInt  # number of its last attempt; they are never used twice
    place: str  # where that ledger was, for people
    written: AwareDatetime

    def says(self) -> str:
        """What the entry claims, word for word, without when and where it was written."""
        return f"{self.campaign} at {self.service}, ledger {self.ledger}, entry no. {self.attempt}"


class Receipt(_Written):
    """What one file says.

    `lost` identifies the contents of unreadable files that were replaced since: a campaign without
    an entry of its own may have been in one of them.
    """

    campaigns: tuple[Entry, ...] = ()
    lost: tuple[str, ...] = ()

    @classmethod
    def of(cls, content: bytes) -> Self:
        """Read a file's content. Content that is not a receipt counts as a lost one."""
        try:
            return cls.model_validate_json(content)
        except ValidationError:
            return cls(lost=(f"unreadable, sha256 {sha256(content).hexdigest()}",))

    def content(self) -> bytes:
        """Write it for a file."""
        return self.model_dump_json(indent=1).encode() + b"\n"

    def concerning(self, campaign: str, service: str) -> list[Entry]:
        """Return the entries that a run of this campaign at this service must fit.

        A service on this machine is a sandbox: what was tried there says nothing about the real
        one. Two real addresses may be the same service; nobody can tell.
        """
        return [
            entry
            for entry in self.campaigns
            if entry.campaign == campaign and _same(entry.service, service)
        ]

    def renewed(self, entry: Entry) -> Self:
        """Replace the entries that this entry follows; other campaigns stay as they are."""
        trial = on_this_machine(entry.service)
        others = (
            other
            for other in self.campaigns
            if other.campaign != entry.campaign or on_this_machine(other.service) != trial
        )
        return self.model_copy(update={"campaigns": (*others, entry)})


def fits(entry: Entry, ledger: str, attempt: int) -> Fit:
    """Compare one entry with this ledger, whose last entry is no. `attempt`."""
    if entry.ledger != ledger:
        return Fit.ANOTHER_LEDGER
    return Fit.OLDER_LEDGER if entry.attempt > attempt else Fit.FITS


def _same(service: str, other: str) -> bool:
    tried_here = on_this_machine(service) or on_this_machine(other)
    return same_service(service, other) if tried_here else True
