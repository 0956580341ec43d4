"""Read definitions in YAML 1.2: each value as a text, with its line and column."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError
from ruamel.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from config.errors import BadInput, Mistake, Place
from config.validation import Location, Written

LARGEST = 2 * 2**20  # bytes: some 40,000 people; a larger file takes minutes
PLAIN_WORDS = (
    ("'\\t' that cannot start", "this line is indented with a tab; use spaces"),
    ("mapping values are not allowed", "put quotes around text that contains a colon"),
    ("expected <block end>", "this line is indented differently from the lines it belongs to"),
    ("expected ',' or", "a list or mapping is not closed, or a comma is missing"),
    ("while scanning a quoted scalar", "a quote is opened and never closed"),
)


def read_yaml(data: bytes, file: Path) -> Written:
    """Read a definition. Raises BadInput if it is too large, no text, no YAML or not a mapping."""
    written = Written(Place(file))
    if len(data) > LARGEST:
        why = f"this definition is larger than {LARGEST // 2**20} MB; put its people into a table"
        raise BadInput.at(written.whole, why)
    root = _composed(data, file)
    if not isinstance(root, MappingNode):
        wanted = "wanted a campaign, with campaign, project, problem and candidates"
        raise BadInput.at(_at(written, root) if root else written.whole, wanted)
    written.whole = _at(written, root)
    written.fields = _plain(written, root, ())
    return written


def read_value(written: Written, text: str, cell: Place) -> Any:
    """Read a cell that holds a mapping or a list in YAML; None if it is not YAML."""
    inner, plain = Written(cell), None
    try:
        if root := _composed(text.encode(), cell.file):
            plain = _plain(inner, root, ())
    except BadInput as error:
        inner.mistakes += error.mistakes
    written.mistakes += [replace(each, place=cell) for each in inner.mistakes]
    return plain


def _composed(data: bytes, file: Path) -> Node | None:
    try:
        root: Node | None = YAML(pure=True).compose(data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise BadInput.at(Place(file, line), "this is not text in UTF-8; save it as that") from None
    except MarkedYAMLError as error:
        words = f"{error.context or ''} {error.problem or ''}".strip()
        # The parser notices an open quote or list late; report where it began.
        opened = words.startswith(("while scanning a quoted", "while parsing a flow"))
        mark = error.context_mark if opened else error.problem_mark or error.context_mark
        plain = next((said for part, said in PLAIN_WORDS if part in words), "")
        place = Place(file, mark.line + 1, mark.column + 1) if mark else Place(file)
        raise BadInput.at(place, plain or f"this is not YAML: {words}") from None
    except Exception:  # noqa: BLE001 - the library raises anything at all
        raise BadInput.at(Place(file), "this is not YAML") from None
    return root


def _plain(written: Written, node: Node, location: Location) -> Any:
    """Turn a node into plain data. `written` gets the place of each value, and the mistakes."""
    wrong = written.mistakes
    if node.anchor or str(node.tag).startswith("!"):  # nested anchors make billions of values
        wrong.append(Mistake(_at(written, node), "text that begins with & or ! needs quotes"))
        return None
    if isinstance(node, ScalarNode):
        # A value stays a text: pydantic reads numbers, dates and booleans. `Null` may be a name.
        nothing = str(node.tag).endswith(":null") and node.value in {"", "~", "null"}
        return None if nothing else str(node.value)
    if isinstance(node, SequenceNode):
        for at, item in enumerate(node.value):
            written.places[*location, at] = (_at(written, item),) * 2
        return [_plain(written, item, (*location, at)) for at, item in enumerate(node.value)]
    plain: dict[str, Any] = {}
    for name, value in node.value:
        key, place = str(name.value), _at(written, name)
        if first := written.places.get((*location, key)):
            wrong.append(Mistake(place, f"{key} is written twice, first at {first[0]}", key))
            continue
        # Mistakes point at the name if the value is empty, or a mapping that may lack a field.
        empty = isinstance(value, MappingNode) or value.start_mark.index == value.end_mark.index
        written.places[*location, key] = (place, place if empty else _at(written, value))
        # A field without a value counts as left out, except in `where`.
        content = _plain(written, value, (*location, key))
        if content is not None or location[-1:] == ("where",):
            plain[key] = content
    return plain


def _at(written: Written, node: Node) -> Place:
    return Place(written.whole.file, node.start_mark.line + 1, node.start_mark.column + 1)
