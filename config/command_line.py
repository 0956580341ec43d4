"""Commands in messages: every message that names a command writes it with `command`."""

import re
import shlex
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

TYPED = "%TYPED%"  # stands for the name of the command that was typed; never quoted
OPTION = re.compile("--[a-z-]+")


def command(*words: object) -> str:
    """Write a command to type, quoted for the shell: `campaign plan 'my people.csv'`.

    Addresses that begin with a dash come last, behind `--`, as they would be read as options.
    """
    typed, last, is_behind = ["campaign"], ["--"], False
    for before, text in pairwise(["", *map(shell_word, words)]):
        is_dashed = text.startswith("-") and "@" in text and "=" not in text
        if text == "--":
            is_behind = True
        elif not OPTION.fullmatch(text) if is_behind else is_dashed and before[:2] != "--":
            last.append(text)
        else:
            typed.append(text)
    return shlex.join([*typed, *(last if len(last) > 1 else [])])


def shell_word(typed: object) -> str:
    """Write one word of it. A path that begins with a dash would be read as an option."""
    text = str(typed)
    return f"./{text}" if isinstance(typed, Path) and text.startswith("-") else text


def as_typed(
    file: Path, campaign: Path | None, only: Sequence[str] = (), *, sheet: str | None = None
) -> list[str]:
    """Repeat FILE and its definition the way they were given, for the next command to type."""
    typed = [shell_word(file), *(["--campaign", shell_word(campaign)] if campaign else [])]
    typed += ["--sheet", sheet] if sheet else []
    return typed + [word for key in only for word in ("--only", key)]
