"""Commands in messages: every message that names a command writes it with `command`."""

import shlex
from pathlib import Path

TYPED = "%TYPED%"  # stands for the name of the command that was typed; never quoted


def command(*words: object) -> str:
    """Write a command to type, quoted for the shell: `campaign plan 'my people.csv'`.

    A path that begins with a dash would be read as an option.
    """
    return shlex.join(["campaign", *map(_typed, words)])


def _typed(word: object) -> str:
    text = str(word)
    return f"./{text}" if isinstance(word, Path) and text.startswith("-") else text
