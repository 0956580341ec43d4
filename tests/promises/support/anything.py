"""Files of any content: none of them is a table of people, but for one."""

import zipfile
from collections.abc import Callable
from pathlib import Path

import openpyxl

HEAD, ADA = "first_name,last_name,email1", "Ada,Lovelace,ada@people.test"


def _bomb(path: Path) -> None:
    """A workbook of a few megabytes with a sheet of four gigabytes."""
    openpyxl.Workbook().save(path)
    with zipfile.ZipFile(path) as whole:
        parts = {name: whole.read(name) for name in whole.namelist()}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as book:
        for name, part in parts.items():
            if "sheet1" not in name:
                book.writestr(name, part)
        with book.open("xl/worksheets/sheet1.xml", "w", force_zip64=True) as sheet:
            for _ in range(256):
                sheet.write(b" " * 2**24)


def _far(path: Path) -> None:
    """A row of 16,384 cells, and a cell in the last corner."""
    book = openpyxl.Workbook(write_only=True)
    sheet = book.create_sheet("Candidates")
    sheet.append([*HEAD.split(","), *(f"c{n}" for n in range(16_381))])
    sheet.append([*ADA.split(","), *("x" * 16_381)])
    book.save(path)


BYTES = bytes(n * n * 7 % 251 for n in range(100_000))
ANYTHING: dict[str, Callable[[Path], object]] = {
    "bytes.csv": lambda path: path.write_bytes(BYTES),
    "bytes.xlsx": lambda path: path.write_bytes(b"PK\x03\x04" + BYTES),
    "nulls.csv": lambda path: path.write_bytes(f"{HEAD}\n{ADA}\n".encode() + bytes(5000)),
    "one-line.csv": lambda path: path.write_text(f"{HEAD}," * 20_000),
    "quotes.csv": lambda path: path.write_text(f'{HEAD}\n{ADA}\n"' + '""\n' * 20_000),
    "surrogates.csv": lambda path: path.write_bytes(
        f"{HEAD}\n".encode() + b"\xed\xa0\x80,\xff,a@b\n"
    ),
    "half.csv": lambda path: path.write_bytes(b"\xff\xfeA\x00B"),
    "entities.xls": lambda path: path.write_text(
        '<!DOCTYPE x [<!ENTITY a "b"><!ENTITY c "&a;&a;&a;">]><table><tr><td>&c;</td></tr></table>'
    ),
    "deep.xls": lambda path: path.write_text("<table><tr><td>" * 5000 + "a@people.test"),
    "far.xlsx": _far,
    "bomb.xlsx": _bomb,
}
