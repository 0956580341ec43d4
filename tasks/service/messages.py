"""Reduce what the service wrote in an answer to one line for a person. Pure.

Errors are not documented (interface 7), so these words are often the only hint at what
to fix. People see them quoted. Prefect and logs never get them, because they may name somebody.
"""

import html
import re
from collections.abc import Iterable
from itertools import islice

from tasks.service.answers import everything, is_page, parsed
from tasks.service.exchange import Exchange

LONGEST = 300  # characters


def words(seen: Exchange, secrets: Iterable[str] = ()) -> str | None:
    """Reduce an answer to its words; None if there are none.

    JSON is reduced to its texts, a page to its title. Addresses are masked; `secrets` and whatever
    looks like a credential are removed.
    """
    body = (seen.begun if seen.body is None else seen.body)[:LOOKED_AT]
    if not body or b"\0" in body:
        return None
    text = body.decode(errors="replace")
    if is_page(body):
        after = _TITLE.split(text, 1)[1:]
        text = html.unescape(after[0].partition(">")[2].partition("<")[0]) if after else ""
    elif (answer := parsed(body)) is not None:
        said = ((k, str(v)) for k, v in everything(answer) if v and not isinstance(v, dict | list))
        texts = ((key.rpartition(" ")[2], each) for key, each in islice(said, PARTS))
        pairs = dict.fromkeys((name[:KEPT], each[:KEPT]) for name, each in texts)
        text = "; ".join(each if name in PLAIN else f"{name}: {each}" for name, each in pairs)
    if len(text) > KEPT:  # cut at a blank: half an address would not be masked
        text = text[:KEPT].rpartition(" ")[0]
    line = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    for secret in filter(None, secrets):
        line = line.replace(secret, REMOVED)
    line = _SECRET.sub(lambda found: f"{found[1] or ''}{REMOVED}", line)
    line = _ADDRESS.sub(lambda found: masked(found[0]), line).replace('"', "'")
    return (line if len(line) <= LONGEST else line[: LONGEST - 1] + "…") or None


def masked(address: str) -> str:
    """Mask an address as `a…@b…`: only somebody who knows it recognises it."""
    local, at, domain = address.strip().rpartition("@")
    return f"{local[:1]}…{at}{domain[:1]}…"


LOOKED_AT = 65_536  # bytes of a body
KEPT = 4 * LONGEST  # characters that are kept while secrets are removed
PARTS = 20  # the most texts of one answer
PLAIN = ("", "error", "errors", "message", "messages", "msg", "detail", "details", "title", "loc")
REMOVED = "[removed]"
_TITLE = re.compile("<title", re.IGNORECASE)
_ADDRESS = re.compile(r"[^\s@<>\"'(),;:\[\]]+@[^\s@<>\"'(),;:\[\]]+")
_SECRET = re.compile(
    r"((?:token|secret|passwor[dt]|key|authorization|cookie|bearer|basic)['\"]?\s*[:=]?\s*['\"]?)"
    r"(?=\S*\d)[\w.~+/=-]{8,}"
    r"|\beyJ[\w-]+\.[\w.-]+"
    r"|(?<![\w-])(?=[\w+/-]*\d)(?=[\w+/-]*[A-Za-z])[\w+/-]{32,}",
    re.IGNORECASE,
)
