"""Whom a sheet calls out: they stop everything until the definition decides.

A column of the kind *Rejected at* with a value, a *Status* or *Stage* such as *Withdrawn*, a remark
beside a name, a row that is hidden, filtered away or struck through.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from config.errors import Mistake, shown
from config.sheets.headers import (
    begins_with_out,
    is_not_so,
    is_remarks,
    is_status,
    says_out,
)
from config.sheets.table import Table
from config.sheets.where import compared, line

if TYPE_CHECKING:
    import pandas as pd

NAMED = 5
PERSON = ("full_name", "first_name", "last_name", "email1")
HiddenRows = Literal["skip", "read"] | None


@dataclass
class Finding:
    """One thing that calls people out: what it is, in which column, whom, and the values to keep,
    if `where` can keep them.
    """

    what: str
    column: int | None
    rows: list[int]
    keep: dict[str, list[str]] = field(default_factory=dict)
    advice: str = ""


@dataclass
class CalledOut:
    """The rows to skip, with the reason; the one mistake, if the definition does not decide."""

    skipped: dict[int, str] = field(default_factory=dict)
    mistakes: list[Mistake] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def called_out(
    table: Table,
    rows: Sequence[int],
    where: Mapping[str, Sequence[str]],
    hidden_rows: HiddenRows,
) -> CalledOut:
    """Find who of these rows is called out by something on which the definition is silent."""
    out = CalledOut()
    marks = _marked_rows(table, rows)
    if hidden_rows:
        does = "left out" if hidden_rows == "skip" else "read like any other"
        out.notes = [
            f"{table.grid.whole}: {_rows(each.rows)} {each.what} and {does}, as hidden_rows says"
            for each in marks
        ]
        if hidden_rows == "skip":
            out.skipped = {row: f"the row is {each.what}" for each in marks for row in each.rows}
        marks = []
    rest = [row for row in rows if row not in out.skipped]
    findings = [*_by_columns(table, table.cells.loc[rest], where), *marks]
    if findings:
        out.mistakes = [_question(table, len(rest), findings, where)]
    return out


def proposal(table: Table) -> tuple[dict[str, list[str]], bool]:
    """The values that a definition may keep, by column, so that nobody is called out any more; and
    whether rows are hidden or struck through.
    """
    rows = [int(row) for row in table.cells.index]
    keep: dict[str, list[str]] = {}
    for found in _by_columns(table, table.cells, {}):
        keep |= found.keep
    return keep, bool(_marked_rows(table, rows))


def _marked_rows(table: Table, rows: Sequence[int]) -> list[Finding]:
    """Find the rows that are struck through, hidden, or filtered away, which hides them as well."""
    person = {table.by_field[name] for name in PERSON if name in table.by_field}
    struck = {row for row, column in table.grid.struck if column in person}
    kinds = {"struck through": struck, "hidden": table.grid.hidden - struck}
    found = {what: [row for row in rows if row in marked] for what, marked in kinds.items()}
    return [
        Finding(what, None, marked, advice="hidden_rows: skip")
        for what, marked in found.items()
        if marked
    ]


def _by_columns(
    table: Table, cells: "pd.DataFrame", where: Mapping[str, Sequence[str]]
) -> Iterable[Finding]:
    decided = {*map(compared, where)}
    person = {table.by_field[name] for name in PERSON if name in table.by_field}
    known = {*table.by_field.values()}
    for column in cells.columns:
        title = table.headers[column] if column < len(table.headers) else ""
        rule = _has_remark if column in person else None if column in known else _rule(title)
        if rule is None or (title and compared(title) in decided):
            continue
        typed = cells[column].map(str.strip)
        says = {value: rule(value) for value in typed.unique()}
        spoilt = [row for row, at in table.grid.spoilt if at == column and row in cells.index]
        if rule is _is_filled:
            says |= dict.fromkeys(typed.loc[spoilt], True)
        called = typed.map(says)
        if not called.any():
            continue
        rows = [*map(int, cells.index[called])]
        if column in person or not title:
            yield Finding(
                title or "the column without a header",
                column,
                rows,
                advice=("delete these rows, or the remark, if they are to be invited"),
            )
        else:
            right = {compared(value): value for value in typed[~called]}
            values = ", ".join(map(shown, dict.fromkeys(typed[called].iloc[:NAMED])))
            yield Finding(f"{title} {values}", column, rows, {title: [*right.values()] or [""]})


def _rule(title: str) -> Callable[[str], bool] | None:
    """How the values under a header call somebody out, if they do."""
    if says_out(title, title=True):
        return _is_filled
    if title and is_status(title):
        return says_out
    return _says_nothing_else if not title or is_remarks(title) else None


def _is_filled(value: str) -> bool:
    return bool(value) and not is_not_so(value)


def _says_nothing_else(value: str) -> bool:
    return says_out(value, whole=True)


def _has_remark(value: str) -> bool:
    """Whether a name or an address has a remark beside it, in brackets or behind a dash.

    Whose surname is Rejected is not out.
    """
    return any(says_out(each) for each in _BRACKETS.findall(value)) or (
        any(begins_with_out(each) for each in parts)
        if len(parts := _DASH.split(value)) > 1
        else False
    )


def _question(
    table: Table, people: int, findings: Sequence[Finding], where: Mapping[str, Sequence[str]]
) -> Mistake:
    """Say once for a file whom it calls out, and what to add."""
    rows = {row for each in findings for row in each.rows}
    each = "; ".join(f"{found.what}: {_rows(found.rows, table)}" for found in findings)
    choices = {name: values for found in findings for name, values in found.keep.items()}
    lines = [line({**where, **choices})] if choices else []
    lines += dict.fromkeys(found.advice for found in findings if found.advice)
    who = "1 person looks" if len(rows) == 1 else f"{len(rows):,} people look"
    message = (
        f"{who} as if out, of {people:,}: {each}. Decide under candidates; to leave them out:  "
        + "  and  ".join(lines)
    )
    first = findings[0]
    return Mistake(table.place(first.rows[0], first.column), message)


def _rows(rows: Sequence[int], table: Table | None = None) -> str:
    """`row 3 (Grace Hopper)`, or `rows 3 and 4`: the first of them, with their names."""
    each = [f"{row}{_name(table, row)}" for row in rows[:NAMED]]
    more = f" and {len(rows) - NAMED:,} more" if len(rows) > NAMED else ""
    be = "" if table else (" is" if len(rows) == 1 else " are")
    return ("row " if len(rows) == 1 else "rows ") + ", ".join(each) + more + be


def _name(table: Table | None, row: int) -> str:
    if table is None:
        return ""
    names = [table.frame.at[row, name] for name in PERSON[:3] if name in table.frame]
    name = " ".join(dict.fromkeys(filter(None, names)))
    return f" ({name})" if name else ""


_BRACKETS = re.compile(r"[(\[（【]([^()\[\]（）【】]*)[)\]）】]")
_DASH = re.compile(r"\s+[-–—]+\s+|\s+[-–—]+(?=\S)|(?<=\S)[-–—]+\s+|[–—]")
