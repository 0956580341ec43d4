"""The commands before anything is sent: `new` and `check`. Neither asks the service."""

import json
import sys
from pathlib import Path

import typer

from config.definition import Definition
from config.errors import BadInput, Bug, Mistake, Place, command, counted, in_order, some
from config.reading import YAML, CampaignFile
from flows.cli import words
from flows.folder import Folder, campaigns_in
from flows.new_definition import NotAnExport, write_definition, write_each
from tasks.outputs.marking import NothingToMark, write_marked
from tasks.sources.reading import fetch_campaign


def check(
    files: list[Path] = typer.Argument(..., help="Definitions, or folders of them."),
    mark: Path | None = typer.Option(
        None, help="Write a copy of the table here, with each mistake marked in its cell."
    ),
    as_json: bool = typer.Option(False, "--json", help="Print one JSON object."),
    force: bool = typer.Option(False, "--force", help="Overwrite the copy, whatever it is."),
) -> int:
    """Find every mistake in definitions and tables; nothing is sent.

    Example: campaign check hiring.yaml
    """
    good, mistakes = read_all(files)
    if as_json:
        problems = [mistake.as_json() for mistake in mistakes]
        print(json.dumps({"ok": not mistakes, "problems": problems}, ensure_ascii=False, indent=2))
    else:
        _show(good, mistakes)
    if mark:
        folders = [each if each.is_dir() else each.parent for each in files]
        try:
            done = write_marked(mark, mistakes, *folders, force=force)
        except NothingToMark as nothing:  # no reason to fail
            done = str(nothing)
        if not as_json:
            print(done)
    elif mistakes and not as_json:
        again = command("check", *files)
        print(f"Fix this, then type: {again}", file=sys.stderr)
        tables = [each.place for each in mistakes if each.place.file.suffix.lower() not in YAML]
        named = {place.file for place in tables if place.cell or place.line}
        if len(named) == 1:
            copy = "marked.xlsm" if named.pop().suffix.lower() == ".xlsm" else "marked.xlsx"
            print(f"To see it in a copy of the table: {again} --mark {copy}", file=sys.stderr)
    return 2 if mistakes else 0


def new(
    path: Path | None = typer.Argument(
        None, help="What to write: a .yaml, an .xlsx, or a folder with --each."
    ),
    export: Path | None = typer.Option(
        None, "--from", help="An export of your hiring system, which the definition will read."
    ),
    sheet: str | None = typer.Option(None, help="The sheet of the export with the people."),
    each: str | None = typer.Option(
        None, help="A column of the export: write a definition for each of its values."
    ),
    encoding: str | None = typer.Option(
        None, help="The encoding of an export that is not in UTF-8, such as windows-1250."
    ),
    schema: bool = typer.Option(
        False, "--schema", help="Print the JSON schema for your editor instead."
    ),
    force: bool = typer.Option(False, "--force", help="Overwrite the file, whatever it is."),
) -> None:
    """Write a definition to fill in, from an export if you like.

    Example: campaign new hiring.yaml --from export.csv
    """
    if schema:
        print(json.dumps(Definition.model_json_schema(), indent=2))
        return
    is_link = str(export).startswith(("http:", "https:"))
    if is_link or str(export).endswith(".sql"):
        name = path if path and not each else "hiring.yaml"
        raise NotAnExport(what="A link" if is_link else "A query", path=name)
    if each:
        if not (export and path):
            raise typer.BadParameter("wanted a folder to write in, and --from", param_hint="--each")
        if path.suffix.lower() in {*YAML, ".xlsx"}:  # --each writes a folder
            path = path.with_suffix("")
        for file in write_each(path, export, each, sheet, encoding, force=force):
            print(file)
        print(f"Fill in what stands between < and > in each.\n{words.then('check', path)}")
        return
    path = path or (export.with_suffix(".yaml") if export else Path("hiring.yaml"))
    write_definition(path, export, sheet, encoding, force=force)
    print(f"Fill in what stands between < and > in {path}.\n{words.then('check', path)}")


def read_all(places: list[Path]) -> tuple[list[CampaignFile], list[Mistake]]:
    """Read the definitions in files and folders. Returns the correct ones, and all mistakes."""
    by_key: dict[str, list[CampaignFile]] = {}
    mistakes: list[Mistake] = []
    for place in places:
        found = campaigns_in(place)
        mistakes += found.mistakes
        if found == Folder():
            mistakes.append(Mistake(Place(place), "there is no campaign in this folder"))
        for file in found.files:
            try:
                read = fetch_campaign(file)
            except BadInput as error:
                mistakes += error.mistakes
            except Bug as error:
                mistakes.append(Mistake(Place(file), str(error)))
            else:
                by_key.setdefault(read.definition.campaign, []).append(read)
    for key, them in by_key.items():
        for each in them if them[1:] else ():
            others = some([str(other.file) for other in them if other is not each])
            why = f"the campaign {key} is in {others} as well; keep one, or give each its own key"
            mistakes.append(Mistake(Place(each.file), why))
    return [them[0] for them in by_key.values() if not them[1:]], in_order(mistakes)


def _show(good: list[CampaignFile], mistakes: list[Mistake]) -> None:
    for campaign in good:
        print(f"{campaign.file}: OK")
        for heading, said in words.described(campaign):
            print(f"  {heading:<9} {said}")
        print(words.then("plan", campaign.file))
    for mistake in mistakes:
        print(mistake, file=sys.stderr)
    if mistakes:
        print(f"{counted(mistakes)}. Nothing was sent.", file=sys.stderr)
