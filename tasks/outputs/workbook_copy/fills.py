"""Formats that differ from existing ones only in the background colour."""

from collections.abc import Collection

from tasks.outputs.workbook_copy.splicing import Element, Splice, elements, with_attribute

# What Excel's own cell styles "Bad" and "Neutral" have behind the text.
LIGHT_RED = "FFFFC7CE"
LIGHT_YELLOW = "FFFFEB9C"
# The first fill of every workbook is none at all.
NO_FILL = 0


def with_fill(styles: bytes, formats: Collection[int], colour: str) -> tuple[bytes, dict[int, int]]:
    """Add a coloured variant of each format; returns the list of formats, and each one's variant.

    `styles` is the part of the workbook that lists its formats, `colour` eight hex digits (ARGB).
    Formats that are not in the list are left out of the result.
    """
    parts = elements(styles, "fills", "fill")
    fills = next((e for e in parts if e.name == "fills"), None)
    if fills is None:
        return styles, {}
    number = sum(e.name == "fill" and e.around == "fills" for e in parts)
    p = fills.prefix
    fill = (
        f'<{p}fill><{p}patternFill patternType="solid"><{p}fgColor rgb="{colour}"/>'
        f'<{p}bgColor indexed="64"/></{p}patternFill></{p}fill>'
    )
    splice = Splice(styles)
    _append(splice, styles, fills, fill.encode(), number + 1)
    return _with_variants(splice.done(), formats, number)


def without_fill(
    styles: bytes, formats: Collection[int], colours: Collection[str]
) -> tuple[bytes, dict[int, int]]:
    """Add a plain variant of each format that has one of these fills, as `with_fill` does."""
    parts = elements(styles, "fill", "cellXfs", "xf")
    fills = [styles[e.start : e.end] for e in parts if e.name == "fill" and e.around == "fills"]
    coloured = {
        str(number)
        for number, fill in enumerate(fills)
        if any(f'rgb="{colour}"'.encode() in fill for colour in colours)
    }
    cell_formats = [e for e in parts if e.name == "xf" and e.around == "cellXfs"]
    ours = {
        n
        for n, e in enumerate(cell_formats)
        if n in formats and e.attributes.get("fillId") in coloured
    }
    return _with_variants(styles, ours, NO_FILL)


def _with_variants(
    styles: bytes, formats: Collection[int], fill: int
) -> tuple[bytes, dict[int, int]]:
    parts = elements(styles, "cellXfs", "xf")
    listed = next((e for e in parts if e.name == "cellXfs"), None)
    cell_formats = [e for e in parts if e.around == "cellXfs"]
    wanted = sorted(number for number in set(formats) if number < len(cell_formats))
    if listed is None or not wanted:
        return styles, {}
    variants = b"".join(_variant(styles, cell_formats[number], fill) for number in wanted)
    splice = Splice(styles)
    _append(splice, styles, listed, variants, len(cell_formats) + len(wanted))
    return splice.done(), {number: len(cell_formats) + i for i, number in enumerate(wanted)}


def _variant(styles: bytes, format_: Element, fill: int) -> bytes:
    tag = styles[format_.start : format_.opened]
    tag = with_attribute(with_attribute(tag, "fillId", str(fill)), "applyFill", "1")
    return tag + styles[format_.opened : format_.end]


def _append(splice: Splice, xml: bytes, around: Element, new: bytes, count: int) -> None:
    """Append something to a list that states its length."""
    tag = with_attribute(xml[around.start : around.opened], "count", str(count))
    splice.replace(around.start, around.opened, tag)
    splice.insert(around.closed, new)
