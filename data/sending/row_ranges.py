"""Which rows of candidates were in one request, written short: `1-50,52`.

A request that adds people carries a hundred at a time, mostly neighbours in the ledger.
"""

from collections.abc import Iterable


def written(rows: Iterable[int]) -> str:
    """Write rows as ranges: 1, 2, 3 and 5 are `1-3,5`."""
    spans: list[list[int]] = []
    for row in sorted(set(rows)):
        if spans and row == spans[-1][1] + 1:
            spans[-1][1] = row
        else:
            spans.append([row, row])
    return ",".join(str(first) if first == last else f"{first}-{last}" for first, last in spans)


def read(text: str | None) -> list[range]:
    """Read what `written` wrote; an empty text means no rows."""
    spans = []
    for span in filter(None, (text or "").split(",")):
        first, _, last = span.partition("-")
        spans.append(range(int(first), int(last or first) + 1))
    return spans
