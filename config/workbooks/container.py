"""The checks of a file that claims to be a workbook, before anything is unpacked."""

import io
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import IO, Literal
from xml.etree.ElementTree import Element, iterparse
from xml.parsers import expat

from config.workbooks.content import ARCHIVE, OLD_FORMAT, is_archived_page, is_text
from config.workbooks.shapes import DAMAGED, PROTECTED, Unfit

# A workbook of 100,000 people unpacks to 40 MB; a few kilobytes can unpack to gigabytes.
LARGEST_UNPACKED = 256 * 2**20
MOST_MEMBERS = 10_000
XML = (".xml", ".rels", ".vml")
Event = Literal["start", "end"]
ONLY_PART = "this is only part of a workbook; copy or download it again"
ENTITIES = "this workbook declares XML entities, which no spreadsheet program writes"
ARCHIVED_PAGE = "this is an archived web page (.mht); open it in Excel and save it as .xlsx"
PDF = "this is a PDF; export the table as .xlsx or .csv instead"
NO_WORKBOOK = "this is not a workbook, or it is damaged; save it as .xlsx"

# The errors that a damaged archive raises while it is unpacked.
BROKEN = (zipfile.BadZipFile, zlib.error, EOFError, KeyError, NotImplementedError, RuntimeError)


def old_format(data: bytes) -> bool:
    """Say whether this is a compound file, as .xls is. Raises Unfit if it hides a new one."""
    if not data.startswith(OLD_FORMAT):
        return False
    if "EncryptedPackage".encode("utf-16-le") in data:
        raise Unfit(PROTECTED)
    return True


def archive_of(data: bytes) -> zipfile.ZipFile:
    """Open the archive of a newer workbook. Raises Unfit, which says what the file is instead."""
    if not data.startswith(ARCHIVE):
        raise Unfit(_instead(data))
    try:
        archive = zipfile.ZipFile(io.BytesIO(data))
    except BROKEN:
        raise Unfit(ONLY_PART) from None
    members = archive.infolist()
    unpacked = sum(member.file_size for member in members)
    if unpacked > LARGEST_UNPACKED or len(members) > MOST_MEMBERS:
        size = f"{unpacked // 2**20:,} MB in {len(members):,} parts"
        raise Unfit(f"this workbook unpacks to {size}, more than any campaign needs")
    if any(member.flag_bits & 1 for member in members):
        raise Unfit(PROTECTED)
    for member in members:
        if member.filename.endswith(XML) and not member.filename.startswith("META-INF/"):
            with suppress(*BROKEN, expat.ExpatError), archive.open(member) as stream:
                # A broken part is reported only if it is needed.
                refuse_document_type(stream)
    return archive


def refuse_document_type(stream: IO[bytes]) -> None:
    """Look through everything before the first element, however much it is. Raises Unfit.

    A document type could declare entities that read other files, or grow without end.
    """
    begun = False

    def refuse(*_: object) -> None:
        raise Unfit(ENTITIES)

    def begin(*_: object) -> None:
        nonlocal begun
        begun = True

    parser = expat.ParserCreate()
    parser.StartDoctypeDeclHandler = refuse
    parser.StartElementHandler = begin
    while not begun and (piece := stream.read(4096)):
        parser.Parse(piece)


def _instead(data: bytes) -> str:
    if is_archived_page(data):
        return ARCHIVED_PAGE
    if data.startswith(b"%PDF"):
        return PDF
    if is_text(data):
        return "this is text, not a workbook with a sheet campaign"
    return NO_WORKBOOK


def elements(archive: zipfile.ZipFile, part: str, *events: Event) -> Iterator[tuple[str, Element]]:
    # No other file is ever read, and an archive that declares anything has been refused.
    with archive.open(part) as stream:
        yield from iterparse(stream, events=events or ("end",))  # noqa: S314


def namespace(archive: zipfile.ZipFile, part: str) -> str:
    """Return the namespace of a part's first element as `{…}`: there are several dialects."""
    for _, element in elements(archive, part, "start"):
        tag: str = element.tag
        return tag[: tag.find("}") + 1]
    raise Unfit(DAMAGED)


def rows_of(
    events: Iterable[tuple[str, Element]], sheet_tag: str, row_tag: str, sheet: int
) -> Iterator[Element]:
    """Go through the rows of a sheet (from 0) by the starts and ends of all elements; each is
    emptied when the next is asked for.
    """
    at = -1
    for event, element in events:
        if event == "start":
            at += element.tag == sheet_tag
        elif element.tag == sheet_tag and at == sheet:
            return
        elif element.tag == row_tag:
            if at == sheet:
                yield element
            element.clear()
