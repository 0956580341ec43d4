"""Notes on the cells of one sheet, in addition to those already there.

A note is written twice: its text in the comments of the sheet, and its box in an old drawing
format, which spreadsheet programs still read.
"""

import re
from collections.abc import Mapping

from tasks.outputs.workbook_copy.cells import Spot, name_of, spot
from tasks.outputs.workbook_copy.package import Package
from tasks.outputs.workbook_copy.splicing import Splice, content, elements

AUTHOR = "campaign check"
# The author is in the text as well: not every program keeps the authors of notes.
BEGINS = f"{AUTHOR}:"
COMMENTS_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml.comments+xml"
DRAWING_TYPE = "application/vnd.openxmlformats-officedocument.vmlDrawing"
STRICT = "http://purl.oclc.org/ooxml"
MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
STRICT_MAIN = f"{STRICT}/spreadsheetml/main"
# The elements that follow the reference to the drawing in a sheet, in the format's order.
AFTER_DRAWING = (
    "legacyDrawingHF",
    "drawingHF",
    "picture",
    "oleObjects",
    "controls",
    "webPublishItems",
    "tableParts",
    "extLst",
)
LETTERS_A_LINE = 30
TAGS = re.compile(rb"<[^>]*>")
BOX = re.compile(rb"<v:shape\b.*?</v:shape>", re.DOTALL)
BOX_ROW = re.compile(rb"<x:Row>\s*(\d+)\s*</x:Row>")
BOX_COLUMN = re.compile(rb"<x:Column>\s*(\d+)\s*</x:Column>")
FIRST_SHAPE = 1025

DRAWING = (
    '<xml xmlns:v="urn:schemas-microsoft-com:vml" '
    'xmlns:o="urn:schemas-microsoft-com:office:office" '
    'xmlns:x="urn:schemas-microsoft-com:office:excel">'
    '<o:shapelayout v:ext="edit"><o:idmap v:ext="edit" data="1"/></o:shapelayout>'
    "</xml>"
)
KIND_OF_SHAPE = (
    '<v:shapetype xmlns:v="urn:schemas-microsoft-com:vml" '
    'xmlns:o="urn:schemas-microsoft-com:office:office" id="_x0000_t202" '
    'coordsize="21600,21600" o:spt="202" path="m,l,21600r21600,l21600,xe">'
    '<v:stroke joinstyle="miter"/><v:path gradientshapeok="t" o:connecttype="rect"/>'
    "</v:shapetype>"
)
SHAPE = (
    '<v:shape xmlns:v="urn:schemas-microsoft-com:vml" '
    'xmlns:o="urn:schemas-microsoft-com:office:office" '
    'xmlns:x="urn:schemas-microsoft-com:office:excel" id="_x0000_s{number}" '
    'type="#_x0000_t202" style="position:absolute;visibility:hidden" '
    'fillcolor="#ffffe1" o:insetmode="auto"><v:fill color2="#ffffe1"/>'
    '<v:shadow on="t" color="black" obscured="t"/><v:path o:connecttype="none"/>'
    '<v:textbox style="mso-direction-alt:auto"><div style="text-align:left"></div></v:textbox>'
    '<x:ClientData ObjectType="Note"><x:MoveWithCells/><x:SizeWithCells/>'
    "<x:Anchor>{left}, 15, {top}, 4, {right}, 15, {bottom}, 4</x:Anchor>"
    "<x:AutoFill>False</x:AutoFill><x:Row>{row}</x:Row><x:Column>{column}</x:Column>"
    "</x:ClientData></v:shape>"
)


def add_notes(book: Package, sheet: str, notes: Mapping[Spot, str]) -> None:
    """Put notes on cells; where there is a note already, the new text follows the old one.

    `sheet` is the part that holds the sheet.
    """
    fresh = _write_texts(book, sheet, notes)
    _draw_boxes(book, sheet, {at: notes[at] for at in fresh})


def take_notes_away(book: Package, sheet: str) -> list[Spot]:
    """Take away what `add_notes` put on cells without a note; returns those cells."""
    taken: list[Spot] = []
    for part in book.related(sheet, "comments").values():
        xml = book[part]
        splice = Splice(xml)
        for note in elements(xml, "comment"):
            text = TAGS.sub(b"", xml[note.opened : note.closed])
            if text.strip().startswith(BEGINS.encode()):
                splice.replace(note.start, note.end, b"")
                taken.append(spot(note.attributes["ref"]))
        book[part] = splice.done()
    for part in book.related(sheet, "vmlDrawing").values() if taken else ():
        book[part] = BOX.sub(lambda box: b"" if _spot_of(box[0]) in taken else box[0], book[part])
    return taken


def _spot_of(box: bytes) -> Spot | None:
    row, column = BOX_ROW.search(box), BOX_COLUMN.search(box)
    return (int(row[1]) + 1, int(column[1])) if row and column else None


def _write_texts(book: Package, sheet: str, notes: Mapping[Spot, str]) -> list[Spot]:
    """Write the texts; returns the cells that had no note yet."""
    part = _comments(book, sheet)
    xml = book[part]
    parts = elements(xml, "authors", "author", "commentList", "comment", "text")
    there = {
        element.attributes.get("ref", ""): text
        for element, text in zip(
            (e for e in parts if e.name == "comment"),
            (e for e in parts if e.name == "text" and e.around == "comment"),
            strict=True,
        )
    }
    authors = next(e for e in parts if e.name == "authors")
    texts = next(e for e in parts if e.name == "commentList")
    author = sum(e.name == "author" for e in parts)
    p = authors.prefix
    splice = Splice(xml)
    authors.append(splice, xml, f"<{p}author>{AUTHOR}</{p}author>".encode())
    fresh, new = [], []
    for at, text in sorted(notes.items()):
        name = name_of(at)
        if name in there:
            there[name].append(splice, xml, _run(f"\n\n{BEGINS}\n{text}", p).encode())
        else:
            fresh.append(at)
            run = _run(f"{BEGINS}\n{text}", p)
            new.append(
                f'<{p}comment ref="{name}" authorId="{author}"><{p}text>{run}</{p}text>'
                f"</{p}comment>"
            )
    texts.append(splice, xml, "".join(new).encode())
    book[part] = splice.done()
    return fresh


def _run(text: str, p: str) -> str:
    return f'<{p}r><{p}t xml:space="preserve">{content(text)}</{p}t></{p}r>'


def _comments(book: Package, sheet: str) -> str:
    """Find the part with the notes of a sheet, or begin one."""
    for part in book.related(sheet, "comments").values():
        return part
    part = book.free_name("xl/comments{}.xml")
    main = STRICT_MAIN if book.relation_types.startswith(STRICT) else MAIN
    book[part] = f'<comments xmlns="{main}"><authors/><commentList/></comments>'.encode()
    book.declare(part, COMMENTS_TYPE)
    book.relate(sheet, "comments", part)
    return part


def _draw_boxes(book: Package, sheet: str, notes: Mapping[Spot, str]) -> None:
    part = _drawing(book, sheet)
    drawing = book[part]
    # This format is often not valid XML, so its end is found as text.
    end = drawing.rindex(b"</xml>")
    ids = [int(number) for number in re.findall(rb"_x0000_s(\d+)", drawing)]
    first = max(ids, default=FIRST_SHAPE - 1) + 1
    new = "" if b'"_x0000_t202"' in drawing else KIND_OF_SHAPE
    for number, ((row, column), text) in enumerate(notes.items(), start=first):
        new += SHAPE.format(
            number=number,
            left=column + 1,
            right=column + 4,
            top=max(row - 2, 0),
            bottom=max(row - 2, 0) + 3 + len(text) // LETTERS_A_LINE,
            row=row - 1,
            column=column,
        )
    book[part] = drawing[:end] + new.encode() + drawing[end:]


def _drawing(book: Package, sheet: str) -> str:
    """Find the old drawing of a sheet, or create one and refer to it in the sheet."""
    xml = book[sheet]
    parts = elements(xml, "worksheet", "legacyDrawing", *AFTER_DRAWING)
    of_sheet = [e for e in parts if e.around == "worksheet"]
    drawings = book.related(sheet, "vmlDrawing")
    for element in of_sheet:
        if element.name == "legacyDrawing":
            ids = (v for k, v in element.attributes.items() if k.rpartition(":")[2] == "id")
            return drawings[next(ids)]
    part = book.free_name("xl/drawings/vmlDrawing{}.vml")
    book[part] = DRAWING.encode()
    book.declare(part, DRAWING_TYPE)
    number = book.relate(sheet, "vmlDrawing", part)
    root, splice = parts[0], Splice(xml)
    at = next((e.start for e in of_sheet if e.name in AFTER_DRAWING), root.closed)
    mention = f'<{root.prefix}legacyDrawing xmlns:r="{book.relation_types}" r:id="{number}"/>'
    splice.insert(at, mention.encode())
    book[sheet] = splice.done()
    return part
