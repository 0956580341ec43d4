"""The text of a definition as nodes, each with its line and column. YAML 1.2: `NO` is text."""

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, StringMark, YAMLError
from ruamel.yaml.nodes import MappingNode, Node, SequenceNode
from ruamel.yaml.reader import ReaderError

from config.errors import BadInput
from config.mistakes import Mistake, Place
from config.tables.file_bytes import EMPTY, decoded

TOO_DEEP = "lists or mappings are nested too deeply"
PLAIN_WORDS = (
    ("'\\t' that cannot start", "this line is indented with a tab; use spaces"),
    ("mapping values are not allowed", "put quotes around text that contains a colon"),
    ("'@' that cannot start", "put quotes around text that begins with @"),
    ("'`' that cannot start", "put quotes around text that begins with `"),
    ("'%' that cannot start", "put quotes around text that begins with %"),
    ("could not find expected ':'", "a colon is missing, or a line is indented too little"),
    ("expected a single document", "there is a second document after ---; a file has one campaign"),
    ("expected <block end>", "this line is indented differently from the lines it belongs to"),
    ("expected ',' or", "a list or mapping is not closed, or a comma is missing"),
    ("while scanning a quoted scalar", "a quote is opened and never closed"),
    ("undefined alias", "aliases (*) are not supported; write the value out"),
)
OPENINGS = ("while scanning a quoted", "while scanning a simple key", "while parsing a flow")


def read_nodes(data: bytes, file: str) -> MappingNode:
    """Read a definition. Raises BadInput if it is not text, not YAML or not a mapping."""
    text = decoded(data, file, ("utf-8",))
    ruamel = YAML(typ="safe", pure=True)
    ruamel.composer.warn_double_anchors = False  # each is refused, at its place
    try:
        root: Node | None = ruamel.compose(text)
    except MarkedYAMLError as error:
        raise BadInput.at(_marked(error, file), _plainly(error)) from None
    except ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        message = f"the character U+{error.character:04X} is not allowed in YAML"
        raise BadInput.at(Place(file, line), message) from None
    except YAMLError:
        raise BadInput.at(Place(file), "this is not YAML") from None
    except RecursionError:
        raise BadInput.at(Place(file), TOO_DEEP) from None
    if root is None:
        raise BadInput.at(Place(file), f"{EMPTY}, wanted a campaign definition")
    if not isinstance(root, MappingNode):
        place = place_of(file, root)
        raise BadInput.at(place, "wanted a mapping, with campaign, project, problem and candidates")
    if anchored := _anchored(root):
        message = "anchors (&) are not supported; write the value out wherever you need it"
        raise BadInput(Mistake(place_of(file, node), message=message) for node in anchored)
    return root


def _anchored(root: Node) -> list[Node]:
    """Find the nodes that aliases may repeat, and look at each only once: with repetitions there
    may be billions.
    """
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


def _marked(error: MarkedYAMLError, file: str) -> Place:
    # The parser notices only later; report the place where it began.
    opened = str(error.context).startswith(OPENINGS)
    mark = (error.context_mark if opened else error.problem_mark) or error.context_mark
    return Place(file, mark.line + 1, mark.column + 1) if mark else Place(file)


def _plainly(error: MarkedYAMLError) -> str:
    message = f"{error.context or ''} {error.problem or ''}".strip()
    for machine, plain in PLAIN_WORDS:
        if machine in message:
            return plain
    return f"this is not YAML: {message}"


def place_of(file: str, node: Node) -> Place:
    mark: StringMark = node.start_mark
    return Place(file, mark.line + 1, mark.column + 1)
