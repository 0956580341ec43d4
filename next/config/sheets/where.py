"""The rows that a definition keeps, by the values of columns."""

import difflib
import json
import re
import unicodedata
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from config.errors import Mistake, shown
from config.sheets.cells import is_error
from config.sheets.table import Table

if TYPE_CHECKING:
    import pandas as pd

FIELD = "candidates.where"
NAMED = 8  # values or columns named in one sentence


@dataclass
class Kept:
    """Whether each row is kept, by its number, and for the others `why` not."""

    rows: "pd.Series[bool]"
    why: "pd.Series[str]"
    mistakes: list[Mistake] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def keep(table: Table, where: Mapping[str, Sequence[str]]) -> Kept:
    """Keep the rows that have one of the values in every column that `where` names."""
    import pandas as pd  # noqa: PLC0415

    index = table.cells.index
    kept = Kept(pd.Series(True, index), pd.Series("", index, dtype=object))
    columns = {name: _column(table, name, kept) for name in where}
    if kept.mistakes or not where:
        return kept
    held, unclear = {}, {}
    nobody = []
    for name, column in columns.items():
        typed = table.cells[column].map(str.strip)
        values = typed.map(compared)
        wanted = {compared(value): value for value in where[name]}
        held[name] = values.isin(wanted)
        unclear[name] = typed.map(is_error) | index.isin(_spoilt(table, column))
        counts = typed[kept.rows].groupby(values[kept.rows]).agg(["first", "size"])
        counts = counts.sort_values("size", ascending=False, kind="stable")
        named = {str(first): int(size) for first, size in counts.itertuples(index=False)}
        known = {*values}
        for value in [wanted[each] for each in wanted if each not in known]:
            near = _nearest(value, [*dict.fromkeys(typed)])
            nobody.append(f"nobody has {shown(value)} under {name}; the values are {near}")
        left = {value: n for value, n in named.items() if compared(value) not in wanted}
        left_out = f"; left out: {_counted(left)}" if left else ""
        right = {value: n for value, n in named.items() if compared(value) in wanted}
        kept.notes.append(f"{name}: kept {_counted(right) or 'nobody'}{left_out}")
        out = kept.rows & ~held[name]
        kept.why[out] = name + " is " + typed[out].map(shown)
        kept.rows &= held[name]
    _add_unclear(table, kept, columns, held, unclear)
    whole = table.grid.whole
    number = f"{int(kept.rows.sum()):,} of {len(index):,} rows kept by where"
    if not kept.rows.any() and len(index) and not kept.mistakes:
        why = "; ".join(nobody or kept.notes)
        kept.mistakes.append(Mistake(whole, f"where keeps nobody: {why}", FIELD))
    kept.notes = [f"{whole}: {each}" for each in (number, *kept.notes, *nobody)]
    return kept


def compared(text: str) -> str:
    """The form in which values and headers are compared: trimmed, whatever their capitals."""
    return unicodedata.normalize("NFC", text.strip().casefold())


def line(where: Mapping[str, Sequence[str]]) -> str:
    """Write `where: {Stage: [Take-home, ""]}`, as it can be put into a definition."""
    each = (
        f"{_in_yaml(name)}: " + (_in_yaml(values[0]) if len(values) == 1 else _list(values))
        for name, values in where.items()
    )
    return f"where: {{{', '.join(each)}}}"


def _column(table: Table, name: str, kept: Kept) -> int:
    titles = [*map(compared, table.headers)]
    if (times := titles.count(compared(name))) == 1:
        return titles.index(compared(name))
    near = _nearest(name, [title for title in table.headers if title])
    why = f"there is no column {shown(name)}; the columns are {near}"
    if times:
        why = f"{times} columns have the header {shown(name)}; rename the others"
    kept.mistakes.append(Mistake(table.grid.whole, why, FIELD, name))
    return -1


def _spoilt(table: Table, column: int) -> list[int]:
    return [row for row, at in table.grid.spoilt if at == column]


def _add_unclear(
    table: Table,
    kept: Kept,
    columns: Mapping[str, int],
    held: Mapping[str, "pd.Series[bool]"],
    unclear: Mapping[str, "pd.Series[bool]"],
) -> None:
    """A cell without a value is a mistake if it decides whether the row is kept."""
    import pandas as pd  # noqa: PLC0415

    for name, errors in unclear.items():
        if errors.any():
            others = [held[other] | unclear[other] for other in held]
            decides = errors & pd.concat(others, axis=1).all(axis=1)
            for row in decides.index[decides]:
                place = table.place(int(row), columns[name])
                wanted = f"a value, because where compares {name}"
                found = table.cells.at[row, columns[name]].strip()
                found = table.grid.spoilt.get((int(row), columns[name]), f"the error {found}")
                kept.mistakes.append(Mistake(place, f"found {found}, wanted {wanted}", FIELD))


def _nearest(slip: str, names: Collection[str]) -> str:
    """List the existing names, the most similar to the misspelled one first."""

    def likeness(name: str) -> float:
        return difflib.SequenceMatcher(None, compared(slip), compared(name)).ratio()

    likely = sorted([*names][:1_000], key=likeness, reverse=True)[:NAMED]
    more = f" and {len(names) - NAMED:,} more" if len(names) > NAMED else ""
    return ", ".join(map(shown, likely)) + more


def _counted(values: Mapping[str, int]) -> str:
    listed = [f"{shown(value)} {number:,}" for value, number in [*values.items()][:NAMED]]
    rest = [*values.values()][NAMED:]
    return ", ".join([*listed, f"{len(rest):,} others {sum(rest):,}"] if rest else listed)


def _list(values: Iterable[str]) -> str:
    return f"[{', '.join(map(_in_yaml, values))}]"


def _in_yaml(text: str) -> str:
    plain = _PLAIN.fullmatch(text) and text.casefold() not in _NO_TEXT
    return text if plain else json.dumps(text, ensure_ascii=False)


_PLAIN = re.compile(r"[^\W\d_](?:[\w -]*[^\W_])?")
_NO_TEXT = {"null", "true", "false", "yes", "no", "on", "off", "y", "n"}
