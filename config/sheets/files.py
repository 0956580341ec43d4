"""Read a file that a person named, and tell the format of a table."""

import re
import time
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path

from config.errors import BadInput, Place

LARGEST = 48 * 2**20  # bytes; a table of 100,000 people has 10 MB
# Seconds. Another program may still be writing a file: it counts as whole when it has not changed
# for `REST`. Reading waits for that, but at most for `PATIENCE`.
REST = 0.5
PATIENCE = 5.0


class Format(Enum):
    """The format of a table, told from its content, not from the name of the file."""

    TEXT = "text"  # csv, tsv
    WORKBOOK = "workbook"  # .xlsx, .xlsm
    PAGE = "page"  # HTML, which many systems export as .xls


@dataclass(frozen=True)
class Source:
    """A file, read once: all that makes a table of it works on these bytes."""

    file: Path
    data: bytes = field(repr=False)
    encoding: str | None = None  # of a text that is not Unicode, which is a mistake without it

    @property
    def format(self) -> Format:
        """Tell the format. Raises BadInput with what to do if this is no table."""
        head = self.data[:4096]
        why_not = next((why for begins, why in _REFUSED if re.match(begins, head, re.DOTALL)), None)
        if why_not and "EncryptedPackage".encode("utf-16-le") in self.data:
            why_not = "this workbook is protected by a password; save it without one"
        if why_not:
            raise BadInput.at(Place(self.file), why_not)
        if head.startswith(b"PK\x03\x04"):
            return Format.WORKBOOK
        text = head.decode(marked_encoding(self.data) or "latin-1", "replace")
        return Format.PAGE if text.lstrip("\ufeff \r\n\t").startswith("<") else Format.TEXT


def read_file(file: Path, encoding: str | None = None) -> Source:
    """Read a whole file, when nobody is writing it. Raises BadInput, also if it is missing."""
    why_not = "this file cannot be read"
    try:
        str(file).encode()  # raises ValueError for a name that is no Unicode
        if not file.is_file():  # reading a device or a pipe might never end
            missing = "there is no such file; if it was moved, name its new place"
            why_not = "this is a folder or a device" if file.exists() else missing
        elif file.stat().st_size > LARGEST:
            why_not = f"this file is larger than {LARGEST // 2**20} MB"
        elif (data := _at_rest(file)) is None:
            why_not = "this file is being written right now, so it was not read; try again later"
        elif not data.strip(b"\0 \r\n\t\xef\xbb\xbf\xff\xfe"):
            why_not = "this file is empty"
        else:
            return Source(file, data, encoding)
    except (OSError, ValueError) as error:
        why_not += "; rename it" if isinstance(error, UnicodeError) else ""
        why_not += f": {error.strerror}" if isinstance(error, OSError) and error.strerror else ""
    raise BadInput.at(Place(file), why_not)


def marked_encoding(data: bytes) -> str | None:
    """The encoding of a text, if a byte-order mark shows it."""
    return next((encoding for mark, encoding in _MARKS if data.startswith(mark)), None)


def _at_rest(file: Path) -> bytes | None:
    """Read the file while it does not change; None if it keeps changing."""
    until = time.monotonic() + PATIENCE
    while time.monotonic() <= until:
        before, data, after = file.stat(), file.read_bytes(), file.stat()
        same = (before.st_size, before.st_mtime_ns) == (len(data), after.st_mtime_ns)
        # `abs`: the clock of another machine may have written a time in the future.
        if same and abs(time.time() - after.st_mtime) >= REST:
            return data
        time.sleep(REST)
    return None


SAVE_AS = "open it in a spreadsheet program and save it as .xlsx"
TOO_LARGE = "this file takes too much time or memory; copy its people to a new one, or to a .csv"
_REFUSED = (
    (rb"\xd0\xcf\x11\xe0|\W*<\?xml.*<(ss:)?Workbook", f"this is an old .xls workbook; {SAVE_AS}"),
    (rb"PK.{28}mimetypeapplication/vnd\.oasis", f"this is an OpenDocument file; {SAVE_AS}"),
    (rb"%PDF", "this is a PDF; export the table as .xlsx or .csv instead"),
)
_MARKS = ((b"\xef\xbb\xbf", "utf-8-sig"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"))
