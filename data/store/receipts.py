"""Receipts: small files that stop a ledger if another ledger, or a newer copy, sent last.

Before a claim, a campaign's mark grows if it has not grown for a hundred steps or a second. Then
two receipts repeat it: one beside the definition, one in the user's data directory. The mark of the
whole ledger grows with it and with each decision, and has a receipt of its own. If a receipt has a
larger mark, names another ledger or is unreadable, nothing is sent until a person accepts the
ledger in spite of exactly these receipts. After a checkpoint of the write-ahead log, the marks grow
before the next claim (`Mark.claiming`). So a ledger's file without its log is behind its receipts.
"""

import fcntl
import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any
from uuid import uuid4

from platformdirs import user_data_path
from pydantic import AwareDatetime, BaseModel, ConfigDict, NonNegativeInt
from sqlmodel import Session, col, func, select

from config.errors import CampaignError, NotAsTyped
from data.store import postgres
from data.store.files import replace
from data.store.lease import file_name, lock_file
from data.store.ledger import Ledger, LedgerGone
from data.store.tables import CAMPAIGN, Campaign, Decision, LedgerId, now

# Words of the journal. REFUSED: receipts stopped the ledger; the value is what they said. ACCEPT: a
# person accepted the ledger in spite of exactly these. SERVER: where a ledger on a server was first
# used, or accepted; a restored dump is elsewhere (postgres.py).
REFUSED, ACCEPT, SERVER = "refuse-ledger", "accept-ledger", "ledger-server"
STEPS, SECONDS = 100, 1.0  # after either, the mark grows again
# Processes that commit claims share this lock. A process that moves the log into the file holds it
# alone, and writes a new sign into it.
CLAIMING, SIGN = ".sending", 16
OF_A_LEDGER = ".ledger"  # the suffix of a whole ledger's receipt
HERE = "http:"  # without TLS, only a service on this machine is spoken to (settings.py)


class NotTheNewest(CampaignError):
    says = """{evidence}. So this ledger, {here}, may not know who of {key} was invited since.
    Nothing was sent. Bring back the newer ledger, with its log (the file that ends in -wal), or
    name it in CAMPAIGN_DATABASE_URL. If it is lost and you know that nobody would be invited
    twice, accept this one:"""
    then = "campaign settle {key} --accept-ledger --why TEXT"
    exit_code = 3


class NothingToAccept(NotAsTyped):
    says = "No receipt of {key} has stopped this ledger. Nothing was changed."
    then = "campaign status"


class NoReceipt(CampaignError):
    says = """No receipt of {key} can be written, neither {beside} nor {copy} ({cause}). Without
    one, an old copy of the ledger could invite people again. Nothing more was sent. Make one of
    the folders writable, then run again."""


class Receipt(BaseModel):
    """The mark that a campaign or a whole ledger had, and which ledger."""

    # An unknown field may mean more than this version understands: such a receipt is unreadable.
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)
    service: str
    ledger: str
    mark: NonNegativeInt
    place: str  # where that ledger was, for people
    written: AwareDatetime


def check(ledger: Ledger, key: str, service: str, file: Path) -> None:
    """Raise NotTheNewest if a receipt stops this ledger, or a database that was restored or moved.

    The campaign may be new to the ledger. `service` is an address, `file` the definition.
    """
    places = (*_places(key, service, file), _of_the_ledger(ledger.uuid()))
    # Read receipts before the ledger: another process commits its mark, then writes the receipt.
    found = [(path, _receipt(path)) for path in places]
    says = [_said(*each) for each in found]
    with ledger.reading() as session:
        accepted = _newest(session, ACCEPT, key) or ()
        new = [each for each, said in zip(found, says, strict=True) if said not in accepted]
        stops = [_against(session, *each, key, service) for each in new]
        server = session.scalar(postgres.IDENTITY) if ledger.on_a_server else ""
        stood = session.exec(select(Decision.value).where(Decision.word == SERVER)).all()
    known = {each for value in stood for each in value["says"]}
    if server and not known:
        _note(ledger, SERVER, "", [server])  # where the ledger is first used
    elif server and server not in known:
        stops.append("The database was restored or moved")
    if evidence := next(filter(None, stops), None):
        _note(ledger, REFUSED, key, [*says, server])
        raise NotTheNewest(evidence=evidence, here=ledger.place, key=key)


def accept(session: Session, key: str, who: str, why: str) -> None:
    """Let this ledger send the campaign in spite of the receipts that stopped it last.

    Raises NothingToAccept.
    """
    if (says := _newest(session, REFUSED, key)) is None:
        raise NothingToAccept(key=key)
    for word, of in ((ACCEPT, key), (SERVER, "")):
        session.add(Decision(who=who, why=why, word=word, value={"campaign": of, "says": says}))
    own, known = _own(session)
    if isinstance(known, Receipt) and _said(_of_the_ledger(own.uuid), known) in says:
        own.mark = max(own.mark, known.mark)  # accepted for every campaign


@contextmanager
def counting_decisions(ledger: Ledger) -> Iterator[Session]:
    """One transaction that writes. A new decision makes the mark grow, so older copies are behind.

    If the ledger is behind its own receipt, or cannot read it, the mark does not grow.
    """
    newest = select(func.max(Decision.id))
    with ledger.writing() as session:
        before = session.scalar(newest)
        yield session
        own, known = _own(session)
        behind = isinstance(known, Exception) or (known is not None and known.mark > own.mark)
        grows = session.scalar(newest) != before and not behind
        own.mark += grows
    if grows:
        _write(ledger, own.uuid, own.mark, [_of_the_ledger(own.uuid)])


def rewrite(ledger: Ledger, waits: Callable[[], None]) -> None:
    """Remove every trace of erased data from the ledger's files. Raises LedgerUnusable.

    This moves the log into the file, which must not happen while a process claims. If this has to
    wait for such a process, it calls `waits` first.
    """
    with ExitStack() as stack:
        if not ledger.on_a_server:
            claiming = stack.enter_context(os.fdopen(lock_file(ledger.locks, CLAIMING)))
            try:
                fcntl.flock(claiming, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                waits()
                fcntl.flock(claiming, fcntl.LOCK_EX)
            os.pwrite(claiming.fileno(), uuid4().bytes, 0)
        ledger.rewrite()


class Mark:
    """The mark of a campaign that this process sends; close it when done.

    `last` is its latest value: a ledger with a smaller mark was restored since. `claimed` counts
    all steps given to `claiming`, even those that were not due any more.
    """

    def __init__(self, ledger: Ledger, campaign_id: int, file: Path) -> None:
        self.last = self.claimed = 0
        self._ledger, self._campaign_id, self._file = ledger, campaign_id, file
        self._left, self._until = 0, 0.0  # how many more steps may be claimed, and until when
        self._lock = None if ledger.on_a_server else lock_file(ledger.locks, CLAIMING)
        self._sign = b""  # the lock's sign when the mark last grew

    @contextmanager
    def claiming(self, steps: int) -> Iterator[None]:
        """Claim so many steps in one commit; the mark grows first if that is due.

        Raises NoReceipt, LedgerUnusable, LedgerGone.
        """
        try:
            if self._left < steps or time.monotonic() > self._until:
                self.grow()
                self._left, self._until = max(STEPS, steps), time.monotonic() + SECONDS
            elif self._lock is not None:
                fcntl.flock(self._lock, fcntl.LOCK_SH)
                if os.pread(self._lock, SIGN, 0) != self._sign:
                    self._grow()
            self._left -= steps
            self.claimed += steps
            yield
        finally:
            if self._lock is not None:
                fcntl.flock(self._lock, fcntl.LOCK_UN)

    def grow(self) -> int:
        """Move the log into the file unless a process claims. Then let the mark grow and write the
        receipts. Nobody else moves the log until `claiming` ends, or `close`.

        Raises NoReceipt, LedgerUnusable, LedgerGone.
        """
        if self._lock is not None:
            with suppress(BlockingIOError):
                fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                os.pwrite(self._lock, uuid4().bytes, 0)
                self._ledger.checkpoint()
            fcntl.flock(self._lock, fcntl.LOCK_SH)
        self._grow()
        return self.last

    def _grow(self) -> None:
        sign = os.pread(self._lock, SIGN, 0) if self._lock is not None else b""
        with self._ledger.writing() as session:
            campaign = session.get(Campaign, self._campaign_id)
            if campaign is None or campaign.mark < self.last:
                raise LedgerGone(place=self._ledger.place)
            own, whole = _own(session)
            places = _places(campaign.key, campaign.service, self._file)
            of: list[tuple[Any, Any]] = [(own, whole), *((campaign, _receipt(p)) for p in places)]
            for row, known in of:
                if isinstance(known, Receipt) and known.ledger == own.uuid:
                    row.mark = max(row.mark, known.mark)  # an older copy was accepted
            campaign.mark += 1
            own.mark += 1
        self.last, self._sign = campaign.mark, sign
        failed = _write(self._ledger, own.uuid, campaign.mark, places, campaign.service)
        if len(failed) == len(places):
            beside, copy = places
            raise NoReceipt(key=campaign.key, beside=beside, copy=copy, cause=failed[0].strerror)
        _write(self._ledger, own.uuid, own.mark, [_of_the_ledger(own.uuid)])

    def close(self) -> None:
        if self._lock is not None:
            os.close(self._lock)


def _own(session: Session) -> tuple[LedgerId, "Receipt | Exception | None"]:
    """The ledger's own row, and what its receipt says."""
    own = session.exec(select(LedgerId)).one()
    return own, _receipt(_of_the_ledger(own.uuid))


def _places(key: str, service: str, file: Path) -> tuple[Path, Path]:
    """The paths of a campaign's receipts. A service on this machine (a sandbox) has its own."""
    name = f"{file_name(key)}{'.tried' if service.startswith(HERE) else ''}.receipt"
    return file.resolve().with_name(name), _copy(name)


def _of_the_ledger(uuid: str) -> Path:
    return _copy(f"{uuid}{OF_A_LEDGER}")


def _copy(name: str) -> Path:
    return user_data_path("hiring-campaigns", appauthor=False) / "receipts" / name


def _receipt(path: Path) -> Receipt | Exception | None:
    """Read a receipt: the receipt, the error, or None if there is none."""
    try:
        return Receipt.model_validate_json(path.read_bytes())
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError) as error:
        return error


def _write(
    ledger: Ledger, uuid: str, mark: int, places: Sequence[Path], service: str = ""
) -> list[OSError]:
    """Write the same receipt to each place. Returns the errors."""
    receipt = Receipt(service=service, ledger=uuid, mark=mark, place=ledger.place, written=now())
    failed: list[OSError] = []
    for path in places:
        try:
            replace(path, receipt.model_dump_json(indent=1).encode() + b"\n")
        except OSError as error:
            failed.append(error)
    return failed


def _against(
    session: Session, path: Path, receipt: Receipt | Exception | None, key: str, service: str
) -> str | None:
    """What a receipt says against this ledger, if anything."""
    if isinstance(receipt, Exception):
        return f"The receipt {path} cannot be read"
    whole = path.suffix == OF_A_LEDGER
    # Two addresses on this machine are two services; two real ones may be the same service.
    if receipt is None or (service.startswith(HERE) and receipt.service != service and not whole):
        return None
    until = f"until {receipt.written.astimezone():%Y-%m-%d %H:%M:%S}"
    if receipt.ledger != session.exec(select(LedgerId.uuid)).one():
        return f"{key} was sent from another ledger, {receipt.place}, {until}"
    of_the_key = select(CAMPAIGN.c.mark).where(CAMPAIGN.c.key == key)
    mark = session.scalar(select(LedgerId.mark) if whole else of_the_key) or 0
    more = f"more was sent{' or decided' if whole else ''}, {until}"
    return f"The receipt {path} says that {more}" if receipt.mark > mark else None


def _said(path: Path, receipt: Receipt | Exception | None) -> str:
    if not isinstance(receipt, Receipt):
        return f"{path}: {receipt}" if receipt else ""
    of = "ledger " if path.suffix == OF_A_LEDGER else ""
    return f"{of}{receipt.ledger} {receipt.mark}"


def _newest(session: Session, word: str, key: str) -> list[str] | None:
    """What the receipts of a campaign said when this word was last written about it."""
    words = select(Decision.value).where(Decision.word == word).order_by(col(Decision.id).desc())
    values = (value for value in session.exec(words) if (value or {}).get("campaign") == key)
    return next((value.get("says", []) for value in values), None)


def _note(ledger: Ledger, word: str, key: str, says: list[str]) -> None:
    with ledger.writing() as session:
        if _newest(session, word, key) != says:
            value = {"campaign": key, "says": says}
            session.add(Decision(who="campaign", word=word, value=value))
