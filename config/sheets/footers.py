"""Rows of a table that are nobody: totals, and lines that say who exported it, or when."""

import re
from collections.abc import Iterable

from config.sheets.headers import listed, pattern, worded


def is_nobody(cells: Iterable[str]) -> bool:
    """Whether a row is a total, as `Total | 11 candidates`, or says who exported it, or when."""
    texts = [cell.strip() for cell in cells if cell.strip()]
    first = next((text for text in texts if _LETTER.search(text)), "")
    words = {word for word in worded(first).split() if not word.isdecimal()}
    known = {part for word in listed("total") for part in worded(word).split()}
    counts = all(text == first or _COUNT.search(text) for text in texts)
    is_total = bool(words & known) and words <= known | listed("total_of") and counts
    is_footer = bool(pattern("footer").match(worded(first))) and (counts or len(texts) < 3)
    return not first or is_total or is_footer


_LETTER = re.compile(r"[^\W\d_]")
_COUNT = re.compile(r"\d|^\W")  # also of what else there is, and a dash, or an error such as #N/A
