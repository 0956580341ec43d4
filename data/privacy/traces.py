"""Files that still name somebody, found by their content: plain, or packed like workbooks."""

import zipfile
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path

LARGEST = 256 * 2**20  # bytes; no file of ours is longer


def naming(addresses: Iterable[str], places: Iterable[Path]) -> list[Path]:
    """Every file at or under these places that holds one of these addresses, sorted.

    Unreadable files are left out: only their owner can look there.
    """
    wanted = [
        address.lower().encode(code) for address in addresses for code in ("utf-8", "utf-16-le")
    ]
    files = {file.resolve() for place in places for file in _files(place)}
    return sorted(file for file in files if any(_holds(file, written) for written in wanted))


def _files(place: Path) -> Iterator[Path]:
    if place.is_dir():
        yield from (file for file in place.rglob("*") if file.is_file())
    elif place.is_file():
        yield place


def _holds(file: Path, wanted: bytes) -> bool:
    try:
        return any(wanted in content.lower() for content in _contents(file))
    except (OSError, EOFError, zlib.error, zipfile.BadZipFile, NotImplementedError, RuntimeError):
        return False  # not a package after all, or encrypted, or cut off: it cannot be read


def _contents(file: Path) -> Iterator[bytes]:
    if file.stat().st_size > LARGEST:
        return
    yield file.read_bytes()
    if zipfile.is_zipfile(file):
        with zipfile.ZipFile(file) as packed:
            for member in packed.infolist():
                if member.file_size <= LARGEST:
                    yield packed.read(member)
