"""Files of any content: none of them is a table of people."""

import zipfile
from collections.abc import Callable
from pathlib import Path

import openpyxl


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


BYTES = bytes(n * n * 7 % 251 for n in range(100_000))
ANYTHING: dict[str, Callable[[Path], object]] = {
    "bytes.csv": lambda path: path.write_bytes(BYTES),
    "bytes.xlsx": lambda path: path.write_bytes(b"PK\x03\x04" + BYTES),
    "half.csv": lambda path: path.write_bytes(b"\xff\xfeA\x00B"),
    "deep.xls": lambda path: path.write_text("<table><tr><td>" * 5000 + "a@people.test"),
    "bomb.xlsx": _bomb,
}
