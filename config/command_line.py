"""What to type next: every message that names a command writes it with `command`."""

import shlex

TYPED = "%TYPED%"  # in the place of the name of the command that was typed; it stays unquoted


def command(*words: object) -> str:
    """Write what to type, quoted as a shell wants it: `campaign plan 'my people.csv'`."""
    return shlex.join(["campaign", *(str(word) for word in words)])
