"""Email addresses: as people type them, as they are compared, and what may be wrong with them."""

import re
import unicodedata
from functools import lru_cache

from email_validator import EmailNotValidError, validate_email

WANTED = "an email address"
LONGEST, LONGEST_LOCAL, LONGEST_DOMAIN = 254, 64, 253


def email_key(typed: str) -> str:
    """Reduce an address to the form that is compared: trimmed, NFC, casefolded, IDN as ASCII.

    Never raises, because an answer of the service may contain anything. What is sent to the
    service is what was typed, never this key.
    """
    if typed.isascii():
        return typed.strip().lower()
    return _international_key(typed)


def mailbox(typed: str) -> str:
    """Reduce an address to the mailbox that its provider most likely delivers to.

    Nearly all providers treat what follows a + as a label.
    """
    local, _, domain = email_key(typed).rpartition("@")
    domain = SAME_PROVIDER.get(domain, domain)
    local = local.partition("+")[0] or local
    for character in MEANINGLESS.get(domain, ""):
        local = local.replace(character, "")
    return f"{local}@{domain}"


def masked(address: str) -> str:
    """Show an address so that only who knows it recognises it: `a…@b…`."""
    local, at, domain = address.strip().rpartition("@")
    return f"{local[:1]}…{at}{domain[:1]}…"


def checked_address(typed: str) -> str:
    """Return the address as typed, without spaces around it (non-breaking ones included).

    The login must equal this email (interface 4.7), so nothing is silently repaired. Raises
    ValueError that says what was wanted.
    """
    address = typed.strip()
    if plain := _PLAIN.fullmatch(address):
        if reason := _reason(f"a@{plain[1].lower()}"):
            raise ValueError(f"{WANTED} ({reason})")
    elif slip := _slip(address):
        raise ValueError(f"{WANTED} {slip}")
    if len(address) > LONGEST or address.find("@") > LONGEST_LOCAL:
        raise ValueError(f"{WANTED} of at most {LONGEST} characters, {LONGEST_LOCAL} before the @")
    if not plain and (reason := _reason(address)):
        raise ValueError(f"{WANTED} ({reason})")
    return address


def address_notes(address: str) -> list[str]:
    """Say what may be wrong with a valid address; usually nothing. It is sent as typed."""
    key = email_key(address)
    local, _, domain = key.rpartition("@")
    notes = []
    if meant := likely_meant(domain):
        notes.append(f"{domain} may be a typo for {meant}")
    if local.partition("+")[0] in ROLES:
        notes.append("several people may read this mailbox")
    if key in MADE_UP:
        notes.append("a made-up address that nobody reads")
    if local.startswith("'") or "?" in local:
        notes.append("some program may have changed this address")
    scripts = {unicodedata.name(c, "?").split()[0] for c in address if not c.isascii()}
    mixed = scripts & {"CYRILLIC", "GREEK", "ARMENIAN"} and re.search("[A-Za-z]", local)
    if mixed or "FULLWIDTH" in scripts:
        notes.append("some letters only look like Latin letters")
    return notes


@lru_cache(maxsize=65536)
def likely_meant(domain: str) -> str | None:
    """The domain that was probably meant: a common one that differs by one typo."""
    from rapidfuzz.distance import OSA  # noqa: PLC0415

    if domain in PROVIDERS or domain in OTHERS or domain in SAME_PROVIDER:
        return None
    name, _, ending = domain.rpartition(".")
    if ending in ENDINGS:
        right = f"{name}.{ENDINGS[ending]}"
        return likely_meant(right) or right
    near = (each for each in PROVIDERS if OSA.distance(domain, each, score_cutoff=1) == 1)
    return next(near, None)


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
    import idna  # noqa: PLC0415 - few addresses need its tables

    try:
        # UTS 46 folds case itself; folding first would make straße.de another domain.
        return idna.encode(unicodedata.normalize("NFC", domain), uts46=True).decode("ascii").lower()
    except ValueError:
        return folded


def _slip(address: str) -> str:
    """Say in plain words what is wrong with an address that somebody nearly got right."""
    if unseen := _UNSEEN.search(address):
        name = unicodedata.name(unseen[0], f"U+{ord(unseen[0]):04X}")
        return f"without the invisible {name}"
    if "\n" in address or "\r" in address:
        return "on one line"
    if _SEVERAL.search(address):
        return "alone, not several: keep one, or write  several: first  under candidates"
    if inside := _BRACKETS.search(address):
        return f"only, what is between < and >: {inside[1].strip()}"
    if address.endswith((",", ";")):
        return "without the comma or semicolon at its end"
    if address.count("@") > 1:
        return "with one @ in it"
    if address.startswith(_QUOTES[2:]) or address.endswith(_QUOTES):
        return "without quotes around it"
    return ""


@lru_cache(maxsize=4096)
def _reason(address: str) -> str:
    """Say what the library has against an address; empty: nothing."""
    try:
        # The test environment only means that .test is allowed, for rehearsals.
        validate_email(address, check_deliverability=False, test_environment=True)
    except EmailNotValidError as error:
        message = str(error)
        return message[0].lower() + message[1:].rstrip(".")
    return ""


# Matches nearly every address: only its domain can be wrong, which many people share.
_PLAIN = re.compile(r"[A-Z0-9_+-]+(?:\.[A-Z0-9_+-]+)*@(?!.*xn--)([A-Z0-9.-]+)", re.ASCII | re.I)
# Invisible letters and marks, most of which the library accepts.
_UNSEEN = re.compile(
    "[\u00ad\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\U000e0100-\U000e01ef]"
)
_SEVERAL = re.compile(r"\S@[^\s,;|<>]+[\s,;|]+[^\s,;|<>]+@\S")
_BRACKETS = re.compile(r"<([^<>]*)>?\s*$")
_QUOTES = ('"', "'", "`", *"“”„‟«»‘’‚‛‹›")
MEANINGLESS = {"gmail.com": ".", "protonmail.com": "._-"}
SAME_PROVIDER = {
    "googlemail.com": "gmail.com",
    "proton.me": "protonmail.com",
    "pm.me": "protonmail.com",
    "me.com": "icloud.com",
    "mac.com": "icloud.com",
}
PROVIDERS = (
    *("gmail.com", "googlemail.com", "yahoo.com", "yahoo.co.uk", "yahoo.fr", "yahoo.de"),
    *("hotmail.com", "hotmail.co.uk", "hotmail.fr", "hotmail.de", "outlook.com", "outlook.de"),
    *("outlook.fr", "live.com", "icloud.com", "protonmail.com", "comcast.net", "verizon.net"),
    *("orange.fr", "wanadoo.fr", "laposte.net", "t-online.de", "freenet.de", "libero.it"),
    *("rediffmail.com", "fastmail.com", "yandex.ru", "rambler.ru", "naver.com", "sbcglobal.net"),
)
# Real providers whose names look like a typo of another's.
OTHERS = {"mail.com", "email.com", "ymail.com", "live.co", "hotmail.co", "yahoo.co", "yahoo.es"}
ENDINGS = {
    **dict.fromkeys(("con", "cmo", "ocm", "comm", "vom", "xom", "cpm", "coom", "coim"), "com"),
    **dict.fromkeys(("nte", "ner", "met", "nett"), "net"),
    **dict.fromkeys(("ogr", "orgg", "rog"), "org"),
}
ROLES = {
    *("admin", "administrator", "office", "info", "contact", "hello", "support", "help", "hr"),
    *("jobs", "job", "career", "careers", "recruiting", "recruitment", "recruiter", "talent"),
    *("people", "hiring", "sales", "team", "service", "mail", "postmaster", "webmaster", "abuse"),
    *("noreply", "no-reply", "bewerbung", "bewerbungen", "kontakt", "contacto", "recrutement"),
}
MADE_UP = {"test@test.com", "a@a.com", "abc@abc.com", "foo@bar.com", "none@none.com", "na@na.com"}
