"""The commands, by the panels of `campaign --help`: a function joins one by its decorator.

A command has the name of its function, in any module of this folder. The first sentence of its
docstring is what `--help` says of it. It returns its exit code, or nothing. The module of the
command that is typed is imported, of the others the source is read: so help is there at once.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True)
class Panel:
    """Commands that belong together in the help."""

    title: str
    commands: dict[str, Callable[..., Any]] = field(default_factory=dict)

    def command(self, function: F) -> F:
        """Make a function a command of this panel."""
        self.commands[function.__name__] = function
        return function


BEGIN = Panel("Begin")
SEND = Panel("Send")
LOOK = Panel("Look")
CAMPAIGN = Panel("Decide about a campaign")
PEOPLE = Panel("Decide about people")


def panels(typed: str | None = None) -> tuple[Panel, ...]:
    """All panels with all their commands; only the one that was `typed` can be called, if any."""
    for module in sorted(Path(__file__).parent.glob("*.py")):
        here = _COMMAND.findall(module.read_text("utf-8"))
        if typed is None or typed in {name for _, name, _ in here}:
            import_module(f"flows.cli.{module.stem}")
        for panel, name, says in here:
            globals()[panel].commands.setdefault(name, _named(says))
    return BEGIN, SEND, LOOK, CAMPAIGN, PEOPLE


def _named(says: str) -> Callable[[], None]:
    def of_a_module_that_is_not_imported() -> None: ...

    of_a_module_that_is_not_imported.__doc__ = says
    return of_a_module_that_is_not_imported


# A panel, a command and the first line of its docstring, as a module has them.
_COMMAND = re.compile(r'^@([A-Z]+)\.command\ndef (\w+)\(.*?^    """(.*?)$', re.M | re.S)
