"""Doubts in words, and as a table to fill in: how far a request got, what the service wrote."""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from config.errors import BadInput, Mistake
from config.sheets.files import read_file
from config.sheets.table import read_table
from data.decisions.doubts import VERDICTS, Doubt, Settlement
from data.store.states import OPERATIONS, Op
from tasks.outputs.exports import as_csv
from tasks.service.exchange import Phase

COLUMNS = (
    *("number", "step", "email1", "first_name", "last_name", "sent at", "how far it got"),
    *("answer", "allowed verdicts", "verdict", "id"),
)


def how_far(doubt: Doubt) -> str:
    """Say how far a request got."""
    if doubt.status is not None:
        return f"the service answered {doubt.status}"
    return _REACHED.get(Phase(doubt.phase or 0), "it was sent, and no answer came")


def described(doubt: Doubt) -> str:
    """Describe a doubt on one line, with its evidence."""
    name = f" {doubt.first_name} {doubt.last_name}".rstrip()
    whom = f" {doubt.email1}{f' ({name.strip()})' if name else ''}" if doubt.email1 else ""
    whom = f" {OPERATIONS[doubt.op].what}" if OPERATIONS[doubt.op].own else whom
    said = f': "{doubt.answer}"' if doubt.answer else ""
    return f"{doubt.op}{whom}: {how_far(doubt)}{said} (sent {_when(doubt)})"


def to_fill_in(doubts: Iterable[Doubt]) -> bytes:
    """A table of doubts with a column for the verdict; `number` is the id of the part."""
    rows: list[Sequence[object]] = [COLUMNS]
    for each in doubts:
        who = (each.email1, each.first_name, each.last_name)
        seen = (_when(each), how_far(each), each.answer, ", ".join(each.words))
        rows.append((each.part_id, str(each.op), *who, *seen, "", ""))
    return as_csv(rows)


def read_filled_in(file: Path) -> list[Settlement]:
    """Read the verdicts from a table of any format. Rows without a verdict are skipped.

    Raises BadInput for a file that is no such table, or with all wrong cells.
    """
    table = read_table(read_file(file))
    if not {"number", "step", "email1", "verdict"} <= {*table.headers}:
        why = "this is no table of `campaign settle KEY -o doubts.csv`"
        raise BadInput.at(table.grid.place(table.header), why)
    verdicts, mistakes = [], [*table.grid.mistakes]
    for number, cells in table.grid.rows:
        titled = zip(table.headers, map(str.strip, cells), strict=False)
        row = dict.fromkeys(COLUMNS, "") | dict(titled)
        if number <= table.header or not row["verdict"]:
            continue
        values: dict[str, Any] = {}
        for name, (read, wanted) in _READ.items():
            try:
                values[name] = read(row[name])
            except ValueError:
                place = table.place(number, table.headers.index(name))
                mistakes.append(Mistake(place, "", name, row[name] or None, wanted))
        if values.keys() == _READ.keys():
            word, op, value, part = (values[name] for name in _READ)
            verdicts.append(Settlement(word, row["email1"].lstrip("'"), op, value, part))
    if mistakes:
        raise BadInput(mistakes)
    return verdicts


def _when(doubt: Doubt) -> str:
    return f"{doubt.sent_at:%Y-%m-%d %H:%M} UTC"


_REACHED = {
    Phase.NOTHING: "the run ended before an answer came",
    Phase.SENDING: "sending it began, and no answer came",
}
_READ: dict[str, tuple[Callable[[str], Any], str]] = {
    "verdict": (
        lambda typed: VERDICTS[VERDICTS.index(typed.lower())],
        f"{', '.join(VERDICTS[:-1])} or {VERDICTS[-1]}",
    ),
    "step": (Op, "the step as it was written"),
    "id": (lambda typed: int(typed) if typed else None, "the id at the service, a whole number"),
    "number": (int, "the number as it was written"),
}
