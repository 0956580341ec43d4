"""The rows that a definition keeps, by the values of columns."""

import difflib
import json
import re
import unicodedata
from collections.abc import Mapping, Sequence

from config.errors import Mistake, shown, some
from config.sheets.cells import error_in
from config.sheets.table import Table

FIELD = "candidates.where"
NAMED = 8  # values or columns named in one sentence


def left_out_by(table: Table, where: Mapping[str, Sequence[str]]) -> dict[int, str]:
    """The rows that do not have one of the values in every column that `where` names, and why.

    What is wrong with `where`, or worth a word, is added to the table's mistakes and notes.
    """
    out: dict[int, str] = {}
    nobody: list[str] = []
    unclear: dict[int, Mistake] = {}
    for name, values in where.items():
        if (column := _column(table, name)) is None:
            continue
        typed = table.cells[column]
        there, wanted = typed.map(compared), {compared(value): value for value in values}
        known = {compared(text): text for text in reversed([*dict.fromkeys(typed)])}
        nobody += [
            f"nobody has {shown(value)} under {name}; the values are {_nearest(value, known)}"
            for key, value in wanted.items()
            if key not in known
        ]
        errors = {text: error for text in {*typed} if (error := error_in(text))}
        other = typed[~there.isin([*wanted])]
        for row, text in zip(map(int, other.index), map(str, other), strict=True):
            if text in errors:  # such a row counts until another column decides
                why = f"found {errors[text]}, wanted a value of {name}"
                unclear.setdefault(row, Mistake(table.place(row, column), why, FIELD))
            else:
                out.setdefault(row, f"{name} is {shown(text)}")
    table.mistakes += [wrong for row, wrong in unclear.items() if row not in out]
    table.notes += [f"{table.grid.whole}: {each}" for each in nobody]
    if len(out) == len(table.rows) > 0:
        why = f"where keeps nobody; {'; '.join(nobody) or some(sorted({*out.values()}))}"
        table.mistakes.append(Mistake(table.grid.whole, why, FIELD))
    return out


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
