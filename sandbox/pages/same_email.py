"""Whether two spellings of an email address are the same person's (interface 4.7).

The same rule as for campaigns, written again here, because the sandbox imports nothing of theirs.
"""

import unicodedata

import idna

_LONGEST_DOMAIN = 253


def same_email(address: str, other: str) -> bool:
    """Compare two addresses: trimmed, composed, in any case, their domains as ASCII."""
    return _compared(address) == _compared(other)


def _compared(address: str) -> str:
    local, at, domain = address.strip().rpartition("@")
    return _folded(local) + at + _ascii(domain)


def _ascii(domain: str) -> str:
    if domain.isascii() or len(domain) > _LONGEST_DOMAIN:
        return _folded(domain)
    composed = unicodedata.normalize("NFC", domain)
    try:
        return idna.encode(composed, uts46=True).decode("ascii").lower()
    except ValueError:
        return _folded(domain)


def _folded(text: str) -> str:
    return unicodedata.normalize("NFC", unicodedata.normalize("NFD", text).casefold())
