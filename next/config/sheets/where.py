"""The rows that a definition keeps, by the values of columns."""

import difflib
import json
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from config.errors import Mistake, shown, some
from config.sheets.cells import error_in
from config.sheets.table import Table

if TYPE_CHECKING:
    import pandas as pd

FIELD = "candidates.where"
NAMED = 8  # values or columns named in one sentence


@dataclass
class Kept:
    """Which rows are kept, and of the others, by their number, `why` not."""

    rows: "pd.Series[bool]"
    why: dict[int, str] = field(default_factory=dict)
    mistakes: list[Mistake] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def keep(table: Table, where: Mapping[str, Sequence[str]]) -> Kept:
    """Keep the rows that have one of the values in every column that `where` names."""
    import pandas as pd  # noqa: PLC0415

    kept = Kept(pd.Series(True, table.cells.index))
    unclear: list[tuple[int, int, str]] = []
    for name, values in where.items():
        if (column := _column(table, name, kept)) is None:
            continue
        typed = table.cells[column]
        there, wanted = typed.map(compared), {compared(value): value for value in values}
        known = {compared(text): text for text in reversed([*dict.fromkeys(typed)])}
        kept.notes += [
            f"nobody has {shown(value)} under {name}; the values are {_nearest(value, known)}"
            for key, value in wanted.items()
            if key not in known
        ]
        errors = {text: error_in(text) for text in {*typed}}
        found = typed[typed.map(errors) != ""]
        unclear += [(row, column, f"found {errors[text]}") for row, text in _items(found)]
        # What an error would say is not known: such a row counts until another column decides.
        held = there.isin([*wanted]) | typed.index.isin(found.index)
        out = _items(typed[kept.rows & ~held])
        kept.why |= {row: f"{name} is {shown(text)}" for row, text in out}
        kept.rows &= held
    for row, column, error in unclear:
        if kept.rows.at[row]:
            why = f"{error}, wanted a value of {table.headers[column]}"
            kept.mistakes.append(Mistake(table.place(row, column), why, FIELD))
    if not kept.rows.any() and len(kept.rows) and not kept.mistakes:
        why = f"where keeps nobody; {'; '.join(kept.notes) or some(sorted({*kept.why.values()}))}"
        kept.mistakes.append(Mistake(table.grid.whole, why, FIELD))
    kept.notes = [f"{table.grid.whole}: {each}" for each in kept.notes]
    return kept


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


def _column(table: Table, name: str, kept: Kept) -> int | None:
    titles = [*map(compared, table.headers)]
    if (times := titles.count(compared(name))) == 1:
        return titles.index(compared(name))
    near = _nearest(name, {compared(title): title for title in table.headers if title})
    why = f"there is no column {shown(name)}; the columns are {near}"
    if times:
        why = f"{times} columns have the header {shown(name)}; rename the others"
    kept.mistakes.append(Mistake(table.grid.whole, why, FIELD, name))
    return None


def _items(texts: "pd.Series[str]") -> Iterator[tuple[int, str]]:
    return zip(map(int, texts.index), map(str, texts), strict=True)


def _nearest(slip: str, known: Mapping[str, str]) -> str:
    """List what there is, by its compared form, the most similar to the misspelled one first."""
    near = difflib.get_close_matches(compared(slip), [*known][:1_000], NAMED, 0)
    more = [*known][len(near) :]
    return some([*(shown(known[each]) for each in near), *more], NAMED)


_NO_TEXT = {"null", "true", "false", "yes", "no", "on", "off", "y", "n"}
