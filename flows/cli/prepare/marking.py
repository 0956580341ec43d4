"""`campaign check --mark`: the table handed back, with what is wrong marked in it."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from config.command_line import command
from flows.words.speech import counted

if TYPE_CHECKING:
    from config.errors import BadInput
    from config.mistakes import Mistake
    from config.reading.own_tables import Named
    from flows.cli.reading import TypedFile


def check_mark(path: Path) -> None:
    """Refuse a place where the marked copy cannot be written, or where there is a file already."""
    if path.exists():
        # Somebody may be mending an earlier copy in that very file.
        raise typer.BadParameter(f"{path} already exists; choose another name", param_hint="--mark")
    if path.suffix.lower() not in (".xlsx", ".xlsm"):
        raise typer.BadParameter("the copy is a workbook: name it .xlsx", param_hint="--mark")


def mark_problems(mark: Path, typed: "TypedFile", error: "BadInput") -> list[str]:
    """Write a copy with what is wrong marked, and what to look at in another colour.

    Returns what to tell, and what to type next. Raises CannotWrite.
    """
    named = _named(typed)
    lines = _hand_back(mark, named, error.problems, error.warnings) if named else []
    if named is None or not lines:
        return [f"None of this is in a cell of a table, so {mark} was not written."]
    # The copy is checked as the file was: alone, or with the definition it belongs to.
    definition = typed.campaign or (typed.file if named.path != typed.file else None)
    again = replace(typed, file=mark, campaign=definition)
    return [*lines, f"Fix it, then: {command('check', *again.words)}"]


def mark_warnings(mark: Path, typed: "TypedFile", warnings: "Sequence[Mistake]") -> list[str]:
    """Write a copy with what to look at marked, where there is any; returns what to tell.

    Raises CannotWrite.
    """
    named = _named(typed)
    lines = _hand_back(mark, named, (), warnings) if named else []
    return lines or [f"There is nothing to mark, so {mark} was not written."]


def _named(typed: "TypedFile") -> "Named | None":
    from config.errors import BadInput
    from config.reading.own_tables import named_table

    try:
        return named_table(typed.file, typed.campaign, sheet=typed.sheet)
    except BadInput:
        return None  # whatever cannot be read has been told already


def _hand_back(
    mark: Path, named: "Named", problems: "Sequence[Mistake]", warnings: "Sequence[Mistake]"
) -> list[str]:
    """Write the copy; returns what is in it, nothing where there is nothing to mark."""
    from config.errors import BadInput
    from data.own_files import write_whole
    from tasks.outputs.marking import marked_copy

    try:
        made = marked_copy(named, problems, warnings)
    except BadInput:
        return []
    if made is None:
        return []
    with_macros = not made.anew and named.path.suffix.lower() == ".xlsm"
    wanted = ".xlsm" if with_macros else ".xlsx"
    if mark.suffix.lower() != wanted:
        raise typer.BadParameter(
            f"a copy of {named.path.name} must end in {wanted}", param_hint="--mark"
        )
    write_whole(mark, made.content)
    each = "each" if made.notes == made.cells else f"the first {made.notes:,}"
    lines = [f"{mark} has {counted(made.cells, 'cell')} marked, {each} with a note that says why."]
    if made.anew:
        lines.append(f"It has the values of {named.path.name}, without its formatting.")
    if made.elsewhere:
        lines.append(f"{made.elsewhere:,} more are not in any cell: see above.")
    return lines
