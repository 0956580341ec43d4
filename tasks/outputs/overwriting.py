"""Which files an output may replace without asking: those that this program wrote.

A list in the user's data directory has the hash of each output. The hash of a file that somebody
has changed is not in the list, so only --force replaces that file.
"""

import os
from contextlib import suppress
from functools import cache
from hashlib import file_digest, sha256
from pathlib import Path

from platformdirs import user_data_path

from config.errors import NotAsTyped


class NotOurs(NotAsTyped):
    says = """{file} exists already, and is no output of campaign, or was changed since. It was
    not changed."""
    then = "Choose another name, or add --force to replace it."


def check_output(file: Path, *, force: bool = False) -> None:
    """Raise NotOurs if an output would replace a file that this program did not write."""
    if file.exists() and not force and not written_by_us(file):
        raise NotOurs(file=file)


def written_by_us(file: Path) -> bool:
    """Whether a file is, byte for byte, an output of this program."""
    if not file.is_file():
        return False
    try:
        with file.open("rb") as content:
            return file_digest(content, "sha256").hexdigest() in _known(_list())
    except OSError:
        return False


def remember(content: bytes) -> None:
    """Note the hash of an output. If that fails, the output counts as somebody else's."""
    path, digest = _list(), sha256(content).hexdigest()
    known = _known(path)
    with suppress(OSError):
        if digest not in known:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            number = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW, 0o600)
            with os.fdopen(number, "w") as kept:
                kept.write(f"{digest}\n")
            known.add(digest)


def _list() -> Path:
    return user_data_path("hiring-campaigns", appauthor=False) / "outputs"


@cache
def _known(path: Path) -> set[str]:
    try:
        return {*path.read_text("ascii").split()}
    except (OSError, UnicodeError):
        return set()
