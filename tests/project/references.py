"""The reference pages, made from the program itself: `make references`.

Each page keeps its own words around the part between the two marks. docs/commands.md is made from
the help, docs/settings.md from config/settings.py, docs/definition.md from config/definition.
"""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from pydantic import BaseModel
from pydantic.fields import FieldInfo
from typer.core import TyperArgument, TyperOption
from typer.main import get_command

from config.definition.building import MODELS
from config.definition.fields import CandidateFields
from config.settings import LocalSettings, ServiceSettings
from flows.cli.commands import EXIT_CODES, GROUPS, application
from flows.cli.helping import as_typed, first_line
from flows.words.speech import ANYWHERE

DOCS = Path(__file__).parents[2] / "docs"
MADE = re.compile(r"(?<=<!-- made by make references -->\n).*?(?=<!-- until here -->)", re.DOTALL)


def commands() -> str:
    """Write every command with its arguments, options, and an example, in the order of the help."""
    every = get_command(application()).commands  # type: ignore[attr-defined]
    lines = ["## Exit codes", "", "| code | meaning |", "|---|---|"]
    lines += [f"| {code} | {meaning} |" for code, meaning in EXIT_CODES.items()]
    lines += [
        "",
        "## Options of every command",
        "",
        "Type them before or after the command.",
        "",
    ]
    lines += ["| what to type | what it is |", "|---|---|"]
    top = get_command(application()).params
    rows = ((_spelled(given), given.help) for given in top if set(given.opts) & set(ANYWHERE))
    lines += [*(f"| `{typed}` | {what} |" for typed, what in rows), ""]
    for title, entries in GROUPS.items():
        lines += [f"## {title}", "", "| command | what it does |", "|---|---|"]
        for entry in entries:
            command = every[entry.name]
            lines.append(f"| `{_usage(entry.name, command)}` | {_plain(first_line(command))} |")
        lines.append("")
        for entry in entries:
            lines += _described(entry.name, every[entry.name])
            for name, below in getattr(every[entry.name], "commands", {}).items():
                if not below.hidden:
                    lines += _described(f"{entry.name} {name}", below)
    return "\n".join(lines)


def _described(name: str, command: Any) -> Iterator[str]:
    """Describe one command, by what is typed for it."""
    body = (command.help or "").partition("\n")[2]
    paragraphs = (" ".join(paragraph.split()) for paragraph in body.split("\n\n"))
    yield from (f"### `{_usage(name, command)}`", "", f"{first_line(command)}")
    for paragraph in filter(None, paragraphs):
        yield from ("", _plain(paragraph))
    rows = [
        (_spelled(given), given.help or "")
        for given in command.params
        if "--help" not in given.opts
    ]
    if rows:
        yield from ("", "| what to type | what it is |", "|---|---|")
        yield from (f"| `{_cell(typed)}` | {_cell(_plain(what))} |" for typed, what in rows)
    example, then = re.findall(r"campaign (.*)", command.epilog or "")
    yield from ("", f"Example: `campaign {example}`. Next: `campaign {then}`.", "")


def _usage(name: str, command: Any) -> str:
    arguments = [as_typed(one) for one in command.params if isinstance(one, TyperArgument)]
    needed = [
        f"{one.opts[0]} {one.metavar}"
        for one in command.params
        if isinstance(one, TyperOption) and one.required
    ]
    return " ".join(["campaign", name, *arguments, *needed])


def _spelled(given: Any) -> str:
    if isinstance(given, TyperArgument):
        return as_typed(given)
    spelled = ", ".join(sorted(given.opts, key=len))
    choices = given.type_descriptor.choices or ()
    value = given.metavar or "|".join(str(getattr(one, "value", one)) for one in choices)
    return spelled if given.is_flag or not value else f"{spelled} {value}"


def _plain(text: str) -> str:
    """Keep what looks like a tag or a mark as it is written."""
    return text.replace("<", "&lt;").replace("*", r"\*")


def _cell(text: str) -> str:
    return text.replace("|", r"\|")


def settings() -> str:
    """Write every setting with its default, and what it is."""
    lines = ["| variable | default | what it is |", "|---|---|---|"]
    for kind in (ServiceSettings, LocalSettings):
        lines += [f"| `{name}` | {default} | {what} |" for name, default, what in _of(kind)]
    return "\n".join([*lines, ""])


def _of(kind: type[BaseModel]) -> Iterator[tuple[str, str, str]]:
    for field in kind.model_fields.values():
        left_out = field.is_required() or field.default is None
        number = isinstance(field.default, int | float)
        default = f"{field.default:g}" if number else str(field.default)
        yield str(field.alias), "" if left_out else f"`{default}`", field.description or ""


def definition() -> str:
    """Write every field of a definition: what to write there, what without it, what it is for."""
    lines = []
    for path, model in MODELS.items():
        lines += _fields(" of ".join(f"`{name}`" for name in reversed(path)) or "At the top", model)
    return "\n".join([*lines, *_fields("A person", CandidateFields)])


def _fields(heading: str, model: type[BaseModel]) -> Iterator[str]:
    yield from (f"## {heading}", "", _purpose(model), "")
    yield from ("| field | what to write | without it | what it is for |", "|---|---|---|---|")
    for name, field in model.model_fields.items():
        cells = (f"`{name}`", field.description or "", _without(field), field.title or "")
        yield f"| {' | '.join(_cell(_plain(cell)) for cell in cells)} |"
    yield ""


def _purpose(model: type[BaseModel]) -> str:
    return " ".join((model.__doc__ or "").partition("\n\n")[0].split())


def _without(field: FieldInfo) -> str:
    if field.is_required():
        return "a mistake"
    nothing = field.default_factory or field.default in {None, ""}
    return "" if nothing else f"`{str(field.default).lower()}`"


PAGES: dict[str, Callable[[], str]] = {
    "commands.md": commands,
    "definition.md": definition,
    "settings.md": settings,
}


def written(page: str) -> str:
    """Read what a page has between its marks."""
    part = MADE.search((DOCS / page).read_text("utf-8"))
    return part[0] if part else ""


if __name__ == "__main__":
    for page, make in PAGES.items():
        before, _, after = MADE.sub("\0", (DOCS / page).read_text("utf-8")).partition("\0")
        (DOCS / page).write_text(before + make() + after, "utf-8")
