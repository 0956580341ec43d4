"""Email addresses: as people type them, as they are compared, and what may be wrong with them."""

import re
import unicodedata
from functools import lru_cache

from email_validator import EmailNotValidError, validate_email

WANTED = "an email address"


def email_key(typed: str) -> str:
    """Reduce an address to the form that is compared: trimmed, NFC, casefolded, IDN as ASCII.

    Never raises: the service's answers may contain anything. The typed address is what is sent.
    """
    local, at, domain = typed.strip().rpartition("@")
    return _folded(local) + at + ascii_domain(domain)


def mailbox(typed: str) -> str:
    """Reduce an address to its likely mailbox: no +label, and nothing that its provider ignores."""
    local, _, domain = email_key(typed).rpartition("@")
    domain = SAME_PROVIDER.get(domain, domain)
    local = local.partition("+")[0] or local
    local = "".join(each for each in local if each not in MEANINGLESS.get(domain, ""))
    return f"{local}@{domain}"


def checked_address(typed: str) -> str:
    """Return the typed address, trimmed (interface 4.7). Raises ValueError with what was wanted."""
    address = typed.strip()
    for pattern, words in _SLIPS:
        if found := re.search(pattern, address):
            slip = words.format(unicodedata.name(found[0][0], "letter"), *found.groups(""))
            raise ValueError(f"{WANTED} {slip}".replace(" ;", ";"))
    try:
        # `test_environment` does nothing but allow addresses in .test.
        validate_email(address, check_deliverability=False, test_environment=True)
    except EmailNotValidError as error:
        why = str(error).rstrip(".")
        raise ValueError(f"{WANTED} ({why[0].lower()}{why[1:]})") from None
    return address


def _folded(text: str) -> str:
    # Unicode's canonical caseless match (D145) decomposes before it folds case.
    return unicodedata.normalize("NFC", unicodedata.normalize("NFD", text).casefold())


@lru_cache(maxsize=4096)
def ascii_domain(domain: str) -> str:
    """Write a domain in ASCII, as the network does. If IDNA refuses it, it is only casefolded."""
    if domain.isascii():
        return domain.lower()
    import idna  # noqa: PLC0415 - few addresses need its tables

    try:
        # UTS 46 folds case itself; folding first would make straße.de another domain.
        return idna.encode(unicodedata.normalize("NFC", domain), uts46=True).decode("ascii").lower()
    except ValueError:
        return _folded(domain)


# Invisible letters and marks, most of which `validate_email` accepts.
_UNSEEN = (
    "[\u00ad\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\U000e0100-\U000e01ef]"
)
# Typical mistakes in addresses, and how to say what is wrong.
_SLIPS = (
    (_UNSEEN, "without the invisible {0}"),
    (
        r"\S@[^\s,;|<>/]+[\s,;|<>/].*\S@\S",
        "alone, not several: keep one, or write  several: first  under candidates",
    ),
    (r"<\s*([^<>]*?)\s*>?\s*$", "only, what is between < and >: {1}"),
    (
        r"^\S+@\S+\s+(.+)$",
        "alone; {1} looks like a remark: delete this row if the person is out, else the remark",
    ),
    (r"^~.*@|@.*~$", "; ~ looks like a strike-through: delete this row, or the ~"),
    (r"""^["`“”„‟«»‘’‚‛‹›]|["'`“”„‟«»‘’‚‛‹›]$""", "without quotes around it"),
    (r"^[^@]{65}|^.{255}", "of at most 254 characters, 64 before the @"),
)
MEANINGLESS = {"gmail.com": ".", "protonmail.com": "._-"}
SAME_PROVIDER = {"googlemail.com": "gmail.com"}
SAME_PROVIDER |= dict.fromkeys(("proton.me", "pm.me"), "protonmail.com")
SAME_PROVIDER |= dict.fromkeys(("me.com", "mac.com"), "icloud.com")
