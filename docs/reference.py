"""Writes page 2 from the models, and commands.md from the program; `make format` does it."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from config.definition import (
    Candidate,
    Definition,
    Guard,
    Invites,
    PeopleTable,
    Problem,
    Project,
    Schedule,
)
from config.settings import Settings, variable
from flows.cli.app import PANELS, program

COMMANDS = Path(__file__).with_name("commands.md")
PAGE = Path(__file__).with_name("2-reference.md")
MODELS: dict[str, type[BaseModel]] = {
    "The definition": Definition,
    "project": Project,
    "problem": Problem,
    "candidates, as a table": PeopleTable,
    "candidates, as a list": Candidate,
    "invites": Invites,
    "guard": Guard,
    "schedule": Schedule,
}


def main() -> None:
    parts = [
        "# 2. Reference",
        "Written by `make format` from the models themselves. `campaign --help` lists the "
        "commands, and `campaign COMMAND --help` has the options of each, and an example. Exit "
        "codes: 0 all done; 1 stopped, the same command goes on; 2 bad input, of which nothing was "
        "sent; 3 a person must look; 130 interrupted.",
    ]
    for title, model in MODELS.items():
        parts += [f"## {title}", about(model), table(("field", "says"), fields(model))]
    parts += [
        "## Settings",
        "From the environment, or from `.env` beside the README. The first six belong together: "
        "all of them from one place.",
        table(("variable", "says"), settings()),
    ]
    PAGE.write_text("\n\n".join(parts) + "\n", "utf-8")
    COMMANDS.write_text("\n\n".join(commands()) + "\n", "utf-8")


def commands() -> Iterator[str]:
    """What `--help` says of each command, by the panels of `campaign --help`."""
    yield "# Commands"
    yield "Written by `make format` from the program itself."
    group = program()
    for title, places in PANELS.items():
        yield f"## {title}"
        for _, _, name in (place.partition(".") for place in places.split()):
            context = group.make_context("campaign", [name, "--help"], resilient_parsing=True)
            command = group.get_command(context, name)
            inner = command.context_class(
                command, parent=context, info_name=name, terminal_width=100
            )
            yield f"### {name}\n\n```text\n{command.get_help(inner)}\n```"


def about(model: type[BaseModel]) -> str:
    return " ".join((model.__doc__ or "").split())


def fields(model: type[BaseModel]) -> list[tuple[str, str]]:
    return [(f"`{name}`", says(field)) for name, field in model.model_fields.items()]


def settings() -> list[tuple[str, str]]:
    return [(f"`{variable(name)}`", says(field)) for name, field in Settings.model_fields.items()]


def says(field: Any) -> str:
    """What a field is for, and its default where that is one plain value."""
    default = field.default if isinstance(field.default, str | int | float) else None
    shown = f" Default: {default}." if default not in (None, "", False) else ""
    return re.sub(r"\s+", " ", f"{field.description or ''}{shown}").replace("|", "\\|")


def table(heads: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    lines = [heads, ("---",) * len(heads), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


if __name__ == "__main__":
    main()
