"""Cells put into a sheet's XML: each where it belongs, and not one byte changed elsewhere."""

from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.outputs.workbook_copy.cells import Cell, Spot, name_of, spot, styles_of, with_cells
from tasks.outputs.workbook_copy.splicing import elements, with_attribute

MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
HEAD = f'<?xml version="1.0"?>\n<!-- a > b --><worksheet xmlns="{MAIN}"><cols title="/>"/>'
TAIL = "<mergeCells><row/><c r='A1'/></mergeCells>\n</worksheet>"

spots = st.tuples(st.integers(1, 8), st.integers(0, 30))
texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="_"), max_size=8)
# What a cell holds before: a format (None: none), and a text (None: empty, and no end tag).
before = st.dictionaries(spots, st.tuples(st.none() | st.integers(0, 9), st.none() | texts))
after = st.dictionaries(
    spots,
    st.builds(Cell, st.none() | st.integers(0, 10**18) | texts, st.none() | st.integers(0, 9)),
)


def sheet_of(cells: dict[Spot, Any], named: bool, empty_rows: set[int]) -> str:
    """A sheet as some program might write it; names are left out where they may be."""
    rows = ""
    last = 0
    for row in sorted({row for row, _ in cells} | empty_rows):
        here = sorted((column, cell) for (r, column), cell in cells.items() if r == row)
        name = f' r="{row}"' if named or row != last + 1 else ""
        last = row
        rows += f'<row{name} spans="1:31"' + (">" if here else "/>")
        reached = -1
        for column, (style, text) in here:
            name = f' r="{name_of((row, column))}"' if named or column != reached + 1 else ""
            reached = column
            style_of = "" if style is None else f" s='{style}'"
            if text is None:
                rows += f"<c{name}{style_of}/>"
            else:
                inside = ElementTree.Element("t")
                inside.text = clean(text)
                held = ElementTree.tostring(inside, encoding="unicode")
                rows += f'<c t="inlineStr"{name}{style_of}><is>{held}</is></c>'
        rows += "</row>" if here else ""
    return f"<sheetData>{rows}</sheetData>" if rows else "<sheetData />"


def clean(text: str) -> str:
    """What XML can hold, as a parser gives it back."""
    kept = "".join(c if c in "\t\n" or ord(c) >= 32 else "\ufffd" for c in text)
    return kept.replace("\ufffe", "\ufffd").replace("\uffff", "\ufffd")


def held(xml: bytes) -> dict[Spot, tuple[int | None, str]]:
    """Read a sheet with another parser: the format and the text of each cell, in their order."""
    found: dict[Spot, tuple[int | None, str]] = {}
    row_number = 0
    for row in ElementTree.fromstring(xml).iterfind(f"{{{MAIN}}}sheetData/{{{MAIN}}}row"):
        row_number = int(row.get("r", row_number + 1))
        column = -1
        for cell in row:
            name = cell.get("r")
            column = spot(name)[1] if name else column + 1
            assert (row_number, column) not in found
            style = cell.get("s")
            text = "".join(cell.itertext())
            found[row_number, column] = (int(style) if style is not None else None, text)
    assert list(found) == sorted(found)
    return found


@given(before, after, st.booleans(), st.sets(st.integers(1, 8)))
def test_cells_land_where_they_belong(
    cells: dict[Spot, Any], changes: dict[Spot, Cell], named: bool, empty: set[int]
) -> None:
    """In their row and column and in order; what is not named keeps its format and its text."""
    data = sheet_of(cells, named, empty)
    xml = (HEAD + data + TAIL).encode()
    was = held(xml)
    changed = with_cells(xml, changes)
    expected = dict(was)
    for at, cell in changes.items():
        style, text = was.get(at, (None, ""))
        if cell.value is not None:
            text = clean(str(cell.value).replace("\r\n", "\n").replace("\r", "\n"))
        expected[at] = (style if cell.style is None else cell.style, text)
    found = held(changed)
    assert {at: style for at, (style, _) in found.items()} == {
        at: style for at, (style, _) in expected.items()
    }
    assert {at: text for at, (_, text) in found.items()} == {
        at: text for at, (_, text) in expected.items()
    }
    assert changed.startswith(HEAD.encode()) and changed.endswith(TAIL.encode())
    assert styles_of(changed, list(found)) == {at: style or 0 for at, (style, _) in found.items()}


@pytest.mark.parametrize(
    ("name", "at"),
    [("A1", (1, 0)), ("Z9", (9, 25)), ("AA10", (10, 26)), ("XFD1048576", (1048576, 16383))],
)
def test_names_of_cells(name: str, at: Spot) -> None:
    """As spreadsheets count: A to Z, then AA."""
    assert spot(name) == at and name_of(at) == name


@pytest.mark.parametrize("row", ['<row r="1" spans="1:2"/>', '<row spans="1:2" r="1"></row>'])
def test_a_row_no_longer_says_where_its_cells_were(row: str) -> None:
    """A program that trusted the word would not look where the new cell is."""
    xml = f"{HEAD}<sheetData>{row}</sheetData>{TAIL}".encode()
    changed = with_cells(xml, {(1, 7): Cell("new")})
    assert b"spans" not in changed and b'r="H1"' in changed


def test_what_looks_like_an_escape_stays_text() -> None:
    """The format writes characters as _x0041_; a text that looks so is not one of those."""
    xml = (HEAD + "<sheetData/>" + TAIL).encode()
    assert b"_x005F_x0041_ _x1" in with_cells(xml, {(1, 0): Cell("_x0041_ _x1")})


@pytest.mark.parametrize(
    ("row", "style"),
    [('s="4" customFormat="1"', 4), ('s="4" customFormat="false"', 0), ('s="4"', 0)],
)
def test_a_cell_that_is_not_there_would_have_the_format_of_its_row(row: str, style: int) -> None:
    """Only where the row says that it has one."""
    xml = f'{HEAD}<sheetData><row r="2" {row}></row></sheetData>{TAIL}'.encode()
    assert styles_of(xml, [(2, 3)]) == {(2, 3): style}


@pytest.mark.parametrize(
    ("tag", "changed"),
    [
        (b"<c/>", b'<c s="7"/>'),
        (b"<c r='>' s = '3' >", b"<c r='>' s=\"7\" >"),
        (b'<c ss="1">', b'<c ss="1" s="7">'),
    ],
)
def test_an_attribute_is_set_in_any_spelling(tag: bytes, changed: bytes) -> None:
    """Whatever quotes and spaces a program writes."""
    assert with_attribute(tag, "s", "7") == changed


def test_elements_are_found_byte_for_byte() -> None:
    """Comments, quoted brackets and letters of several bytes do not move a place."""
    xml = '<a><!-- <b/> --><b t="ü>"/><x:b>é</x:b></a>'.encode()
    first, second = elements(xml, "b")
    assert xml[first.start : first.end] == '<b t="ü>"/>'.encode()
    assert xml[second.start : second.end] == "<x:b>é</x:b>".encode()
    assert (first.closed, xml[second.opened : second.closed]) == (first.end, "é".encode())
