"""Commands in messages: every message that names a command writes it with `command`."""

import shlex
from pathlib import Path

TYPED = "%TYPED%"  # stands for the name of the command that was typed; never quoted


def command(*words: object) -> str:
    """Write a command to type, quoted for the shell: `campaign plan 'my people.csv'`."""
    return shlex.join(["campaign", *map(shell_word, words)])


def shell_word(typed: object) -> str:
    """Write one word of it. A path that begins with a dash would be read as an option."""
    text = str(typed)
    return f"./{text}" if isinstance(typed, Path) and text.startswith("-") else text
