"""The table of a campaign's orders: one process at a time replaces it as a whole."""

import csv
import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from io import StringIO
from pathlib import Path

from config.definition import Candidate
from config.errors import BadInput, Place
from data.store.files import replace
from data.store.lease import lock_file

COLUMNS = ("id", *Candidate.model_fields, "withdrawn")
NEEDED = {"id", "withdrawn", *(n for n, f in Candidate.model_fields.items() if f.is_required())}
LOCK = ".orders.lock"


@contextmanager
def orders(table: Path) -> Iterator[dict[str, dict[str, str]]]:
    """The orders of a table by id, locked against other threads and processes.

    Raises BadInput if a header, a row's length or an id is not as `write` writes it.
    """
    with os.fdopen(lock_file(table.parent, LOCK)) as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        text = table.read_bytes().decode("utf-8-sig") if table.exists() else ""
        read = csv.DictReader(StringIO(text, newline=""), restval="")
        rows, header = [*read], [*(read.fieldnames or ())]
        # The table of an earlier version lacks fields that came later.
        is_ours = {*header} >= NEEDED and header == [each for each in COLUMNS if each in header]
        empty = dict.fromkeys(COLUMNS, "")
        by_id = {row["id"]: empty | row for row in rows if {*row} == {*header} and is_ours}
        if text and (not is_ours or len(by_id) < len(rows)):
            wanted = f"wanted {','.join(COLUMNS)} on line 1, and below it rows with their own ids"
            raise BadInput.at(Place(Path(table.name)), wanted)
        yield by_id


def write(table: Path, rows: dict[str, dict[str, str]]) -> None:
    """Write all orders of a table to the disk."""
    text = StringIO(newline="")
    writer = csv.DictWriter(text, COLUMNS)
    writer.writeheader()
    writer.writerows(rows.values())
    replace(table, text.getvalue().encode())
