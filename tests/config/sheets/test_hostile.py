"""Any content at all ends in people or in mistakes, within limits of memory and time."""

import io
import random
import resource
import string
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from config.definition import Table
from config.sheets import files, text, workbook
from config.sheets.people import read_people
from tests.config.sheets.test_workbooks import ADA, HEAD, saved, with_part

MEGABYTES, SECONDS = 1_000, 60
PLAIN = saved(HEAD, ADA)
# Checks a file in a process of its own, and tells last how many kilobytes it ever had, together
# with the process that reads workbooks for it.
CHECK = """
import re, resource, sys
from pathlib import Path
from config.definition import Table
from config.sheets.people import read_people
people = read_people(Table(file=sys.argv[1]), Path(sys.argv[2]))
print(*people.mistakes, f"{len(people.listed)} people", sep="\\n")
own = re.search(r"VmHWM:\\s*(\\d+)", Path("/proc/self/status").read_text())[1]
print(int(own) + resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
"""


def bomb() -> bytes:
    """1.5 GB of blanks in 1.5 MB."""
    content = io.BytesIO(PLAIN)
    with (
        zipfile.ZipFile(content, "a", zipfile.ZIP_DEFLATED, compresslevel=1) as archive,
        archive.open("xl/worksheets/sheet9.xml", "w", force_zip64=True) as member,
    ):
        for _ in range(1536):
            member.write(bytes(2**20))
    return content.getvalue()


def squeezed(data: bytes, part: str, change: Callable[[str], str]) -> bytes:
    """Change a part of a workbook, and compress it: it may be large."""
    changed, file = with_part(data, part, change), io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(changed)) as old,
        zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as new,
    ):
        for name in old.namelist():
            new.writestr(name, old.read(name))
    return file.getvalue()


def with_rows(rows: str) -> bytes:
    return squeezed(PLAIN, "sheet1", lambda x: x.replace("</sheetData>", f"{rows}</sheetData>"))


def lying_bomb() -> bytes:
    """The table of contents says that the sheet is short."""
    data = with_rows('<row r="3"><c r="A3"><v>1</v></c></row>' * 1_000_000)
    members = zipfile.ZipFile(io.BytesIO(data)).infolist()
    size = next(each.file_size for each in members if each.filename.endswith("sheet1.xml"))
    return data.replace(size.to_bytes(4, "little"), (5000).to_bytes(4, "little"))


def laughs() -> bytes:
    """A text of billions of letters, declared in the head."""
    entities = "".join(f'<!ENTITY a{n} "{f"&a{n - 1};" * 10}">' for n in range(1, 11))
    head = f'<!DOCTYPE worksheet [<!ENTITY a0 "ha">{entities}]>'
    return with_part(PLAIN, "sheet1", lambda x: head + x.replace(">Ada<", ">&a10;<"))


def merged() -> bytes:
    """Ten thousand areas from the first row to the last."""
    areas = '<mergeCell ref="H1:H1048576"/><mergeCell ref="C1:C1048576"/>' * 5000
    cells = f"</sheetData><mergeCells>{areas}</mergeCells>"
    return squeezed(PLAIN, "sheet1", lambda x: x.replace("</sheetData>", cells))


def long_texts() -> bytes:
    """Texts as long as a cell may hold, 100 MB of them."""
    cell = f'<c t="inlineStr"><is><t>{"x" * 32_000}</t></is></c>'
    return with_rows(f"<row>{cell * 100}</row>" * 32)


def wide() -> bytes:
    """A header in each of the 16,384 columns."""
    cells = '<row r="1">' + '<c t="inlineStr"><is><t>Email</t></is></c>' * 16_384 + "</row>"
    return with_part(PLAIN, "sheet1", lambda x: x.replace("<sheetData>", "<sheetData>" + cells))


def noise(length: int) -> bytes:
    return random.Random(length).randbytes(length)  # the same in every run


HEADER = b"first name,last name,email\n"
SPANS = b"<table><tr>" + b"<td rowspan=65534 colspan=1000>x" * 16 + b"<tr><td>x" * 100_000
HOSTILE: dict[str, tuple[Callable[[], bytes], str]] = {
    "bomb.xlsx": (bomb, files.TOO_LARGE),
    "lying.xlsx": (lying_bomb, workbook.DAMAGED),
    "laughs.xlsx": (laughs, workbook.DAMAGED),
    "merged.xlsx": (merged, workbook.TOO_LARGE),
    "long.xlsx": (long_texts, "first_name: found"),
    "wide.xlsx": (wide, f"Candidates!ALM1: {workbook.FAR_AWAY}"),
    "many.xlsx": (lambda: with_rows("<row><c><v>1</v></c></row>" * 5_000_000), files.TOO_LARGE),
    "far.xlsx": (
        lambda: with_rows('<row r="1048576"><c r="XFD1048576"><v>1</v></c></row>'),
        f"Candidates!XFD1048576: {workbook.FAR_AWAY}",
    ),
    "noise.xlsx": (lambda: b"PK\x03\x04" + noise(100_000), workbook.DAMAGED),
    "spans.xls": (lambda: SPANS, files.TOO_LARGE),
    "tags.xls": (lambda: b"<html><table><tr><td>" + b"<a <!-- <![" * 1_000_000, "is empty"),
    "deep.xls": (lambda: b"<table><tr><td>" * 100_000, "people"),
    "wide.csv": (lambda: HEADER + b",".join([b"x"] * 5_000_000), files.TOO_LARGE),
    "wide-header.csv": (lambda: b",".join([b"Email"] * 16_384), "16384 columns for email1"),
    "cells.csv": (lambda: HEADER + b"1,1,1,1,1,1,1,1\n" * 2_900_000, "has 8 columns"),
    "many.csv": (lambda: HEADER + b"a,b,\n" * 300_000, "more than 250,000 rows"),
    "quote.csv": (lambda: HEADER + b'"' + b"a,b,c\n" * 100_000, text.STRAY_QUOTE),
    "noise.csv": (lambda: noise(1_000_000), "this is a binary file"),
    "large.csv": (lambda: bytes(files.LARGEST + 1), "this file is larger than 48 MB"),
}
"""Each with what is said of it."""
LONG = [pytest.mark.slow, pytest.mark.timeout(300)]  # many seconds of a processor
SLOW = {
    "bomb.xlsx",
    "cells.csv",
    "many.xlsx",
    "many.csv",
    "wide.csv",
    "spans.xls",
    "long.xlsx",
    "merged.xlsx",
}
CASES = [pytest.param(name, marks=LONG if name in SLOW else []) for name in HOSTILE]


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="memory is told in /proc only")
@pytest.mark.parametrize("name", CASES)
def test_a_hostile_file_ends_in_a_sentence(name: str, tmp_path: Path) -> None:
    """Under 1 GB and 60 seconds of a processor, and no stack trace."""
    content, wanted = HOSTILE[name]
    (tmp_path / name).write_bytes(content())
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        [sys.executable, "-c", CHECK, name, str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
        cwd=Path(__file__).parents[3],
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    took = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    assert done.returncode == 0, done.stderr
    *said, kilobytes = done.stdout.splitlines()
    print(name, f"{took:.1f} s", f"{int(kilobytes) / 1024:.0f} MB", said[0][:200])
    assert wanted in "\n".join(said)
    assert took < SECONDS
    assert int(kilobytes) < MEGABYTES * 1024


def test_the_reading_process_has_a_limit_of_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a machine that gives it no time to work there is a sentence as well."""
    monkeypatch.setattr(workbook, "PATIENCE", 0.01)
    (tmp_path / "people.xlsx").write_bytes(PLAIN)
    (mistake,) = read_people(Table(file="people.xlsx"), tmp_path).mistakes
    assert mistake.message == files.TOO_LARGE


CELLS = st.text(string.ascii_letters + ' ,;"\n\r\t|@.é王\x00#-()', max_size=12)
TABLES = st.lists(st.lists(CELLS, max_size=5), max_size=6)


@settings(deadline=None, derandomize=True, max_examples=60)
@given(rows=TABLES, header=st.booleans(), encoding=st.sampled_from(["utf-8", "utf-16", "cp1252"]))
def test_any_text_ends_in_people_or_mistakes(
    rows: list[list[str]], header: bool, encoding: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """With a header above it or without one, in any encoding."""
    folder = tmp_path_factory.getbasetemp()
    lines = [["Name", "Email", "Status"], *rows] if header else rows
    data = "\n".join(map(",".join, lines)).encode(encoding, "replace")
    (folder / "any.csv").write_bytes(data)
    people = read_people(Table(file="any.csv", split_name=True), folder)
    assert people.listed or people.mistakes
