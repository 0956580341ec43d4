"""The files of one reading, and the digest that identifies them."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from hashlib import sha256
from os.path import realpath
from pathlib import Path, PurePath
from typing import Any

from config.command_line import TYPED, as_typed, command
from config.errors import BadInput
from config.mistakes import Mistake, Place, shown
from config.reading.yaml_file import YamlDocument, read_yaml
from config.tables.file_bytes import FOLDER, file_bytes
from config.workbooks.content import is_text, is_workbook

# Increased with every change of the rules that could give the same bytes another meaning.
READER_VERSION = 12

# Most definitions need not be parsed for the digest: they lack the one word that names another
# file. A backslash, or two bytes per letter, may hide that word.
MAY_NAME_A_FILE = (b"file", b"\\", b"\0")

YAML = (".yaml", ".yml")
# Spreadsheet programs save Unicode text as .txt, as many other programs do.
ONLY_TABLES = (".csv", ".tsv")
TEXT_TABLES = (*ONLY_TABLES, ".txt")
WORKBOOKS = (".xlsx", ".xlsm", ".xls", ".ods")
# Read only if a person names one; in a folder of campaigns such files may be anything.
MARKUP = (".xml", ".html", ".htm")
TABLES = (*TEXT_TABLES, *WORKBOOKS, *MARKUP)

NO_SHEET = "--sheet cannot be used here"
NO_SHEETS = f"{NO_SHEET}: this is a text file, which has no sheets"


def suffix_of(path: PurePath) -> str:
    """Return the ending of a file's name, which tells its kind."""
    return path.suffix.lower()


def is_text_table(path: PurePath, data: bytes) -> bool:
    """Say whether a table is text; a workbook or a web page is not, whatever its name."""
    return not is_workbook(data) if suffix_of(path) in TEXT_TABLES else is_text(data)


def as_typed_for(key: str, file: str, definition: str | None, *, sheet: str | None) -> list[str]:
    """What is typed after `run` for this campaign alone; a workbook may hold others."""
    alone = definition is not None or suffix_of(Path(file)) in YAML
    beside = Path(definition) if definition else None
    return as_typed(Path(file), beside, () if alone else (key,), sheet=sheet)


@dataclass(frozen=True)
class PeopleFile:
    """A file of candidates and its bytes, or the mistakes why it could not be read."""

    path: Path = field(compare=False)
    data: bytes = field(default=b"", compare=False, repr=False)
    problems: tuple[Mistake, ...] = ()


@dataclass(frozen=True)
class Sources:
    """A definition, and the candidates file that it or the command names, each read once.

    Two are equal if the same files hold the same bytes, however their names were typed: `files` are
    their full paths. `given` says that the command named the candidates file; `sheet` is the sheet
    that the command named; `error` says why there is no definition. `digest`, in hex digits,
    identifies the bytes and the sheet, good or bad.
    """

    definition: Path = field(compare=False)
    data: bytes = field(compare=False, repr=False)
    people: PeopleFile | None
    given: bool
    digest: str
    files: tuple[Path, ...]
    sheet: str | None = None
    error: BadInput | None = field(default=None, compare=False)


def sources_of(path: Path, campaign: Path | None, sheet: str | None = None) -> Sources:
    """Read the files that `path` stands for, each once.

    `sheet` is the sheet with the people, whatever the definition says.
    """
    sources = _sources_of(path, campaign)
    if sheet is None:
        return sources
    # Another sheet has other people: what was shown or approved for one sheet is not for another.
    digest = sha256(f"{sources.digest}\nsheet {sheet.strip().casefold()}\n".encode()).hexdigest()
    return replace(sources, sheet=sheet, digest=digest)


def check_sheet(sources: Sources) -> None:
    """Refuse a named sheet if there are no sheets to choose from. Raises BadInput."""
    people = sources.people
    words: list[object] = [sources.definition]
    if sources.sheet is None:
        return
    if people is None:
        file, message = sources.definition, f"{NO_SHEET}: this file lists the people itself"
    elif not people.problems and is_text_table(people.path, people.data):
        file, message = people.path, NO_SHEETS
    else:
        return
    if people is not None and sources.given:
        words = [people.path, "--campaign", *words]
    raise _another(file, *words, message=message)


def _sources_of(path: Path, campaign: Path | None) -> Sources:
    data = b""
    try:
        if path.is_dir():
            then = f"Then type: {command('check', path)}, or {command(TYPED, 'FILE')}"
            raise BadInput.at(Place(str(path)), FOLDER, then)
        data = file_bytes(path)
        _check_kinds(path, data, campaign)
        if campaign is not None:
            people = PeopleFile(path, data)
            return _sources(campaign, file_bytes(campaign), people, given=True)
        if suffix_of(path) in YAML and any(mark in data for mark in MAY_NAME_A_FILE):
            people_named = _named_people(read_yaml(data, str(path)), path)
            return _sources(path, data, people_named, given=False)
    except BadInput as error:
        return _unusable(path, data, error)
    return _sources(path, data, None, given=False)


def _unusable(path: Path, data: bytes, error: BadInput) -> Sources:
    """Identify a file that is not a definition by its bytes, or by why it cannot be read."""
    content = data or "\n".join(problem.clause for problem in error.problems).encode()
    digest = sha256(f"no campaign, {suffix_of(path)}\n".encode())
    digest.update(content)
    return Sources(path, data, None, False, digest.hexdigest(), (path,), error=error)


def _check_kinds(path: Path, data: bytes, campaign: Path | None) -> None:
    kind, given = suffix_of(path), ("--campaign", "DEFINITION")
    if kind not in (*YAML, *TABLES):
        wanted = (
            "a definition (.yaml), a workbook (.xlsx, .xlsm, .xls, .ods) or a table (.csv, .txt)"
        )
        raise _another(path, "FILE", found=shown(path.name), wanted=wanted)
    if campaign is not None and campaign.resolve() == path.resolve():
        message = "this is the same file twice; --campaign names a second one: "
        message += "the definition that a table of candidates belongs to"
        alone = kind in YAML or not is_text_table(path, data)
        raise _another(path, path, *([] if alone else given), message=message)
    if campaign is None and kind not in YAML and is_text_table(path, data):
        # Imported here: bare_table builds on this module.
        from config.reading.bare_table import BareTable  # noqa: PLC0415

        message = (
            "this file has only candidates; name their definition, as in --campaign "
            f"definition.yaml, or put  file: {path.name}  under its candidates"
        )
        raise BareTable(path, Mistake(Place(str(path)), message=message))
    if campaign is not None and kind in YAML:
        message = "this is a definition already; use --campaign only with a table of candidates"
        raise _another(path, path, message=message)
    if campaign is not None and suffix_of(campaign) not in (*YAML, *WORKBOOKS, *MARKUP):
        wanted = "a definition in YAML (.yaml), or a workbook with a sheet campaign"
        raise _another(campaign, path, *given, found=shown(campaign.name), wanted=wanted)


def _another(path: Path, *words: object, **clause: Any) -> BadInput:
    """Refuse a file that cannot be fixed into the right one; `words` are what to type instead."""
    then = f"Then type: {command(TYPED, *words)}"
    return BadInput([Mistake(Place(str(path)), **clause)], then=then)


def _named_people(document: YamlDocument, definition: Path) -> PeopleFile | None:
    """Open the candidates file that a definition names, relative to the definition."""
    candidates = document.fields.get("candidates")
    named = candidates.get("file") if isinstance(candidates, Mapping) else None
    if not isinstance(named, str) or not named.strip():
        return None
    path = definition.parent / named.strip()

    def refused(**clause: Any) -> PeopleFile:
        place = document.value(("candidates", "file"))
        return PeopleFile(path, problems=(Mistake(place, "candidates.file", **clause),))

    if suffix_of(path) not in TABLES:
        return refused(found=shown(named), wanted=f"a table of candidates ({', '.join(TABLES)})")
    try:
        return PeopleFile(path, file_bytes(path))
    except BadInput as error:
        return refused(found=shown(named), message=f"{path}: {error.problems[0].clause}")


def _sources(definition: Path, data: bytes, people: PeopleFile | None, *, given: bool) -> Sources:
    # The name's ending decides how the bytes are read; the length keeps two files apart.
    kind = suffix_of(definition)
    digest = sha256(f"reader {READER_VERSION}, {kind}, {len(data)} bytes\n".encode())
    digest.update(data)
    if people is not None:
        digest.update(f"\n{suffix_of(people.path)}\n".encode())
        digest.update(people.data)
    # A link that leads to itself has no end; `resolve` raises there.
    files = tuple(Path(realpath(path)) for path in (definition, *([people.path] if people else [])))
    return Sources(definition, data, people, given, digest.hexdigest(), files)
