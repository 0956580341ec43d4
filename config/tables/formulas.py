"""What a spreadsheet would calculate, and the apostrophe that says it is text and nothing else."""

# An Excel for Japanese or Chinese takes the wide ones for the same.
STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")
GUARD = "'"
_GUARDED = tuple(GUARD + begins for begins in STARTS)


def guarded(cell: object) -> object:
    """Keep a cell of a text table from being calculated where somebody opens it."""
    return GUARD + cell if isinstance(cell, str) and cell.startswith(STARTS) else cell


def unguarded(row: list[str]) -> list[str]:
    """Take the apostrophes away that programs have put there; they are no part of the texts."""
    if any(cell.startswith(_GUARDED) for cell in row):
        return [cell[1:] if cell.startswith(_GUARDED) else cell for cell in row]
    return row
