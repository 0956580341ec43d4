"""Where `-o` leads. What nobody could put back is never written over: the ledger and its parts, any
other database, receipts, definitions, and the tables of people that a campaign is read from.
"""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from config.errors import BadInput
from flows.cli.ledgers import files_read
from flows.words.complaints import Mistyped

if TYPE_CHECKING:
    from data.store.ledger import Ledger

DATABASE = b"SQLite format 3\0"  # how each of its files begins
PARTS = ("-wal", "-shm", "-journal")  # what SQLite keeps beside a database, in its name
DASH = Path("-")
ELSEWHERE = "Name another place with -o."


def output_option(what: str, metavar: str = "FILE") -> Any:
    """The option `-o`; `-` is standard output, as for most programs: a place of None."""
    return typer.Option(
        *("--output", "-o"),
        metavar=metavar,
        callback=lambda typed: None if typed == DASH else typed,
        help=what,
    )


def check_output(place: Path | None, ledger: "Ledger") -> None:
    """Refuse to write over what nobody could put back; None is standard output.

    Raises Mistyped.
    """
    if place is None:
        return
    if (what := irreplaceable(place, Path(ledger.place), files_read(ledger))) is not None:
        raise Mistyped(f"{place} is {what}, so nothing was written. {ELSEWHERE}")


def check_ours(
    place: Path | None, is_ours: Callable[[Path], bool], *, what: str, instead: str = ELSEWHERE
) -> None:
    """Refuse to write over a file that the same command did not write; None is standard output.

    Raises Mistyped, CannotWrite.
    """
    from data.own_files import CannotWrite

    if place is None or not place.is_file():
        return
    try:
        if is_ours(place):
            return
    except OSError as error:
        raise CannotWrite(place, error.strerror or "it cannot be read") from None
    raise Mistyped(f"{place} already exists and is not a {what}, so nothing was written. {instead}")


def irreplaceable(place: Path, ledger: Path, definitions: Iterable[Path]) -> str | None:
    """Name what is at a place, or will be, and must stay; None if an output may be written there.

    `ledger` is the ledger's file, `definitions` the files that campaigns were last read from.
    """
    from config.reading.sources import YAML, suffix_of

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
    from config.reading.own_tables import named_table
    from config.reading.sources import YAML, suffix_of

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
