"""Links that can be clicked, on cells of one sheet."""

from collections.abc import Collection, Mapping
from xml.sax.saxutils import quoteattr

from tasks.outputs.workbook_copy.cells import MOST_LINKS, Spot, name_of
from tasks.outputs.workbook_copy.notes import AFTER_DRAWING
from tasks.outputs.workbook_copy.package import Package
from tasks.outputs.workbook_copy.splicing import Splice, elements

# The elements that follow the links of a sheet, in the format's order.
AFTER_LINKS = (
    *("printOptions", "pageMargins", "pageSetup", "headerFooter", "rowBreaks", "colBreaks"),
    *("customProperties", "cellWatches", "ignoredErrors", "smartTags", "drawing", "legacyDrawing"),
    *AFTER_DRAWING,
)


def link_cells(
    book: Package, sheet: str, links: Mapping[Spot, str], cleared: Collection[Spot]
) -> None:
    """Link cells to web addresses; existing links of the `cleared` cells are removed."""
    links = dict(list(links.items())[:MOST_LINKS])
    ids = book.relate_outside(sheet, "hyperlink", list(links.values()))
    xml = book[sheet]
    parts = elements(xml, "worksheet", "hyperlinks", "hyperlink", *AFTER_LINKS)
    root = parts[0]
    new = "".join(
        f'<{root.prefix}hyperlink xmlns:r="{book.relation_types}" ref="{name_of(at)}" '
        f"r:id={quoteattr(number)}/>"
        for at, number in zip(links, ids, strict=True)
    )
    gone = {name_of(at) for at in cleared}
    old = [element for element in parts if element.name == "hyperlink"]
    cut = [element for element in old if element.attributes.get("ref") in gone]
    splice = Splice(xml)
    there = next((element for element in parts if element.name == "hyperlinks"), None)
    if there and (new or len(cut) < len(old)):
        for element in cut:
            splice.replace(element.start, element.end, b"")
        there.append(splice, xml, new.encode())
    elif there:
        splice.replace(there.start, there.end, b"")
    elif new:
        of_sheet = (e for e in parts if e.around == "worksheet" and e.name in AFTER_LINKS)
        at = next((element.start for element in of_sheet), root.closed)
        splice.insert(at, f"<{root.prefix}hyperlinks>{new}</{root.prefix}hyperlinks>".encode())
    book[sheet] = splice.done()
