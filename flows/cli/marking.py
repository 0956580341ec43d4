"""`campaign check --mark`: the table handed back, with what is wrong marked in it."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from flows.cli.speech import command, counted

if TYPE_CHECKING:
    from config.own_tables import Named
    from config.places import Problem


def check_mark(path: Path) -> None:
    """Refuse a place for the marked copy where nothing could be, or something is."""
    if path.exists():
        # Somebody may be mending an earlier copy in that very file.
        raise typer.BadParameter(f"{path} exists already; choose another name", param_hint="--mark")
    if path.suffix.lower() not in (".xlsx", ".xlsm"):
        raise typer.BadParameter("the copy is a workbook: name it .xlsx", param_hint="--mark")


def hand_back(
    mark: Path, file: Path, campaign: Path | None, problems: "Sequence[Problem]"
) -> list[str]:
    """Write the marked copy; answers what to tell, and what to type next.

    Raises CannotWrite.
    """
    from config.errors import BadInput
    from config.own_tables import named_table
    from data.exports import write_whole
    from data.marking import COPIED, marked_copy

    try:
        named = named_table(file, campaign)
        made = marked_copy(named, problems) if named else None
    except BadInput:
        # Whatever cannot be read has been told already.
        named = made = None
    if named is None or made is None:
        return [f"Nothing of this is in a cell of a table: {mark} was not written."]
    kept = named.path.suffix.lower()
    if kept in COPIED and mark.suffix.lower() != kept:
        raise typer.BadParameter(
            f"a copy of {named.path.name} must end in {kept}", param_hint="--mark"
        )
    if kept not in COPIED and mark.suffix.lower() != ".xlsx":
        raise typer.BadParameter("this copy must end in .xlsx", param_hint="--mark")
    write_whole(mark, made.content)
    each = "each" if made.notes == made.cells else f"the first {made.notes:,}"
    cells = counted(made.cells, "cell")
    lines = [f"{mark} has {cells} marked, {each} with a note on what is wrong."]
    if kept not in COPIED:
        lines.append(f"It is made from what was read in {named.path.name}: its values, no formats.")
    if made.elsewhere:
        lines.append(f"{counted(made.elsewhere, 'problem')} not in a cell of it: see above.")
    return [*lines, f"Mend it, then: {_again(mark, file, campaign, named)}"]


def _again(mark: Path, file: Path, campaign: Path | None, named: "Named") -> str:
    """Check the copy as the file was checked: alone, or with the definition it belongs to."""
    definition = campaign or (file if named.path != file else None)
    return command("check", mark, *(["--campaign", definition] if definition else []))
