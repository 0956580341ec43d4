"""Who is left out: by `where`, or by what a sheet says, which stops everything until that decides.

A column of the kind *Rejected at* with a value, a *Status* or *Stage* such as *Withdrawn*, a remark
beside a name, a row that is hidden, filtered away or struck through.
"""

import difflib
import json
import re
import unicodedata
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Literal, NamedTuple

from config.errors import Mistake, shown, some
from config.sheets.cells import error_in
from config.sheets.headers import is_consent, is_not_so, is_remarks, is_status, says_out
from config.sheets.table import PERSON, Table

if TYPE_CHECKING:
    import pandas as pd

NAMED, COUNTED = 5, 10
FIELD = "candidates.where"
SKIP = "hidden_rows: skip"
DELETE = "delete these rows, or the remark if they are to be invited"
Where = Mapping[str, Sequence[str]]


class Finding(NamedTuple):
    """One thing that calls people out: what it is, whom, and in which column: whose values that
    `where` can keep are these, under this title. Without a column it is the row that is marked.
    """

    what: str
    rows: list[int]
    column: int | None = None
    title: str = ""
    keep: tuple[str, ...] = ()


def called_out(
    table: Table, rows: Sequence[int], where: Where, hidden_rows: Literal["skip", "read"] | None
) -> dict[int, str]:
    """The rows to skip, each with the reason.

    Who of these rows is called out by something on which the definition is silent becomes the one
    mistake about them in the table.
    """
    skipped: dict[int, str] = {}
    marks = _marked_rows(table, rows)
    for each in marks if hidden_rows == "read" else ():
        said = f"{_listed(each.rows, table)} {each.what}, but read like any other"
        table.notes.append(f"{table.grid.whole}: {said}")
    for each in marks if hidden_rows == "skip" else ():
        skipped |= dict.fromkeys(each.rows, f"the row is {each.what}")
    rest = [row for row in rows if row not in skipped]
    if findings := [*_by_columns(table, rest, where), *([] if hidden_rows else marks)]:
        table.mistakes.append(_question(table, len(rest), findings, where))
    return skipped


def left_out_by(table: Table, where: Mapping[str, Sequence[str]]) -> dict[int, str]:
    """The rows that do not have one of the values in every column that `where` names, and why.

    What is wrong with `where`, or worth a word, is added to the table's mistakes and notes.
    """
    out: dict[int, str] = {}
    nobody: list[str] = []
    unclear: dict[int, Mistake] = {}
    texts: dict[str, pd.Series[str]] = {}
    for name, values in where.items():
        if (column := _column(table, name)) is None:
            continue
        typed, wanted = table.cells[column], {compared(value): value for value in values}
        known = {compared(text): text for text in reversed([*dict.fromkeys(typed)])}
        texts[name] = typed.map(compared).map(known)  # whatever the capitals, in one spelling
        nobody += [
            f"nobody has {shown(value)} under {name}; the values are {_nearest(value, known)}"
            for key, value in wanted.items()
            if key not in known
        ]
        only_empty = [*wanted] == [""]
        others = texts[name][~texts[name].isin([known.get(key) for key in wanted])]
        for row, text in zip(map(int, others.index), others, strict=True):
            if error := error_in(text):  # such a row counts until another column decides
                why = f"found {error}, wanted a value of {name}"
                unclear.setdefault(row, Mistake(table.place(row, column), why, FIELD))
            else:
                out.setdefault(row, f"{name} is {'filled' if only_empty else shown(text)}")
    kept = ~table.cells.index.to_series().isin([*out])
    for name, said in texts.items():
        counts = kept.groupby(said).agg(["sum", "size"])
        largest = counts.sort_values(["sum", "size"], ascending=False).itertuples()
        each = [f"{shown(value)} {those:,} of {all_:,}" for value, those, all_ in largest]
        table.notes.append(f"{table.grid.whole}: where keeps, by {name}: {some(each, COUNTED)}")
    table.mistakes += [wrong for row, wrong in unclear.items() if row not in out]
    table.notes += [f"{table.grid.whole}: {each}" for each in nobody]
    if len(out) == len(table.rows) > 0:
        why = f"where keeps nobody; {'; '.join(nobody) or some(sorted({*out.values()}))}"
        table.mistakes.append(Mistake(table.grid.whole, why, FIELD))
    return out


def undecided(table: Table, rows: Sequence[int], where: Where) -> Iterator[str]:
    """Count the values of these rows in a status of a few values that `where` does not name."""
    decided = {*map(compared, where)}
    for column, title in enumerate(table.headers):
        known = column in table.by_field.values() or compared(title) in decided
        if is_status(title) and not known:
            counts = table.cells[column].loc[[*rows]].value_counts()
            if 1 < len(counts) <= COUNTED:
                each = ", ".join(f"{shown(value)} {those:,}" for value, those in counts.items())
                do = _to_add(table, where, {title: [str(counts.index[0])]})
                yield f"nobody is chosen by {title}: {each}; to choose:  {do}"


def proposal(table: Table) -> tuple[dict[str, list[str]], bool]:
    """The `where` that keeps everybody whom no column calls out, and whether rows are marked."""
    rows = [number for number, _ in table.rows]
    findings = _by_columns(table, rows, {})
    choices = {found.title: [*found.keep] for found in findings if found.keep}
    return choices, bool(_marked_rows(table, rows))


def _marked_rows(table: Table, rows: Sequence[int]) -> list[Finding]:
    """Find the rows that are struck through, hidden, or filtered away, which hides them as well."""
    person = {table.by_field[name] for name in PERSON if name in table.by_field}
    struck = {row for row, column in table.grid.struck if column in person}
    marks = {"struck through": struck, "hidden": table.grid.hidden - struck}
    found = {what: [row for row in rows if row in marked] for what, marked in marks.items()}
    return [Finding(*each) for each in found.items() if each[1]]


def _by_columns(table: Table, rows: Sequence[int], where: Where) -> Iterator[Finding]:
    decided = {*map(compared, where)}
    person = {table.by_field[name] for name in PERSON if name in table.by_field}
    known = {*table.by_field.values()} - person
    for column in range(table.cells.shape[1]):
        title = table.headers[column] if column < len(table.headers) else ""
        rule = _has_remark if column in person else None if column in known else _rule(title)
        if rule is None or (title and compared(title) in decided):
            continue
        typed = table.cells[column].loc[[*rows]]
        says = {value: rule(value) for value in {*typed}}
        called = typed.map(says)
        if not called.any():
            continue
        out = [*map(int, typed.index[called])]
        if column in person or not title:
            yield Finding(title or "the column without a header", out, column)
        else:
            right = {compared(value): value for value in typed[~called]}
            values = ", ".join(map(shown, dict.fromkeys(typed[called].iloc[:NAMED])))
            yield Finding(f"{title} {values}", out, column, title, (*right.values(),) or ("",))


def _rule(title: str) -> Callable[[str], bool] | None:
    """How the values under a header call somebody out, if they do."""
    if says_out(title, title=True):
        return _is_filled
    if is_consent(title):
        return lambda value: is_not_so(value) or says_out(value)
    if is_status(title):
        return lambda value: says_out(value) or bool(error_in(value))
    return partial(says_out, how="fullmatch") if not title or is_remarks(title) else None


def _is_filled(value: str) -> bool:
    return bool(value) and not is_not_so(value)


def _has_remark(value: str) -> bool:
    """Whether a name or an address has such a remark beside it, in brackets or behind a dash.

    Whose surname is Rejected is not out.
    """
    parts = _DASH.split(value)
    beside = len(parts) > 1 and any(says_out(each, "match") for each in parts)
    return beside or any(map(says_out, _BRACKETS.findall(value)))


def _question(table: Table, people: int, findings: Sequence[Finding], where: Where) -> Mistake:
    """Say once for a file whom it calls out, and what to add."""
    rows = {row for each in findings for row in each.rows}
    each = "; ".join(f"{found.what}: {_listed(found.rows, table)}" for found in findings)
    choices = {found.title: found.keep for found in findings if found.keep}
    lines = [_to_add(table, where, choices)] if choices else []
    advice = [SKIP if found.column is None else DELETE for found in findings if not found.keep]
    lines += dict.fromkeys(advice)
    look = "looks" if len(rows) == 1 else "look"
    message = (
        f"{len(rows):,} of {people:,} people {look} as if out. {each}. Decide under candidates; to "
        f"leave them out:  {'  and  '.join(lines)}"
    )
    first = findings[0]
    return Mistake(table.place(first.rows[0], first.column), message)


def _to_add(table: Table, where: Where, choices: Where) -> str:
    """Write the line that adds these choices to `where`; for a workbook, its rows as well."""
    cells = ", ".join(f"where.{name}: {in_cell(values)}" for name, values in choices.items())
    rows = f"  (rows of a sheet campaign: {cells})" if table.grid.sheet else ""
    return line({**where, **choices}) + rows


def _listed(rows: Sequence[int], table: Table) -> str:
    """`row 3 (Grace Hopper)`: the first of some rows, with their names."""
    each = [f"{row} ({table.names[row]})" for row in rows[:NAMED]]
    return ("row " if len(rows) == 1 else "rows ") + some([*each, *map(str, rows[NAMED:])], NAMED)


_BRACKETS = re.compile(r"[(\[（【]([^()\[\]（）【】]*)[)\]）】]")
_DASH = re.compile(r"\s+[-–—]+|[-–—]+\s+|[–—]")


def compared(text: str) -> str:
    """The form in which values and headers are compared: trimmed, whatever their capitals."""
    return unicodedata.normalize("NFC", text.strip().casefold())


def line(where: Mapping[str, Sequence[str]]) -> str:
    """Write `where: {Stage: [Take-home, ""]}`, as it can be put into a definition."""
    lists = {name: [*map(in_yaml, values)] for name, values in where.items()}
    each = (
        f"{in_yaml(name)}: " + (values[0] if len(values) == 1 else f"[{', '.join(values)}]")
        for name, values in lists.items()
    )
    return f"where: {{{', '.join(each)}}}"


def in_cell(values: Collection[str]) -> str:
    """Write values into a cell of a sheet `campaign`; the empty one first, or alone."""
    if any(";" in each for each in values):
        return json.dumps([*values], ensure_ascii=False)
    return "; ".join(sorted(values, key=bool)) or ";"


def in_yaml(text: str) -> str:
    """Write a text as YAML reads it, in quotes if it needs them."""
    plain = re.fullmatch(r"[^\W\d_](?:[\w -]*[^\W_])?", text) and text.casefold() not in _NO_TEXT
    return text if plain else json.dumps(text, ensure_ascii=False)


def _column(table: Table, name: str) -> int | None:
    titles = [*map(compared, table.headers)]
    if (times := titles.count(compared(name))) == 1:
        return titles.index(compared(name))
    near = _nearest(name, {compared(title): title for title in table.headers if title})
    why = f"there is no column {shown(name)}; the columns are {near}"
    if times:
        why = f"{times} columns have the header {shown(name)}; rename the others"
    table.mistakes.append(Mistake(table.grid.whole, why, FIELD, name))
    return None


def _nearest(slip: str, known: Mapping[str, str]) -> str:
    """List what there is, by its compared form, the most similar to the misspelled one first."""
    near = difflib.get_close_matches(compared(slip), [*known][:1_000], NAMED, 0)
    more = [*known][len(near) :]
    return some([*(shown(known[each]) for each in near), *more], NAMED)


_NO_TEXT = {"null", "true", "false", "yes", "no", "on", "off", "y", "n"}
