"""Where receipts are, and how they are written: whole, to the disk, by one writer at a time."""

import errno
import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from platformdirs import user_data_path

from config.service_address import canonical
from data.own_files import make_folder, replace
from data.receipts.receipt import Receipt

LOCK_TIMEOUT = 10.0  # seconds; a receipt is written in a few thousandths of one
# If a folder cannot be flushed separately, its file system flushes it with the file.
_NO_FOLDER_FLUSH = (errno.EINVAL, errno.ENOTSUP)


@dataclass(frozen=True, slots=True)
class Places:
    """Where the receipts of one campaign are: `backend.receipt` beside `backend.yaml`, and a copy
    in the user's data directory.

    The copy is found by campaign and service, whatever happens to folders and names, so it shows if
    a receipt was deleted, renamed or restored together with its ledger. None: the user has no such
    directory. `by_path` is where earlier versions kept a receipt that could not be beside its
    definition.
    """

    beside: Path
    copy: Path | None = None
    by_path: Path | None = None

    @property
    def every(self) -> tuple[Path, ...]:
        """All of them, the nearest first."""
        return tuple(path for path in (self.beside, self.copy, self.by_path) if path is not None)


def places(definition: Path, campaign: str, service: str) -> Places:
    """Return where the receipts of a campaign are; `service` is its base URL.

    Links to the definition are resolved: it is the same campaign by every path.
    """
    beside = definition.resolve().with_suffix(".receipt")
    try:
        folder = user_data_path("hiring-campaigns", appauthor=False) / "receipts"
    except RuntimeError:  # this user's home is not known
        return Places(beside)
    by_name, by_path = f"{campaign}\0{canonical(service)}".encode(), os.fsencode(beside)
    return Places(beside, folder / _file(by_name), folder / _file(by_path))


def _file(name: bytes) -> str:
    return f"{sha256(name).hexdigest()[:32]}.receipt"


def read(path: Path) -> Receipt | None:
    """Read a receipt; None when there is none. One that cannot be read is a lost one."""
    try:
        return Receipt.of(path.read_bytes())
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG or _out_of_reach(path):
            return None
        return Receipt(lost=(f"unreadable, {error.strerror}",))


def _out_of_reach(path: Path) -> bool:
    """Whether a folder on the path is closed to this user, so no file in it is theirs."""
    try:
        path.lstat()
    except PermissionError:
        return True
    return False


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Keep other writers of receipts out of a folder. Raises OSError, TimeoutError among them."""
    number = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        _lock(number)
        yield
    finally:
        os.close(number)  # releases the lock


def _lock(number: int) -> None:
    latest = time.monotonic() + LOCK_TIMEOUT
    while True:
        try:
            fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > latest:
                raise TimeoutError(
                    errno.ETIMEDOUT, "another program has locked the folder"
                ) from None
            time.sleep(0.01)
        except OSError:
            return  # a share without locks: a receipt there is still better than none
        else:
            return


def make_ready(folder: Path) -> None:
    """Make the folder of the copies, durably, for its owner alone. Raises OSError."""
    missing = [path for path in (folder, *folder.parents) if not path.exists()]
    make_folder(folder)
    for made in missing:
        _flush(made.parent)


def write(path: Path, receipt: Receipt) -> None:
    """Replace a receipt in one step, durably, readable by its owner only. Raises OSError."""
    replace(path, [receipt.content()])
    _flush(path.parent)


def _flush(folder: Path) -> None:
    """Flush a new name in a folder to the disk."""
    number = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(number)
    except OSError as error:
        if error.errno not in _NO_FOLDER_FLUSH:
            raise
    finally:
        os.close(number)
