"""Who a candidate is: the form of an email address by which two spellings are the same person."""

import unicodedata
from functools import lru_cache

# The longest domain name there is (RFC 1035); idna need not look at anything longer.
LONGEST_DOMAIN = 253


def email_key(typed: str) -> str:
    """Reduce an address to the form that is compared: trimmed, NFC, casefolded, its domain as
    ASCII.

    Never raises, because an answer of the service may contain anything. A domain that IDNA refuses
    is compared as it was typed. What is sent to the service is what was typed, never this key.
    """
    if typed.isascii():
        return typed.strip().lower()
    return _international_key(typed)


@lru_cache(maxsize=4096)
def _international_key(typed: str) -> str:
    local, at, domain = typed.strip().rpartition("@")
    return _folded(local) + at + ascii_domain(domain)


def _folded(text: str) -> str:
    # Decomposed before folding: Unicode's canonical caseless match (D145) is defined that way.
    return unicodedata.normalize("NFC", unicodedata.normalize("NFD", text).casefold())


def ascii_domain(domain: str) -> str:
    """Spell a domain as the network does; one that IDNA refuses is only folded."""
    if domain.isascii():
        return domain.lower()
    folded = _folded(domain)
    if len(domain) > LONGEST_DOMAIN:
        return folded
    import idna  # noqa: PLC0415 - its tables cost every start, few addresses need them

    try:
        # UTS 46 folds case itself; casefolding first would turn straße.de into strasse.de,
        # which is another domain.
        return idna.encode(unicodedata.normalize("NFC", domain), uts46=True).decode("ascii").lower()
    except ValueError:
        return folded
