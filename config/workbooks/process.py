"""The process that reads a workbook, from the side of the program that wants its sheets."""

import os
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from threading import Timer

from config.progress import tell
from config.workbooks import frames
from config.workbooks.limits import MOST_BYTES, PATIENCE
from config.workbooks.shapes import DAMAGED, Layout, Unfit

SHORT_OF_MEANS = (
    "this workbook takes more time or memory to read than any campaign needs; "
    "copy its candidates to a new one, or save them as .csv"
)
# The folder of the package `config`, which need not be the current folder.
HOME = Path(__file__).parents[2]


@dataclass
class Received:
    """One sheet as it arrived: rows in packed pieces, and its layout."""

    pieces: list[bytes] = field(default_factory=list)
    layout: Layout = field(default_factory=Layout)


@dataclass
class ReceivedBook:
    """What arrived from a workbook: the names of all sheets, and the sheets that were wanted."""

    from_1904: bool = False
    names: list[tuple[str, bool]] = field(default_factory=list)
    sheets: dict[int, Received] = field(default_factory=dict)


def received(data: bytes, wanted: Sequence[str]) -> ReceivedBook:
    """Read a workbook in a process of its own. Raises Unfit if the process does not finish."""
    path = os.pathsep.join(filter(None, (str(HOME), os.environ.get("PYTHONPATH", ""))))
    child = subprocess.Popen(  # noqa: S603 - our own program
        [sys.executable, "-P", "-m", "config.workbooks", *wanted],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        # A library's messages there may contain what people wrote in cells.
        stderr=subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": path},
    )
    watch = Timer(PATIENCE, child.kill)
    watch.start()
    try:
        book = _exchange(child, data)
    finally:
        child.kill()
        with suppress(OSError):
            child.__exit__(None, None, None)
        watch.cancel()
        watch.join()
    if book is None:
        # Killed at its limit, or by a library that gives up silently. If it only failed, it found
        # something that no program writes.
        raise Unfit(SHORT_OF_MEANS if child.returncode < 0 else DAMAGED)
    return book


def _exchange(child: "subprocess.Popen[bytes]", data: bytes) -> ReceivedBook | None:
    """Send the file and receive its sheets; None if they end too early. Raises Unfit."""
    assert child.stdin and child.stdout  # noqa: S101 - both are pipes
    with suppress(BrokenPipeError):
        child.stdin.write(data)
        child.stdin.close()
    book, sheet = ReceivedBook(), Received()
    bytes_so_far = rows_so_far = 0
    for packed in frames.read(child.stdout):
        bytes_so_far += len(packed)
        if bytes_so_far > MOST_BYTES:
            raise Unfit(SHORT_OF_MEANS)
        kind, *content = frames.unpacked(packed)
        if kind == frames.ROWS:
            sheet.pieces.append(packed)
            rows_so_far += len(content[0])
            tell("reading", rows_so_far)
        elif kind == frames.LAYOUT:
            sheet.layout = Layout(*content)
        elif kind == frames.SHEET:
            sheet = book.sheets[content[0]] = Received()
        elif kind == frames.BOOK:
            book.from_1904, book.names = content
        elif kind == frames.UNFIT:
            raise Unfit(*content)
        else:
            child.wait()
            return book
    child.wait()
    return None
