"""The rows that a definition keeps, by the values of columns."""

import difflib
import json
import re
import unicodedata
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from config.errors import Mistake, shown
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
    columns = {name: _column(table, name, kept) for name in where}
    if kept.mistakes or not where:
        return kept
    held: dict[str, pd.Series[bool]] = {}
    nobody = []
    for name, column in columns.items():
        typed = table.texts(column)
        values = typed.map(compared)
        wanted = {compared(value): value for value in where[name]}
        spelt = dict(zip(reversed([*values]), reversed([*typed]), strict=True))
        nobody += [
            f"nobody has {shown(wanted[each])} under {name}; the values are "
            + _nearest(wanted[each], [*dict.fromkeys(spelt.values())])
            for each in wanted
            if each not in spelt
        ]
        counts = {str(v): int(n) for v, n in values[kept.rows].value_counts().items()}
        right, left = (
            {spelt[v]: n for v, n in counts.items() if (v in wanted) == is_right}
            for is_right in (True, False)
        )
        left_out = f"; left out: {_counted(left)}" if left else ""
        kept.notes.append(f"{name}: kept {_counted(right) or 'nobody'}{left_out}")
        # What an error would say is not known: such a row counts until another column decides.
        held[name] = values.isin([*wanted]) | typed.map(lambda text: bool(error_in(text)))
        out = typed[kept.rows & ~held[name]]
        rows = map(int, out.index)
        kept.why |= {row: f"{name} is {shown(v)}" for row, v in zip(rows, out, strict=True)}
        kept.rows &= held[name]
    for name, column in columns.items():
        here = table.texts(column)[kept.rows].map(error_in)
        for row, error in here[here != ""].items():
            why = f"found {error}, wanted a value of {name}"
            kept.mistakes.append(Mistake(table.place(int(str(row)), column), why, FIELD))
    number = f"{int(kept.rows.sum()):,} of {len(kept.rows):,} rows kept by where"
    if not kept.rows.any() and len(kept.rows) and not kept.mistakes:
        why = f"where keeps nobody: {'; '.join(nobody or kept.notes)}"
        kept.mistakes.append(Mistake(table.grid.whole, why, FIELD))
    kept.notes = [f"{table.grid.whole}: {each}" for each in (number, *kept.notes, *nobody)]
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


def _nearest(slip: str, names: Collection[str]) -> str:
    """List the existing names, the most similar to the misspelled one first."""
    match = difflib.SequenceMatcher(b=compared(slip))
    likeness = {}
    for name in [*names][:1_000]:
        match.set_seq1(compared(name))
        likeness[name] = match.ratio()
    likely = sorted(likeness, key=lambda name: -likeness[name])[:NAMED]
    more = f" and {len(names) - NAMED:,} more" if len(names) > NAMED else ""
    return ", ".join(map(shown, likely)) + more


def _counted(values: Mapping[str, int]) -> str:
    listed = [f"{shown(value)} {number:,}" for value, number in [*values.items()][:NAMED]]
    rest = [*values.values()][NAMED:]
    return ", ".join([*listed, f"{len(rest):,} others {sum(rest):,}"] if rest else listed)


_NO_TEXT = {"null", "true", "false", "yes", "no", "on", "off", "y", "n"}
