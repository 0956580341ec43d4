"""Hostile files: a clear error, exit 2, little memory, soon; the program never dies with them."""

import io
import os
import re
import resource
import signal
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from config.reading.folder import NO_CAMPAIGNS
from config.tables.file_bytes import NOT_ORDINARY
from config.workbooks.__main__ import FAR_AWAY, TOO_LARGE
from config.workbooks.container import ENTITIES
from config.workbooks.process import SHORT_OF_MEANS, received
from config.workbooks.shapes import DAMAGED, Unfit
from tests.sheets.books import PLAIN
from tests.sheets.broken import BROKEN, changed, replaced
from tests.sheets.shapes import Book
from tests.sheets.writers import by_hand, by_openpyxl, by_xlsxwriter
from tests.support.session import PATIENCE

pytestmark = pytest.mark.skipif(
    not Path("/proc/self/status").exists(), reason="memory is told in /proc only"
)
SECONDS = 20
MEGABYTES = 500
LAUGHS = 10
# Types `campaign check FILE` and tells last how many kilobytes the command and the process that
# reads workbooks for it ever had, together at most.
MEASURED = """
import re, resource, sys
from pathlib import Path
from flows.cli.main import main
try:
    main()
finally:
    # Counted from the start of this program; what getrusage says began with its parent.
    own = re.search(r"VmHWM:\\s*(\\d+)", Path("/proc/self/status").read_text())[1]
    print(int(own) + resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, file=sys.stderr)
"""


def far_away_ods() -> bytes:
    """Half a billion cells in a few bytes: one of them, repeated to the right and downwards."""
    row = (
        b'<table:table-row table:number-rows-repeated="30000"><table:table-cell office:value-type='
        b'"float" office:value="1" table:number-columns-repeated="16384"/></table:table-row>'
    )
    blank = b'<table:table-row table:number-rows-repeated="1048000">'

    def change(name: str, data: bytes) -> bytes:
        first, _, second = data.rpartition(blank)
        return first + row + blank + second if name == "content.xml" else data

    return changed(by_hand(PLAIN), change)


def bomb() -> bytes:
    """1.5 GB of blanks in 1.5 MB."""
    content = io.BytesIO(by_openpyxl(PLAIN))
    with (
        zipfile.ZipFile(content, "a", zipfile.ZIP_DEFLATED, compresslevel=1) as archive,
        archive.open("xl/worksheets/sheet9.xml", "w", force_zip64=True) as member,
    ):
        block = bytes(2**20)
        for _ in range(1536):
            member.write(block)
    return content.getvalue()


def lying_bomb() -> bytes:
    """The table of contents says that the sheet is short."""
    block = b'<row r="2"><c r="A2"><v>1</v></c></row>' * 1_000_000
    data = replaced(b"</sheetData>", block + b"</sheetData>", "sheet2")()
    size = next(
        member.file_size
        for member in zipfile.ZipFile(io.BytesIO(data)).infolist()
        if member.filename.endswith("sheet2.xml")
    )
    packed = size.to_bytes(4, "little")
    assert data.count(packed) == 2
    return data.replace(packed, (5000).to_bytes(4, "little"))


def late_laughs() -> bytes:
    """A text of billions of letters, declared behind a comment longer than anybody looks at."""
    entities = ['<!ENTITY a0 "ha">']
    entities += [f'<!ENTITY a{n} "{f"&a{n - 1};" * 10}">' for n in range(1, LAUGHS + 1)]
    head = f"<?xml version='1.0'?><!--{' ' * 10_000}--><!DOCTYPE sst [{''.join(entities)}]>"

    def change(name: str, data: bytes) -> bytes:
        if "sharedStrings" not in name:
            return data
        without_head = re.sub(rb"<\?xml[^>]*\?>\s*", b"", data)
        return head.encode() + without_head.replace(b">Ada<", b">&a%d;<" % LAUGHS)

    return changed(by_xlsxwriter(PLAIN), change)


def late_and_harmless(part: str, whole: bytes, encoding: str) -> bytes:
    """A document type that declares nothing, far behind the beginning of one part."""

    def change(name: str, data: bytes) -> bytes:
        if name != part:
            return data
        without_head = re.sub(r"<\?xml[^>]*\?>\s*", "", data.decode())
        head = f"<?xml version='1.0' encoding='{encoding}'?><!--{' ' * 100_000}-->"
        return f"{head}<?a b?><!DOCTYPE x>{without_head}".encode(encoding)

    return changed(whole, change)


def long_cell() -> bytes:
    return replaced(b">Ada<", b">" + b"x" * 10_000_000 + b"<", "sharedStrings")()


def one_text_a_million_times() -> bytes:
    """A text as long as a cell may hold, in every cell of a large sheet."""
    text = replaced(b">Ada<", b">" + b"x" * 32_000 + b"<", "sharedStrings")()
    index = 6  # the first text of the second sheet
    cells = b"".join(b'<c t="s"><v>%d</v></c>' % index for _ in range(1000))
    rows = b"<row>" + cells + b"</row>"

    def change(name: str, data: bytes) -> bytes:
        more = rows * 500 + b"</sheetData>"
        return data.replace(b"</sheetData>", more) if "sheet2.xml" in name else data

    return changed(text, change)


def wide_text() -> bytes:
    return b"first name,last name,email\n" + b",".join([b"x"] * 5_000_000)


def spans_without_end() -> bytes:
    """Cells of a web page that claim a thousand columns and all rows below."""
    cell = b"<td rowspan=65534 colspan=1000>x" * 16
    return b"<html><table><tr>" + cell + b"<tr><td>x" * 200_000 + b"</table></html>"


def tags_without_end() -> bytes:
    """A web page of nothing but beginnings."""
    return b"<html><table><tr><td>" + b"<a <!-- <![" * 1_000_000


def many_rows() -> bytes:
    return b"first name,last name,email\n" + b"a,b,\n" * 5_000_000


HOSTILE: dict[str, tuple[Callable[[], bytes], str]] = {
    "far.xlsx": (BROKEN["far.xlsx"][0], f"Candidates!XFD1048576: {FAR_AWAY}"),
    "far-away.ods": (far_away_ods, f"Candidates!XFD5: {FAR_AWAY}"),
    "bomb.xlsx": (bomb, "unpacks to 1,536 MB"),
    "lying-bomb.xlsx": (lying_bomb, DAMAGED),
    "late-laughs.xlsx": (late_laughs, ENTITIES),
    "long-cell.xlsx": (long_cell, "Candidates!A2, first_name: found a text of 10,000,000 "),
    "repeated.xlsx": (one_text_a_million_times, ""),
    "merged.xlsx": (BROKEN["merged.xlsx"][0], TOO_LARGE),
    "wide.csv": (wide_text, "5,000,000 columns"),
    "many.csv": (many_rows, "more than 250,000 rows"),
    "spans.xls": (spans_without_end, TOO_LARGE),
    "tags.xls": (tags_without_end, ""),
}


def processor_seconds() -> float:
    """What the ended children of this process have used: a busy machine takes longer, not more."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def check(file: str) -> tuple[int, str]:
    """Check a file as a person would: the exit code, and what is said. Within time and memory."""
    before = processor_seconds()
    done = subprocess.run(
        [sys.executable, "-c", MEASURED, "check", file],
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE,
    )
    took = processor_seconds() - before
    *said, kilobytes = done.stderr.splitlines()
    print(file, done.returncode, f"{took:.1f} s", f"{int(kilobytes) / 1024:.0f} MB", *said[:2])
    assert took < SECONDS
    assert int(kilobytes) < MEGABYTES * 1024
    return done.returncode, "\n".join(said)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each file lies in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[3]))


@pytest.mark.journey
@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_file_gets_a_clear_error(name: str) -> None:
    """Exit 2 and a sentence, no stack trace, under 500 MB and 20 seconds of a processor."""
    content, wanted = HOSTILE[name]
    Path(name).write_bytes(content())
    if name.endswith(".csv"):
        head = "campaign: a\nproject: {name: A}\nproblem: 1\n"
        Path("c.yaml").write_text(f"{head}candidates: {{file: {name}}}\n")
    code, said = check("c.yaml" if name.endswith(".csv") else name)
    assert (code, "Traceback" in said) == (2, False)
    assert name in said
    assert wanted in said


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
@pytest.mark.parametrize("kind", [by_xlsxwriter, by_hand])
def test_a_document_type_is_refused_wherever_it_stands(
    kind: Callable[[Book], bytes], encoding: str
) -> None:
    """In every part that is XML, behind any comment, in any encoding."""
    whole = kind(PLAIN)
    received(whole, ())
    parts = [name for name in zipfile.ZipFile(io.BytesIO(whole)).namelist() if is_xml(name)]
    assert "xl/workbook.xml" in parts or "content.xml" in parts
    for part in parts:
        with pytest.raises(Unfit, match=ENTITIES):
            received(late_and_harmless(part, whole, encoding), ())


def is_xml(name: str) -> bool:
    return name.endswith((".xml", ".rels", ".vml")) and not name.startswith("META-INF/")


def busy() -> bytes:
    """A sheet that takes some seconds to go through, and is no larger than a sheet may be."""
    row = b'<row r="2"><c r="A2"><v>1</v></c></row>'
    return replaced(b"</sheetData>", row * 1_000_000 + b"</sheetData>", "sheet2")()


def test_the_process_that_reads_has_a_limit_of_work() -> None:
    """Whatever it is busy with, it ends by itself."""
    one_second = (
        "import sys\n"
        "import config.workbooks.__main__ as reader\n"
        "from config.workbooks import limits\n"
        "limits.SECONDS = 1\n"
        "limits.limit()\n"
        "reader.main((), sys.stdin.buffer, sys.stdout.buffer)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", one_second], input=busy(), capture_output=True, check=False
    )
    assert done.returncode in {-signal.SIGXCPU, -signal.SIGKILL}


def test_a_reading_that_gets_nowhere_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a machine that gives it no time to work there is a sentence as well."""
    monkeypatch.setattr("config.workbooks.process.PATIENCE", 0.3)
    with pytest.raises(Unfit, match=SHORT_OF_MEANS):
        received(busy(), ())


@pytest.mark.journey
def test_what_is_no_file_is_not_read() -> None:
    """A folder, a device that never ends, a pipe that nobody writes to, a link to itself."""
    Path("folder.xlsx").mkdir()
    os.mkfifo("pipe.xlsx")
    Path("endless.csv").symlink_to("/dev/zero")
    Path("c.yaml").write_text(
        "campaign: a\nproject: {name: A}\nproblem: 1\ncandidates: {file: endless.csv}\n"
    )
    Path("loop.csv").symlink_to("loop.csv")
    Path("loop.yaml").symlink_to("loop.yaml")
    Path("d.yaml").write_text(Path("c.yaml").read_text().replace("endless", "loop"))
    for name, wanted in [
        ("d.yaml", "d.yaml:4:"),
        ("loop.yaml", "loop.yaml: "),
        ("folder.xlsx", NO_CAMPAIGNS),
        ("pipe.xlsx", NOT_ORDINARY),
        ("c.yaml", f"endless.csv: {NOT_ORDINARY}"),
        ("/dev/zero", NOT_ORDINARY),
    ]:
        code, said = check(name)
        assert code == 2
        assert wanted in said
