"""How the command line speaks this time: what was typed beside the command, wherever it stood."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

# Each may stand before or behind the name of the command.
ANYWHERE = {
    **dict.fromkeys(("-q", "--quiet"), "quiet"),
    **dict.fromkeys(("-v", "--verbose"), "verbose"),
    "--no-color": "no_color",
    "--debug": "debug",
}


@dataclass(slots=True)
class Manner:
    """`as_json`: standard output belongs to a program; `more` is what it gets beside `said`,
    the lines that people get; `last` of them is printed with -q."""

    quiet: bool = False
    verbose: bool = False
    no_color: bool = False
    debug: bool = False
    as_json: bool = False
    last: str = field(default="", init=False)
    said: list[str] = field(default_factory=list, init=False)
    more: dict[str, Any] = field(default_factory=dict, init=False)


_now = [Manner()]  # threads of a run speak in the same manner


def manner() -> Manner:
    return _now[0]


def begin(typed: Sequence[str]) -> list[str]:
    """Set the manner by what was typed; answers the rest of it."""
    last = typed.index("--") if "--" in typed else len(typed)
    chosen = {ANYWHERE.get(word) for word in typed[:last]}
    names = ("quiet", "verbose", "no_color", "debug")
    _now[:] = [Manner(*[name in chosen for name in names])]
    return [word for word in typed[:last] if word not in ANYWHERE] + list(typed[last:])


def for_program(**values: Any) -> None:
    """Add to the object that `--json` prints beside what people are told."""
    manner().more.update(values)
