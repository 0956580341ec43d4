"""Leave people out: by `where`, or because `hidden_rows` skips marked rows.

Whatever else could decide who is invited is asked about, until the definition says what it means: a
column of a status, job, answers or remarks, and each row with a mark (`marked_rows`).
"""

import difflib
import json
import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from config.definition import ORDERS
from config.emails import mailbox
from config.errors import BadInput, Mistake, Place, plain, shown, some
from config.sheets.cells import error_in
from config.sheets.headers import (
    answer,
    excludes,
    fields_of,
    is_not_so,
    is_titled,
    pattern,
    says,
    without_figures,
    worded,
)
from config.sheets.names import comparable, is_test
from config.sheets.table import PERSON, Table

if TYPE_CHECKING:
    from config.definition import PeopleTable
    from config.sheets.people import People

NAMED, COUNTED = 5, 10
FEW = 2_000  # so many of a column's most frequent values are searched for answers
BANDS = 5  # in more rows than these, two alternating colours are styling
TELLING = 6  # a person sees the counts of at most so many columns
FIELD, IGNORE = "candidates.where", "candidates.ignore"
MARKS = "To leave these rows out:  hidden_rows: skip  To invite them:  hidden_rows: read"
ELSEWHERE = "also on another sheet"
TWO_SHEETS = "To leave these rows out:  hidden_rows: skip  To invite them, change that sheet."
DELETE = "Delete these rows, or remove the remark."
LIST = "Some cells name people of other rows: delete the rows of these people, and empty the cells."
TITLE = "Write a short header of its own above that column, such as Remarks, and check again."
Where = Mapping[str, Sequence[str]]
Counts = Mapping[str, int]  # how many rows have each value, the most frequent first


class Finding(NamedTuple):
    """One thing that could decide who is invited, and what to do. For a column: its `title`, a
    `blank` to fill in, the values to `keep` for certain, and the values that exclude (`told`).
    """

    what: str
    place: Place
    do: str = ""
    title: str = ""
    blank: str = ""
    keep: Sequence[str] = ()
    told: str = ""


def choose(table: Table, spec: "PeopleTable", people: "People") -> list[int]:
    """The rows that a definition keeps; `people` gets what a person should see of the choice.

    Anything wrong or undecided becomes a mistake. If `where` or `ignore` is wrong, no row is kept.
    """
    before = len(table.mistakes)
    for name in spec.ignore:
        _column(table, name, IGNORE)
    out = _by_where(table, spec.where)
    if len(table.mistakes) > before:
        return []
    marks, marked = [], marked_rows(table, _rest(table, out))
    for mark, them in marked.items():
        who = _listed(them, table)
        if spec.hidden_rows == "skip":
            out |= {row: f"the row is {mark} {text}".strip() for row, text in them.items()}
        elif spec.hidden_rows == "read" and mark != ELSEWHERE:
            people.ignored.append(f"the {mark} {who}")
        else:
            do = TWO_SHEETS if mark == ELSEWHERE else MARKS
            marks.append(Finding(f"{mark}: {who}", table.place(next(iter(them))), do))
    if not table.grid.file.name.endswith(ORDERS):  # who is out may be ordered again
        _disputed(table, spec, out, {row for them in marked.values() for row in them})
    for row, why in out.items():
        people.left_out.setdefault(why, []).append(table.names[row])
    rows = _rest(table, out)
    found = [*deciding_columns(table, rows, spec.where)]
    ignore, known = {*map(compared, spec.ignore)}, [*spec.where, *(each.title for each in found)]
    decided = [each for each in found if each.title and compared(each.title) in ignore]
    if open_ := [each for each in (*found, *marks) if each not in decided]:
        table.mistakes.append(_question(open_, spec))
    said = [each for each in decided if each.told or not spec.where]
    people.ignored += [f"{each.title} ({each.told})" if each.told else each.title for each in said]
    people.apart = _apart(table, rows, known)
    above = [(row, " ".join(cells).strip()) for row, cells in table.grid.rows if row < table.header]
    above += [(row, it) for (row, _), it in table.grid.comments.items() if row not in table.names]
    people.remarks += [f"row {row} says {shown(text)}" for row, text in above if says("out", text)]
    sent, looked_at = {*table.by_field.values()}, {*map(compared, known)} | ignore
    for at, title in enumerate(table.headers):
        if is_titled(title, "remarks") and at not in sent and compared(title) not in looked_at:
            texts = {row: shown(text) for row in rows if (text := table.cells.at[row, at])}
            people.remarks += [f"{title} says of {_listed(texts, table)}"] if texts else []
    return rows


def to_decide(table: Table, where: Where) -> tuple[dict[str, str], list[str]]:
    """For the rows that `where` keeps: a blank for each column that could decide, and the marks."""
    rows = _rest(table, _by_where(table, where))
    found = deciding_columns(table, rows, where, unknown=True)
    blanks = {each.title: each.blank for each in found if each.title and not each.do}
    marked = marked_rows(table, rows).items()
    return blanks, [f"{mark}: {_listed(them, table)}" for mark, them in marked]


def values_of(table: Table, name: str) -> tuple[str, list[str]]:
    """A column's header and values, the most frequent first. Raises BadInput if none or two fit."""
    if (column := _column(table, name, "each")) is None:
        raise BadInput(table.mistakes[-1:])
    return table.headers[column], [*_counts(table.cells[column])]


def marked_rows(table: Table, rows: Sequence[int]) -> dict[str, dict[int, str]]:
    """The marked rows under their first mark, each with its text, such as that of a comment."""
    people, means = table.frame.filter(PERSON).itertuples(name=None), fields_of(table.headers, {})
    # A whole name may be struck out that is not sent, because its parts are.
    person = _person(table) | {at for at, field in enumerate(means) if field in PERSON[:-1]}
    marked = {
        ELSEWHERE: {row: shown(title) for row, title in table.elsewhere.items()},
        "struck through or red": {row: "" for row, column in table.grid.struck if column in person},
        "hidden": dict.fromkeys(table.grid.hidden, ""),
        "coloured differently": dict.fromkeys(_coloured(table, sorted(person)), ""),
        "commented": {row: shown(text) for (row, _), text in table.grid.comments.items()},
        "like a test": {row: "" for row, *texts in people if is_test(texts)},
    }
    found: dict[str, dict[int, str]] = {}
    for row in rows:
        if mark := next((mark for mark, them in marked.items() if row in them), None):
            found.setdefault(mark, {})[row] = marked[mark][row]
    return found


def _rest(table: Table, out: Collection[int]) -> list[int]:
    return [row for row, _ in table.rows if row not in out]


def _person(table: Table) -> set[int]:
    return {table.by_field[name] for name in PERSON if name in table.by_field}


def _coloured(table: Table, person: Sequence[int]) -> list[int]:
    """The rows with a fill on name and address that not all have; alternating ones are styling."""
    fills = {n: tuple(table.grid.fills.get((n, at), 0) for at in person) for n, _ in table.rows}
    each = [*fills.values()]
    usual = [fill for fill, _ in Counter(each).most_common(2)]
    banded = len(each) > BANDS and all(len({*each[at::2]} & {*usual}) == 1 for at in (0, 1))
    plain = usual if banded else [min((*usual, *each), key=any, default=())]
    return [row for row, fill in fills.items() if fill not in plain]


def deciding_columns(
    table: Table, rows: Sequence[int], decided: Collection[str], *, unknown: bool = False
) -> Iterator[Finding]:
    """Find the columns, except `decided` ones, that could decide which rows are invited.

    With `unknown`, also columns without a known word, if people differ in them.
    """
    named, titles = {*map(compared, decided)}, [*map(compared, table.headers)]
    person = _person(table)
    sent = {*table.by_field.values()} - person
    listed = {comparable(it) for it in (*table.names.values(), *table.frame.get("email1", ()))}
    for column in range(table.cells.shape[1]):
        title = table.headers[column] if column < len(table.headers) else ""
        if title and compared(title) in named:
            continue
        cells = dict(zip(rows, table.cells[column].loc[[*rows]], strict=True))
        counts = _counts(cells.values())
        beside = column in person
        tells = has_remark_beside if beside else excludes if column in sent else None
        deciding = [*filter(tells, counts)] if tells else _deciding_values(title, counts)
        if not (deciding or tells) and unknown and title and _tells_apart(title, counts):
            deciding = [*counts]
        if not deciding:
            continue
        those = {*map(compared, deciding)}
        texts = {row: shown(text) for row, text in cells.items() if compared(text) in those}
        each = some([f"{plain(value)} {times:,}" for value, times in counts.items()], COUNTED)
        what = f"{title} has {each}"
        if beside or not title or is_titled(title, "remarks"):
            what = f"{title or 'A column without a header'} has a remark in {_listed(texts, table)}"
        # YAML takes a key of at most 1,024 characters, and one of two columns has none of its own.
        if beside or not 0 < len(title) <= 500 or titles.count(compared(title)) > 1:
            yield Finding(what, table.place(next(iter(texts)), column), DELETE if beside else TITLE)
        else:
            blank = re.sub("[<>@]", " ", each).replace('"', "'")  # a blank has none inside
            keep, blank = _keep(title, counts), f"<keep which? {blank}>"
            place = table.place(table.header, column)
            told = some([shown(value) for value in deciding if excludes(value)])
            is_list = listed & {*map(comparable, deciding)} and says("out", title, title=True)
            do = LIST if is_list and not pattern("duplicate").search(worded(title)) else ""
            yield Finding(what, place, do, title, blank, keep, told)


def _deciding_values(title: str, counts: Counts) -> Sequence[str]:
    """The values by which a column could decide; none if it cannot."""
    filled, people = [value for value in counts if value], sum(counts.values())
    if says("out", title, title=True):
        return [value for value in filled if not is_not_so(value)]
    if says("sent", title, title=True):  # under Test sent, "no" may be an order to send none
        return [value for value in filled if answer(value) != "not_so"]
    if not title:
        return [] if all(map(_MEASURE.fullmatch, filled)) else filled
    if is_titled(title, "status"):
        told = [v for v in filled if says("out", v) or error_in(v) or answer(v) == "no"]
        if told or (len(counts) > 1 and not all(map(_DATE.fullmatch, filled))):
            return told or filled
    elif is_titled(title, "job") and 1 < len(counts) <= max(COUNTED, people // 2):
        return filled
    answers = _answers(title, counts)
    told = [value for value in filled if excludes(value)]
    return told or [value for value in counts if answers and answers.get(value) != "yes"]


def _tells_apart(title: str, counts: Counts) -> bool:
    """Whether people differ in this column, and it may matter."""
    people, texts = sum(counts.values()), not all(map(_MEASURE.fullmatch, filter(None, counts)))
    apart = (texts and len(counts) < people) or 2 * counts.get("", 0) >= people
    matters = is_titled(title, "remarks") or (apart and not is_titled(title, "harmless"))
    return len(counts) > 1 and matters


def _answers(title: str, counts: Counts) -> dict[str, str]:
    """What each value answers. Empty unless most values are answers, or one says no or hold."""
    filled = [value for value in counts if value]
    said = {value: answer(value) for value in filled[:FEW]} | _negated(title, filled)
    plainly = [value for value, means in said.items() if means in {"yes", "no", "hold"}]
    known = sum(counts[value] for value, means in said.items() if means)
    people = sum(counts[value] for value in filled)
    # Digits such as 1 and 0 are answers only in a column without other values; N or ? may be none.
    worded = not all(map(str.isdecimal, plainly)) and 2 * known >= people
    worded |= any(said[v] in {"no", "hold"} for v in plainly if len(v) > 1 or not v.isascii())
    return said if plainly and (worded or known == people) else {}


def _negated(title: str, values: Sequence[str]) -> dict[str, str]:
    """The values that say no by a negation of another value: `did not pass` beside `passed`."""
    if pattern("not_status").search(worded(title)):  # such as an ethnicity
        return {}
    endings = ("", "d", "ed")  # as in `did not attend` beside `attended`
    bare = [re.sub(r"\b(?:do|can|will|would) ", "", worded(without_figures(v))) for v in values]
    plain = {each.removesuffix(end) for each in bare for end in endings} - {""}
    found = {}
    for value, said in zip(values, bare, strict=True):
        before, *behind = map(str.strip, pattern("negation").split(said))
        rest = " ".join(filter(None, behind))  # empty for `Oslo, NO`: nothing is negated
        if not plain.isdisjoint((rest, f"{before} {rest}")):
            found[value] = "no"
    return found


def _keep(title: str, counts: Counts) -> list[str]:
    """The values of people to keep for certain: a yes in words; under Rejected, no or empty."""
    if says("sent", title, title=True) or any("@" in value for value in counts):  # no answers
        return []
    if says("out", title, title=True):
        return [value for value in counts if not value or is_not_so(value)]
    said = [value for value, means in _answers(title, counts).items() if means == "yes"]
    return [it for it in said if it[0].isalpha() and compared(it) != "x" and not excludes(it)]


def _disputed(table: Table, spec: "PeopleTable", out: Mapping[int, str], marked: set[int]) -> None:
    """Report people whom one row excludes, such as a marked one, and another of the case keeps.

    Cases differ in a job, or in a column of `where` without answers. *Do not contact* excludes from
    all of them. Ignored columns say nothing, nor do duplicates. Any other answer to a question
    whose yes is kept is a no.
    """
    titles, rows = table.headers, {row: its for row, *its in table.cells.itertuples(name=None)}
    duplicate, never = pattern("duplicate").fullmatch, pattern("out_never").search
    wanted = {_column(table, name, FIELD) or 0: values for name, values in spec.where.items()}
    ignored = _person(table) | {_column(table, name, IGNORE) for name in spec.ignore}
    cases, tells, asks = set[int](), {*wanted}, set[int]()
    for at, title in enumerate(titles):
        values = wanted.get(at, ())
        if "yes" in map(answer, values) and re.search(r"(?i)\?|rsvp", title):
            asks.add(at)
        elif says("out", title, title=True):
            (ignored if duplicate(worded(title)) else tells).add(at)
        elif says("sent", title, title=True):  # `where` may keep a test by its name
            by_name = any(it and not is_not_so(it) and answer(it) != "yes" for it in values)
            (tells.discard if by_name else tells.add)(at)
        elif not is_titled(title, "status") and not any(map(answer, values)):
            cases |= {at} if values or (is_titled(title, "job") and "?" not in title) else set()

    def known_as(row: int) -> set[str]:
        return {comparable(table.names[row]), mailbox(rows[row][table.by_field["email1"]])}

    def says_no(at: int, text: str) -> bool:
        values = wanted.get(at, ())
        if at in asks and without_figures(text) and answer(text) not in {"yes", "not_so"}:
            return compared(text) not in map(compared, values)
        told = _deciding_values(titles[at], {text: 1}) if at in tells else excludes(text)
        return bool(told) or text in _negated(titles[at], [text, *values])

    kept: dict[str, list[int]] = {}
    for row in _rest(table, out) if out else ():
        for it in known_as(row):
            kept.setdefault(it, []).append(row)
    for row in (it for it in out if not kept.keys().isdisjoint(known_as(it))):
        no = [at for at in range(len(titles)) if at not in ignored and says_no(at, rows[row][at])]
        said = [f"{titles[at]} is {shown(rows[row][at])}" for at in no]
        from_all = [each for each in said if never(worded(each))]
        said = from_all if any(map(duplicate, map(worded, rows[row]))) else said
        same = set() if from_all else cases - {*no}
        case = [compared(rows[row][at]) for at in same]
        alike = (it for it in known_as(row) if said or row in marked)
        others = (other for it in alike for other in kept.get(it, ()))
        if row not in marked:  # what both rows say tells nothing of one
            others = (o for o in others if any(rows[o][at] != rows[row][at] for at in no))
        other = next((o for o in others if [compared(rows[o][at]) for at in same] == case), None)
        if other is not None:
            why = f"is out here ({some(said) or out[row]}), but row {other} is kept; delete one"
            table.mistakes.append(Mistake(table.place(row), f"{table.names[row]} {why}", FIELD))


def has_remark_beside(value: str) -> bool:
    """Whether a remark excludes: in brackets, beside a dash or comma, or in small letters."""
    parts = _DASH.split(_COMMA.sub(r"\1 - ", value))
    said = [*_BRACKETS.findall(value), *(parts if parts[1:] else ()), *_BEHIND.findall(value)]
    return any(excludes(each) or answer(each) in {"no", "hold"} for each in said)


def _apart(table: Table, rows: Sequence[int], first: Collection[str]) -> dict[str, Counts]:
    """Count rows by columns in which people differ: the `first`, then others with few values."""
    named, found = [*map(compared, first)], []
    for column in {*range(len(table.headers))} - _person(table):
        title, counts = table.headers[column], _counts(table.cells[column].loc[[*rows]])
        known = compared(title) in named or is_titled(title, "job") or is_titled(title, "status")
        few = len(counts) <= TELLING and 2 * len(counts) <= len(rows)
        if title and len(counts) > 1 and (known or few):
            found.append((not known, len(counts), column, title, counts))
    return {title: counts for *_, title, counts in sorted(found)[:TELLING]}


def _counts(typed: Iterable[str]) -> Counts:
    """Count the values of a column, ignoring capitals; each is spelled as it first occurs."""
    spelled: dict[str, str] = {}
    counts: Counter[str] = Counter()
    for value, times in Counter(typed).items():
        counts[spelled.setdefault(compared(value), value)] += times
    return dict(counts.most_common())


def _question(found: Sequence[Finding], spec: "PeopleTable") -> Mistake:
    """Ask one question per file about everything that could decide, with the lines to add."""
    columns = {f.title: f.keep or [f.blank] for f in found if f.title and not f.do}
    lines = [f"Decide who is invited. {'; '.join(each.what for each in found)}."]
    if columns:
        one = found[0].keep if len(columns) == 1 else []
        only = some(["those without it" if not each else plain(each) for each in one], NAMED)
        names = (" ".join(name.split()) for name in (*spec.ignore, *columns))
        ignore = ", ".join(map(in_yaml, dict.fromkeys(names)))
        lines[0] += " Write one of these lines under candidates:"
        to = f"invite only {only}" if only else "choose"
        lines.append(f"To {to}:  {line({**spec.where, **columns})}")
        lines.append(f"If a column decides nothing:  ignore: [{ignore}]")
    lines += dict.fromkeys(each.do for each in found if each.do)
    return Mistake(found[0].place, "\n    ".join(lines))


def _by_where(table: Table, where: Where) -> dict[int, str]:
    """The rows that `where` excludes, and why. Mistakes and notes are added to the table."""
    out: dict[int, str] = {}
    nobody: list[str] = []
    unclear: dict[int, Mistake] = {}
    for name, values in where.items():
        if (column := _column(table, name, FIELD)) is None:
            continue
        wanted = {compared(value): value for value in values}
        known = {compared(text): text for text in _counts(table.cells[column])}
        nobody += [
            f"nobody has {shown(value)} under {name}; the values are {_nearest(value, known)}"
            for key, value in wanted.items()
            if key not in known
        ]
        only_empty = [*wanted] == [""]
        for (row, _), text in zip(table.rows, map(compared, table.cells[column]), strict=True):
            if text in wanted:
                continue
            if error := error_in(known[text]):  # wrong, unless another column excludes the row
                why = f"found {error}, wanted a value of {name}"
                unclear.setdefault(row, Mistake(table.place(row, column), why, FIELD))
            else:
                out.setdefault(row, f"{name} is {'filled' if only_empty else shown(known[text])}")
    table.mistakes += [wrong for row, wrong in unclear.items() if row not in out]
    table.notes += [f"{table.grid.whole}: {each}" for each in nobody]
    if len(out) == len(table.rows) > 0 and not table.grid.whole.file.name.endswith(ORDERS):
        why = f"where keeps nobody; {'; '.join(nobody) or some(sorted({*out.values()}))}"
        table.mistakes.append(Mistake(table.grid.whole, why, FIELD))
    return out


def _listed(them: Mapping[int, str], table: Table) -> str:
    """List the first of these rows with name and text: `row 3 (Grace Hopper)`."""
    each = [f"{row} ({table.names[row]}) {text}".strip() for row, text in them.items()]
    return ("row " if len(each) == 1 else "rows ") + some(each, NAMED)


_BRACKETS = re.compile(r"[(\[（【]([^()\[\]（）【】]*)[)\]）】]")
_DASH = re.compile(r"(?<!\s)\s+[-–—−]+|(?<![-–—−])[-–—−]+\s+|[–—−]")
_COMMA = re.compile(r"(?<=\S)(\s+[^\s,]+)\s*,(?=\s*\w\w)|[;，、；]")
_BEHIND = re.compile(r"^(?=.*[A-Z]).*?\w,?\s+([a-z]{2}.*)")  # all small letters may be a name
REMARK = re.compile(rf"{_BRACKETS.pattern}|{_DASH.pattern}")  # beside a name
# A number, a date, a time or an address.
_DATE = re.compile(r"(?=.*?\d[./:-]\d)[\W\d_TZ]*")
_MEASURE = re.compile(r"[\W\d_]*\d[\W\d_]*|.*(?:@|://|\b(?:19|20)\d\d\b|\d\d?[./:-]\d\d?).*")


def compared(text: str) -> str:
    """The form in which values and headers are compared: casefolded, with single blanks."""
    return unicodedata.normalize("NFC", " ".join(text.split()).casefold())


def line(where: Mapping[str, Sequence[str]]) -> str:
    """Write a line for a definition: `where: {Stage: [Take-home, ""]}`."""
    each = []
    for name, values in where.items():
        texts = ", ".join(map(in_yaml, values))
        alone = len(values) == 1 and "<" not in texts
        each.append(f"{in_yaml(' '.join(name.split()))}: {texts if alone else f'[{texts}]'}")
    return f"where: {{{', '.join(each)}}}"


def in_yaml(text: str) -> str:
    """Write a text as YAML reads it, in quotes if it needs them."""
    is_text = re.fullmatch(r"(?!(?i:null|true|false)$)[^\W\d_](?:[\w -]*[^\W_])?\??", text)
    return text if is_text else json.dumps(text, ensure_ascii=False)


def _column(table: Table, name: str, field: str) -> int | None:
    titles = [*map(compared, table.headers)]
    if (times := titles.count(compared(name))) == 1:
        return titles.index(compared(name))
    near = _nearest(name, {compared(title): title for title in table.headers if title})
    why = f"there is no column {shown(name)}; the columns are {near}"
    if times:
        why = f"{times} columns have the header {shown(name)}; rename the others"
    table.mistakes.append(Mistake(table.grid.whole, why, field, name))
    return None


def _nearest(slip: str, known: Mapping[str, str]) -> str:
    """List the known names, the most similar to the misspelled one first."""
    near = difflib.get_close_matches(compared(slip), [*known][:1_000], NAMED, 0)
    more = [*known][len(near) :]
    return some([*(shown(known[each]) for each in near), *more], NAMED)
