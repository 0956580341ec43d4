"""What the service itself wrote in an answer: one line for a person. Pure.

Error shapes are not documented (interface 7), so these words are often the only hint at what to
fix. They are somebody else's: shown as a quotation to people, never in Prefect or a log.
"""

import html
import re
from collections.abc import Iterable, Iterator
from typing import Any

from config.emails import masked
from tasks.service.answers import OF_A_PERSON, is_page, parsed
from tasks.service.exchange import Exchange

LONGEST = 300  # characters
REMOVED = "[removed]"


def words(seen: Exchange, secrets: Iterable[str] = ()) -> str | None:
    """Reduce an answer to its words; None if there are none.

    JSON is reduced to the texts of its error, a page to its title. Addresses are masked; `secrets`
    and whatever looks like a credential are removed.
    """
    body = (seen.begun if seen.body is None else seen.body)[:LOOKED_AT]
    if not body or b"\0" in body:
        return None
    text = body.decode(errors="replace")
    if is_page(body):
        title = re.search(r"<title[^>]*>(.*?)</title", text, re.IGNORECASE | re.DOTALL)
        text = html.unescape(title[1]) if title else ""
    elif (answer := parsed(body)) is not None:
        text = "; ".join(dict.fromkeys(_texts(answer)))
    line = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    for secret in filter(None, secrets):
        line = line.replace(secret, REMOVED)
    line = _SECRET.sub(lambda found: f"{found[1] or found[2] or ''}{REMOVED}", line)
    line = _ADDRESS.sub(lambda found: masked(found[0]), line).replace('"', "'")
    return (line if len(line) <= LONGEST else line[: LONGEST - 1] + "…") or None


def _texts(answer: Any, depth: int = 0) -> Iterator[str]:
    """The texts under names that usually hold words, in the order of `_NAMES`."""
    if isinstance(answer, str):
        yield answer
    elif isinstance(answer, list) and depth < DEEP:
        for each in answer[:PARTS]:
            yield from _texts(each, depth + 1)
    elif isinstance(answer, dict) and depth < DEEP:
        named = {name.lower().replace("_", ""): value for name, value in answer.items()}
        where = named.get("field") or named.get("loc")
        place = ".".join(map(str, where)) if isinstance(where, list) else str(where or "")
        texts = [text for name in _NAMES for text in _texts(named.get(name), depth + 1)]
        if not texts and depth < 2:
            # An unknown shape, such as {"email1": ["is not valid"]}.
            for name, value in answer.items():
                if isinstance(value, str) and name in OF_A_PERSON:
                    continue  # an echo of what was sent
                texts += [f"{name}: {text}" for text in _texts(value, depth + 1)]
        yield from (f"{place}: {text}" if place else text for text in texts)


LOOKED_AT = 65_536  # bytes of a body
DEEP, PARTS = 5, 20
_NAMES = (
    *("title", "error", "code", "errordescription", "errormessage", "message", "msg", "detail"),
    *("details", "text", "description", "reason", "result", "status", "errors", "messages"),
)
_ADDRESS = re.compile(r"[^\s@<>\"'(),;:\[\]]+@[^\s@<>\"'(),;:\[\]]+")
_SECRET = re.compile(
    r"\b((?:bearer|basic)\s+)[\w.~+/=-]{8,}"
    r"|((?:token|secret|passwor[dt]|api_?key|authorization|cookie)['\"]?\s*[:=]\s*['\"]?)[^\s'\",]+"
    r"|\beyJ[\w-]+\.[\w.-]+"
    r"|(?<![\w-])(?=[\w+/-]*\d)(?=[\w+/-]*[A-Za-z])[\w+/-]{32,}",
    re.IGNORECASE,
)
