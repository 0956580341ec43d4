"""What the service itself wrote in an answer: one line for a person, without our secrets. Pure.

Error shapes are not documented (interface 7), so these words are often the only hint at what to
fix. They are somebody else's words: shown as a quotation, only to people, never in Prefect or a
log.
"""

import html
import json
import re
from base64 import b64encode
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any
from urllib.parse import quote

from tasks.service.answer import is_page, parsed

LONGEST = 500  # characters of an excerpt
LARGEST = 256 * 1024  # bytes of a body that are looked at
REMOVED = "[removed]"
_TELLING = 6  # base64 characters; a longer run is no coincidence
_FOR_ADDRESSES = str.maketrans("+/", "-_")
_DEEP = 5
_PARTS = 20  # the most sentences from one answer

# Fields in which services put their words, in the order in which they are read; see `_plain`.
_WORDS = (
    *("title", "error", "code", "errordescription", "errormessage", "message", "msg", "detail"),
    *("details", "description", "reason", "fault", "errors", "errormessages", "messages"),
)
_WHERE = ("loc", "field", "param", "property")
_CREDENTIALS = "token|secret|passwor[dt]|passwd|api_?key|authorization|cookie"
_OWN_QUOTES = str.maketrans(dict.fromkeys('"“”„‟«»', "'"))
_SECRETS = re.compile(
    r"(?P<name>\b(?:bearer|basic)\s+)[\w.~+/=-]{16,}"
    rf"|(?P<field>(?:{_CREDENTIALS})['\"]?\s*[:=]\s*)"
    r"(?=\S*\d|\S{16,})\S+"
    r"|\beyJ[\w-]+\.[\w.-]+"
    r"|(?P<long>[\w+-]{32,})",
    re.IGNORECASE,
)
_UUID = re.compile(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}", re.IGNORECASE)  # of a request


def excerpt(body: bytes | None, secrets: Iterable[str] = ()) -> str | None:
    """Reduce an answer to its words, at most LONGEST characters; None if there are none.

    JSON is reduced to the sentences of its error, a web page to its title. `secrets` are removed,
    and so is whatever looks like a credential.
    """
    if not body or b"\0" in body[:LARGEST]:
        return None
    looked_at = body[:LARGEST]
    if is_page(looked_at):
        text = _title(looked_at.decode(errors="replace"))
    elif (answer := parsed(body if len(body) <= LARGEST else None)) is not None:
        text = "; ".join(dict.fromkeys(islice(_sentences(answer), _PARTS)))
    else:
        text = looked_at.decode(errors="replace")
    line = _without(_one_line(text), secrets)
    return (line if len(line) <= LONGEST else line[: LONGEST - 1] + "…") or None


def _title(page: str) -> str:
    at = page.lower().find("<title")
    title, end, _ = page[at:].partition(">")[2].partition("</") if at >= 0 else ("", "", "")
    return html.unescape(title) if end else ""


def _sentences(answer: Any) -> Iterator[str]:
    if isinstance(answer, str):
        yield answer
        return
    words = [text for text in map(_one_line, _words(answer, 0, named=False)) if text]
    if words or not isinstance(answer, dict):
        yield from words
        return
    for name, value in answer.items():  # for an unknown shape, the texts at the top level
        if isinstance(value, str | int | float) and not re.search(
            _CREDENTIALS, name, re.IGNORECASE
        ):
            yield f"{name}: {value if isinstance(value, str) else json.dumps(value)}"


def _words(value: Any, depth: int, *, named: bool) -> Iterator[str]:
    """The texts under names that usually hold words, without those of people in the answer."""
    if isinstance(value, str) and named:
        yield value
    elif isinstance(value, list) and depth < _DEEP:
        for each in value:
            yield from _words(each, depth + 1, named=named or isinstance(each, str))
    elif isinstance(value, dict) and depth < _DEEP:
        plain = {_plain(name): each for name, each in value.items()}
        if not any(name in plain for name in _WORDS):
            for name, each in value.items():
                yield from (f"{name}: {text}" for text in _words(each, depth + 1, named=named))
            return
        where = next((_place(plain[name]) for name in _WHERE if name in plain), "")
        for name in _WORDS:
            for text in _words(plain.get(name), depth + 1, named=True):
                yield f"{where}: {text}" if where else text


def _plain(name: str) -> str:
    return name.lower().replace("_", "").replace("-", "")


def _place(value: Any) -> str:
    return ".".join(map(str, value)) if isinstance(value, list) else str(value)


def _one_line(text: str) -> str:
    """Keep what is printable, make every blank a space, and remove our quotation marks."""
    kept = "".join(c if c.isprintable() else " " if c.isspace() else "" for c in text)
    return " ".join(kept.split()).translate(_OWN_QUOTES)


def _without(text: str, secrets: Iterable[str]) -> str:
    for secret in filter(None, secrets):
        for written in (secret, quote(secret, safe=""), *_in_base64(secret.encode())):
            text = text.replace(written, REMOVED)
    return _SECRETS.sub(_removed, text)


def _in_base64(secret: bytes) -> Iterator[str]:
    """The base64 forms of a text at any position in what is encoded, as in `client:secret`, without
    the characters that also depend on its neighbours.
    """
    for before in range(3):
        first, last = (before * 8 + 5) // 6, (before + len(secret)) * 8 // 6
        written = b64encode(bytes(before) + secret).decode()[first:last]
        if len(written) >= _TELLING:
            yield from {written, written.translate(_FOR_ADDRESSES)}


def _removed(match: re.Match[str]) -> str:
    if (long := match["long"]) is not None:
        is_word = not (re.search(r"\d", long) and re.search(r"[^\W\d_]", long))
        return long if is_word or _UUID.fullmatch(long) else REMOVED
    return f"{match['name'] or match['field'] or ''}{REMOVED}"
