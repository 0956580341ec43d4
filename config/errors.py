"""Errors that a person can cause or fix: mistakes at their places, and exit codes."""

import os
import re
import shlex
import traceback
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from json import dumps
from pathlib import Path
from string import digits
from typing import Any, ClassVar

NAMES = 12  # people named in a plan or a check
SHOWN_LENGTH = 60
HEX = r"\x{:02x}".format
HARMLESS = "\n\t\u200c\u200d\u00a0\u202f\u3000"  # line ends, tabs, and joiners and blanks of names
_KINDS: dict[type, str] = {dict: "a mapping", list: "a list"}
_BLANK = re.compile("<[^<>@]*>")
_MIXED = re.compile(r"[,;:\"]|\d$")


@dataclass(frozen=True, slots=True)
class Place:
    """A spot in a file: line and column (from 1) in a text, sheet and cell in a workbook."""

    file: Path
    line: int | None = None
    column: int | None = None
    sheet: str | None = None
    cell: str | None = None

    def __str__(self) -> str:
        """A place as people look it up: `hiring.yaml:12:5` or `people.xlsx, Candidates!C7`."""
        file = str(self.file).replace("\n", r"\n")
        if self.sheet is not None:
            return f"{file}, {self.sheet}" + (f"!{self.cell}" if self.cell else "")
        return ":".join(str(each) for each in (file, self.line, self.column) if each is not None)

    @property
    def order(self) -> tuple[int, int, str]:
        """What sorts the places of one text or sheet: from the top, then from left to right."""
        letters = (self.cell or "").rstrip(digits)
        row = self.line or int((self.cell or "").removeprefix(letters) or 0)
        return row, self.column or len(letters), letters


@dataclass(frozen=True, slots=True)
class Mistake:
    """One thing to fix. A `message` that is empty, or about a blank, is made of other fields."""

    place: Place
    message: str = ""
    field: str | None = None
    found: Any = None
    wanted: str | None = None

    def __post_init__(self) -> None:
        if is_blank(self.found):
            object.__setattr__(self, "message", f"fill in {self.found}")
        if not self.message:
            seen = "missing" if self.found is None else f"found {shown(self.found)}"
            wanted = f", wanted {self.wanted}" if self.wanted else ""
            object.__setattr__(self, "message", seen + wanted)
        if not isinstance(self.found, str | None) or "://" in (self.found or ""):
            object.__setattr__(self, "found", shown(self.found))

    def __str__(self) -> str:
        """One line: `people.xlsx, Candidates!C7, email1: found "ana@", wanted an email address`."""
        where = f"{self.place}, {self.field}" if self.field else str(self.place)
        return f"{where}: {self.message}"

    def as_json(self) -> dict[str, Any]:
        """The object that `campaign check --json` prints; null where a key does not apply."""
        rest = asdict(self)
        place: dict[str, Any] = rest.pop("place")
        return place | {"file": str(self.place.file)} | rest


def is_blank(typed: object) -> bool:
    """Whether this is a blank `<…>`, which `campaign new` wrote for a person to fill in."""
    return isinstance(typed, str) and bool(_BLANK.fullmatch(typed))


def shown(value: object) -> str:
    """Show a value that was found: on one line, text in quotes, long text cut."""
    if not isinstance(value, str):
        return _KINDS.get(type(value), str(value))
    end = min(len(value.partition("://")[0]) + 3, SHOWN_LENGTH - 1)  # a link may be a secret
    short = value if len(value) <= end + 1 else value[:end] + "…"
    return '"' + "".join(c if c.isprintable() else ascii(c)[1:-1] for c in short) + '"'


def plain(value: str) -> str:
    """Show a value as in `Onsite 12, "Level 2" 5, empty 3`: quoted only if it could mislead."""
    return shown(value) if _MIXED.search(value) else shown(value)[1:-1] or "empty"


def some(texts: Sequence[str], most: int = 3, of: int = 0) -> str:
    """List the first few texts, and how many (of `of`) there are besides: `a, b, c and 5 more`."""
    rest = max(of, len(texts)) - most
    more = f" and {rest:,} more" if rest > 0 else ""
    return ", ".join(texts[:most]) + more


def printable(text: str) -> str:
    """Escape unprintable characters as JSON does, except HARMLESS ones: ESC becomes \\u001b."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c in HARMLESS else dumps(c)[1:-1] for c in text)


def quoted(word: object) -> str:
    """Quote a word for a shell; unprintable characters are written as bytes."""
    text = f"./{word}" if isinstance(word, Path) and str(word).startswith("-") else str(word)
    if text.isprintable():
        return shlex.quote(text)
    in_bytes = re.sub(r"[^\w ./$()-]", lambda c: "".join(map(HEX, os.fsencode(c[0]))), text)
    return f"$'{in_bytes}'"


def command(*words: object) -> str:
    """A command for a person to type, quoted for a shell: `campaign check 'my file.yaml'`.

    An address that begins with - comes last, after --. A path that begins with - gets ./ before it.
    """
    odd = [each for each in map(str, words) if each.startswith("-") and "@" in each]
    others = [each for each in words if each not in odd]
    return " ".join(map(quoted, ["campaign", *others, *(["--", *odd] if odd else [])]))


def in_order(mistakes: Iterable[Mistake]) -> list[Mistake]:
    """Sort mistakes in reading order, each once. Files and sheets stay in the order given."""
    unique = list(dict.fromkeys(mistakes))
    sheets: dict[tuple[Path, str | None], int] = {}
    for each in unique:
        sheets.setdefault((each.place.file, each.place.sheet), len(sheets))
    return sorted(unique, key=lambda m: (sheets[m.place.file, m.place.sheet], m.place.order))


def counted(mistakes: Sequence[Mistake]) -> str:
    """Count mistakes and, separately, blanks to fill in."""
    blanks = sum(is_blank(each.found) for each in mistakes)
    wrong = len(mistakes) - blanks
    said = f"{wrong:,} mistake{'' if wrong == 1 else 's'}"
    if not blanks:
        return said
    unread = any((each.field or "").startswith("columns") for each in mistakes)
    good = "then your sheet is read" if unread else "no mistakes in your sheet"
    return f"{blanks:,} blank{'' if blanks == 1 else 's'} to fill in; {said if wrong else good}"


class CampaignError(Exception):
    """The work stopped for a reason that a person can understand and fix.

    `says` is what the person reads, and `then` what to type next. Both are templates for
    `str.format`; if `then` is a command, its values are quoted for a shell.
    """

    says: ClassVar[str] = ""
    then: str = ""
    exit_code: ClassVar[int] = 1  # 0 done, 1 stopped, 2 bad input, 3 a person must look, 130 Ctrl-C
    service_words: tuple[str, ...] = ()  # what the service itself wrote; it may name somebody

    def __init__(self, **fields: Any) -> None:
        self.fields = fields
        is_command = self.then.startswith("campaign ")
        in_then = {name: quoted(fields[name]) for name in fields} if is_command else fields
        self.then = " ".join(self.then.split()).format_map(in_then)
        super().__init__(" ".join(self.says.split()).format_map(fields))


class NotAsTyped(CampaignError):
    says = "What was typed cannot be done. Nothing was changed."
    exit_code = 2


class BadInput(NotAsTyped):
    says = "{files}: {count}. Nothing was sent."

    def __init__(self, mistakes: Iterable[Mistake]) -> None:
        self.mistakes: Sequence[Mistake] = in_order(mistakes)
        files = list(dict.fromkeys(str(mistake.place.file) for mistake in self.mistakes))
        more = f" and {len(files) - 1:,} more files" if len(files) > 1 else ""
        count = counted(self.mistakes)
        super().__init__(files=f"{files[0]}{more}" if files else "The input", count=count)

    @classmethod
    def at(cls, place: Place, message: str, **more: Any) -> "BadInput":
        """A single mistake with this message, at this place."""
        return cls([Mistake(place, message, **more)])


class Bug(CampaignError):
    says = "This is a bug in campaign, not in your file: {kind} in {where}. {so}"

    def __init__(self, error: Exception, so: str) -> None:
        frames = traceback.extract_tb(error.__traceback__)
        ours = [each for each in frames if "site-packages" not in each.filename] or frames
        where = f"{Path(ours[-1].filename).name}:{ours[-1].lineno}"
        super().__init__(kind=type(error).__name__, where=where, so=so)


class BadSettings(NotAsTyped):
    says = "{problem} Nothing was sent."
