"""The campaigns of a folder: which of its files describe campaigns, and what is wrong with them."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path

from config.definition.model import Definition
from config.errors import BadInput
from config.mistakes import Mistake, Place
from config.reading.reading import Reading, judged
from config.reading.sources import (
    MARKUP,
    ONLY_TABLES,
    WORKBOOKS,
    YAML,
    Sources,
    sources_of,
    suffix_of,
)

# How the names of other programs' files begin: locks, drafts, unfinished copies. Unfinished files
# with another ending (.tmp, .part, .crdownload) are not our kinds anyway.
HIDDEN = (".", "~", "#")
NEIGHBOURS, SMALL = 50, 2**20  # how many campaigns beside one are read; how many bytes at most
MAY_HOLD_PEOPLE = (
    *(*MARKUP, ".xlsb", ".xltx", ".xltm", ".fods", ".numbers", ".gsheet", ".json", ".zip"),
    *(".pdf", ".doc", ".docx", ".rtf", ".eml", ".msg"),
)
TEXT = ".txt"  # or anything else: a note
NO_CAMPAIGNS = "this folder has no campaigns in it (.yaml, .yml or workbooks)"
# Part of the names of files that are written beside a bad file.
OURS = ".problems."


@dataclass(frozen=True, slots=True)
class Entry:
    """One campaign of a file; or a file that cannot be used, and everything that is wrong with it.

    `digest` identifies the bytes that this was read from; None if they were not read.
    """

    file: Path
    key: str | None
    problems: tuple[Mistake, ...] = ()
    digest: str | None = None
    reading: Reading | None = None

    @property
    def definition(self) -> Definition | None:
        """What the file says of this campaign."""
        definitions = self.reading.definitions if self.reading else ()
        return next((each for each in definitions if each.campaign == self.key), None)

    @property
    def name(self) -> str:
        """What people call it."""
        return self.key or self.file.name


def campaigns_at(place: Path) -> list[Entry]:
    """Every campaign of a folder or of one file, in the order of the names; nothing is sent.

    Folders within a folder are not read. Raises BadInput if there is nothing at all.
    """
    entries = campaigns_among([place])
    if not entries:
        raise BadInput.at(Place(str(place)), NO_CAMPAIGNS)
    return entries


def campaigns_among(places: Sequence[Path]) -> list[Entry]:
    """Every campaign of some files and folders; a file that is named twice counts once.

    Raises BadInput: a folder that cannot be read.
    """
    files = [
        file for place in places for file in (campaign_files(place) if place.is_dir() else [place])
    ]
    once = {file.resolve(): file for file in reversed(files)}
    return once_each([entry for file in reversed(once.values()) for entry in campaigns_of(file)])


def campaigns_of(file: Path, read: Sources | None = None) -> list[Entry]:
    """Every campaign of a file, or what is wrong with it; `read` if the file was read before."""
    read = read or sources_of(file, None)
    try:
        reading = judged(read)
    except BadInput as error:
        return [Entry(file, None, error.problems, read.digest)]
    return [Entry(file, d.campaign, (), read.digest, reading) for d in reading.definitions]


def once_each(entries: list[Entry]) -> list[Entry]:
    """Refuse a campaign that several files describe: nobody can tell which file is meant."""
    files: dict[str, list[Path]] = {}
    for entry in entries:
        if entry.key is not None:
            files.setdefault(entry.key, []).append(entry.file)
    return [replace(entry, problems=_twice(entry, files)) for entry in entries]


def _twice(entry: Entry, files: dict[str, list[Path]]) -> tuple[Mistake, ...]:
    others = [file for file in files.get(entry.key or "", []) if file != entry.file]
    if not others:
        return entry.problems
    message = (
        f"the campaign {entry.key} is in {others[0].name} as well; keep one file, or give this "
        "campaign its own key"
    )
    return (Mistake(Place(str(entry.file)), "campaign", message=message),)


def same_key(file: Path, keys: Collection[str]) -> tuple[str, ...]:
    """Warn about files beside this one that describe campaigns with the same keys.

    Folders with many or large files are skipped, so that nobody has to wait: a run refuses such
    files.
    """
    try:
        beside = [near for near in campaign_files(file.parent) if near.resolve() != file.resolve()]
        small = [near for near in beside[:NEIGHBOURS] if _weight(near) <= SMALL]
    except (BadInput, OSError):
        return ()
    return tuple(
        f"{file}: {other.file.name} has the key {other.key} as well; each campaign needs its own "
        "key"
        for near in small
        for other in campaigns_of(near)
        if other.key in keys
    )


def _weight(file: Path) -> int:
    """How many bytes a campaign is read from, with its table of people."""
    return sum(each.stat().st_size for each in sources(file) if each.exists())


def campaign_files(folder: Path) -> list[Path]:
    """Definitions, and workbooks that no definition names as its table. Raises BadInput."""
    named = _tables(folder)
    return [file for file in _visible(folder, (*YAML, *WORKBOOKS)) if file not in named]


def nearest(missing: Path, kinds: tuple[str, ...], typed: Collection[Path] = ()) -> Path | None:
    """The file beside one that is not there whose name is most like it, if any is.

    One that was `typed` for something else is not meant.
    """
    try:
        files = [file for file in _visible(missing.parent, kinds) if file not in typed]
    except BadInput:
        return None
    beside = {file.stem.casefold(): file for file in files}
    return next((beside[stem] for stem in get_close_matches(missing.stem.casefold(), beside)), None)


def stray_files(folder: Path) -> list[Path]:
    """Files that no definition in the folder names: text tables of people, then files that may hold
    people but are of kinds that no campaign lies in, a text only if it has an address in it.

    Raises BadInput.
    """
    named = _tables(folder)
    return [
        file
        for kinds in (ONLY_TABLES, (*MAY_HOLD_PEOPLE, TEXT))
        for file in _visible(folder, kinds)
        if file not in named and (suffix_of(file) != TEXT or b"@" in sources_of(file, None).data)
    ]


def sources(file: Path) -> list[Path]:
    """The files that a campaign file is read from: itself, and the table of people it names."""
    people = sources_of(file, None).people
    return [file] if people is None else [file, people.path]


def _tables(folder: Path) -> set[Path]:
    named = (sources(file)[1:] for file in _visible(folder, YAML))
    own = folder.resolve()
    return {
        folder / table.name for tables in named for table in tables if table.parent.resolve() == own
    }


def _visible(folder: Path, kinds: tuple[str, ...]) -> Iterator[Path]:
    try:
        files = sorted(file for file in folder.iterdir() if file.is_file())
    except OSError as error:
        message = f"this folder cannot be read: {error.strerror}"
        raise BadInput.at(Place(str(folder)), message) from None
    for file in files:
        name = file.name.lower()
        if suffix_of(file) in kinds and not name.startswith(HIDDEN) and OURS not in name:
            yield file
