"""The address in a cell, without what programs and people write around it."""

import re
from urllib.parse import unquote

# Most cells hold an address and nothing else.
_WRAPPED = re.compile(r"[<:,;|\s]")
_NAMED = re.compile(r"([^<>]*)<([^<>]*)>")
_EACH = re.compile(r"<([^<>]*@[^<>]*)>|([^\s,;|<>]+@[^\s,;|<>]+)")
_MAILTO = re.compile(r"mailto:([^?]*)(?:\?.*)?", re.IGNORECASE | re.DOTALL)


def plain_address(text: str, *, first: bool) -> str:
    """Answer the one address of a cell: of `Ada <ada@x.org>`, of `mailto:ada@x.org`.

    Of several different ones the `first`, where that is wished. A cell without an address, and one
    with several, is answered as it is: for the rules of an address to refuse.
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

    Capitals make two of them: the login must equal the address (interface 4.7).
    """
    each = (match[1] or match[2] for match in _EACH.finditer(text))
    return list(dict.fromkeys(_bare(address.strip("\"'()")) for address in each))


def _bare(text: str) -> str:
    mailto = _MAILTO.fullmatch(text.strip())
    return unquote(mailto[1]).strip() if mailto else text.strip()
