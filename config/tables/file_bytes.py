"""The bytes and text of a file that a person named, or a sentence that says why not."""

import re
import time
from collections.abc import Sequence
from pathlib import Path

from config.errors import BadInput
from config.mistakes import Mistake, Place
from config.workbooks.content import encoding_of

# A table of 100,000 people has 10 MB.
LARGEST = 48 * 2**20
# In seconds. Programs that write a file in place leave it half there between two writes: it counts
# as whole once nobody has touched it for so long, and is waited for, up to the second number.
REST = 0.5
PATIENCE = 5.0
WRITTEN_NOW = "this file is being written right now, so it was not read; save it first"
# Settings begin with NAME=value, perhaps after comments; our own may stand anywhere. SEP= is how
# a table may begin.
SECRETS = re.compile(
    r"\A(?:[ \t]*(?:#[^\n]*|\r)?\n)*[ \t]*(?:export +)?(?!SEP=)[A-Z][A-Z0-9_]*="
    r"|^[ \t]*(?:export +)?(?:ASSESSMENT|assessment)_\w+ *=|^-----BEGIN ",
    re.MULTILINE,
)
HOLDS_SECRETS = (
    "this file holds settings or a key, so none of it is shown; wanted a definition or a table"
)


def file_bytes(path: Path) -> bytes:
    """Read a whole file, once it is at rest.

    Raises BadInput for what is missing, empty, no file, too large, or written all the time.
    """
    try:
        if path.is_dir():
            raise _refused(path, "this is a folder, wanted a file")
        if not path.exists():
            raise _refused(path, "there is no such file")
        if not path.is_file():
            # Reading a device or a pipe might never end.
            raise _refused(path, "this is not an ordinary file")
        if path.stat().st_size > LARGEST:
            raise _refused(path, f"this file is larger than {LARGEST // 2**20} MB")
        data = _read_at_rest(path)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else None
        raise _refused(path, f"this file cannot be read: {reason or 'not a file name'}") from None
    if not data.strip():
        raise _refused(path, "the file is empty")
    return data


def _read_at_rest(path: Path) -> bytes:
    """Read between two looks that find the same file, untouched for `REST`. Raises BadInput."""
    until = time.monotonic() + PATIENCE
    seen = None
    while True:
        before = _look(path)
        data = path.read_bytes()
        after = _look(path)
        *_, size, written, changed = after
        age = time.time() - max(written, changed) / 1e9
        # A time in the future was set by another clock: there only a second look tells.
        rests = age >= REST or before == seen
        if before == after and len(data) >= size and rests:
            return data
        if time.monotonic() >= until:
            raise _refused(path, WRITTEN_NOW)
        seen = after
        time.sleep(REST)


def _look(path: Path) -> tuple[int, int, int, int, int]:
    """What tells that a file is replaced or written: which it is, its size, its times (ns)."""
    stat = path.stat()
    return stat.st_dev, stat.st_ino, stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns


def decoded(data: bytes, file: str, encodings: Sequence[str]) -> str:
    """Decode by the byte-order mark, else by the first of some encodings that fits.

    Raises BadInput with the line on which the text ends to be one, and for a text of secrets:
    complaints about a table quote it.
    """
    marked = list(filter(None, [encoding_of(data)]))
    if not marked and b"\0" in data:
        message = "this is a binary file, wanted text; save it as UTF-8"
        raise BadInput([Mistake(Place(file), message=message)])
    line = 1
    for encoding in marked or encodings:
        try:
            text = data.decode(encoding)
        except UnicodeDecodeError as error:
            line = data.count(b"\n", 0, error.start) + 1
            continue
        if SECRETS.search(text, 0, 65536):
            raise BadInput([Mistake(Place(file), message=HOLDS_SECRETS)])
        return text
    message = "this is not text in UTF-8; save the file as UTF-8"
    raise BadInput([Mistake(Place(file, line), message=message)])


def _refused(path: Path, message: str) -> BadInput:
    return BadInput([Mistake(Place(str(path)), message=message)])
