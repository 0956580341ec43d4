"""Files and folders for their owner only: written whole or not at all, never through a symbolic
link.
"""

import os
import tempfile
from collections.abc import Iterable
from pathlib import Path

from config.errors import CampaignError

OWN = 0o600
OTHERS_READ = 0o044


class CannotWrite(CampaignError):
    """A file could not be written; whatever was there before is still there."""

    def __init__(
        self, path: Path, why: str, mend: str = "Name another place and try again."
    ) -> None:
        self.path = path
        self.why = why
        super().__init__(f"{path} cannot be written ({why}). {mend}")


def write_whole(path: Path, content: bytes, mode: int = OWN) -> None:
    """Write a file in one step, readable by its owner only unless asked otherwise. Raises
    CannotWrite.
    """
    write_pieces(path, [content], mode)


def write_pieces(path: Path, pieces: Iterable[bytes], mode: int = OWN) -> None:
    """Write a file piece by piece, but in one step: nobody sees half of it.

    Raises CannotWrite, and whatever the pieces raise; the file then stays as it was.
    """
    refuse_link(path)
    if path.exists() and not path.is_file():
        raise CannotWrite(path, "it is not a file")
    try:
        # A file that others may read can be reached by its name; they cannot list the folder.
        make_folder(path.parent, 0o711 if mode & OTHERS_READ else 0o700)
        replace(path, pieces, mode)
    except OSError as error:
        raise CannotWrite(path, error.strerror or "unknown cause") from None


def replace(path: Path, pieces: Iterable[bytes], mode: int = OWN) -> None:
    """Put a file in the place of what is there, once all of it is on the disk.

    Raises OSError, and whatever the pieces raise; what was there then stays.
    """
    number, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name[:50]}.")
    beside = Path(name)
    try:
        with os.fdopen(number, "wb") as file:
            file.writelines(pieces)
            file.flush()
            os.fsync(file.fileno())
        beside.chmod(mode)
        beside.replace(path)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise


def make_folder(folder: Path, mode: int = 0o700) -> None:
    """Make a folder and what is missing above it, for their owner alone. Raises OSError."""
    for missing in reversed([place for place in (folder, *folder.parents) if not place.exists()]):
        missing.mkdir(mode, exist_ok=True)
    folder.mkdir(mode, exist_ok=True)  # raises if a file is in the way


def refuse_link(path: Path) -> None:
    """Refuse a symbolic link at the path to write: it leads to an unknown place, and if the file
    replaced the link, it would be missing at that place. Raises CannotWrite.
    """
    if path.is_symlink():
        raise CannotWrite(path, "it is a symbolic link")
