"""Email addresses as people type them: trimmed, checked, and otherwise left alone."""

import re
import unicodedata
from functools import lru_cache

from email_validator import EmailNotValidError, validate_email

from config.tables.address_cells import addresses_in

WANTED = "an email address"
LONGEST = 254
LONGEST_LOCAL = 64
LONGEST_LIST = 1_000
# Around an address; an address of its own may begin with a straight one.
CURLY = tuple("“”„‟«»‘’‚‛‹›")
QUOTES = (*CURLY, '"', "'", "`")

# Invisible letters and marks (Unicode's Default_Ignorable_Code_Point), most of which the library
# accepts; zero-width spaces, and direction marks.
_UNSEEN = re.compile(
    "[\u00ad\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\U000e0100-\U000e01ef]"
)
_LISTED = re.compile(r"@.*[\s,;|<].*@", re.DOTALL)
_BRACKETS = re.compile(r"<([^<>]*)>?\s*$")
# Matches nearly every address: only its domain can be wrong, which many people share.
_PLAIN = re.compile(r"[A-Z0-9_+-]+(?:\.[A-Z0-9_+-]+)*@(?!.*xn--)([A-Z0-9.-]+)", re.ASCII | re.I)


def email_address(typed: str) -> str:
    """Return the address as typed, without spaces around it (non-breaking ones included).

    The login must equal this email (interface 4.7), so nothing is silently repaired.
    Raises ValueError.
    """
    address = typed.strip()
    if unseen := _UNSEEN.search(address):
        name = unicodedata.name(unseen[0], f"U+{ord(unseen[0]):04X}")
        raise ValueError(f"{WANTED} without the invisible {name}")
    listed = _LISTED.search(address) and len(address) <= LONGEST_LIST
    if listed and len(several := addresses_in(address)) > 1:
        raise ValueError(
            f"{WANTED}, not {len(several)}: keep the one the person logs in with, or put  several: "
            "first  under candidates to use the first in each cell"
        )
    if "<" in address:
        inside = _BRACKETS.search(address)
        hint = f", only what is between < and >: {inside[1].strip()}" if inside else ""
        raise ValueError(WANTED + hint)
    if slip := _slip(address):
        raise ValueError(f"{WANTED} {slip}")
    # Checked first, because checking the syntax of a very long text takes long.
    if len(address) > LONGEST or address.find("@") > LONGEST_LOCAL:
        raise ValueError(
            f"{WANTED} of at most {LONGEST} characters, {LONGEST_LOCAL} of them before the @"
        )
    try:
        if plain := _PLAIN.fullmatch(address):
            _judge_domain(plain[1])
        else:
            _judge(address)
    except EmailNotValidError as error:
        raise ValueError(f"{WANTED} ({_reason(str(error))})") from None
    return address


def _slip(address: str) -> str:
    """Say in plain words what is wrong with an address that somebody nearly got right."""
    if "\n" in address or "\r" in address:
        return "on one line"
    if address.endswith((",", ";")):
        return f"without the {'comma' if address.endswith(',') else 'semicolon'} at its end"
    if address.count("@") > 1:
        return "with one @ in it"
    if address.startswith(CURLY) or address.endswith(QUOTES):
        around = dict.fromkeys(end for end in (address[0], address[-1]) if end in QUOTES)
        return f"without {' and '.join(around)} around it"
    return ""


@lru_cache(maxsize=4096)
def _judge_domain(domain: str) -> None:
    _judge(f"a@{domain}")


def _judge(address: str) -> None:
    # The test environment only means that .test is allowed, for rehearsals.
    validate_email(address, check_deliverability=False, test_environment=True)


def _reason(message: str) -> str:
    return message[0].lower() + message[1:].rstrip(".")
