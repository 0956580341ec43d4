"""Definitions in YAML 1.2: plain data, and the line and column of each piece."""

from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from config.errors import BadInput, Mistake, Place

TAG = "tag:yaml.org,2002:"
PLAIN_WORDS = (
    ("'\\t' that cannot start", "this line is indented with a tab; use spaces"),
    ("mapping values are not allowed", "put quotes around text that contains a colon"),
    ("cannot start any token", "put quotes around text that begins with @, ` or %"),
    ("could not find expected ':'", "a colon is missing, or a line is indented too little"),
    ("expected a single document", "there is a second document after ---; a file has one campaign"),
    ("expected <block end>", "this line is indented differently from the lines it belongs to"),
    ("expected ',' or", "a list or mapping is not closed, or a comma is missing"),
    ("while scanning a quoted scalar", "a quote is opened and never closed"),
    ("undefined alias", "aliases (*) are not supported; write the value out"),
)


class YamlFile:
    """A definition as plain `fields`, the places of its pieces, and what is wrong with its form.

    Raises BadInput if it is not text, not YAML or not a mapping.
    """

    def __init__(self, data: bytes, file: Path) -> None:
        self.file = file
        self.mistakes: list[Mistake] = []
        self._root = self._composed(data)
        self.fields: dict[str, Any] = self._plain(self._root, ())

    def place(self, location: tuple[int | str, ...], *, of_name: bool = False) -> Place:
        """Where a value is written, or its name; for what is missing, the innermost around it."""
        name: Node = self._root
        node: Node = self._root
        for step in location:
            pairs = node.value if isinstance(node, MappingNode) else ()
            entry = next((pair for pair in pairs if pair[0].value == step), None)
            if isinstance(node, SequenceNode) and isinstance(step, int):
                entry = (node.value[step], node.value[step])
            if entry is None:
                return self._at(name)
            name, node = entry
        # An empty value has a place and no text.
        empty = node.start_mark.index == node.end_mark.index
        return self._at(name if of_name or empty else node)

    def _composed(self, data: bytes) -> MappingNode:
        try:
            root: Node | None = YAML(pure=True).compose(data.decode("utf-8-sig"))
        except UnicodeDecodeError as error:
            line = data.count(b"\n", 0, error.start) + 1
            message = "this is not text in UTF-8; save it as that"
            raise BadInput.at(Place(self.file, line), message) from None
        except MarkedYAMLError as error:
            # The parser notices some only later; report the place where it began.
            opened = str(error.context).startswith(
                ("while scanning a quoted", "while parsing a fl")
            )
            mark = error.context_mark if opened else error.problem_mark or error.context_mark
            words = f"{error.context or ''} {error.problem or ''}".strip()
            plain = next((said for part, said in PLAIN_WORDS if part in words), "")
            place = Place(self.file, mark.line + 1, mark.column + 1) if mark else Place(self.file)
            raise BadInput.at(place, plain or f"this is not YAML: {words}") from None
        except (YAMLError, RecursionError):
            raise BadInput.at(Place(self.file), "this is not YAML") from None
        if not isinstance(root, MappingNode):
            wanted = "wanted a campaign, with campaign, project, problem and candidates"
            raise BadInput.at(self._at(root) if root else Place(self.file), wanted)
        return root

    def _at(self, node: Node) -> Place:
        return Place(self.file, node.start_mark.line + 1, node.start_mark.column + 1)

    def _plain(self, node: Node, location: tuple[int | str, ...]) -> Any:
        if node.anchor:
            # Repeated, a few of them are billions of values.
            self._complain(node, "anchors (&) are not supported; write the value out")
            return None
        if isinstance(node, SequenceNode):
            return [self._plain(item, (*location, at)) for at, item in enumerate(node.value)]
        if isinstance(node, ScalarNode):
            return self._scalar(node)
        plain: dict[str, Any] = {}
        first: dict[str, Node] = {}
        for name, value in node.value:
            key = str(name.value)
            if not isinstance(name, ScalarNode):
                self._complain(name, "wanted the name of a field")
            elif key in first:
                earlier = f"first at {self._at(first[key])}"
                self._complain(name, f"{key} is written twice, {earlier}", key)
            else:
                first[key] = name
                # A field without a value counts as left out.
                if (content := self._plain(value, (*location, key))) is not None:
                    plain[key] = content
        return plain

    def _scalar(self, node: ScalarNode) -> Any:
        text, tag = str(node.value), str(node.tag).removeprefix(TAG)
        match tag:
            case "null":
                # `Null` with a capital may be somebody's name.
                return None if text in {"", "~", "null"} else text
            case "bool":
                return text.lower() == "true"
            case "int" | "float":
                return _number(text)
            # Dates stay as they were written; `<<` and `=` are nothing but text.
            case "str" | "timestamp" | "merge" | "value":
                return text
        self._complain(node, f"the tag {node.tag} is not supported; leave it out")
        return None

    def _complain(self, node: Node, message: str, field: str | None = None) -> None:
        self.mistakes.append(Mistake(self._at(node), message, field))


def _number(text: str) -> int | float | str:
    """Read a number; what Python would write differently, as 007 or 1.50, stays text."""
    for read in (int, float):
        try:
            number = read(text)
        except ValueError:
            continue
        return number if str(number) == text else text
    return text
