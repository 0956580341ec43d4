"""Commands in messages: every message that names a command writes it with `command`."""

import shlex

TYPED = "%TYPED%"  # stands for the name of the command that was typed; never quoted


def command(*words: object) -> str:
    """Write a command to type, quoted for the shell: `campaign plan 'my people.csv'`."""
    return shlex.join(["campaign", *(str(word) for word in words)])
