"""The modules of the product and its tests, each parsed once in a process."""

import ast
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]


@cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text("utf-8"))


def modules(rooms: Iterable[str]) -> Iterator[tuple[str, ast.Module]]:
    """Each module of these rooms, by its path from the project's folder."""
    for room in rooms:
        for path in sorted((ROOT / room).rglob("*.py")):
            yield str(path.relative_to(ROOT)), parsed(path)
