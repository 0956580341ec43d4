"""One campaign, one ledger: the receipt is checked before any request, and kept up to date.

An empty ledger, or an old copy of one, would invite everybody again. The receipt shows it.
"""

import socket
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from config.command_line import command
from config.errors import CampaignError
from config.service_address import on_this_machine
from config.timetable.moments import in_zone
from data.receipts import receipt_doubts, receipt_file
from data.receipts.receipt import Entry, Fit, Reach, Receipt, fits
from data.receipts.receipt_file import Places
from data.store.clock import now
from data.store.ledger import Ledger


class AnotherLedger(CampaignError):
    """The receipt names a ledger other than this one."""


class OlderLedger(CampaignError):
    """The ledger was at a later entry than it is now: it is an old copy."""


class UnreadableReceipt(CampaignError):
    """There is a receipt that cannot be read."""


class NoReceipt(CampaignError):
    """No receipt can be written anywhere, and without a receipt nothing may be sent."""


ReceiptFiles = list[tuple[Path, Receipt]]

STOPS = {
    Fit.ANOTHER_LEDGER: AnotherLedger,
    Fit.OLDER_LEDGER: OlderLedger,
    Fit.UNREADABLE: UnreadableReceipt,
}
WAYS_ON = """\
  if another ledger is right: restore it, or name it in CAMPAIGN_DATABASE_URL; then run again
  if this one is right, look at the project in the web application first. Take everybody who is
    invited there, and not here, out of the file; then:
    {accept}
    {then}"""
ANOTHER_CAMPAIGN = """\
  if this is another campaign that happens to have the same key: give it its own key"""
NEW_SANDBOX = """\
  if {service} is a new sandbox, it has invited nobody yet:
    {accept}
    {then}"""
HOW = "which stops as well, and says how to accept this ledger"
NO_COPY = (
    "its copy, {copy}, cannot be written ({why}). Without it, no run notices if ledger and "
    "receipt are lost or restored together. Make that folder writable, or name another one in "
    "XDG_DATA_HOME"
)
A_HOME = "a file in your data directory"
NO_HOME = "neither HOME nor XDG_DATA_HOME names a folder"


@dataclass(frozen=True, slots=True)
class Misfit:
    """A receipt because of which this ledger may not send. `entry` None: it is unreadable."""

    file: Path
    fit: Fit
    says: str
    entry: Entry | None = None


def misfits(
    file: Path, receipt: Receipt, campaign: str, service: str, reach: Reach
) -> Iterator[Misfit]:
    """Find what in one receipt does not fit this ledger."""
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
    """The receipts of one campaign: beside its definition, and in the user's data directory.

    `trouble` says which of the two could not be written, and what that means.
    """

    ledger: Ledger
    places: Places
    campaign: str
    service: str  # base URL
    timezone: str | None = None  # of the campaign
    trouble: str | None = field(default=None, init=False)

    def check(self) -> None:
        """Check that nothing speaks against sending from this ledger.

        Raises AnotherLedger, OlderLedger, UnreadableReceipt, and records it in the ledger, so that
        a person can accept it.
        """
        self._reach_if_fitting(receipts_at(self.places.every))

    def keep(self) -> None:
        """Write down, durably, how far this ledger has got, if nothing speaks against it.

        Raises what `check` raises, and NoReceipt when no receipt can be written.
        """
        beside, copy = self.places.beside, self.places.copy or A_HOME
        not_beside = self._keep_at(beside)
        no_copy = self._keep_at(self.places.copy) if self.places.copy else NO_HOME
        if not_beside and no_copy:
            raise NoReceipt(
                f"Neither {beside} ({not_beside}) nor {copy} ({no_copy}) can be written. "
                "Without a receipt, another ledger could invite everybody again, so nothing more "
                "was sent. Make one of the two folders writable, then run again."
            )
        if not_beside:
            self.trouble = f"{beside} cannot be written ({not_beside}); the receipt is {copy}"
        elif no_copy:
            self.trouble = NO_COPY.format(copy=copy, why=no_copy)

    def _keep_at(self, place: Path) -> str | None:
        """Write one receipt; returns why it cannot be written.

        The ledger's last entry is read under the lock, so an earlier receipt never replaces a later
        one.
        """
        try:
            if place == self.places.copy:
                receipt_file.make_ready(place.parent)
            with receipt_file.locked(place.parent):
                receipts = receipts_at(self.places.every)
                reach = self._reach_if_fitting(receipts)
                entry = Entry(
                    campaign=self.campaign,
                    service=self.service,
                    ledger=reach.ledger,
                    attempt=reach.attempt,
                    place=f"{self.ledger.place} on {socket.gethostname()}",
                    written=now(),
                )
                receipt_file.write(place, dict(receipts).get(place, Receipt()).renewed(entry))
        except OSError as error:
            return error.strerror or "unknown cause"
        return None

    def _reach_if_fitting(self, receipts: ReceiptFiles) -> Reach:
        # After the receipts: a ledger's reach only ever grows.
        reach, doubts = in_doubt(receipts, self.campaign, self.service, self.ledger)
        for misfit in doubts:
            self.ledger.write(receipt_doubts.note, self.campaign, str(misfit.file), misfit.says)
        if doubts:
            raise refusal(doubts, self.campaign, self.ledger.place, reach, self.timezone)
        return reach


def receipts_at(places: Iterable[Path]) -> ReceiptFiles:
    """Read the receipts of a definition at each of their places."""
    return [(path, receipt) for path in places if (receipt := receipt_file.read(path)) is not None]


def doubts_of(receipts: ReceiptFiles, campaign: str, service: str, reach: Reach) -> list[Misfit]:
    """Find what in all receipts does not fit this ledger; the same words count once."""
    doubts: dict[str, Misfit] = {}
    for path, receipt in receipts:
        for misfit in misfits(path, receipt, campaign, service, reach):
            doubts.setdefault(misfit.says, misfit)
    return list(doubts.values())


def in_doubt(
    receipts: ReceiptFiles, campaign: str, service: str, ledger: Ledger
) -> tuple[Reach, list[Misfit]]:
    """How far this ledger has got, and what in the receipts speaks against sending from it, but for
    what a person has accepted.
    """
    reach = ledger.read(receipt_doubts.reach, campaign)
    doubts = doubts_of(receipts, campaign, service, reach)
    if doubts:
        accepted = ledger.read(receipt_doubts.accepted, campaign)
        doubts = [misfit for misfit in doubts if misfit.says not in accepted]
    return reach, doubts


def refusal(
    doubts: list[Misfit],
    campaign: str,
    place: str,
    reach: Reach,
    zone: str | None,
    run: str | None = None,
) -> CampaignError:
    """Say why nothing may be sent from the ledger at `place`, and what to type next: to `run` it,
    where no run has met these doubts yet, as only what a run has met can be accepted.
    """
    got = f"reached entry no. {reach.attempt}" if reach.attempt else "sent nothing"
    then = "and run again" if run is None else HOW

    def accept(why: str) -> str:
        return run or command("settle", campaign, "--accept-ledger", "--why", why)

    lines = [
        *(_in_words(misfit, place, zone) for misfit in doubts),
        f"The ledger you use now, {place}, has {got} for {campaign}. Nothing is sent until this "
        "is resolved: people could be invited twice.",
        WAYS_ON.format(accept=accept("TEXT"), then=then),
    ]
    if any(misfit.fit is Fit.ANOTHER_LEDGER for misfit in doubts):
        lines.append(ANOTHER_CAMPAIGN)
    tried = [misfit.entry.service for misfit in doubts if misfit.entry]
    if tried and on_this_machine(tried[0]):
        anew = accept("a new sandbox")
        lines.append(NEW_SANDBOX.format(accept=anew, service=tried[0], then=then))
    return STOPS[doubts[0].fit]("\n".join(lines))


def _in_words(misfit: Misfit, place: str, zone: str | None) -> str:
    entry = misfit.entry
    if entry is None:
        return f"{misfit.file} should say which ledger this was sent from, but it cannot be read."
    written = in_zone(entry.written, zone)
    got = f"entry no. {entry.attempt} at {entry.service} by {written}"
    if misfit.fit is Fit.OLDER_LEDGER:
        return (
            f"{misfit.file} says that your ledger had reached {got}. Now it has not: it looks "
            "like a restored old copy."
        )
    same = entry.place.rpartition(" on ")[0] == place
    replaced = ", which is no longer there" if same else ""
    return (
        f"{misfit.file} says that {entry.campaign} was sent from another ledger, "
        f"{entry.place}{replaced}. That ledger had reached {got}."
    )
