"""What is written beside a bad file in a watched folder: a report, and a marked copy of the table.

Whoever may read the file may read these: what was found in it is quoted. What a person put there
is never touched, and a marked copy is never written over: somebody may be mending it.
"""

import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from config.command_line import command
from config.errors import BadInput
from config.mistakes import Mistake
from config.reading.own_tables import named_table
from data.own_files import CannotWrite, replace
from flows.words.complaints import lines_of
from tasks.outputs.marking import marked_copy

LONGEST = 255  # bytes in the name of a file, on nearly all file systems
REPORT = ".problems.txt"
BECAUSE = "because of these mistakes:"


def report_of(file: Path) -> Path:
    """Where the report on a file lies: `spring.yaml` has `spring.yaml.problems.txt`."""
    return _beside(file, file.name, REPORT)


def _beside(file: Path, name: str, ending: str) -> Path:
    """A place in a file's folder; a long name is cut, as far as file systems ask."""
    room = LONGEST - len(ending)
    return file.with_name(os.fsencode(name)[:room].decode(errors="ignore") + ending)


def tell(
    file: Path, content: str, problems: Sequence[Mistake], campaigns: Sequence[str] = ()
) -> bool:
    """Write the report and the marked copy; False where just that is there already.

    `content` is the digest of what the file holds, `campaigns` are the bad ones among its
    campaigns, if others are good. Raises CannotWrite.
    """
    what = f"for {', '.join(campaigns)}" if campaigns else "in this file"
    copy = _marked(file, content, problems)
    lines = [f"Nothing {what} was sent, {BECAUSE}", "", *lines_of(problems), ""]
    if copy is not None:
        lines += [f"A copy with these places marked: {copy.name}", ""]
    lines += [
        "Fix the file, or save a fixed copy over it; the inbox picks it up again by itself.",
        f"To check it: {command('check', Path(file.name))}",
    ]
    text = "\n".join(lines) + "\n"
    report = report_of(file)
    if _text_of(report) == text:
        return False
    _write(report, text.encode(), file)
    return True


def withdraw(file: Path) -> None:
    """Take the report away, once the file is as it should be. Raises CannotWrite."""
    _remove(report_of(file))


def tidy(folder: Path) -> None:
    """Take away the reports on files that are gone, where that is allowed."""
    files = list(folder.iterdir())
    reports = {file for file in files if file.name.endswith(REPORT)}
    with suppress(CannotWrite):
        for report in reports - set(map(report_of, files)):
            _remove(report)


def _remove(report: Path) -> None:
    if BECAUSE in (_text_of(report) or "").partition("\n")[0]:
        try:
            report.unlink(missing_ok=True)
        except OSError as error:
            raise CannotWrite(report, error.strerror or "no reason given") from None


def _text_of(report: Path) -> str | None:
    if not report.is_file():
        return None
    try:
        return report.read_text("utf-8")
    except (OSError, UnicodeDecodeError):
        return None


def _marked(file: Path, content: str, problems: Sequence[Mistake]) -> Path | None:
    """Write the table with its bad cells marked, where there are any; returns where it is."""
    try:
        named = named_table(file, None)
        made = marked_copy(named, problems) if named else None
    except BadInput:
        return None  # what cannot be read at all cannot be marked either
    if named is None or made is None:
        return None
    with_macros = not made.anew and named.path.suffix.lower() == ".xlsm"
    ending = ".xlsm" if with_macros else ".xlsx"
    copy = _beside(file, named.path.name, f".problems.{content[:6]}{ending}")
    if not copy.exists():
        _write(copy, made.content, named.path)
    return copy


def _write(path: Path, content: bytes, like: Path) -> None:
    """Write a file as a whole, to be read by those who can read `like`. Raises CannotWrite."""
    # Other people can write here: what they put at this name is replaced, and never followed.
    try:
        replace(path, [content], like.stat().st_mode & 0o666)
    except OSError as error:
        raise CannotWrite(path, error.strerror or "no reason given") from None
