"""Texts that a spreadsheet would take for formulas, and the apostrophe that marks them as text."""

# Japanese and Chinese versions of Excel treat the wide characters as the same.
STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")
GUARD = "'"
_GUARDED = tuple(GUARD + begins for begins in STARTS)


def guarded(cell: object) -> object:
    """Keep a spreadsheet from calculating a cell when somebody opens the text table."""
    return GUARD + cell if isinstance(cell, str) and cell.startswith(STARTS) else cell


def unguarded(row: list[str]) -> list[str]:
    """Remove the apostrophes that programs have added; they are not part of the texts."""
    if any(cell.startswith(_GUARDED) for cell in row):
        return [cell[1:] if cell.startswith(_GUARDED) else cell for cell in row]
    return row
