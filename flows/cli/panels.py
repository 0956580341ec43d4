"""The commands, by the panels of `campaign --help`: a function joins one by its decorator.

A command has the name of its function, in any module of this folder. The first sentence of its
docstring is what `--help` says of it. It imports what it needs when it is called, because every
command imports all these modules, and it returns its exit code, or nothing.
"""

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


def panels() -> tuple[Panel, ...]:
    """All panels with all their commands."""
    for module in sorted(Path(__file__).parent.glob("*.py")):
        import_module(f"flows.cli.{module.stem}")
    return BEGIN, SEND, LOOK, CAMPAIGN, PEOPLE
