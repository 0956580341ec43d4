"""The commands, by the panels of `campaign --help`.

A command is a function of a module of this folder, under its own name. The first sentence of its
docstring is what `--help` says of it. It returns its exit code, or nothing. The module of the
command that is typed is imported, of the others the source is read: so help is there at once.
"""

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

PANELS = {
    "Begin": "connection.doctor connection.problems demo.demo prepare.new serve.sandbox",
    "Send": "look.plan prepare.check run.run serve.orders serve.up",
    "Look": "look.history look.status outputs.links outputs.report",
    "Decide about a campaign": "decide.approve decide.pause decide.resume settle.settle",
    "Decide about people": (
        "decide.block decide.correct decide.forget decide.invite decide.withdraw"
    ),
}


def panels(typed: str | None = None) -> dict[str, dict[str, Callable[..., Any]]]:
    """The commands of each panel by name; only the one that was `typed` can be called, if any."""
    found: dict[str, dict[str, Callable[..., Any]]] = {}
    for title, places in PANELS.items():
        for module, name in (place.split(".") for place in places.split()):
            find = _imported if typed in (None, name) else _named
            found.setdefault(title, {})[name] = find(module, name)
    return found


def _imported(module: str, name: str) -> Callable[..., Any]:
    command: Callable[..., Any] = getattr(import_module(f"flows.cli.{module}"), name)
    return command


def _named(module: str, name: str) -> Callable[..., Any]:
    def of_a_module_that_is_not_imported() -> None: ...

    source = Path(__file__).with_name(f"{module}.py").read_text("utf-8")
    docstring = source.partition(f"\ndef {name}(")[2].split('"""')[1]
    of_a_module_that_is_not_imported.__doc__ = docstring.partition("\n")[0]
    return of_a_module_that_is_not_imported
