"""`campaign schema`: what an editor needs to check a definition while you type."""

import json
from pathlib import Path
from typing import Annotated

import typer

from flows.cli.outputs import output_option
from flows.words.speech import say


def schema(
    output: Annotated[
        Path | None,
        output_option("The file to write; default: standard output."),
    ] = None,
) -> None:
    """Print the JSON Schema of a campaign file, for your editor.

    Write it beside your campaign files as campaign.schema.json: files from campaign new refer to
    it in their first line. An editor that knows YAML (VS Code with the extension YAML) then
    completes fields and underlines mistakes while you type.
    """
    from config.definition.schema import schema as made
    from data.own_files import write_whole

    content = json.dumps(made(), indent=2)
    if output is None:
        print(content)
        return
    if output.exists() and not _is_schema(output):
        raise typer.BadParameter(f"{output} already exists and is not a schema", param_hint="-o")
    write_whole(output, content.encode() + b"\n")
    say(f"{output}: the schema of a campaign file")


def _is_schema(file: Path) -> bool:
    try:
        return "$schema" in json.loads(file.read_bytes())
    except (OSError, ValueError, TypeError):
        return False
