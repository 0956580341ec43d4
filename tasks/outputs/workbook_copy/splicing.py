"""Edits in the middle of XML, found by a real parser, with every other byte left as it is."""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from xml.parsers import expat
from xml.sax.saxutils import escape, quoteattr

# A whole start tag; a ">" inside a quoted value does not end it.
TAG = re.compile(rb"""<[^>"']*(?:"[^"]*"[^>"']*|'[^']*'[^>"']*)*>""")
# What no XML may hold, not even escaped.
FORBIDDEN = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


class Splice:
    """Gathers edits to some bytes, each at a place of the original."""

    def __init__(self, content: bytes) -> None:
        self._content = content
        self._edits: list[tuple[int, int, bytes]] = []

    def insert(self, at: int, new: bytes) -> None:
        """Insert something; insertions at the same place stay in the order of the calls."""
        self.replace(at, at, new)

    def replace(self, start: int, end: int, new: bytes) -> None:
        """Replace everything from `start` up to `end`."""
        self._edits.append((start, end, new))

    def done(self) -> bytes:
        """Return the bytes with all edits made."""
        pieces: list[bytes] = []
        reached = 0
        for start, end, new in sorted(self._edits, key=lambda edit: edit[0]):
            pieces += (self._content[reached:start], new)
            reached = end
        return b"".join((*pieces, self._content[reached:]))


@dataclass(slots=True)
class Element:
    """Where one element is: `start` < start tag > `opened`, `closed` < end tag > `end`.

    `prefix` is what its name begins with (`x:` or nothing); `around` the local name of its parent.
    """

    name: str
    prefix: str
    attributes: Mapping[str, str]
    around: str
    start: int
    opened: int
    closed: int = 0
    end: int = 0

    def append(self, splice: Splice, xml: bytes, new: bytes) -> None:
        """Put something in as the last child; `<x/>` is opened for it."""
        if self.closed == self.end:
            tag = xml[self.start : self.opened].removesuffix(b"/>").rstrip()
            closing = f"</{self.prefix}{self.name}>".encode()
            splice.replace(self.start, self.opened, tag + b">" + new + closing)
        else:
            splice.insert(self.closed, new)


class Places:
    """Feeds XML to a parser that knows the byte position of each tag."""

    def __init__(self, xml: bytes) -> None:
        self._xml = xml
        self._parser = expat.ParserCreate()
        self._parser.StartElementHandler = self.start
        self._parser.EndElementHandler = self.finish

    def parse(self) -> None:
        """Go through all of it. Raises xml.parsers.expat.ExpatError."""
        self._parser.Parse(self._xml, True)

    def start(self, name: str, attributes: dict[str, str]) -> None:
        """Handle a start tag, which is at `here`."""

    def finish(self, name: str) -> None:
        """Handle an end tag at `here`, or the end of an empty element."""

    @property
    def here(self) -> int:
        """The byte that the parser has come to."""
        return self._parser.CurrentByteIndex

    def tag_end(self, start: int) -> int:
        """Find the byte after a start tag."""
        match = TAG.match(self._xml, start)
        return match.end() if match else start

    def ends(self, opened: int) -> tuple[int, int]:
        """Where the element that ends here has its end tag, and the byte after it."""
        if self._xml[opened - 2 : opened] == b"/>":
            return opened, opened
        return self.here, self._xml.index(b">", self.here) + 1


class _Finder(Places):
    def __init__(self, xml: bytes, names: Collection[str]) -> None:
        super().__init__(xml)
        self.found: list[Element] = []
        self._names = names
        self._path: list[tuple[str, Element | None]] = [("", None)]

    def start(self, name: str, attributes: dict[str, str]) -> None:
        prefix, local = split(name)
        element = None
        if local in self._names:
            around = self._path[-1][0]
            start = self.here
            element = Element(local, prefix, attributes, around, start, self.tag_end(start))
            self.found.append(element)
        self._path.append((local, element))

    def finish(self, name: str) -> None:
        _, element = self._path.pop()
        if element:
            element.closed, element.end = self.ends(element.opened)


def split(name: str) -> tuple[str, str]:
    """Part a name from its prefix: `x:row` is `x:` and `row`."""
    before, colon, local = name.rpartition(":")
    return before + colon, local


def elements(xml: bytes, *names: str) -> list[Element]:
    """Find the elements of these local names, in the order of their start tags."""
    finder = _Finder(xml, names)
    finder.parse()
    return finder.found


def with_attribute(tag: bytes, name: str, value: str) -> bytes:
    """Set an attribute of a start tag."""
    new = f"{name}={quoteattr(value)}".encode()
    pattern = re.compile(rb"(?<=\s)" + name.encode() + rb"""\s*=\s*("[^"]*"|'[^']*')""")
    if pattern.search(tag):
        return pattern.sub(lambda _: new, tag, count=1)
    end = len(tag) - (2 if tag.endswith(b"/>") else 1)
    return tag[:end].rstrip() + b" " + new + tag[end:]


def content(text: str) -> str:
    """Escape any text as the content of an element, so that it cannot become a tag."""
    return escape(FORBIDDEN.sub("\N{REPLACEMENT CHARACTER}", text))
