"""Definitions in YAML 1.2, where `NO` is text, with line and column of everything in them."""

from collections.abc import Iterator
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, StringMark, YAMLError
from ruamel.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode
from ruamel.yaml.reader import ReaderError

from config.errors import BadInput
from config.file_bytes import decoded
from config.places import Place, Problem
from config.written import Location, Row

TAG = "tag:yaml.org,2002:"
# Dates stay as they were written: `moments` reads them, and a text field may hold one.
TEXT_TAGS = {TAG + "str", TAG + "timestamp", TAG + "merge", TAG + "value"}
PLAIN_WORDS = (
    ("'\\t' that cannot start", "a tab is used for indentation; use spaces"),
    ("mapping values are not allowed", "a text with a colon in it needs quotes around it"),
    ("'@' that cannot start", "a text that begins with @ needs quotes around it"),
    ("'`' that cannot start", "a text that begins with ` needs quotes around it"),
    ("'%' that cannot start", "a text that begins with % needs quotes around it"),
    ("could not find expected ':'", "a colon is missing, or a line is indented too little"),
    ("expected a single document", "there is a second document after ---; one file, one campaign"),
    ("expected <block end>", "this line is indented differently from the lines it belongs to"),
    ("expected ',' or", "a list or mapping is not closed, or a comma is missing"),
    ("while scanning a quoted scalar", "a quote is opened and never closed"),
    ("undefined alias", "aliases (*) are not understood; write the value out"),
)
OPENINGS = ("while scanning a quoted", "while scanning a simple key", "while parsing a flow")
# `Null` with a capital may be somebody's name.
NOTHING = {"", "~", "null"}


def read_yaml(data: bytes, file: str) -> "YamlDocument":
    """Read a definition. Raises BadInput where it is not text, not YAML or not a mapping."""
    text = decoded(data, file, ("utf-8",))
    try:
        root = YAML(typ="safe", pure=True).compose(text)
    except MarkedYAMLError as error:
        raise _unreadable(_marked(error, file), _plainly(error)) from None
    except ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        message = f"the character U+{error.character:04X} is not allowed in YAML"
        raise _unreadable(Place(file, line), message) from None
    except YAMLError:
        raise _unreadable(Place(file), "this is not YAML") from None
    except RecursionError:
        raise _unreadable(Place(file), "lists or mappings are nested too deeply") from None
    if root is None:
        raise _unreadable(Place(file), "the file is empty, wanted a campaign definition")
    if not isinstance(root, MappingNode):
        place = _place(file, root)
        raise _unreadable(place, "wanted a mapping, with campaign, project, problem and candidates")
    if anchored := _anchored(root):
        message = "anchors (&) are not understood; write the value out wherever it is meant"
        raise BadInput(Problem(_place(file, node), message=message) for node in anchored)
    return YamlDocument(root, file)


def _anchored(root: Node) -> list[Node]:
    """Find what aliases may repeat, looking at each node once: repeated, they may be billions."""
    seen: dict[int, Node] = {}
    waiting = [root]
    while waiting:
        node = waiting.pop()
        if id(node) in seen:
            continue
        seen[id(node)] = node
        if isinstance(node, MappingNode):
            waiting.extend(part for pair in node.value for part in pair)
        elif isinstance(node, SequenceNode):
            waiting.extend(node.value)
    anchored = [node for node in seen.values() if node.anchor]
    return sorted(anchored, key=lambda node: node.start_mark.index)


def _unreadable(place: Place, message: str) -> BadInput:
    return BadInput([Problem(place, message=message)])


def _marked(error: MarkedYAMLError, file: str) -> Place:
    # Noticed only later, but mended where it began.
    opened = str(error.context).startswith(OPENINGS)
    mark = (error.context_mark if opened else error.problem_mark) or error.context_mark
    return Place(file, mark.line + 1, mark.column + 1) if mark else Place(file)


def _plainly(error: MarkedYAMLError) -> str:
    said = f"{error.context or ''} {error.problem or ''}".strip()
    for machine, plain in PLAIN_WORDS:
        if machine in said:
            return plain
    return f"this is not YAML: {said}"


def _place(file: str, node: Node) -> Place:
    mark: StringMark = node.start_mark
    return Place(file, mark.line + 1, mark.column + 1)


class YamlDocument:
    """A definition as plain data, and where each piece of it is written."""

    def __init__(self, root: MappingNode, file: str) -> None:
        self._root = root
        self._file = file
        self.problems: list[Problem] = []
        self.fields: dict[str, Any] = self._mapping(root, ())

    def value(self, location: Location) -> Place:
        """Find a value, or the nearest thing around it that is written."""
        return _place(self._file, self._walk(location)[1])

    def name(self, location: Location) -> Place:
        """Find the name of a field."""
        return _place(self._file, self._walk(location)[0])

    def _walk(self, location: Location) -> tuple[Node, Node]:
        name: Node = self._root
        node: Node = self._root
        for step in location:
            found = None
            if isinstance(node, MappingNode):
                found = next((pair for pair in node.value if pair[0].value == step), None)
            elif isinstance(node, SequenceNode) and isinstance(step, int):
                found = (node.value[step], node.value[step])
            if found is None:
                break
            name, node = found
        return name, node

    def _plain(self, node: Node, location: Location) -> Any:
        if isinstance(node, MappingNode):
            return self._mapping(node, location)
        if isinstance(node, SequenceNode):
            return [self._plain(item, (*location, i)) for i, item in enumerate(node.value)]
        return self._scalar(node, location)

    def _mapping(self, node: MappingNode, location: Location) -> dict[str, Any]:
        """Answer a mapping without its empty fields, which count as left out."""
        plain: dict[str, Any] = {}
        first: dict[str, Node] = {}
        for name, value in node.value:
            if not isinstance(name, ScalarNode):
                self._complain(name, location, "wanted the name of a field")
                continue
            key = str(name.value)
            here = (*location, key)
            if key in first:
                earlier = _place(self._file, first[key])
                self._complain(name, here, f"{key} is written twice, first at {earlier}")
                continue
            first[key] = name
            if (content := self._plain(value, here)) is not None:
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
        self._complain(node, location, f"the tag {tag} is not understood; leave it out")
        return text

    def _complain(self, node: Node, location: Location, message: str) -> None:
        field = ".".join(str(step) for step in location if isinstance(step, str))
        field = field.removeprefix("candidates.")
        self.problems.append(Problem(_place(self._file, node), field or None, message=message))


def _number(text: str) -> int | float | str:
    """Read a number of YAML 1.2; one that Python writes otherwise is shown as it was written."""
    for read in (int, lambda octal: int(octal, 0), float):
        try:
            return read(text)
        except ValueError:
            continue
    return text


class YamlPeople:
    """The people written in the definition itself."""

    def __init__(self, document: YamlDocument, people: list[Any]) -> None:
        self._document = document
        self._people = people

    def rows(self) -> Iterator[Row]:
        """Go through the people in the order of the file."""
        for number, fields in enumerate(self._people):
            yield Row(number, fields)

    def row(self, number: int) -> Place:
        """Find a person."""
        return self._document.value(("candidates", number))

    def value(self, number: int, field: str) -> Place:
        """Find one field of a person, or the person who lacks it."""
        return self._document.value(("candidates", number, field))
