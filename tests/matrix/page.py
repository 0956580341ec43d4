"""The page of the matrix, its picture, and the table for a terminal: strings from figures."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from os import cpu_count
from platform import python_version, system

from tests.matrix.contenders import CONTENDERS, ROOT
from tests.matrix.judging import WORST_LAST, Cell, Key, Outcome, wilson
from tests.matrix.moments import Moment


@dataclass(frozen=True, slots=True)
class Report:
    """What the deaths so far say. `wrong`: predictions that failed; `void`: why nothing is said.

    `days` are ISO dates; `lanes`: programs side by side. `repeated` counts the starts that ended
    by themselves before their moment, and were made again.
    """

    cells: dict[Key, Cell]
    wrong: Sequence[str] = ()
    void: Sequence[str] = ()
    days: Sequence[str] = ()
    repeated: int = 0
    lanes: int = 1

    @property
    def deaths(self) -> int:
        return sum(cell.deaths for cell in self.cells.values())

    @property
    def minutes(self) -> float:
        """How long it took, about: all lanes work all the time."""
        return sum(cell.seconds for cell in self.cells.values()) / self.lanes / 60


# -- the picture ------------------------------------------------------------------------------

# Told apart without colour as well: each part of a bar has its number, each cell its word.
COLOURS = {
    Outcome.ONCE: "#7fb99a",
    Outcome.UNSURE: "#f0c75e",
    Outcome.LOST: "#5b6472",
    Outcome.TWICE: "#d1495b",
}
NOT_YET = "not run yet"
WHOLE = 100  # deaths in each cell
LEFT, TOP, WIDE, HIGH = 300, 70, 110, 30  # pixels


def picture(report: Report) -> str:
    """A row for each contender, a bar for each moment: what became of the person."""
    rows = len(CONTENDERS)
    width, height = LEFT + WIDE * len(Moment) + 10, TOP + HIGH * rows + 14
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" '
        'font-family="sans-serif" font-size="13">',
        "<title>What became of the person in whose invitation the program was killed</title>",
        f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
        *_legend(),
        *(_text(LEFT + WIDE * (n + 0.5), TOP - 10, moment) for n, moment in enumerate(Moment)),
    ]
    for row, contender in enumerate(CONTENDERS):
        y = TOP + HIGH * row
        parts.append(_text(LEFT - 12, y + 20, contender.title, anchor="end"))
        for n, moment in enumerate(Moment):
            cell = report.cells.get((contender.name, moment))
            if cell and cell.deaths:
                parts += _bar(LEFT + WIDE * n, y, cell)
            else:
                parts.append(_text(LEFT + WIDE * (n + 0.5), y + 20, NOT_YET, fill="#5b6472"))
    return "\n".join([*parts, "</svg>", ""])


def _legend() -> Iterator[str]:
    for n, (outcome, colour) in enumerate(COLOURS.items()):
        x = LEFT + WIDE * n
        yield f'<rect x="{x}" y="14" width="16" height="16" fill="{colour}"/>'
        yield _text(x + 24, 27, outcome, anchor="start")


def _bar(x: float, y: float, cell: Cell) -> Iterator[str]:
    left = x + 2.0
    for outcome, colour in COLOURS.items():
        number = cell.outcomes[outcome]
        if not number:
            continue
        wide = (WIDE - 4) * number / cell.deaths
        yield (
            f'<rect x="{left:.1f}" y="{y + 3}" width="{wide:.1f}" height="{HIGH - 6}" '
            f'fill="{colour}"><title>{number} of {cell.deaths} {outcome}</title></rect>'
        )
        if wide > 20:
            light = outcome in (Outcome.LOST, Outcome.TWICE)
            words = f"{number} {outcome}" if wide > 60 else str(number)
            yield _text(left + wide / 2, y + 20, words, fill="#ffffff" if light else "#1d232b")
        left += wide


def _text(x: float, y: float, words: str, *, anchor: str = "middle", fill: str = "#1d232b") -> str:
    return f'<text x="{x:.1f}" y="{y}" text-anchor="{anchor}" fill="{fill}">{escape(words)}</text>'


# -- the page ---------------------------------------------------------------------------------

INTRODUCTION = """\
# What a crash leaves: a matrix that you can run

For whoever wants to see the promise tried, and compared.

```sh
make matrix CONTENDERS="ours csv" MOMENTS="sent done" DEATHS=5
make matrix
make matrix PAGE=1
```

The first kills some programs, the second all, 100 times at each moment. Deaths are kept in
`out/matrix`: what was done is not done again, so the whole can be made in parts, or go on after it
was stopped. The last makes this page from all that is there; do not change it by hand. Remove
`out/matrix` to begin anew.

Each program invites three people, one after the other. It is killed (SIGKILL) at one of six
moments of the second invitation; then the same command is typed again until it ends by itself. What
became of that person is judged by the record of the service: another process, which writes the
hash of each line into the next one. A program that stands on libraries is forked from a Python that
has imported them, and nothing of its own ([warm.py](../tests/matrix/warm.py)): an hour, not three.

![What became of the person during whose invitation each program was killed](matrix.svg)

- *once*: one invitation. *twice*: more than one. *lost*: none, and the program shows nothing.
- *unsure*: none or one, and the program itself names the person as doubtful: ours in
  `campaign status`, *at most once* in its own journal. A person has to settle each of them.
"""

MOMENTS = """\
## The six moments

| moment | where the program stands when it is killed | who knows it |
|---|---|---|
| before | nothing about this person is written down | the program |
| claimed | what it writes down first is durable; nothing was sent | the program |
| sent | the service has the request, does nothing, and never will | the service |
| done | the service has done it, and has not answered | the service |
| answered | the program has read the answer, and has not written it down | the program |
| recorded | the outcome is durable | the program |

Every death is exactly there: nothing waits for a time. At *sent* and *done* the service holds the
request. At the other four the program says where it is, in a line of
[loops.py](../tests/matrix/loops.py), [durable.py](../tests/matrix/durable.py) or
[ours.py](../tests/matrix/ours.py), and waits for leave to go on. For the libraries, *claimed* and
*answered* are the first and the last line of the step that they are given, and *recorded* comes
after the library has returned from it: what they write down in between is their own affair.
"""

YOURS = """\
## A program of yours

Give it a line in [contenders.py](../tests/matrix/contenders.py) and one in
[predictions.py](../tests/matrix/predictions.py): any command will do. It finds addresses and the
URLs that invite them in `people.txt`, or the whole service in the environment, as
[settings.md](settings.md) has it. At *sent* and *done* that is all. To die at the other moments, it
connects to the Unix socket that `MATRIX_MOMENTS` names, writes `claimed ada@example.com` and a
newline, and goes on when a line comes back.
"""

LIMITS = """\
## What this does not show

- SIGKILL ends a program, not its machine: what a power cut does to a disk is not tried.
- One request is under way at a time. Ours has eight by default, and leaves up to eight people
  unsure then.
- The jobs that a dead worker of procrastinate left are retried at the next start, as its manual has
  it, but without waiting for the missing heartbeat.
- Ours and *at most once* come out alike: after a crash, nobody can know more. What an answer
  proves, the evidence beside each doubt and how a person settles it are not tried here.
- At *claimed* and *sent* nothing happened at the service, so to send again is right there. But no
  program can tell these from *done* and *answered*, where it is the second email.
"""

CONTROLS = """\
The first two are controls: the bare loop must send twice from *done* on, and the loop that writes
before it sends must lose people at *claimed* and *sent*, in every death, or all of it is void.
"""
BESIDE = ("dbos", "procrastinate")
FORESEEN = "as [predicted](../tests/matrix/predictions.py) before it ran"


def page(report: Report) -> str:
    """The page in docs, as Markdown."""
    lines = [INTRODUCTION, MOMENTS, "## What was measured\n", *_conditions(report), ""]
    lines += _table(report, _cell)
    lines += ["", "In brackets: the 95 % interval of that share, by Wilson's score.", ""]
    lines += ["What became of the other two people, for whom no request was under way:", ""]
    lines += _table(report, _others)
    return "\n".join([*lines, "", *_judged(report), "", YOURS, LIMITS])


def _table(report: Report, words: Callable[[Cell], str]) -> Iterator[str]:
    yield "| killed in the middle of | " + " | ".join(Moment) + " |"
    yield "|---" * (len(Moment) + 1) + "|"
    for contender in CONTENDERS:
        cells = (report.cells.get((contender.name, moment)) for moment in Moment)
        row = (words(cell) if cell else NOT_YET for cell in cells)
        yield f"| {contender.title} | " + " | ".join(row) + " |"


def _conditions(report: Report) -> Iterator[str]:
    days = " to ".join(sorted({*report.days[:1], *report.days[-1:]}))
    machine = f"{cpu_count()} processors, {system()}, Python {python_version()}"
    yield f"{report.deaths:,} deaths in about {report.minutes:,.0f} minutes, {days};"
    yield f"{report.lanes} programs side by side on {machine}. {', '.join(_versions())}."
    if report.repeated:
        yield f"{report.repeated} starts ended before their moment, and were made again."
    whole = WHOLE * len(CONTENDERS) * len(Moment)
    if report.deaths < whole:
        yield f"A whole matrix has {WHOLE} deaths in each cell, {whole:,} in all: this is a part."
    absent = len(CONTENDERS) * len(Moment) - len(report.cells)
    if absent:
        yield f"{absent} cells were *{NOT_YET}*: nothing is known of them."


def _versions() -> Iterator[str]:
    for lock, *names in (("requirements.lock", "prefect"), (".ci/matrix.lock", *BESIDE)):
        text = (ROOT / lock).read_text("utf-8")
        yield from (f"{name} {re.findall(rf'(?m)^{name}==([^ ]+)', text)[0]}" for name in names)


def _judged(report: Report) -> Iterator[str]:
    yield CONTROLS
    if report.void:
        yield "**All of it is void:**"
        yield ""
        yield from (f"- {line.splitlines()[0]}" for line in report.void)
    elif report.wrong:
        yield f"What was run came out {FORESEEN}, except:"
        yield ""
        yield from (f"- {line}" for line in report.wrong)
    else:
        yield f"Every cell that was run came out {FORESEEN}, in both tables."


def _cell(cell: Cell) -> str:
    shares = [
        f"{number} of {cell.deaths} {outcome} ({_percent(low)}–{_percent(high)} %)"
        for outcome in WORST_LAST
        if (number := cell.outcomes[outcome])
        for low, high in [wilson(number, cell.deaths)]
    ]
    return "<br>".join([*shares, *_failed(cell)])


def _others(cell: Cell) -> str:
    shares = [f"{number} {outcome}" for outcome in WORST_LAST if (number := cell.others[outcome])]
    return "<br>".join([*shares, *_failed(cell)])


def _failed(cell: Cell) -> list[str]:
    return [f"{cell.failed} not judged"] if cell.failed else []


def _percent(share: float) -> str:
    return f"{share * 100:.3g}"


def in_short(report: Report) -> str:
    """The table for a terminal, with the seconds that a death took; predictions that failed."""
    lines = ["", f"{'':22}" + "".join(f"{moment:>12}" for moment in Moment) + f"{'s each':>8}"]
    for contender in CONTENDERS:
        cells = [report.cells.get((contender.name, moment)) for moment in Moment]
        words = [f"{_short(cell):>12}" for cell in cells]
        there = [cell for cell in cells if cell]
        each = sum(cell.seconds for cell in there) / max(1, sum(cell.deaths for cell in there))
        lines.append(f"{contender.name:22}" + "".join(words) + f"{each:8.2f}")
    lines += ["", f"{report.deaths:,} deaths, {report.lanes} at a time"]
    if report.repeated:
        lines.append(f"{report.repeated} starts ended before their moment, and were made again")
    lines += [f"not as predicted: {line}" for line in report.wrong]
    lines += [f"VOID: {line}" for line in report.void]
    return "\n".join(lines)


def _short(cell: Cell | None) -> str:
    if cell is None:
        return ""
    return f"{cell.outcomes[cell.usual]} {cell.usual}" + ("" if len(cell.outcomes) == 1 else " +")
