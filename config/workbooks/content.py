"""What a file contains, whatever its name: a workbook, markup, or text."""

import codecs
import re

OLD_FORMAT = bytes.fromhex("d0cf11e0a1b11ae1")
ARCHIVE = b"PK\x03\x04"
MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    # Must come before the next one, which begins in the same way.
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
HEAD = 4096  # bytes that are looked at

_XML = re.compile(r"\s*<\?xml\b|<(?:\w+:)?Workbook\b")
_MARKUP = re.compile(
    r"\s*<(?:[!?]|(?:(?:\w+:)?workbook|html|head|meta|title|style|link|script|body|table|caption|thead|tbody|tr"
    r"|div|center|font|span|p|br|h[1-6])\b)",
    re.IGNORECASE,
)
_PAGE = re.compile(r"<(?:!doctype\s+html|html)\b", re.IGNORECASE)
_ARCHIVED_PAGE = "MIME-Version:"
_PDF = "%PDF"
_CONTROL = re.compile("[\0-\x08\x0e-\x1f]")


def encoding_of(data: bytes) -> str | None:
    """Return the encoding, if a byte-order mark or UTF-16's zero bytes show it."""
    marked = next((encoding for mark, encoding in MARKS if data.startswith(mark)), None)
    return marked or _two_bytes_a_letter(data)


def is_markup(data: bytes) -> bool:
    """Say whether this is a web page or XML."""
    return _MARKUP.match(_head(data)) is not None


def is_xml(data: bytes) -> bool:
    """Say whether this is XML, but not a web page written as XML."""
    head = _head(data)
    return _XML.search(head) is not None and _PAGE.search(head) is None


def is_archived_page(data: bytes) -> bool:
    """Say whether this is a web page with all its parts in one file (.mht)."""
    return _head(data).lstrip().startswith(_ARCHIVED_PAGE)


def is_text(data: bytes) -> bool:
    """Say whether this is plain text, not markup or another format that is written in text."""
    if data.startswith((OLD_FORMAT, ARCHIVE)) or is_markup(data) or is_archived_page(data):
        return False
    head = _head(data)
    return _CONTROL.search(head) is None and not head.startswith(_PDF)


def is_workbook(data: bytes) -> bool:
    """Say whether this is a workbook, or markup, which may hold tables as well."""
    return data.startswith((OLD_FORMAT, ARCHIVE)) or is_markup(data)


def _head(data: bytes) -> str:
    """Return how the bytes begin, as text."""
    encoding = encoding_of(data)
    # A character may be cut in two at the end.
    head = data[:HEAD].decode(encoding or "latin-1", "replace")
    return head.lstrip("\ufeff")


def _two_bytes_a_letter(data: bytes) -> str | None:
    """Recognise UTF-16 without its mark: in a table's header nearly every other byte is zero."""
    head = data[:200]
    first, second = head[::2].count(0), head[1::2].count(0)
    if len(data) % 2 or 4 * max(first, second) < len(head):
        return None
    if 4 * first < second:
        return "utf-16-le"
    return "utf-16-be" if 4 * second < first else None
