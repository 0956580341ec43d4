"""What no output of a command may replace: nobody could put it back.

The ledger and its parts, any other database, receipts, definitions, and the tables of people that
a campaign is read from.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path

from config.errors import BadInput
from config.reading.own_tables import named_table
from config.reading.sources import YAML, suffix_of

DATABASE = b"SQLite format 3\0"  # how each of its files begins
PARTS = ("-wal", "-shm", "-journal")  # what SQLite keeps beside a database, in its name


def irreplaceable(place: Path, ledger: Path, definitions: Iterable[Path]) -> str | None:
    """Name what is at a place, or will be, and must stay; None if an output may be written there.

    `ledger` is the ledger's file, `definitions` the files that campaigns were last read from.
    """
    if _same(place, ledger):
        return "the ledger"
    if any(_same(place, ledger.with_name(ledger.name + part)) for part in PARTS):
        return "a part of the ledger"
    if suffix_of(place) == ".receipt":
        return "a receipt, or could be mistaken for one"
    if not place.is_file():
        return None
    if _is_database(place) or any(map(_is_database, _without_part(place))):
        return "a database, or a part of one"
    if suffix_of(place) in YAML:
        return "a definition"
    if any(_same(place, own) for own in _read_from(definitions)):
        return "a file that a campaign is read from"
    return None


def _read_from(definitions: Iterable[Path]) -> Iterator[Path]:
    for definition in definitions:
        yield definition
        if suffix_of(definition) in YAML:
            try:
                named = named_table(definition, None)
            except BadInput:
                continue  # gone, or broken: nobody knows what it named
            if named is not None:
                yield named.path


def _without_part(place: Path) -> Iterator[Path]:
    for part in PARTS:
        if place.name.endswith(part) and place.name != part:
            yield place.with_name(place.name.removesuffix(part))


def _is_database(file: Path) -> bool:
    try:
        with file.open("rb") as opened:
            return opened.read(len(DATABASE)) == DATABASE
    except OSError:
        return False


def _same(place: Path, other: Path) -> bool:
    """Whether two names mean one file, by link or path, even if it does not exist yet."""
    try:
        return place.samefile(other)
    except OSError:
        return place.resolve() == other.resolve()
