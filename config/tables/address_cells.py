"""The address in a cell, without anything that programs and people write around it."""

import re
from typing import Any
from urllib.parse import unquote

from config.email_key import email_key
from config.mistakes import Unusable, shown
from config.tables.cells import as_text

# Most cells hold an address and nothing else.
_WRAPPED = re.compile(r"[<:,;|\s]")
_NAMED = re.compile(r"([^<>]*)<([^<>]*)>")
_EACH = re.compile(r"<([^<>]*@[^<>]*)>|([^\s,;|<>]+@[^\s,;|<>]+)")
_MAILTO = re.compile(r"mailto:([^?]*)(?:\?.*)?", re.IGNORECASE | re.DOTALL)


class Linked(str):
    """What a cell shows, with the `target` of its hyperlink, as in `mailto:ada@x.org`.

    A cell may have several targets, with commas between.
    """

    __slots__ = ("target",)
    target: str

    def __new__(cls, text: str, target: str) -> "Linked":
        self = super().__new__(cls, text)
        self.target = target
        return self


def address_of(cell: Any, *, first: bool) -> Any:
    """Return the address of a cell: the one it shows, or if it shows none, that of its link.

    If the link has an address that the cell does not show, nobody can tell with which one the
    person logs in.
    """
    text = as_text(cell)
    if not isinstance(text, str):
        return text
    address = plain_address(text, first=first)
    if not isinstance(text, Linked):
        return address
    targets = [_bare(target) for target in text.target.split(",")]
    if "@" not in text:
        return plain_address(", ".join(dict.fromkeys(targets)), first=first)
    keys = set(map(email_key, targets))
    if keys.isdisjoint(map(email_key, addresses_in(text))):
        return Unusable(f"{shown(address)} with a link to {shown(targets[0])}")
    return address


def plain_address(text: str, *, first: bool) -> str:
    """Return the one address of a cell such as `Ada <ada@x.org>` or `mailto:ada@x.org`.

    `first`: of several different addresses, return the first. Otherwise a cell with several
    addresses, like one without any, is returned as it is, so that the rules for addresses refuse
    it.
    """
    text = text.strip()
    if not _WRAPPED.search(text):
        return text
    each = addresses_in(text)
    if len(each) > 1:
        return each[0] if first else text
    if named := _NAMED.fullmatch(text):
        return _bare(named[2])
    return each[0] if len(_EACH.findall(text)) > 1 else _bare(text)


def addresses_in(text: str) -> list[str]:
    """List the addresses of a text that may hold several, each once.

    Different capitals make different addresses: the login must equal the address (interface 4.7).
    """
    each = (match[1] or match[2] for match in _EACH.finditer(text))
    return list(dict.fromkeys(_bare(address.strip("\"'()")) for address in each))


def _bare(text: str) -> str:
    mailto = _MAILTO.fullmatch(text.strip())
    return unquote(mailto[1]).strip() if mailto else text.strip()
