"""The rows of a table that a campaign uses: those that match `where`."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from difflib import SequenceMatcher
from json import dumps
from typing import Any
from unicodedata import normalize

from config.mistakes import Unusable, shown
from config.tables.cells import as_text, is_error

WANTED = "a mapping of a column to a value or a list of values, as in where: {Job: Engineer}"
NOTHING = "nothing"
ERROR = "the error "  # of a spreadsheet, as #N/A
# What people and programs write in a column such as `Do not contact` if it does not apply.
NO = (
    *("no", "n", "none", "nein", "non", "não", "nao", "nee", "nie", "nej", "nei", "ei", "ne"),
    *("nem", "hayır", "нет", "ні", "не", "όχι", "いいえ", "否", "아니요", "לא", "لا"),
)
FALSE = ("false", "0", "falsch", "faux", "falso", "onwaar", "fałsz")
NOT_SO = frozenset(("", "n/a", "na", "-", "–", "—", "☐", *NO, *FALSE))
# How many values or columns are named in one line; how many are compared with a misspelled one.
NAMED = 8
COMPARED = 1_000

# The header of each column as written, with the values that a row may have in it.
Where = Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Condition:
    """One column of a table (from 0), and the values to keep, in the form in which they are
    compared.
    """

    name: str
    column: int
    values: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Mistake:
    """What is wrong with what `where` says of one column."""

    name: str
    message: str


@dataclass(frozen=True, slots=True)
class Counts:
    """How many rows one column kept and left out, by value.

    Each column counts the rows that those before it kept.
    """

    column: str
    kept: Mapping[str, int]
    left_out: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Selection:
    """What `where` makes of a table: how many rows it has, and the numbers of those left out.

    `unclear` are cells (number of the row, column, text) that hold an error instead of a value to
    compare.
    """

    rows: int
    left_out: frozenset[int] = field(repr=False)
    columns: tuple[Counts, ...] = field(default=(), repr=False)
    mistakes: tuple[Mistake, ...] = ()
    unclear: tuple[tuple[int, int, str], ...] = ()

    @property
    def kept(self) -> int:
        return self.rows - len(self.left_out)


def read_where(written: Any) -> dict[str, tuple[str, ...]]:
    """Read it from a definition. Raises ValueError if it is not a mapping to values."""
    if not isinstance(written, Mapping) or not written:
        raise ValueError(WANTED)
    return {str(name): tuple(_values(values)) for name, values in written.items()}


def where_of(options: Mapping[str, Any]) -> Where:
    """Read it from a definition's `candidates`; what is wrong with it is reported elsewhere."""
    try:
        return read_where(options["where"]) if "where" in options else {}
    except ValueError:
        return {}


def _values(written: Any) -> Iterator[str]:
    values = written if isinstance(written, list | tuple) else [written]
    if not values:
        raise ValueError(WANTED)
    for value in values:
        # An empty text chooses empty cells; blanks, or no value at all, are a slip.
        if not isinstance(value, str | int | float) or str(value).isspace():
            raise ValueError(WANTED)
        yield str(as_text(value)).strip()


def compared(text: str) -> str:
    """Reduce a header or a value to the form that is compared: trimmed and casefolded."""
    return normalize("NFC", text.strip().casefold())


def conditions(
    where: Where, header: Sequence[str]
) -> tuple[tuple[Condition, ...], tuple[Mistake, ...]]:
    """Find the columns of `where` in the header of a table."""
    met, mistakes = [], []
    for name, values in where.items():
        columns = [at for at, title in enumerate(header) if compared(title) == compared(name)]
        if len(columns) == 1:
            by_value = {compared(value): value for value in values}
            met.append(Condition(name.strip(), columns[0], by_value))
            continue
        titles = Counter(title.strip() for title in header if title.strip())
        message = f"there is no column {shown(name)}; the columns are {_nearest(name, titles)}"
        if columns:
            message = f"{len(columns)} columns have the header {shown(name)}; rename the others"
        mistakes.append(Mistake(name, message))
    return tuple(met), tuple(mistakes)


def select(conditions: Sequence[Condition], rows: Iterable[tuple[int, Sequence[Any]]]) -> Selection:
    """Select from the rows of a table that hold people; all conditions must hold."""
    number_of_rows, left_out, unclear = 0, set(), []
    spelt: list[dict[str, str]] = [{} for _ in conditions]
    kept, refused = [Counter[str]() for _ in conditions], [Counter[str]() for _ in conditions]
    everybody = [Counter[str]() for _ in conditions]
    for number, cells in rows:
        number_of_rows += 1
        texts = [text_at(cells, condition.column) for condition in conditions]
        values = [compared(text) for text, _ in texts]
        holds = [value in each.values for value, each in zip(values, conditions, strict=True)]
        for at, value in enumerate(values):
            # Counted as the first row spells it.
            shown_value = spelt[at].setdefault(value, texts[at][0].strip())
            everybody[at][shown_value] += 1
            if all(holds[:at]):
                (kept if holds[at] else refused)[at][shown_value] += 1
        if not all(holds):
            left_out.add(number)
            if all(held or not clear for held, (_, clear) in zip(holds, texts, strict=True)):
                errors = [at for at, (_, clear) in enumerate(texts) if not clear]
                unclear += [(number, conditions[at].column, texts[at][0]) for at in errors]
    columns = tuple(
        Counts(condition.name, dict(kept[at].most_common()), dict(refused[at].most_common()))
        for at, condition in enumerate(conditions)
    )
    mistakes = tuple(
        Mistake(
            condition.name,
            f"no row has {shown(value)} under {condition.name}; the values are "
            f"{_nearest(value, everybody[at])}",
        )
        for at, condition in enumerate(conditions)
        for folded, value in condition.values.items()
        if number_of_rows and folded not in spelt[at]
    )
    selection = Selection(number_of_rows, frozenset(left_out), columns, mistakes, tuple(unclear))
    if number_of_rows and not selection.kept and not mistakes and not unclear:
        message = f"no row is kept: {'; '.join(in_words(selection))}"
        return replace(selection, mistakes=(Mistake(columns[-1].column, message),))
    return selection


def keeping(
    name: str, texts: Iterable[str], where: Where, *, sheet: bool, key: str | None = None
) -> str:
    """Say what to type, beside a `where` there may be, to keep only rows with one of these texts
    under a header; `sheet`: the definition may be in a sheet; `key`: it is in a sheet `campaigns`.
    """
    values = list({compared(text): text for text in texts}.values())
    if not values:
        return "delete the rows"
    kept = dumps({name: values if len(values) > 1 else values[0]}, ensure_ascii=False)
    typed = f"add to where  {kept[1:-1]}" if where else f"put  where: {kept}  under candidates"
    cell = "; ".join(value or '""' for value in values)
    if key is not None:
        return f"put  {cell}  into the sheet campaigns, under candidates.where.{name} for {key}"
    row = f"  (a row of a sheet campaign: candidates.where.{name}, then {cell})" if sheet else ""
    return f"{typed}{row}"


def in_words(selection: Selection) -> list[str]:
    """Say how many rows were kept and left out, and by which value of each column."""
    lines = [
        f"{selection.kept:,} of {selection.rows:,} rows kept, {len(selection.left_out):,} left out"
    ]
    for counts in selection.columns:
        kept, left_out = _listed(counts.kept), _listed(counts.left_out)
        rest = f"; left out: {left_out}" if left_out else ""
        lines.append(f"{counts.column}: {kept or 'nobody'}{rest}")
    return lines


def as_json(selection: Selection | None) -> dict[str, Any] | None:
    """Return the object under `where` in `check --json` and `plan --json`."""
    if selection is None:
        return None
    return {
        "rows": selection.rows,
        "kept": selection.kept,
        "left_out": len(selection.left_out),
        "columns": list(map(asdict, selection.columns)),
    }


def text_at(cells: Sequence[Any], column: int) -> tuple[str, bool]:
    """Return what a person sees in a cell, and whether it is a value, not an error."""
    cell = cells[column] if column < len(cells) else None
    if isinstance(cell, Unusable):
        return str(cell), False
    text = "" if cell is None else str(as_text(cell))
    if is_error(text.strip()):
        return ERROR + text.strip(), False
    return text, True


def _nearest(slip: str, names: Counter[str]) -> str:
    """List the existing names, the most similar to the misspelled one first."""
    wanted = compared(slip)

    def likeness(name: str) -> float:
        return SequenceMatcher(None, wanted, compared(name)).ratio()

    likely = sorted((name for name, _ in names.most_common(COMPARED)), key=likeness, reverse=True)
    more = f" and {len(names) - NAMED:,} more" if len(names) > NAMED else ""
    return ", ".join(map(_quoted, likely[:NAMED])) + more


def _listed(counts: Mapping[str, int]) -> str:
    """List values with their rows, and the rows of all the others."""
    each = list(counts.items())
    listed = [f"{_quoted(value)} {number:,}" for value, number in each[:NAMED]]
    if rest := each[NAMED:]:
        listed.append(f"{len(rest):,} others {sum(number for _, number in rest):,}")
    return ", ".join(listed)


def _quoted(value: str) -> str:
    if value.startswith(ERROR):
        return value
    return shown(value) if value else NOTHING
