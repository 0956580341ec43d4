"""The mark of pages that this program wrote: it replaces only its own."""

from pathlib import Path

MARKED_WITHIN = 400  # bytes from the beginning of the file


def mark(kind: str, key: str) -> str:
    """The tag for the head of a page; `kind` is the command that writes it."""
    return f'<meta name="generator" content="campaign {kind} {key}">'


def is_marked(path: Path, kind: str, key: str) -> bool:
    """Whether a file is such a page of this campaign, and may be replaced. Raises OSError."""
    with path.open("rb") as file:
        return mark(kind, key).encode() in file.read(MARKED_WITHIN)
