"""Where receipts lie, and how one is written: whole, on the disk, and one writer at a time."""

import errno
import fcntl
import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path

from platformdirs import user_data_path

from data.receipt import Receipt

LOCK_TIMEOUT = 10.0  # seconds; a receipt is written in a few thousandths of one
# Where a folder cannot be flushed by itself, its file system flushes it with the file.
_NO_FOLDER_FLUSH = (errno.EINVAL, errno.ENOTSUP)


def places(definition: Path) -> tuple[Path, Path]:
    """Where the receipt of a definition lies: `backend.receipt` beside `backend.yaml`, or in the
    user's data directory.

    The definition is followed to where it really is: by every path it is the same campaign.
    """
    beside = definition.resolve().with_suffix(".receipt")
    return beside, in_data_directory(beside)


def in_data_directory(receipt: Path) -> Path:
    """Where a receipt lies when it cannot be written beside its definition."""
    name = sha256(os.fsencode(receipt)).hexdigest()[:32]
    return user_data_path("hiring-campaigns", appauthor=False) / "receipts" / f"{name}.receipt"


def read(path: Path) -> Receipt | None:
    """Read a receipt; None when there is none. One that cannot be read is a lost one."""
    try:
        return Receipt.of(path.read_bytes())
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:
            return None
        return Receipt(lost=(f"unreadable, {error.strerror}",))


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Keep other writers of receipts out of a folder. Raises OSError, TimeoutError among them."""
    number = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        _lock(number)
        yield
    finally:
        os.close(number)  # lets go of the lock


def _lock(number: int) -> None:
    latest = time.monotonic() + LOCK_TIMEOUT
    while True:
        try:
            fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > latest:
                raise TimeoutError(errno.ETIMEDOUT, "another program holds the folder") from None
            time.sleep(0.01)
        except OSError:
            return  # a share that knows no locks: a receipt there is still better than none
        else:
            return


def write(path: Path, receipt: Receipt) -> None:
    """Replace a receipt in one step, durably, for its owner's eyes only. Raises OSError."""
    number, name = tempfile.mkstemp(dir=path.parent, prefix=".receipt-")
    fresh = Path(name)
    try:
        with os.fdopen(number, "wb") as file:
            file.write(receipt.content())
            file.flush()
            os.fsync(file.fileno())
        fresh.replace(path)
    except BaseException:
        fresh.unlink(missing_ok=True)
        raise
    _flush(path.parent)


def _flush(folder: Path) -> None:
    """Bring a new name in a folder to the disk."""
    number = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(number)
    except OSError as error:
        if error.errno not in _NO_FOLDER_FLUSH:
            raise
    finally:
        os.close(number)
