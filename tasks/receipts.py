"""One campaign, one ledger: the receipt is looked at before any request, and kept on the way.

An empty ledger, or an old copy of one, would invite everybody again. The receipt is what tells.
"""

import socket
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from config.errors import CampaignError
from data import receipt_file
from data.ledger import Ledger, now
from data.own_files import make_folder
from data.receipt import Entry, Fit, Reach, Receipt, fits


class AnotherLedger(CampaignError):
    """The receipt names a ledger that is not the one in hand."""


class OlderLedger(CampaignError):
    """The ledger in hand had got further than it knows: it is an old copy."""


class UnreadableReceipt(CampaignError):
    """There is a receipt and nobody can tell what it says."""


class NoReceipt(CampaignError):
    """A receipt can be written nowhere; without one nothing may be sent."""


Found = list[tuple[Path, Receipt]]

STOPS = {
    Fit.ANOTHER_LEDGER: AnotherLedger,
    Fit.OLDER_LEDGER: OlderLedger,
    Fit.UNREADABLE: UnreadableReceipt,
}
WAYS_ON = """\
  if another ledger is right: restore it, or name it in CAMPAIGN_DATABASE_URL; then type the same
    command again
  if this one is right, after a look at the project in the web application:
    campaign settle {campaign} --accept-ledger --why "…"  and then the same command"""


@dataclass(frozen=True, slots=True)
class Misfit:
    """A receipt beside which the ledger in hand may not send. `entry` None: it is unreadable."""

    file: Path
    fit: Fit
    says: str
    entry: Entry | None = None


def misfits(
    file: Path, receipt: Receipt, campaign: str, service: str, reach: Reach
) -> Iterator[Misfit]:
    """Find what in one receipt does not go with the ledger in hand."""
    entries = receipt.concerning(campaign, service)
    for entry in entries:
        fit = fits(entry, *reach.known_by(entry.ledger))
        if fit is not Fit.FITS:
            yield Misfit(file, fit, entry.says(), entry)
    if not entries:
        for lost in receipt.lost:
            yield Misfit(file, Fit.UNREADABLE, lost)


@dataclass(slots=True)
class Receipts:
    """The receipts of one campaign: beside its definition, else in the user's data directory.

    `elsewhere` says where the receipt is, and why, once it had to be written there.
    """

    ledger: Ledger
    definition: Path
    campaign: str
    service: str  # base URL
    elsewhere: str | None = field(default=None, init=False)
    _places: tuple[Path, Path] = field(init=False)

    def __post_init__(self) -> None:
        self._places = receipt_file.places(self.definition)

    def check(self) -> None:
        """See that nothing speaks against sending from this ledger.

        Raises AnotherLedger, OlderLedger, UnreadableReceipt, and leaves a note of it in the
        ledger, so that a person can accept what was found.
        """
        self._reach_if_fitting(found_at(self._places))

    def keep(self) -> None:
        """Write down, durably, how far this ledger has got, if nothing speaks against it.

        Raises what `check` raises, and NoReceipt when no receipt can be written.
        """
        try:
            self._keep_at(self._places[0])
        except OSError as error:
            self._keep_in_data_directory(error)

    def _keep_in_data_directory(self, why: OSError) -> None:
        place, other = self._places
        try:
            make_folder(other.parent)
            self._keep_at(other)
        except OSError as error:
            raise NoReceipt(
                f"Neither {place} ({why.strerror}) nor {other} ({error.strerror}) can be written. "
                "Without a receipt another ledger could invite everybody again, so nothing more "
                "was sent. Make one of the two folders writable, then type the same command again."
            ) from None
        self.elsewhere = f"{place} cannot be written ({why.strerror}); the receipt is {other}"

    def _keep_at(self, place: Path) -> None:
        """How far the ledger is gets read under the lock: a nearer receipt never replaces a
        further one."""
        with receipt_file.locked(place.parent):
            found = found_at(self._places)
            reach = self._reach_if_fitting(found)
            entry = Entry(
                campaign=self.campaign,
                service=self.service,
                ledger=reach.ledger,
                attempt=reach.attempt,
                place=f"{self.ledger.place} on {socket.gethostname()}",
                written=now(),
            )
            receipt_file.write(place, dict(found).get(place, Receipt()).renewed(entry))

    def _reach_if_fitting(self, found: Found) -> Reach:
        reach = self.ledger.reach(self.campaign)  # after the receipts: it only ever grows
        doubts = doubts_of(found, self.campaign, self.service, reach)
        if doubts:
            accepted = self.ledger.accepted_receipts(self.campaign)
            doubts = [misfit for misfit in doubts if misfit.says not in accepted]
        for misfit in doubts:
            self.ledger.doubt_receipt(self.campaign, str(misfit.file), misfit.says)
        if doubts:
            raise refusal(doubts, self.campaign, self.ledger.place, reach)
        return reach


def found_at(places: Iterable[Path]) -> Found:
    """Read the receipts of a definition at each of their places."""
    return [(path, receipt) for path in places if (receipt := receipt_file.read(path)) is not None]


def doubts_of(found: Found, campaign: str, service: str, reach: Reach) -> list[Misfit]:
    """Find what in all of them does not go with the ledger in hand."""
    return [
        misfit
        for path, receipt in found
        for misfit in misfits(path, receipt, campaign, service, reach)
    ]


def refusal(doubts: list[Misfit], campaign: str, place: str, reach: Reach) -> CampaignError:
    """Say why nothing may leave from the ledger at `place`, and what to type about it."""
    got = f"got to entry no. {reach.attempt}" if reach.attempt else "sent nothing"
    said = [
        *(_in_words(misfit, place) for misfit in doubts),
        f"The ledger in hand, {place}, has {got} for {campaign}. "
        "Nothing leaves while that is open: people could be invited twice.",
        WAYS_ON.format(campaign=campaign),
    ]
    return STOPS[doubts[0].fit]("\n".join(said))


def _in_words(misfit: Misfit, place: str) -> str:
    entry = misfit.entry
    if entry is None:
        return f"{misfit.file} may say from which ledger this was sent, but cannot be read."
    written = f"{entry.written.astimezone():%Y-%m-%d %H:%M}"
    got = f"entry no. {entry.attempt} at {entry.service} when that was written, {written}"
    if misfit.fit is Fit.OLDER_LEDGER:
        return (
            f"{misfit.file} says that this very ledger had got to {got}: the one in hand looks "
            "like an old copy that was put back."
        )
    same = entry.place.rpartition(" on ")[0] == place
    replaced = ", which is no longer the one at that place" if same else ""
    return (
        f"{misfit.file} says that {entry.campaign} was sent from another ledger, "
        f"{entry.place}{replaced}, which had got to {got}."
    )
