"""Receipts: what stops a ledger that is not the one that sent last.

Before each part of a campaign is sent its mark grows, in the ledger and then in two small files:
one beside the definition, one in the user's data directory. A ledger behind its receipt, or
another one, sends nothing until a person accepts it. A file's log goes into the file only just
before the mark grows (`Mark.grow`), so a file that lost its log is behind its receipt too.
"""

import fcntl
import os
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Self
from urllib.parse import urlsplit

from platformdirs import user_data_path
from pydantic import AwareDatetime, BaseModel, ConfigDict, NonNegativeInt, ValidationError
from sqlmodel import Session, col, select

from config.errors import CampaignError
from config.settings import is_loopback
from data.store.lease import file_name, lock_file
from data.store.ledger import Ledger, place_of
from data.store.tables import Campaign, Decision, LedgerId, now

ACCEPT = "accept-ledger"  # the word of the decision


class AnotherLedger(CampaignError):
    """{key} was sent from another ledger: {place}, until {written}. This one, {here}, does not know
    who was invited then. Nothing was sent. Set CAMPAIGN_DATABASE_URL to that ledger. If it is lost
    and you know that nobody would be invited twice, accept this one:

    campaign settle {key} --accept-ledger --why TEXT"""

    exit_code = 3


class OlderLedger(CampaignError):
    """The ledger {here} is an older copy: more of {key} was sent since, until {written}, as
    {receipt} says. Nothing was sent. Bring back the newer ledger, with its log (the file that ends
    in -wal). If it is lost and you know that nobody would be invited twice, accept this one:

    campaign settle {key} --accept-ledger --why TEXT"""

    exit_code = 3


class UnreadableReceipt(CampaignError):
    """The receipt {receipt} cannot be read, so nobody can tell whether the ledger {here} is the one
    that sent {key}. Nothing was sent. If it is, accept it:

    campaign settle {key} --accept-ledger --why TEXT"""

    exit_code = 3


class NoReceipt(CampaignError):
    """No receipt of {key} can be written, neither {beside} nor {copy} ({cause}). Without one, an
    old copy of the ledger could invite people again. Nothing more was sent. Make one of the folders
    writable, then run again."""


class _Strict(BaseModel):
    # An unknown field may mean more than this version understands: such a receipt is unreadable.
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Entry(_Strict):
    """How far one campaign at one service had got, and in which ledger."""

    campaign: str
    service: str
    account: str
    ledger: str
    mark: NonNegativeInt
    place: str  # where that ledger was, for people
    written: AwareDatetime

    def concerns(self, key: str, service: str) -> bool:
        """Whether a run must fit it. What was tried on this machine says nothing of elsewhere; of
        two addresses elsewhere nobody can tell that they are not the same service."""
        tried_here = _here(self.service) or _here(service)
        return self.campaign == key and (self.service == service or not tried_here)


class Receipt(_Strict):
    """What one file says; `entries` of several campaigns or services stand side by side."""

    entries: tuple[Entry, ...] = ()

    def renewed(self, entry: Entry) -> Self:
        others = tuple(
            each
            for each in self.entries
            if each.campaign != entry.campaign or _here(each.service) != _here(entry.service)
        )
        return self.model_copy(update={"entries": (*others, entry)})


def check(session: Session, key: str, service: str, file: Path) -> None:
    """Raise AnotherLedger, OlderLedger or UnreadableReceipt where this ledger may not send.

    The campaign may be new to the ledger. `service` is its address, `file` its definition.
    """
    accepted = _accepted(session, key)
    here = _place(session)
    campaign = session.exec(select(Campaign).where(Campaign.key == key)).first()
    mark = campaign.mark if campaign else 0
    uuid = session.exec(select(LedgerId.uuid)).one()
    for path in _places(key, file):
        receipt = _read(path)
        if receipt is None:
            with suppress(OSError):
                changed = datetime.fromtimestamp(path.stat().st_mtime, UTC)
                if accepted is None or changed > accepted:
                    raise UnreadableReceipt(key=key, receipt=path, here=here)
            continue
        for entry in receipt.entries:
            if not entry.concerns(key, service) or (accepted and entry.written <= accepted):
                continue
            told = {"key": key, "written": _shown(entry.written), "here": here}
            if entry.ledger != uuid:
                raise AnotherLedger(**told, place=entry.place)
            if entry.mark > mark:
                raise OlderLedger(**told, receipt=path)


def accept(session: Session, key: str, who: str, why: str) -> None:
    """Let this ledger send the campaign, whatever its receipts said until now."""
    session.add(Decision(who=who, why=why, word=ACCEPT, value={"campaign": key}))


class Mark:
    """The mark of a campaign that this process sends. Grow it before each part; close it after."""

    def __init__(self, ledger: Ledger, campaign_id: int, file: Path) -> None:
        self._ledger, self._campaign_id, self._file = ledger, campaign_id, file
        # Shared by all who send from this ledger, so that nobody else's log is moved in mid-part.
        self._sending = None if ledger.on_a_server else lock_file(ledger.locks, ".sending")

    def grow(self) -> int:
        """Count the mark and write the receipts, on the disk. Raises NoReceipt, LedgerUnusable."""
        if self._sending is not None:
            with suppress(BlockingIOError):  # another campaign is being sent: the log stays
                fcntl.flock(self._sending, fcntl.LOCK_EX | fcntl.LOCK_NB)
                self._ledger.checkpoint()
            fcntl.flock(self._sending, fcntl.LOCK_SH)
        with self._ledger.writing() as session:
            campaign = session.get_one(Campaign, self._campaign_id)
            uuid = session.exec(select(LedgerId.uuid)).one()
            known = [entry.mark for entry in self._entries(campaign.key) if entry.ledger == uuid]
            campaign.mark = max(campaign.mark, *known, 0) + 1
            session.add(campaign)
        entry = Entry(
            campaign=campaign.key,
            service=campaign.service,
            account=campaign.account,
            ledger=uuid,
            mark=campaign.mark,
            place=self._ledger.place,
            written=now(),
        )
        self._write(entry)
        return campaign.mark

    def close(self) -> None:
        if self._sending is not None:
            os.close(self._sending)

    def _entries(self, key: str) -> Iterator[Entry]:
        for path in _places(key, self._file):
            for entry in (_read(path) or Receipt()).entries:
                if entry.campaign == key:
                    yield entry

    def _write(self, entry: Entry) -> None:
        failed: list[OSError] = []
        places = _places(entry.campaign, self._file)
        for path in places:
            receipt = (_read(path) or Receipt()).renewed(entry)
            try:
                _replace(path, receipt.model_dump_json(indent=1).encode() + b"\n")
            except OSError as error:
                failed.append(error)
        if len(failed) == len(places):
            cause = failed[0].strerror
            raise NoReceipt(key=entry.campaign, beside=places[0], copy=places[-1], cause=cause)


def _places(key: str, file: Path) -> tuple[Path, Path]:
    beside = file.resolve()
    copies = user_data_path("hiring-campaigns", appauthor=False) / "receipts"
    return beside.with_name(f"{beside.name}.receipt"), copies / f"{file_name(key)}.receipt"


def _read(path: Path) -> Receipt | None:
    """What a file says, nothing if there is none; None: it cannot be read."""
    try:
        return Receipt.model_validate_json(path.read_bytes())
    except (FileNotFoundError, NotADirectoryError):
        return Receipt()
    except (OSError, ValidationError):
        return None


def _replace(path: Path, content: bytes) -> None:
    """Write a file whole and to the disk, for its owner alone."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    begun = path.with_name(f".{path.name}.{os.getpid()}")
    number = os.open(begun, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        os.write(number, content)
        os.fsync(number)
        begun.replace(path)
    except OSError:
        begun.unlink(missing_ok=True)
        raise
    finally:
        os.close(number)
    folder = os.open(path.parent, os.O_RDONLY)
    with suppress(OSError):  # some file systems flush a folder with its files
        os.fsync(folder)
    os.close(folder)


def _accepted(session: Session, key: str) -> datetime | None:
    """Until when a person accepted what receipts of this campaign say."""
    words = select(Decision).where(Decision.word == ACCEPT).order_by(col(Decision.id).desc())
    return next((d.at for d in session.exec(words) if (d.value or {}).get("campaign") == key), None)


def _place(session: Session) -> str:
    return place_of(session.get_bind().engine.url)


def _here(service: str) -> bool:
    return is_loopback(urlsplit(service).hostname or "")


def _shown(at: datetime) -> str:
    return at.astimezone().strftime("%Y-%m-%d %H:%M:%S")
