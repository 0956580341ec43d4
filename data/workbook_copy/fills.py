"""Formats that are those of some cells but for the colour behind the text."""

import re
from collections.abc import Collection

from data.workbook_copy.splicing import Element, Splice, elements, with_attribute

# What Excel's own cell styles "Bad" and "Neutral" have behind the text.
LIGHT_RED = "FFFFC7CE"
LIGHT_YELLOW = "FFFFEB9C"


def with_fill(styles: bytes, formats: Collection[int], colour: str) -> tuple[bytes, dict[int, int]]:
    """Add a coloured variant of each format; answers the list of formats, and which is which.

    `styles` is the part of the workbook that lists its formats, `colour` eight hex digits (ARGB).
    Formats that the list lacks are left out of the answer.
    """
    found = elements(styles, "fills", "fill", "cellXfs", "xf")
    fills = next((e for e in found if e.name == "fills"), None)
    listed = next((e for e in found if e.name == "cellXfs"), None)
    if fills is None or listed is None:
        return styles, {}
    number_of_fills = sum(e.name == "fill" and e.around == "fills" for e in found)
    known = [e for e in found if e.name == "xf" and e.around == "cellXfs"]
    wanted = sorted(number for number in set(formats) if number < len(known))
    p = fills.prefix
    fill = (
        f'<{p}fill><{p}patternFill patternType="solid"><{p}fgColor rgb="{colour}"/>'
        f'<{p}bgColor indexed="64"/></{p}patternFill></{p}fill>'
    )
    variants = [_variant(styles, known[number], number_of_fills) for number in wanted]
    splice = Splice(styles)
    _append(splice, styles, fills, fill.encode(), number_of_fills + 1)
    _append(splice, styles, listed, b"".join(variants), len(known) + len(variants))
    return splice.done(), {number: len(known) + i for i, number in enumerate(wanted)}


def _variant(styles: bytes, format_: Element, fill: int) -> bytes:
    tag = styles[format_.start : format_.opened]
    tag = with_attribute(with_attribute(tag, "fillId", str(fill)), "applyFill", "1")
    return tag + styles[format_.opened : format_.end]


def _append(splice: Splice, xml: bytes, around: Element, new: bytes, count: int) -> None:
    """Put something in at the end of a list that says how long it is."""
    tag = re.sub(rb"""\scount=("\d*"|'\d*')""", b"", xml[around.start : around.opened])
    splice.replace(around.start, around.opened, with_attribute(tag, "count", str(count)))
    splice.insert(around.closed, new)
