"""What was measured, as tables for people."""

from collections.abc import Mapping, Sequence

from rich import box
from rich.console import Console
from rich.table import Table

from tests.bench.figures import Figure
from tests.bench.measured import growth, starting
from tests.bench.measured.killing import Left
from tests.bench.measured.recording import Recorded
from tests.bench.measured.sending import CONTENDERS
from tests.bench.place import EMPTY_FLOW, Round, Sample, Size

MEGABYTE = 1e6


def show_contenders(console: Console, taken: Round) -> None:
    """Each contender's cost, and an empty flow's."""
    table = _table(
        "median of a run", "people", "seconds", "CPU s", "peak MB", "written, bytes each"
    )
    names = [case.of(one) for case, contenders in CONTENDERS.items() for one in contenders]
    for name in (EMPTY_FLOW, *names):
        if (one := taken.get(name)) is not None:
            table.add_row(name, *_costs(one))
    _print(console, table)


def _costs(one: Sample) -> list[str]:
    each = f"{one.written / one.people:,.0f}" if one.people else ""
    return [
        f"{one.people:,.0f}" if one.people else "",
        f"{one.seconds:.2f}",
        f"{one.cpu:.2f}",
        f"{one.memory / MEGABYTE:.0f}",
        each,
    ]


def show_killed(console: Console, left: Mapping[str, Left]) -> None:
    """What a kill in the middle leaves."""
    table = _table("killed half way, then run again", "invited twice", "never", "shown as unsure")
    for name, one in left.items():
        table.add_row(name, f"{one.twice:,}", f"{one.never:,}", f"{one.shown:,}")
    _print(console, table)


def show_recorded(console: Console, kept: Recorded | None) -> None:
    """What a standing Prefect server has of one large campaign."""
    if kept is not None:
        page = "" if kept.page is None else f"; its page is there in {kept.page:.1f} s"
        console.print(
            f"{kept.people:,} people are {kept.steps:,} steps in Prefect, all recorded, and "
            f"{kept.megabytes:.1f} MB of its database{page}\n"
        )


def show_growth(console: Console, taken: Round, size: Size) -> None:
    """How campaigns of growing size fare."""
    steps = (growth.AGAIN, growth.ADDED, growth.STATUS, growth.LINKS)
    heads = ("run, s", "ms each", "peak MB", "ledger, bytes each", *(f"{one}, s" for one in steps))
    table = _table("people", *heads)
    for people in size.growth:
        run = taken.get(growth.name(people, growth.RUN))
        if run is None:
            continue
        start = taken[starting.RUN].seconds if starting.RUN in taken else 0.0
        table.add_row(
            f"{people:,}",
            f"{run.seconds:.1f}",
            f"{(run.seconds - start) / people * 1000:.2f}",
            f"{run.memory / MEGABYTE:.0f}",
            f"{run.kept / people:,.0f}",
            *(_seconds(taken.get(growth.name(people, step))) for step in steps),
        )
    _print(console, table)


def _seconds(one: Sample | None) -> str:
    return "" if one is None else f"{one.seconds:.2f}"


def show_starts(console: Console, taken: Round) -> None:
    """How long short commands and small campaigns take."""
    small = (EMPTY_FLOW, starting.RUN, starting.EMPTY_STANDING, starting.RUN_STANDING)
    table = _table("median of a start", "seconds", "CPU s", "peak MB")
    for name in (*starting.COMMANDS, *small):
        if (one := taken.get(name)) is not None:
            table.add_row(
                name, f"{one.seconds:.2f}", f"{one.cpu:.2f}", f"{one.memory / MEGABYTE:.0f}"
            )
    _print(console, table)


def show_figures(console: Console, figures: Sequence[Figure]) -> None:
    """Every figure to reach, and whether it is."""
    table = _table("figure", "at most", "median", "least to most", "by CPU", "")
    for one in figures:
        spread = f"{_number(one.least)} to {_number(one.most)}"
        verdict = {True: "reached", False: "MISSED", None: ""}[one.reached]
        by_cpu = "" if one.by_cpu is None else _number(one.by_cpu)
        most = "" if one.at_most is None else _number(one.at_most)
        table.add_row(one.what, most, _number(one.median), spread, by_cpu, verdict)
    _print(console, table)


def _print(console: Console, table: Table) -> None:
    """Print a table, unless the sections that fill it were left out."""
    if table.row_count:
        console.print(table)


def _number(value: float) -> str:
    return f"{value:.2f}" if abs(value) < 100 else f"{value:,.0f}"


def _table(first: str, *more: str) -> Table:
    table = Table(first, box=box.SIMPLE_HEAD, pad_edge=False)
    for head in more:
        table.add_column(head, justify="right")
    return table
