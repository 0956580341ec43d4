"""Cells of every kind as other programs store them, down to their bytes."""

import struct
from pathlib import Path
from typing import Any

import pytest

from config.mistakes import Unusable
from config.tables.workbook import read_book, read_sheets
from config.workbooks.compound import stream_of
from config.workbooks.shapes import DAMAGED, Unfit
from config.workbooks.xlsx_dates import moment_of, shows_a_date
from tests.sheets.books import DATES_1900, PLAIN
from tests.sheets.broken import changed
from tests.sheets.shapes import Book, Formula, Outcome, Sheet
from tests.sheets.writers import by_hand, by_openpyxl, by_xlsxwriter

MAIN = b"http://schemas.openxmlformats.org/spreadsheetml/2006/main"
LINKS = b"http://schemas.openxmlformats.org/officeDocument/2006/relationships"


def with_cells(xml: str, strings: str = "") -> list[Any]:
    """Read a row of cells, written as they are stored."""

    def change(name: str, data: bytes) -> bytes:
        if name.endswith("sheet1.xml"):
            rows = f'<sheetData><row r="1">{xml}</row></sheetData>'.encode()
            return b'<worksheet xmlns="' + MAIN + b'">' + rows + b"</worksheet>"
        if name.endswith("sharedStrings.xml"):
            return b'<sst xmlns="' + MAIN + b'">' + strings.encode() + b"</sst>"
        return data

    book = read_book(changed(by_xlsxwriter(PLAIN), change), "a.xlsx", ["campaign"])
    rows = list(book.sheets["campaign"].rows())
    assert len(rows) == 1
    return list(rows[0][1])


@pytest.mark.parametrize(
    ("xml", "value"),
    [
        ("<c><v>3</v></c>", 3),
        ("<c><v>3.0</v></c>", 3.0),
        ("<c><v>1E2</v></c>", 100.0),
        ("<c><v>12345678901234567890</v></c>", 12345678901234567890),
        ("<c><v>NaN</v></c>", Unusable("the error #NUM!")),
        ('<c t="b"><v>1</v></c>', True),
        ('<c t="str"><f>X</f><v> two  spaces_x000D_</v></c>', " two  spaces\r"),
        ('<c t="d"><v>2026-12-01T09:00:00Z</v></c>', "2026-12-01 09:00:00"),
        ('<c t="inlineStr"><is><t>plain</t></is></c>', "plain"),
        ('<c t="inlineStr"><is><r><t>ri</t></r><r><rPr/><t>ch</t></r></is></c>', "rich"),
        ('<c t="inlineStr"><is><t>a</t><t>b</t><r><t>c</t><t>d</t></r><t>e</t></is></c>', "abcde"),
        ('<c t="e"><f>1/0</f><v>#DIV/0!</v></c>', Unusable("the error #DIV/0!")),
    ],
)
def test_a_stored_cell(xml: str, value: object) -> None:
    """Numbers, texts, truth values, dates and errors; texts keep their spaces."""
    (found,) = with_cells(xml)
    assert (str(found), type(found)) == (str(value), type(value)) or str(found) == value


def test_shared_texts_leave_out_how_they_are_pronounced() -> None:
    """Japanese names carry their reading, which is not part of the name."""
    strings = "<si><t>王</t><rPh sb='0' eb='1'><t>ワン</t></rPh></si><si><r><t>a</t></r></si>"
    assert with_cells('<c t="s"><v>0</v></c><c t="s"><v>1</v></c>', strings) == ["王", "a"]


def test_an_error_in_another_language_is_an_error() -> None:
    """An OpenDocument cell shows it as its author's program does; its kind says what it is."""
    whole = by_hand(Book("error", [Sheet("a", [[Formula("NA()", "#NV")]])], Outcome()))
    ((_, cells),) = read_sheets(whole, "a.ods")["a"].rows()
    assert cells == (Unusable("the error #NV"),)


def test_cells_stand_where_they_say() -> None:
    """Programs leave blank cells out; a cell without a name follows the one before it."""
    cells = '<c r="C1"><v>3</v></c><c><v>4</v></c><c r="A1"><v>1</v></c><c r="F1" s="1"/>'
    assert with_cells(cells) == [1, None, 3, 4]


def test_both_dialects_and_any_prefix_are_read() -> None:
    """The strict dialect has other namespaces, and some programs write a prefix everywhere."""

    def strict(_: str, data: bytes) -> bytes:
        data = data.replace(MAIN, b"http://purl.oclc.org/ooxml/spreadsheetml/main")
        return data.replace(LINKS, b"http://purl.oclc.org/ooxml/officeDocument/relationships")

    def prefixed(name: str, data: bytes) -> bytes:
        if "sheets/" not in name:
            return data
        for tag in (b"worksheet", b"sheetData", b"row", b"c", b"v"):
            data = data.replace(b"<" + tag + b" ", b"<x:" + tag + b" ")
            data = data.replace(b"<" + tag + b">", b"<x:" + tag + b">")
            data = data.replace(b"</" + tag + b">", b"</x:" + tag + b">")
        return data.replace(b"xmlns=", b"xmlns:x=", 1)

    whole = by_xlsxwriter(PLAIN)
    wanted = [list(sheet.rows()) for sheet in read_sheets(whole, "a.xlsx").values()]
    for change in (strict, prefixed):
        altered = changed(whole, change)
        assert altered != whole
        found = [list(sheet.rows()) for sheet in read_sheets(altered, "a.xlsx").values()]
        assert found == wanted


@pytest.mark.parametrize(
    ("code", "date"),
    [
        ("dd.mm.yyyy", True),
        ("[$-407]d. mmmm yyyy;@", True),
        ("[h]:mm", True),
        ("General", False),
        ("0.00", False),
        ("[Red]0.0", False),
        ('0 "days"', False),
        (r"0\d", False),
        ("#,##0 [$USD]", False),
        ('0;"yesterday"', False),
    ],
)
def test_which_formats_show_a_date(code: str, date: bool) -> None:
    """Letters in quotes, colours and currencies are no parts of a date."""
    assert shows_a_date(code) is date


@pytest.mark.parametrize(
    ("number", "from_1904", "shown"),
    [
        (46357.375, False, ("moment", "2026-12-01T09:00:00")),
        (44895.375, True, ("moment", "2026-12-01T09:00:00")),
        (1, False, ("moment", "1900-01-01T00:00:00")),
        (61, False, ("moment", "1900-03-01T00:00:00")),
        (0.75, False, ("clock", "18:00:00")),
        (-1, False, ("error", "#VALUE!")),
        (1e9, False, ("error", "#VALUE!")),
    ],
)
def test_days_are_counted_as_the_workbook_counts_them(
    number: float, from_1904: bool, shown: tuple[str, str]
) -> None:
    """Two systems, one of them with a day that never was."""
    assert moment_of(number, from_1904) == shown


def test_a_workbook_without_styles_has_numbers_for_dates() -> None:
    """What was a date is the number it is stored as; a campaign's times are read all the same."""

    def bare(name: str, data: bytes) -> bytes | None:
        return None if "styles" in name else data.replace(b"relationships/styles", b"x")

    file = Path("a.xlsx")
    rows = dict(read_sheets(changed(by_openpyxl(DATES_1900), bare), str(file))["campaign"].rows())
    assert rows[5][1] == 46357.375


def small_compound(content: bytes) -> bytes:
    """A compound file whose only stream is short: it shares a sector with others of its kind."""
    free, end, table = 0xFFFFFFFF, 0xFFFFFFFE, 0xFFFFFFFD
    header = bytearray(512)
    header[:8] = bytes.fromhex("d0cf11e0a1b11ae1")
    struct.pack_into("<HHHHH", header, 24, 0x3E, 3, 0xFFFE, 9, 6)
    # One sector of table; the directory in sector 1, the short table in 2, their content in 3.
    struct.pack_into("<IIIIIIIII", header, 44, 1, 1, 0, 4096, 2, 1, end, 0, 0)
    struct.pack_into("<108I", header, 80, *[free] * 108)

    def entry(name: str, kind: int, start: int, length: int) -> bytes:
        packed = name.encode("utf-16-le")
        made = bytearray(128)
        made[: len(packed)] = packed
        struct.pack_into("<HB", made, 64, len(packed) + 2, kind)
        struct.pack_into("<II", made, 116, start, length)
        return bytes(made)

    follows = struct.pack("<128I", table, end, end, end, *[free] * 124)
    directory = entry("Root Entry", 5, 3, 512) + entry("Workbook", 2, 1, len(content)) + bytes(256)
    short = struct.pack("<128I", end, 2, end, *[free] * 125)
    return bytes(header) + follows + directory + short + (bytes(64) + content).ljust(512, b"\0")


def test_a_short_stream_of_a_compound_file() -> None:
    """Streams under 4 kB lie in small sectors of their own."""
    content = bytes(range(100))
    assert stream_of(small_compound(content), "Workbook", "Book") == content
    with pytest.raises(Unfit, match=DAMAGED):
        stream_of(small_compound(content), "Book")
    with pytest.raises(Unfit, match=DAMAGED):
        stream_of(small_compound(content)[:600], "Workbook")
