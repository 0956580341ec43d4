"""The bytes and text of a file that a person named, or a sentence that says why not."""

import re
import time
from collections.abc import Sequence
from pathlib import Path

from config.errors import BadInput
from config.mistakes import Place
from config.workbooks.content import encoding_of

# A table of 100,000 people has 10 MB.
LARGEST = 48 * 2**20
# In seconds. A program that writes a file in place leaves it unfinished between two writes. A file
# counts as whole once nobody has touched it for `REST`; we wait for that for `PATIENCE` at most.
REST = 0.5
PATIENCE = 5.0
NO_SUCH_FILE = "there is no such file"
EMPTY = "the file is empty"
FOLDER = "this is a folder, wanted a file"
NOT_ORDINARY = "this is not an ordinary file"
BINARY = "this is a binary file, wanted text; save it as UTF-8"
NOT_TEXT = "this is not text in UTF-8; save the file as UTF-8"
WRITTEN_NOW = "this file is being written right now, so it was not read; wait until it is saved"
# A settings file begins with NAME=value, perhaps after comments; our own settings may be anywhere
# in it. A table may begin with SEP=.
SECRETS = re.compile(
    r"\A(?:[ \t]*(?:#[^\n]*|\r)?\n)*[ \t]*(?:export +)?(?!SEP=)[A-Z][A-Z0-9_]*="
    r"|^[ \t]*(?:export +)?(?:ASSESSMENT|assessment)_\w+ *=|^-----BEGIN ",
    re.MULTILINE,
)
# Old programs for Windows end a text with it.
END_MARK = re.compile(r"\x1a(?<=[\r\n]\x1a)\s*\Z")
HOLDS_SECRETS = (
    "this file holds settings or a key, so none of it is shown; wanted a definition or a table"
)


def file_bytes(path: Path) -> bytes:
    """Read a whole file, once nobody is writing it.

    Raises BadInput if it is missing, empty, not a file, too large, or written all the time.
    """
    place = Place(str(path))
    try:
        if path.is_dir():
            raise BadInput.at(place, FOLDER)
        if not path.exists():
            raise BadInput.at(place, NO_SUCH_FILE)
        if not path.is_file():
            # Reading a device or a pipe might never end.
            raise BadInput.at(place, NOT_ORDINARY)
        if path.stat().st_size > LARGEST:
            raise BadInput.at(place, f"this file is larger than {LARGEST // 2**20} MB")
        data = _read_at_rest(path)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else None
        raise BadInput.at(
            place, f"this file cannot be read: {reason or 'not a file name'}"
        ) from None
    if not data.strip():
        raise BadInput.at(place, EMPTY)
    return data


def _read_at_rest(path: Path) -> bytes:
    """Read the file between two checks that find it unchanged, untouched for `REST`. Raises
    BadInput.
    """
    until = time.monotonic() + PATIENCE
    seen = None
    while True:
        before = _look(path)
        data = path.read_bytes()
        after = _look(path)
        *_, size, written, changed = after
        age = time.time() - max(written, changed) / 1e9
        # A time in the future was set by another clock: then only a second check can tell.
        rests = age >= REST or before == seen
        if before == after and len(data) >= size and rests:
            return data
        if time.monotonic() >= until:
            raise BadInput.at(Place(str(path)), WRITTEN_NOW)
        seen = after
        time.sleep(REST)


def _look(path: Path) -> tuple[int, int, int, int, int]:
    """What shows that a file is replaced or written: its identity, its size, its times (ns)."""
    stat = path.stat()
    return stat.st_dev, stat.st_ino, stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns


def decoded(data: bytes, file: str, encodings: Sequence[str]) -> str:
    """Decode by the byte-order mark, or else by the first of some encodings that fits.

    Raises BadInput with the line on which the text cannot be decoded, and for a text with secrets,
    because messages about a table quote it.
    """
    marked = list(filter(None, [encoding_of(data)]))
    if not marked and b"\0" in data:
        raise BadInput.at(Place(file), BINARY)
    line = 1
    for encoding in marked or encodings:
        try:
            text = END_MARK.sub("", data.decode(encoding))
        except UnicodeDecodeError as error:
            line = data.count(b"\n", 0, error.start) + 1
            continue
        if SECRETS.search(text, 0, 65536):
            raise BadInput.at(Place(file), HOLDS_SECRETS)
        return text
    raise BadInput.at(Place(file, line), NOT_TEXT)
