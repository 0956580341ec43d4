"""The rooms of the program and who needs whom, drawn from the imports: `make rooms`.

Writes the picture into docs/architecture.md. An arrow that others imply is left out: a room may
use whatever lies below it on any way of arrows.
"""

import re
from collections import Counter, defaultdict
from functools import cache
from pathlib import Path

import grimp

PACKAGES = ("flows", "tasks", "data", "config", "sandbox")
PAGE = Path(__file__).parents[2] / "docs" / "architecture.md"
PICTURE = re.compile(r"(?<=```mermaid\n).*?(?=```)", re.DOTALL)
MIGRATIONS = "data.migrations"  # a record of what was, and no room


@cache
def _graph() -> grimp.ImportGraph:
    return grimp.build_graph(*PACKAGES, cache_dir=None)


def _room_of(module: str, graph: grimp.ImportGraph) -> str:
    return module if graph.find_children(module) else module.rpartition(".")[0]


def modules() -> dict[str, list[str]]:
    """Name the modules of each room, by the dotted name of the room."""
    graph, rooms = _graph(), defaultdict(list)
    for module in sorted(graph.modules):
        if not graph.find_children(module) and not module.startswith(MIGRATIONS):
            rooms[_room_of(module, graph)].append(module)
    return dict(rooms)


def needs() -> dict[str, set[str]]:
    """Say which other rooms each room imports from."""
    graph, rooms = _graph(), modules()
    found: dict[str, set[str]] = {room: set() for room in rooms}
    for room, inside in rooms.items():
        for module in (*inside, room):
            for imported in graph.find_modules_directly_imported_by(module):
                other = _room_of(imported, graph)
                if other != room and other in rooms:
                    found[room].add(other)
    return found


def _below(room: str, arrows: dict[str, set[str]]) -> set[str]:
    """All rooms that are reached from one, by one arrow or more."""
    seen: set[str] = set()
    ways = [room]
    while ways:
        new = arrows[ways.pop()] - seen
        seen |= new
        ways += new
    return seen


def circles(arrows: dict[str, set[str]]) -> set[str]:
    """Name the rooms that need themselves by way of others."""
    return {room for room in arrows if room in _below(room, arrows)}


def in_circles() -> set[str]:
    """Name those of the program."""
    return circles(needs())


def _node(room: str) -> str:
    return room.replace(".", "_")


def picture() -> str:
    """Draw the rooms, each with the number of its modules, and the arrows that nothing implies."""
    arrows, sizes = needs(), Counter({room: len(inside) for room, inside in modules().items()})
    lines = ["flowchart TD"]
    for package in PACKAGES:
        lines.append(f"  subgraph all_{package}[{package}]")
        for room in sorted(room for room in sizes if room.partition(".")[0] == package):
            lines.append(f'    {_node(room)}["{room.replace(".", "/")}<br>{sizes[room]}"]')
        lines.append("  end")
    for room in sorted(arrows):
        implied = set[str]().union(*(_below(other, arrows) for other in arrows[room]))
        lines += [f"  {_node(room)}-->{_node(it)}" for it in sorted(arrows[room] - implied)]
    return "\n".join(lines) + "\n"


def drawn() -> str:
    """Read the picture that the page has."""
    found = PICTURE.search(PAGE.read_text("utf-8"))
    return found[0] if found else ""


if __name__ == "__main__":
    PAGE.write_text(PICTURE.sub(lambda _: picture(), PAGE.read_text("utf-8")), "utf-8")
