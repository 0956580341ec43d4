"""What may be wrong with a valid name: shown to a person, never changed.

The service has no update (interface 4), so a name that a program has spoilt stays spoilt there.
"""

from collections.abc import Iterator

from config.mistakes import shown
from config.people.email_doubts import Doubt

LOST = ("?", "\N{REPLACEMENT CHARACTER}")
# What programs write for nothing. Null and Nan, spelled as people spell them, are names.
NOTHING = {"null", "NULL", "(null)", "NaN", "nan", "undefined", "N/A", "n/a"}


def may_be_spoilt(name: str) -> bool:
    """Say whether a name needs a closer look; there are many names, and hardly any does."""
    return "?" in name or not name.isascii() or name in NOTHING


def name_doubts(name: str) -> Iterator[Doubt]:
    """Say what may be wrong with a name; mostly nothing."""
    if name in NOTHING:
        yield Doubt("an empty cell, as programs write it", "programs write this for an empty cell")
    for character in LOST:
        if character in name:
            sentence = f"a {character} often replaces a character that a program lost"
            yield Doubt("a lost character", sentence)
    if not name.isascii() and (meant := _read_as_bytes(name)):
        sentence = f"probably {shown(meant)}, read by some program in the wrong encoding"
        yield Doubt("a name read in the wrong encoding", sentence)


def _read_as_bytes(name: str) -> str | None:
    """Return what the bytes of a name spell in UTF-8; by accident they hardly ever do."""
    try:
        return name.encode("cp1252").decode("utf-8")
    except UnicodeError:
        return None
