"""Tables as systems hand them out under the names of workbooks and texts, good and bad."""

from dataclasses import dataclass
from xml.sax.saxutils import escape

from config.workbooks.container import ARCHIVED_PAGE, ENTITIES
from config.workbooks.shapes import DAMAGED
from config.workbooks.web_page import NO_TABLE
from config.workbooks.xml_2003 import NO_WORKBOOK
from tests.sheets.writers import workbook

PEOPLE = [
    ("Ada", "Lovelace", "ada@mail.example"),
    ("Zoë", "Müller", "zoe@mail.example"),
    ("Null", "O'Neil & Sons", "null@mail.example"),
]
HEADER = ("First name", "Last name", "E-mail")


@dataclass(frozen=True)
class Export:
    """A file, and where each of the three people stands in it; or what is said about the file.

    `remark` is the end of a note that `check` must have; `options` stand beside `file`.
    """

    content: bytes
    places: tuple[str, ...] = ()
    complaint: str = ""
    remark: str = ""
    options: str = ""


def rows_in_html() -> str:
    header = "".join(f"<th>{name}</th>" for name in HEADER)
    rows = "".join(
        f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in person)}</tr>\n" for person in PEOPLE
    )
    return f"<tr>{header}</tr>\n{rows}"


def page(body: str, charset: str = "utf-8") -> bytes:
    meta = f'<meta http-equiv="Content-Type" content="text/html; charset={charset}">'
    text = f"<html><head>{meta}</head><body>{body}</body></html>"
    return text.encode(charset)


# What Excel writes where one saves a workbook as a web page.
BY_EXCEL = """<html xmlns:v="urn:schemas-microsoft-com:vml"
xmlns:o="urn:schemas-microsoft-com:office:office"
xmlns:x="urn:schemas-microsoft-com:office:excel" xmlns="http://www.w3.org/TR/REC-html40">
<head><meta http-equiv=Content-Type content="text/html; charset=windows-1252">
<meta name=Generator content="Microsoft Excel 15">
<style><!--table {mso-displayed-decimal-separator:"\\.";} td {mso-number-format:General;}--></style>
<!--[if gte mso 9]><xml><x:ExcelWorkbook><x:ExcelWorksheets><x:ExcelWorksheet>
<x:Name>Candidates</x:Name></x:ExcelWorksheet></x:ExcelWorksheets></x:ExcelWorkbook></xml><![endif]-->
</head><body link=blue>
<table border=0 cellpadding=0 x:str style='border-collapse:collapse'>
 <col width=64 style='width:48pt'>
 <tr height=20><td colspan=4 class=xl65>Candidates &amp; applicants, <b>December</b></td></tr>
 <tr height=20><td class=xl66>First<br>name<td>Last name<td>E-mail<td>Started
 <tr height=20>
  <td height=20>Ada</td><td>Lovelace</td>
  <td><a href="mailto:ada@mail.example">ada@mail.example</a></td>
  <td class=xl67 x:num="46357">1-Dec-26</td></tr>
 <tr><td>Zo\xeb</td><td>M\xfcller&nbsp;</td><td>  zoe@mail.example
  </td><td></td></tr>
 <tr height=0 style='display:none'><td>Null</td><td>O&#39;Neil &amp; Sons</td><td><a
  href="mailto:null@mail.example">write</a></td></tr>
</table><script>document.write("<table><tr><td>E-mail</td></tr></table>")</script></body></html>
"""
SPANS = page(
    "<table><tr><td colspan=2>Person</td><td rowspan=2>E-mail</td></tr>"
    "<tr><td>First name</td><td>Last name</td></tr>"
    + "".join(f"<tr>{''.join(f'<td>{escape(c)}</td>' for c in row)}</tr>" for row in PEOPLE)
    + "</table>"
)
NESTED = page(
    "<table><tr><td><table><tr><td>Report</td><td>Candidates</td></tr></table></td></tr>"
    f"<tr><td><table id=data><tbody>{rows_in_html()}</tbody></table></td></tr></table>"
)


def written_2003(rows: str, options: str = "") -> str:
    return (
        '<?xml version="1.0"?>\n<?mso-application progid="Excel.Sheet"?>\n'
        '<Workbook xmlns="urn:schemas-microsoft-com:office:spreadsheet" '
        'xmlns:o="urn:schemas-microsoft-com:office:office" '
        'xmlns:x="urn:schemas-microsoft-com:office:excel" '
        'xmlns:ss="urn:schemas-microsoft-com:office:spreadsheet" '
        'xmlns:html="http://www.w3.org/TR/REC-html40">\n'
        '<Styles><Style ss:ID="Default" ss:Name="Normal"/></Styles>'
        '<Worksheet ss:Name="Candidates"><Table ss:ExpandedColumnCount="3" x:FullColumns="1">'
        f'<Column ss:Width="80"/>{rows}</Table>{options}</Worksheet></Workbook>'
    )


def row_2003(cells: tuple[str, ...], **attributes: str) -> str:
    said = "".join(f' ss:{name}="{value}"' for name, value in attributes.items())
    data = "".join(f'<Cell><Data ss:Type="String">{escape(cell)}</Data></Cell>' for cell in cells)
    return f"<Row{said}>{data}</Row>\n"


PLAIN_2003 = written_2003("".join(row_2003(cells) for cells in (HEADER, *PEOPLE)))
RICH_2003 = written_2003(
    '<Row><Cell ss:MergeAcross="2"><Data ss:Type="String">Applicants</Data></Cell></Row>'
    '<Row ss:Index="3"><Cell ss:Index="2"><Data ss:Type="String">First name</Data></Cell>'
    '<Cell><Data ss:Type="String">Last name</Data></Cell>'
    '<Cell><Data ss:Type="String">E-mail</Data></Cell>'
    '<Cell><Data ss:Type="String">Notes</Data></Cell>'
    '<Cell><Data ss:Type="String">Stage ID</Data></Cell></Row>'
    '<Row><Cell ss:Index="2"><ss:Data ss:Type="String" xmlns="http://www.w3.org/TR/REC-html40">'
    "<B>A</B><Font>da</Font></ss:Data></Cell>"
    '<Cell><Data ss:Type="String">Lovelace</Data><Comment><ss:Data>no</ss:Data></Comment></Cell>'
    '<Cell ss:HRef="mailto:ada@mail.example"><Data ss:Type="String">write to her</Data></Cell>'
    '<Cell><Data ss:Type="DateTime">2026-12-01T00:00:00.000</Data></Cell>'
    '<Cell ss:MergeDown="2"><Data ss:Type="Number">3</Data></Cell></Row>'
    '<Row ss:Hidden="1"><Cell ss:Index="2"><Data ss:Type="String">Zoë</Data></Cell>'
    '<Cell><Data ss:Type="String">Müller</Data></Cell>'
    '<Cell ss:Formula="=R[1]C"><Data ss:Type="String">zoe@mail.example</Data></Cell>'
    '<Cell><Data ss:Type="Boolean">1</Data></Cell></Row>'
    '<Row><Cell ss:Index="2"><Data ss:Type="String">Null</Data></Cell>'
    '<Cell><Data ss:Type="String">O\'Neil &amp; Sons</Data></Cell>'
    '<Cell><Data ss:Type="String"><![CDATA[null@mail.example]]></Data></Cell>'
    '<Cell><Data ss:Type="Number">2.5</Data></Cell></Row>',
    options="<WorksheetOptions xmlns='urn:schemas-microsoft-com:office:excel'>"
    "<Visible>SheetHidden</Visible></WorksheetOptions>",
)
WRONG_2003 = written_2003(
    row_2003(HEADER)
    + '<Row><Cell><Data ss:Type="Error">#N/A</Data></Cell>'
    + '<Cell><Data ss:Type="String">L</Data></Cell>'
    + '<Cell><Data ss:Type="String">a@mail.example</Data></Cell></Row>'
)


def text(delimiter: str, *above: str, below: tuple[str, ...] = ()) -> str:
    rows = [delimiter.join(row) for row in (HEADER, *PEOPLE)]
    return "\r\n".join((*above, *rows, *below, ""))


LINES = (":2", ":3", ":4")
ROWS = ("C2", "C3", "C4")
PREAMBLE = (
    'Report;"Candidates by stage"',
    "Created on;2026-11-22 14:09",
    "Filter;Stage is Take home",
    "",
    'Name;"Candidates; all" of us',
)
MANY = tuple(f"Prompt {number};value {number}" for number in range(1, 31))
# The first sheet that Numbers puts into what it exports.
SUMMARY = [
    ("This document was exported from Numbers. Each table was converted to an Excel worksheet.",),
    ("Numbers Sheet Name", "Numbers Table Name", "Excel Worksheet Name"),
    ("Sheet 1",),
    (None, "Candidates", "Sheet 1 - Candidates"),
]
TOTALS = [HEADER, *PEOPLE, (), ("Total", None, None), ("Total: 3 records",)]


EXPORTS = {
    # A web page under the name of a workbook.
    "page.xls": Export(page(f"<table border=1>{rows_in_html()}</table>"), ROWS),
    "page-without-frame.xls": Export(f"<table>{rows_in_html()}</table>".encode(), ROWS),
    "page-in-latin.xls": Export(page(f"<table>{rows_in_html()}</table>", "iso-8859-1"), ROWS),
    "page-in-utf-16.xls": Export(page(f"<table>{rows_in_html()}</table>", "utf-16"), ROWS),
    "page-with-doctype.xls": Export(
        b"<!DOCTYPE html>\n<!-- report -->" + page(f"<table>{rows_in_html()}</table>"), ROWS
    ),
    "page-with-style.xls": Export(
        f"<meta charset='utf-8'>\n<style>td{{}}</style><table>{rows_in_html()}</table>".encode(),
        ROWS,
    ),
    "page-in-xhtml.xls": Export(
        b'<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0">'
        + page(f"<table>{rows_in_html()}</table>"),
        ROWS,
    ),
    "page-by-excel.xls": Export(
        BY_EXCEL.encode("latin-1"), ("C3", "C4", "C5"), remark="1 row is hidden, …"
    ),
    "page-with-spans.xls": Export(SPANS, ("C3", "C4", "C5")),
    "page-of-two.xls": Export(
        page(f"<table><tr><td>Report</td></tr></table><table>{rows_in_html()}</table>"),
        ROWS,
        remark="Table 2: … used, …",
    ),
    "page-in-page.xls": Export(NESTED, ROWS),
    "page.html": Export(page(f"<table>{rows_in_html()}</table>"), ROWS),
    "page.csv": Export(page(f"<table>{rows_in_html()}</table>"), ROWS),
    "login.xls": Export(page("<h1>Log in</h1><form>E-mail</form>"), complaint=NO_TABLE),
    "archive-of-page.xls": Export(
        b"MIME-Version: 1.0\r\nContent-Type: multipart/related; boundary=x\r\n\r\n--x\r\n",
        complaint=ARCHIVED_PAGE,
    ),
    # Text under the name of a workbook.
    "tabs.xls": Export(text("\t").encode(), LINES),
    "tabs-in-utf-16.xls": Export(text("\t").encode("utf-16"), LINES),
    "tabs-in-1252.xls": Export(text("\t").encode("cp1252"), LINES, remark="… Windows-1252; …"),
    "commas.xlsx": Export(text(",").encode("utf-8-sig"), LINES),
    # XML of Excel 2003.
    "book-2003.xls": Export(PLAIN_2003.encode(), ROWS),
    "book-2003.xml": Export(PLAIN_2003.encode(), ROWS),
    "book-2003-utf-16.xml": Export(
        PLAIN_2003.replace('"1.0"?', '"1.0" encoding="UTF-16"?').encode("utf-16"), ROWS
    ),
    "book-2003-rich.xls": Export(
        RICH_2003.encode(),
        ("D4", "D5", "D6"),
        remark="1 row is hidden, …: 5",
        options=", columns: {notes: Notes}",
    ),
    "book-2003-wrong.xls": Export(
        WRONG_2003.encode(), complaint="Candidates!A2, first_name: found the error #N/A"
    ),
    "book-2003-cut.xls": Export(PLAIN_2003[:900].encode(), complaint=DAMAGED),
    "book-2003-entities.xml": Export(
        PLAIN_2003.replace("<Workbook", '<!DOCTYPE x [<!ENTITY a "b">]><Workbook').encode(),
        complaint=ENTITIES,
    ),
    "feed.xml": Export(b'<?xml version="1.0"?><rss><x/></rss>', complaint=NO_WORKBOOK),
    # A line that only Excel understands.
    "sep.csv": Export(text(";", "sep=;").encode(), (":3", ":4", ":5")),
    "sep-marked.csv": Export(text(";", "sep=;").encode("utf-8-sig"), (":3", ":4", ":5")),
    "sep-utf-16.csv": Export(text(";", "SEP=;").encode("utf-16"), (":3", ":4", ":5")),
    "sep-quoted.csv": Export(text(";", '"sep=;"').encode(), (":3", ":4", ":5")),
    "sep-spaced.csv": Export(text(",", "sep = ,,").encode(), (":3", ":4", ":5")),
    "sep-pipe.csv": Export(text("|", "sep=|").encode(), (":3", ":4", ":5")),
    "sep-tab.csv": Export(text("\t", "sep=\t").encode(), (":3", ":4", ":5")),
    "sep-above.csv": Export(text(";", "sep=;", "Report", "").encode(), (":5", ":6", ":7")),
    "sep.xls": Export(text(";", "sep=;").encode(), (":3", ":4", ":5")),
    "pipes.txt": Export(text("|").encode(), LINES),
    "utf-16.csv": Export(text("\t").encode("utf-16"), LINES),
    "utf-16-be.csv": Export(b"\xfe\xff" + text(",").encode("utf-16-be"), LINES),
    "utf-16-unmarked.csv": Export(text("\t").encode("utf-16-le"), LINES),
    # Lines of a report above the header, and totals below.
    "report.csv": Export(text(";", *PREAMBLE).encode(), (":7", ":8", ":9")),
    "report-long.csv": Export(text(";", *MANY).encode(), (":32", ":33", ":34")),
    "report.xlsx": Export(
        workbook({"Report": [(line,) for line in PREAMBLE] + [HEADER, *PEOPLE]}),
        ("C7", "C8", "C9"),
    ),
    "totals.xlsx": Export(
        workbook({"Report": TOTALS}),
        ROWS,
        remark='Report!A6: "Total" …',
    ),
    "totals.csv": Export(
        text(",", below=(",,", "Total,,3", "Grand Total:,3,")).encode(),
        LINES,
        remark=':6: "Total" …',
    ),
    "totals-in-german.csv": Export(
        text(";", below=("Summe;3;", "Anzahl: 3;;")).encode(),
        LINES,
        remark=':5: "Summe" …',
    ),
    "total-of-a-person.csv": Export(
        text(",", below=("Total,Sum,",)).encode(), complaint=":5, email1: missing"
    ),
    # What Google Sheets and Numbers export.
    "numbers.xlsx": Export(
        workbook(
            {
                "Export Summary": SUMMARY,
                "Sheet 1 - Candidates": [("Candidates",), HEADER, *PEOPLE],
            }
        ),
        ("C3", "C4", "C5"),
        remark="Sheet 1 - Candidates: … used, …",
    ),
    "numbers.csv": Export(text(";", "Candidates;;").encode(), (":3", ":4", ":5")),
}
