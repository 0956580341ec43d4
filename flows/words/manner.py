"""How the command line speaks in this process: by the options that every command takes."""

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
    """`as_json`: standard output is for a program, which gets `more` in addition to `said`, the
    lines for people; `last` is the one of them that -q prints. `answered`: the program has its
    object."""

    quiet: bool = False
    verbose: bool = False
    no_color: bool = False
    debug: bool = False
    as_json: bool = False
    last: str = field(default="", init=False)
    said: list[str] = field(default_factory=list, init=False)
    more: dict[str, Any] = field(default_factory=dict, init=False)
    answered: bool = field(default=False, init=False)


_now = [Manner()]  # threads of a run speak in the same manner


def manner() -> Manner:
    return _now[0]


def begin(typed: Sequence[str]) -> list[str]:
    """Set the manner by these options; returns what else was typed."""
    last = typed.index("--") if "--" in typed else len(typed)
    chosen = {ANYWHERE.get(word) for word in typed[:last]} | {"--json"}.intersection(typed[:last])
    names = ("quiet", "verbose", "no_color", "debug", "--json")
    _now[:] = [Manner(*[name in chosen for name in names])]
    return [word for word in typed[:last] if word not in ANYWHERE] + list(typed[last:])


def for_program(**values: Any) -> None:
    """Add to the object that `--json` prints, besides the lines for people."""
    manner().more.update(values)
