"""Definitions in YAML: plain data, and the place of each piece."""

from functools import lru_cache
from typing import Any

from ruamel.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from config.mistakes import Mistake, Place
from config.reading.yaml_nodes import place_of, read_nodes
from config.tables.written import Location

TAG = "tag:yaml.org,2002:"
# Dates stay as they were written: `moments` reads them, and a text field may hold one.
TEXT_TAGS = {TAG + "str", TAG + "timestamp", TAG + "merge", TAG + "value"}
# `Null` with a capital may be somebody's name.
NOTHING = {"", "~", "null"}


@lru_cache(maxsize=1)
def read_yaml(data: bytes, file: str) -> "YamlDocument":
    """Read a definition; the last one is remembered. Raises BadInput if it is not text, not YAML or
    not a mapping.
    """
    return YamlDocument(read_nodes(data, file), file)


class YamlDocument:
    """A definition as plain data, and where each piece of it is written."""

    def __init__(self, root: MappingNode, file: str) -> None:
        self._root = root
        self._file = file
        self.problems: list[Mistake] = []
        self.fields: dict[str, Any] = self._mapping(root, ())

    def value(self, location: Location) -> Place:
        return place_of(self._file, self._walk(location)[1])

    def name(self, location: Location) -> Place:
        return place_of(self._file, self._walk(location)[0])

    def _walk(self, location: Location) -> tuple[Node, Node]:
        name: Node = self._root
        node: Node = self._root
        for step in location:
            entry = None
            if isinstance(node, MappingNode):
                entry = next((pair for pair in node.value if pair[0].value == step), None)
            elif isinstance(node, SequenceNode) and isinstance(step, int):
                entry = (node.value[step], node.value[step])
            if entry is None:
                break
            name, node = entry
            if _unwritten(node):
                node = name
        return name, node

    def _plain(self, node: Node, location: Location) -> Any:
        if isinstance(node, MappingNode):
            return self._mapping(node, location)
        if isinstance(node, SequenceNode):
            return [self._plain(item, (*location, i)) for i, item in enumerate(node.value)]
        return self._scalar(node, location)

    def _mapping(self, node: MappingNode, location: Location) -> dict[str, Any]:
        """Return a mapping without its empty fields: these count as left out."""
        plain: dict[str, Any] = {}
        first: dict[str, Node] = {}
        for name, value in node.value:
            if not isinstance(name, ScalarNode):
                self._complain(name, location, "wanted the name of a field")
                continue
            key = str(name.value)
            here = (*location, key)
            if key in first:
                earlier = place_of(self._file, first[key])
                self._complain(name, here, f"{key} is written twice, first at {earlier}")
                continue
            first[key] = name
            content = self._plain(value, here)
            if content is not None or _says_something(here, value):
                plain[key] = content
        return plain

    def _scalar(self, node: Node, location: Location) -> Any:
        text, tag = str(node.value), str(node.tag)
        if tag in TEXT_TAGS:
            return text
        if tag == TAG + "null":
            return None if text in NOTHING else text
        if tag == TAG + "bool":
            return text.casefold() == "true"
        if tag in {TAG + "int", TAG + "float"}:
            return _number(text)
        self._complain(node, location, f"the tag {tag} is not supported; leave it out")
        return text

    def _complain(self, node: Node, location: Location, message: str) -> None:
        field = ".".join(str(step) for step in location if isinstance(step, str))
        field = field.removeprefix("candidates.").removeprefix("people.")
        self.problems.append(Mistake(place_of(self._file, node), field or None, message=message))


def _says_something(location: Location, nothing: Node) -> bool:
    """An explicit null says that a field has no column; an empty `where` is a mistake."""
    if location[:-1] == ("candidates", "columns"):
        return not _unwritten(nothing)
    return location[:2] == ("candidates", "where")


def _unwritten(node: Node) -> bool:
    # An empty value has a place and no text.
    return isinstance(node, ScalarNode) and node.start_mark.index == node.end_mark.index


def _number(text: str) -> int | float | str:
    """Read a number of YAML 1.2; if Python would write it differently, it is shown as written."""
    for read in (int, lambda octal: int(octal, 0), float):
        try:
            number = read(text)
            return number if str(number) == text else _as_written(number, text)
        except ValueError:  # raised too for a number that is too long to be shown
            continue
    return text


class _Whole(int):
    """A whole number that is shown as it was written: 0049, 1_000, 0x1F."""

    written: str

    def __str__(self) -> str:
        return self.written


class _Broken(float):
    """A number that is shown as it was written: 1.50, 1e3."""

    written: str

    def __str__(self) -> str:
        return self.written


def _as_written(number: int | float, text: str) -> _Whole | _Broken:
    kept = _Whole(number) if isinstance(number, int) else _Broken(number)
    kept.written = text
    return kept
