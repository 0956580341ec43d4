"""Any content at all ends in people or in mistakes, within limits of memory and time."""

import io
import os
import random
import re
import resource
import string
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from config import yaml_file
from config.definition import PeopleTable
from config.errors import BadInput
from config.reading import read_campaign
from config.sheets import files, text, workbook
from config.sheets.people import read_people
from flows.folder import campaigns_in
from tests.config.sheets.test_workbooks import ADA, HEAD, saved, with_part

MEGABYTES, SECONDS = 1_000, 60
PLAIN = saved(HEAD, ADA)
# Checks a file in a process of its own, and tells last how many kilobytes it ever had, together
# with the process that reads workbooks for it.
CHECK = """
import re, resource, sys
from pathlib import Path
from config.definition import PeopleTable
from config.sheets.people import read_people
people = read_people(PeopleTable(file=sys.argv[1]), Path(sys.argv[2]))
print(*people.mistakes, f"{len(people.listed)} people", sep="\\n")
own = re.search(r"VmHWM:\\s*(\\d+)", Path("/proc/self/status").read_text())[1]
print(int(own) + resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
"""


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
SPANS = b"<table><tr>" + b"<td colspan=999>x" * 16 + b"<tr><td>x" * 100_000
HOSTILE: dict[str, tuple[Callable[[], bytes], str]] = {
    "lying.xlsx": (lying_bomb, workbook.DAMAGED),
    "laughs.xlsx": (laughs, workbook.DAMAGED),
    "merged.xlsx": (merged, workbook.TOO_LARGE),
    "long.xlsx": (long_texts, "first_name: found"),
    "wide.xlsx": (wide, files.TOO_LARGE),
    "many.xlsx": (lambda: with_rows("<row><c><v>1</v></c></row>" * 5_000_000), files.TOO_LARGE),
    "far.xlsx": (
        lambda: with_rows('<row r="1048576"><c r="XFD1048576"><v>1</v></c></row>'),
        files.TOO_LARGE,
    ),
    "spans.xls": (lambda: SPANS, files.TOO_LARGE),
    "rows.xls": (lambda: b"<table><tr><td rowspan=65534>x", "over several rows"),
    "tags.xls": (lambda: b"<html><table><tr><td>" + b"<a <!-- <![" * 1_000_000, "is empty"),
    "wide.csv": (lambda: HEADER + b",".join([b"x"] * 5_000_000), files.TOO_LARGE),
    "wide-header.csv": (lambda: b",".join([b"Email"] * 16_384), "16384 columns for email1"),
    "cells.csv": (lambda: HEADER + b"1,1,1,1,1,1,1,1\n" * 2_900_000, "more than 250,000 rows"),
    "many.csv": (lambda: HEADER + b"a,b,\n" * 300_000, "more than 250,000 rows"),
    "quote.csv": (lambda: HEADER + b'"' + b"a,b,c\n" * 100_000, text.STRAY_QUOTE),
    "large.csv": (lambda: bytes(files.LARGEST + 1), "this file is larger than 48 MB"),
}
"""Each with what is said of it."""
LONG = [pytest.mark.slow, pytest.mark.timeout(300)]  # many seconds of a processor
SLOW = {
    "cells.csv",
    "many.xlsx",
    "many.csv",
    "wide.csv",
    "spans.xls",
    "long.xlsx",
    "merged.xlsx",
}
CASES = [pytest.param(name, marks=LONG if name in SLOW else []) for name in HOSTILE]


CAMPAIGN = "campaign: {}\nproblem: 42\nproject: {{name: X, endtime: 2099-01-01 09:00}}\n{}\n"
PEOPLE = "candidates: [{first_name: Ada, last_name: B, email1: ada@people.test}]"


def table(file: str) -> bytes:
    return CAMPAIGN.format("bad", f"candidates: {{file: {file}}}").encode("utf-8")


def campaign_book() -> bytes:
    def change(sheet: Any) -> None:
        fields = sheet.parent.create_sheet("campaign")
        for row in (("campaign", "bad"), ("problem", "42"), ("project.name", "X")):
            fields.append(row)
        fields.append(("project.endtime", "2099-01-01 09:00"))

    return saved(HEAD, ADA, change=change)


def flipped(part: str) -> bytes:
    """One bit of a packed part is another."""
    with zipfile.ZipFile(io.BytesIO(BOOK)) as archive:
        member = archive.getinfo(part)
    at = member.header_offset + 30 + len(part) + member.compress_size // 2
    return BOOK[:at] + bytes([BOOK[at] ^ 4]) + BOOK[at + 1 :]


def headed(at: int, value: int) -> bytes:
    """A number in the head of each part, as in the table of contents, is another."""
    heads = [(match.start(), 2 * (match[0][2] == 1)) for match in HEADS.finditer(BOOK)]
    changed = bytearray(BOOK)
    for begins, further in heads:
        changed[begins + at + further] = value
    return bytes(changed)


def repacked(how: int, **parts: bytes) -> bytes:
    """Packed in another way, with other content of some parts."""
    with (
        zipfile.ZipFile(io.BytesIO(BOOK)) as old,
        zipfile.ZipFile(file := io.BytesIO(), "w", how) as new,
    ):
        for name in old.namelist():
            new.writestr(name, parts.get(Path(name).stem, old.read(name)))
    return file.getvalue()


def sparse(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(2**32)


HEADS = re.compile(rb"PK\x03\x04|PK\x01\x02")
BOOK = campaign_book()
PARTS = zipfile.ZipFile(io.BytesIO(BOOK)).namelist()
Make = bytes | Callable[[Path], object]
SPECIAL: dict[str, Callable[[Path], object]] = {
    "loop": lambda path: path.symlink_to(path.name),
    "dangling": lambda path: path.symlink_to("nowhere"),
    "endless": lambda path: path.symlink_to("/dev/zero"),
    "pipe": os.mkfifo,
    "folder": Path.mkdir,
    "above": lambda path: path.symlink_to(".."),
    "huge": sparse,
    "empty": Path.touch,
    "zeros": lambda path: path.write_bytes(bytes(1000)),
    "noise": lambda path: path.write_bytes(noise(5000)),
    "old": lambda path: path.write_bytes(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600)),
}
ODD_FILES = (
    '"a\\0b"',
    '"\\ud800"',
    "x" * 5000,
    "a/" * 3000,
    "..",
    '""',
    "loop",
    "/dev/zero",
    "[a]",
)
NO_YAML = (
    '"\\UFFFFFFFF"',
    "%YAML 9.9\n--- a",
    "[" * 1000,
    "{a: " * 3000,
    "*a",
    "? ? a",
    "!!",
    "\t",
    "|0",
)
BAD: dict[str, Make] = {
    **{f"{name}{ending}": make for name, make in SPECIAL.items() for ending in (".yaml", ".xlsx")},
    **{f"flip{at}.xlsx": flipped(part) for at, part in enumerate(PARTS)},
    **{f"way{how}.xlsx": headed(8, how) for how in (1, 9, 93, 99, 255)},
    **{f"flag{flag}.xlsx": headed(6, flag) for flag in (1, 0x20, 0x41)},
    **{f"cut{at}.xlsx": BOOK[:at] for at in (4, 30, 1000, -10)},
    **{f"file{at}.yaml": table(file) for at, file in enumerate(ODD_FILES)},
    **{f"text{at}.yaml": text.encode() for at, text in enumerate(NO_YAML)},
    "tags.xlsx": repacked(zipfile.ZIP_DEFLATED, workbook=b"<sheet " * 2**17),
    "category.xlsx": repacked(zipfile.ZIP_BZIP2, core=b"<category " * 2**17),
    "file-odd.yaml": table('x.csv, where: {"a\\x9b": "b\\u202e"}'),
    "long.yaml": b"#" * (yaml_file.LARGEST + 1),
    "not\udcffutf8.yaml": b"",
}


@pytest.mark.timeout(60)  # a pipe or a loop is waited for without end
@pytest.mark.parametrize("name", BAD)
def test_a_bad_file_stops_itself_alone(name: str, tmp_path: Path) -> None:
    """In the folder of a good campaign, and where it is named itself."""
    good, bad = tmp_path / "good.yaml", tmp_path / name
    good.write_text(CAMPAIGN.format("good", PEOPLE))
    make = BAD[name]
    bad.write_bytes(make) if isinstance(make, bytes) else make(bad)
    found = campaigns_in(tmp_path)
    assert good in found.files
    assert not [each for each in found.mistakes if "bug" in each.message]
    with pytest.raises(BadInput) as refused:
        read_campaign(bad)
    named = {each.place.file for each in (*found.mistakes, *refused.value.mistakes)}
    assert name.startswith("file") or named == {bad}


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
    (mistake,) = read_people(PeopleTable(file="people.xlsx"), tmp_path).mistakes
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
    people = read_people(PeopleTable(file="any.csv", split_name=True), folder)
    assert people.listed or people.mistakes
