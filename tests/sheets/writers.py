"""The same workbook by several programs: openpyxl, xlsxwriter, and by hand as OpenDocument."""

import io
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime
from itertools import groupby
from typing import Any
from xml.sax.saxutils import escape, quoteattr

import openpyxl
import xlsxwriter
from openpyxl.utils.datetime import CALENDAR_MAC_1904

from tests.sheets.shapes import Book, Formula, Sheet


def workbook(sheets: Mapping[str, Iterable[Sequence[Any]]]) -> bytes:
    """Write plain values by openpyxl, to sheets with these names."""
    book = openpyxl.Workbook()
    book.remove(book.active)
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
    content = io.BytesIO()
    book.save(content)
    return content.getvalue()


def by_openpyxl(book: Book) -> bytes:
    """It stores formulas without their results."""
    workbook = openpyxl.Workbook()
    workbook.remove(workbook.active)
    if book.from_1904:
        workbook.epoch = CALENDAR_MAC_1904
    for sheet in book.sheets:
        written = workbook.create_sheet(sheet.name)
        for number, row in enumerate(sheet.rows, start=1):
            for column, value in enumerate(row, start=1):
                cell = written.cell(number, column)
                cell.value = f"={value.text}" if isinstance(value, Formula) else value
                if isinstance(value, str):
                    cell.data_type = "s"
        for number in sheet.hidden:
            written.row_dimensions[number].hidden = True
        for area in sheet.merged:
            written.merge_cells(area)
        if sheet.concealed:
            written.sheet_state = "hidden"
    content = io.BytesIO()
    workbook.save(content)
    return content.getvalue()


def by_xlsxwriter(book: Book) -> bytes:
    """It stores the results it is given."""
    content = io.BytesIO()
    options = {
        "in_memory": True,
        "date_1904": book.from_1904,
        "strings_to_formulas": False,
        "strings_to_urls": False,
        "default_date_format": "dd.mm.yyyy hh:mm",
    }
    with xlsxwriter.Workbook(content, options) as workbook:
        for sheet in book.sheets:
            written = workbook.add_worksheet(sheet.name)
            for number, row in enumerate(sheet.rows):
                for column, value in enumerate(row):
                    if isinstance(value, Formula):
                        written.write_formula(number, column, f"={value.text}", None, value.result)
                    elif value is not None:
                        written.write(number, column, value)
            for number in sheet.hidden:
                written.set_row(number - 1, None, None, {"hidden": True})
            for area in sheet.merged:
                top, left = xlsxwriter.utility.xl_cell_to_rowcol(area.partition(":")[0])
                value = _at(sheet, top, left)
                written.merge_range(area, "" if value is None else value)
            if sheet.concealed:
                written.hide()
    return content.getvalue()


def _at(sheet: Sheet, row: int, column: int) -> Any:
    cells = sheet.rows[row]
    return cells[column] if column < len(cells) else None


SPACES = ("office", "table", "text", "style")
CALCEXT = "urn:org:documentfoundation:names:experimental:calc:xmlns:calcext:1.0"


def by_hand(book: Book) -> bytes:
    """An OpenDocument spreadsheet with nothing in it but what its format asks for."""
    spaces = " ".join(
        f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"' for name in SPACES
    )
    tables = "".join(map(_table, book.sheets))
    day_0 = '<table:calculation-settings><table:null-date table:date-value="1904-01-01"/>'
    settings = f"{day_0}</table:calculation-settings>" if book.from_1904 else ""
    hidden = (
        '<office:automatic-styles><style:style style:name="gone" style:family="table">'
        '<style:table-properties table:display="false"/></style:style></office:automatic-styles>'
    )
    document = (
        f'<office:document-content {spaces} xmlns:calcext="{CALCEXT}">{hidden}<office:body>'
        f"<office:spreadsheet>{settings}{tables}</office:spreadsheet></office:body>"
        "</office:document-content>"
    )
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        archive.writestr("META-INF/manifest.xml", "<manifest/>")
        archive.writestr("content.xml", document)
    return content.getvalue()


def _table(sheet: Sheet) -> str:
    spans = {}
    for area in sheet.merged:
        first, _, last = area.partition(":")
        top, left = xlsxwriter.utility.xl_cell_to_rowcol(first)
        bottom, right = xlsxwriter.utility.xl_cell_to_rowcol(last)
        spans[top, left] = (bottom - top + 1, right - left + 1)
    rows = []
    for number, row in enumerate(sheet.rows):
        cells = "".join(_cell(value, spans.get((number, at))) for at, value in enumerate(row))
        gone = ' table:visibility="collapse"' if number + 1 in sheet.hidden else ""
        rows.append(f"{gone}>{cells}</table:table-row>")
    # Equal rows that follow one another are written once, as by LibreOffice.
    table = "".join(
        f'<table:table-row table:number-rows-repeated="{len([*equal])}"{row}'
        for row, equal in groupby(rows)
    )
    style = ' table:style-name="gone"' if sheet.concealed else ""
    blank = '<table:table-row table:number-rows-repeated="1048000"><table:table-cell/>'
    name = f"table:name={quoteattr(sheet.name)}{style}"
    return f"<table:table {name}>{table}{blank}</table:table-row></table:table>"


def _cell(value: Any, span: tuple[int, int] | None) -> str:
    spanned = (
        f' table:number-rows-spanned="{span[0]}" table:number-columns-spanned="{span[1]}"'
        if span
        else ""
    )
    formula = ""
    if isinstance(value, Formula):
        formula, value = f" table:formula={quoteattr('of:=' + value.text)}", value.result
    if value is None:
        return f"<table:table-cell{spanned}/>"
    kind, shown = _kind(value, calculated=bool(formula))
    lines = "".join(f"<text:p>{escape(line)}</text:p>" for line in shown.split("\n"))
    return f"<table:table-cell{formula}{spanned} {kind}>{lines}</table:table-cell>"


def _kind(value: Any, *, calculated: bool) -> tuple[str, str]:
    if isinstance(value, bool):
        said = str(value).lower()
        return f'office:value-type="boolean" office:boolean-value="{said}"', said.upper()
    if isinstance(value, int | float):
        return f'office:value-type="float" office:value="{value}"', str(value)
    if isinstance(value, date):
        stored = value.isoformat() if isinstance(value, datetime) else f"{value.isoformat()}"
        return f'office:value-type="date" office:date-value="{stored}"', stored
    if calculated and value.startswith("#"):
        return 'office:value-type="string" calcext:value-type="error"', value
    return 'office:value-type="string"', value
