"""The two `.env` files that settings may come from, which nobody else may read."""

import os
from pathlib import Path

from dotenv.parser import parse_stream

from config.errors import BadSettings

# Any of these names makes a file ours; another program's .env in the folder is not looked at.
_OURS = ("ASSESSMENT_", "CAMPAIGN_")
_ANYONE_ELSE = 0o077  # a group's or everybody's right to read or write


def refuse_open_files(files: tuple[Path, ...]) -> None:
    """Refuse a file with settings of ours that others on this machine may read or write.

    What they write leads the secret to an address of theirs. Raises BadSettings, OSError,
    UnicodeError.
    """
    if os.name != "posix":
        return
    opened = [file for file in dict.fromkeys(files) if _is_open(file) and _is_ours(file)]
    if opened:
        named = " ".join(str(file) for file in opened)
        raise BadSettings(
            f"{' and '.join(map(str, opened))} may be read by others on this machine, and holds "
            f"secrets. Nothing was sent. Make it yours alone: chmod 600 {named}"
        )


def refuse_unreadable_lines(files: tuple[Path, ...]) -> None:
    """Refuse a file of ours with a line that says nothing: a setting would be missing unnoticed.

    Raises BadSettings, OSError, UnicodeError.
    """
    for file in dict.fromkeys(files):
        if not file.is_file() or not _is_ours(file):
            continue
        with file.open(encoding="utf-8-sig") as text:
            wrong = [line.original.line for line in parse_stream(text) if line.error]
        if wrong:
            raise BadSettings(
                f"{file}, line {wrong[0]}: this is no NAME=value, or a quote is not closed. "
                "Nothing was sent. Mend the line, then type the same command again."
            )


def _is_open(file: Path) -> bool:
    return file.is_file() and bool(file.stat().st_mode & _ANYONE_ELSE)


def _is_ours(file: Path) -> bool:
    return any(name in file.read_text("utf-8-sig").upper() for name in _OURS)
