"""Files that are no table at all, and why."""

import io
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path

from config.tables.file_bytes import BINARY, EMPTY, NOT_TEXT
from config.workbooks import xml_2003
from config.workbooks.__main__ import FAR_AWAY, FOREIGN, NO_PART_OF_ONE, TOO_LARGE
from config.workbooks.container import ENTITIES, NO_WORKBOOK, ONLY_PART, PDF
from config.workbooks.shapes import DAMAGED, PROTECTED
from config.workbooks.web_page import NO_TABLE
from tests.sheets.books import PLAIN
from tests.sheets.writers import by_hand, by_openpyxl, by_xlsxwriter

OLD = bytes.fromhex("d0cf11e0a1b11ae1")


def changed(workbook: bytes, change: Callable[[str, bytes], bytes | None]) -> bytes:
    """Rewrite the parts of an archive; None leaves a part out."""
    content = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(workbook)) as whole,
        zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as parts,
    ):
        for name in whole.namelist():
            data = change(name, whole.read(name))
            if data is not None:
                parts.writestr(name, data)
    return content.getvalue()


def replaced(old: bytes, new: bytes, part: str = "sheet") -> Callable[[], bytes]:
    """A workbook with other text in one of its parts."""

    def make() -> bytes:
        seen = []

        def change(name: str, data: bytes) -> bytes:
            if part in name and old in data:
                seen.append(name)
                return data.replace(old, new)
            return data

        content = changed(by_xlsxwriter(PLAIN), change)
        assert seen, f"{old!r} is in no part {part}"
        return content

    return make


def without(part: str) -> Callable[[], bytes]:
    return lambda: changed(by_openpyxl(PLAIN), lambda name, data: None if part in name else data)


def zipped(**members: str) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        for name, text in members.items():
            archive.writestr(name, text)
    return content.getvalue()


def protected_ods() -> bytes:
    entry = b"<m:file-entry><m:encryption-data/></m:file-entry>"
    manifest = b'<m:manifest xmlns:m="urn:m">' + entry + b"</m:manifest>"
    return changed(by_hand(PLAIN), lambda name, data: manifest if "manifest" in name else data)


def compound(stream: str) -> bytes:
    """A compound file with nothing in it but the name of a stream."""
    return OLD + bytes(1000) + stream.encode("utf-16-le") + bytes(1000)


def circular() -> bytes:
    """A compound file whose sectors follow one another for ever."""
    header = bytearray(512)
    header[:8] = OLD
    struct.pack_into("<H", header, 30, 9)
    struct.pack_into("<IIII", header, 44, 1, 0, 0, 4096)
    struct.pack_into("<II", header, 68, 0xFFFFFFFE, 0)
    struct.pack_into("<109I", header, 76, 0, *[0xFFFFFFFF] * 108)
    return bytes(header) + struct.pack("<128I", *[0] * 128)


def torn_texts() -> bytes:
    """An .xls with a text that claims more letters than there are: its library breaks off."""
    whole = Path(__file__).with_name("libreoffice").joinpath("nobody.xls").read_bytes()
    return whole.replace(b"project.name\x01", b"project.name\x41")


DECLARED = b'<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/hostname">]><sst '

# One more person, in the last cell that there is.
FAR = b'<row r="1048576"><c r="XFD1048576"><v>1</v></c></row></sheetData>'
AREAS = b"".join(b'<mergeCell ref="%b1:%b1048576"/>' % (c, c) for c in [b"H", b"I"] * 5000)
MERGED = b"<mergeCells>" + AREAS + b"</mergeCells>"

BROKEN: dict[str, tuple[Callable[[], bytes], str]] = {
    "empty.xlsx": (lambda: b"", EMPTY),
    "blank.csv": (lambda: b"\n \n", EMPTY),
    "text.xlsx": (lambda: b"first_name,last_name\n", "file: text.xlsx"),
    "web.xls": (lambda: b"\xef\xbb\xbf<HTML><table>", NO_TABLE),
    "xml.xls": (lambda: b'<?xml version="1.0"?><Workbook/>', xml_2003.NO_WORKBOOK),
    "print.xlsx": (lambda: b"%PDF-1.7", PDF),
    "picture.xlsx": (lambda: b"\x89PNG\r\n\0\0\0", NO_WORKBOOK),
    "cut.xlsx": (lambda: by_openpyxl(PLAIN)[:3000], ONLY_PART),
    "cut.ods": (lambda: by_hand(PLAIN)[:900], ONLY_PART),
    "archive.xlsx": (lambda: zipped(**{"letter.txt": "x"}), NO_PART_OF_ONE),
    "letter.ods": (lambda: zipped(**{"word/document.xml": "<x/>"}), FOREIGN["word/document.xml"]),
    "binary.xlsx": (
        lambda: zipped(**{"[Content_Types].xml": "", "xl/workbook.bin": ""}),
        FOREIGN["xl/workbook.bin"],
    ),
    "bare.xlsx": (lambda: zipped(**{"[Content_Types].xml": "<x/>"}), DAMAGED),
    "no-main.xlsx": (without("workbook.xml"), DAMAGED),
    "no-sheet.xlsx": (without("sheet2.xml"), DAMAGED),
    "torn.xlsx": (replaced(b"</sheetData>", b"", "sheet2"), DAMAGED),
    "no-string.xlsx": (replaced(b"<v>1</v>", b"<v>999</v>", "sheet1"), DAMAGED),
    "row-0.xlsx": (replaced(b'<row r="2"', b'<row r="0"', "sheet2"), DAMAGED),
    "column.xlsx": (replaced(b'r="A2"', b'r="ZZZZ2"', "sheet2"), DAMAGED),
    "encoding.xlsx": (replaced(b'"UTF-8"', b'"UTF-2"', "sheet2"), DAMAGED),
    "entities.xlsx": (replaced(b"<sst ", DECLARED, "sharedStrings"), ENTITIES),
    "far.xlsx": (replaced(b"</sheetData>", FAR, "sheet2"), FAR_AWAY),
    "merged.xlsx": (replaced(b"</sheetData>", b"</sheetData>" + MERGED), TOO_LARGE),
    "protected.xlsx": (lambda: compound("EncryptedPackage"), PROTECTED),
    "protected.ods": (protected_ods, PROTECTED),
    "header-only.xls": (lambda: OLD + bytes(600), DAMAGED),
    "circular.xls": (circular, DAMAGED),
    "texts.xls": (torn_texts, DAMAGED),
    "letter.xls": (lambda: compound("WordDocument"), DAMAGED),
    "binary.csv": (lambda: b"\x7fELF\0\0\0", BINARY),
    "cut.csv": (lambda: b"PK\x03\x04\0\0\0", ONLY_PART),
    "half.csv": (lambda: b"\xff\xfeA\0B", NOT_TEXT),
    "quote.csv": (
        lambda: b'first name,last name,email\nA,B,"a@x.org\n',
        "(unexpected end of data)",
    ),
    "wide.csv": (
        lambda: b"first name,last name,email\nA,B,C,a@x.org\n",
        "4 columns",
    ),
}
