"""The orders of a campaign: each taken once, and durable, in the table that its definition reads.

What is taken is first a line of `.orders/KEY.new`, on the disk before anybody is told.
KEY.orders.csv is replaced as a whole, once a run has read the last one: however many orders come,
whoever waits until it rests reads it, and no run gives way to the next before it has sent. Nothing
is kept in memory: a person may change the table.
"""

import csv
import json
import os
import time
from collections.abc import Iterable
from contextlib import suppress
from io import StringIO
from pathlib import Path

from config.definition import Candidate, Table
from config.emails import email_key
from config.errors import BadInput
from config.reading import read_campaign, who_reads
from config.sheets.left_out import compared

SENT = tuple(Candidate.model_fields)
COLUMNS = ("id", *SENT, "withdrawn")
LATEST = 60.0  # seconds after which a table is replaced that no run has read
RESTS = 2.0  # seconds that a table is dated back, as it is never unfinished
AGAIN = "email1: an order with this address came before, and says something else of this person"
NAMESAKE = (
    "last_name: somebody of this name came before, with another address; "
    "if they are two people, tell their names apart, as with an initial"
)
Row = dict[str, str]


class Refused(Exception):
    """Why something is not done: a status of HTTP, and a sentence that names nobody else."""

    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(sentence)
        self.status, self.sentence = status, sentence


class Orders:
    """The orders of one campaign, for whoever has the folder's lock."""

    def __init__(self, folder: Path, key: str) -> None:
        self._key, self._desk = key, folder / ".orders"
        self._table = folder / f"{key}.orders.csv"
        self._draft, self._new = self._desk / self._table.name, self._desk / f"{key}.new"

    def all(self) -> dict[str, Row]:
        """Every order by its id, as the table has it by now, and those that are not in it yet."""
        rows: dict[str, Row] = {}
        if self._table.exists():
            with self._table.open(encoding="utf-8-sig", newline="") as file:
                table = csv.DictReader(file)
                if tuple(table.fieldnames or ()) != COLUMNS:
                    raise Refused(503, f"{self._table.name} wants {','.join(COLUMNS)} on line 1")
                rows = {row["id"]: {name: row[name] or "" for name in COLUMNS} for row in table}
        for line in self._new.read_text("utf-8").splitlines() if self._new.exists() else ():
            with suppress(ValueError):  # empty, or broken off by a crash: nobody was told
                order: Row = json.loads(line)
                rows.setdefault(order["id"], order)
        return rows

    def take(self, order: Row) -> None:
        """Take an order, unless it came before: then it is on the disk. Raises Refused."""
        rows = self.all()
        if before := rows.get(order["id"]):
            if before | {"withdrawn": ""} != order:
                raise Refused(409, "an order with this id came before, and says something else")
            return
        self._check(order, rows.values())
        with self._new.open("a", encoding="utf-8") as file:
            file.write(f"\n{json.dumps(order)}\n")  # on a line of its own, whatever broke off
        _sync(self._new, self._desk)

    def withdraw(self, order: Row, why: str) -> None:
        """Take all orders of a person out of what the definition reads."""
        rows = self.all().values()
        for each in rows:
            if email_key(each["email1"]) == email_key(order["email1"]):
                each["withdrawn"] = each["withdrawn"] or why
        self._replace(rows)

    def put_into_table(self, last_run: float) -> None:
        """Put what is new into the table, if a run has begun since it was last replaced.

        `last_run` is when the last one began, in seconds of the epoch.
        """
        replaced = self._table.stat().st_mtime + RESTS if self._table.exists() else 0
        due = last_run > replaced or time.time() - replaced > LATEST
        if due and self._new.stat().st_size:
            self._replace(self.all().values())

    def _check(self, order: Row, others: Iterable[Row]) -> None:
        """Raise Refused with what the definition's reader would say of this order."""
        if (definition := who_reads(self._table)) is None:
            raise Refused(404, f"no definition here has  candidates: {{file: {self._table.name}}}")
        copy = self._desk / definition.name
        _write(copy, definition.read_text("utf-8"))
        # Beside one that is withdrawn: the definition must leave that out.
        self._write_table([order, order | {"withdrawn": "for example"}])
        try:
            read = read_campaign(copy, self._key)
        except BadInput as error:
            said = (": ".join(filter(None, (m.field, m.message))) for m in error.mistakes)
            raise Refused(422, "; ".join(said)) from None
        finally:
            self._draft.unlink()
        spec = read.definition.candidates
        if not isinstance(spec, Table) or "id" not in spec.ignore or "notes" not in spec.columns:
            raise Refused(422, "the definition wants  columns: {notes: notes}, ignore: [id]")
        if read.listed[0].candidate.email1 != order["email1"].strip():
            raise Refused(422, "email1: wanted an email address, and nothing beside it")
        for other in others:
            same = email_key(other["email1"]) == email_key(order["email1"])
            if same and not other["withdrawn"] and any(other[n] != order[n] for n in SENT):
                raise Refused(422, AGAIN)
            if not same and not other["withdrawn"] and _name(other) == _name(order):
                raise Refused(422, NAMESAKE)

    def _replace(self, rows: Iterable[Row]) -> None:
        self._write_table(rows)
        _sync(self._draft)
        self._draft.replace(self._table)
        _sync(self._table.parent)
        self._new.write_text("")

    def _write_table(self, rows: Iterable[Row]) -> None:
        text = StringIO(newline="")
        table = csv.DictWriter(text, COLUMNS)
        table.writeheader()
        table.writerows(rows)
        _write(self._draft, text.getvalue())


def _name(order: Row) -> str:
    return compared(f"{order['first_name'].strip()} {order['last_name'].strip()}")


def _write(file: Path, text: str) -> None:
    """Write a file that may be read at once."""
    file.write_text(text, "utf-8", newline="")
    at = time.time() - RESTS
    os.utime(file, (at, at))


def _sync(*places: Path) -> None:
    """Have the system write files, and the names in folders, to the disk."""
    for place in places:
        number = os.open(place, os.O_RDONLY)
        os.fsync(number)
        os.close(number)
