"""What may be wrong with a valid address or name: shown to a person, never changed.

The login must equal this email (interface 4.7), so a typo in an address locks its candidate out,
and two addresses of one mailbox would have one person invited twice. The service has no update
(interface 4), so a name that a program has spoilt stays spoilt there.
"""

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache

from config.mistakes import Doubt, shown
from config.tables.headers import says_do_not_contact

# The kinds of doubt, as they are summed up where many are alike.
TYPO = "a likely typo"
SHARED = "an address that several people may read"
APOSTROPHE = "an apostrophe in front"
LOST_CHARACTER = "a lost character"
LOOK_ALIKES = "letters that look like others"
WRONG_ENCODING = "a name read in the wrong encoding"
NO_NAME = "a cell that holds no name"
REMARK = "a remark that a row is out"

# The domains of most private addresses; one that differs by one typo is rarely meant.
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
    wrong: right
    for right, wrongs in {
        "com": ("con", "cmo", "ocm", "comm", "vom", "xom", "cpm", "coom", "coim"),
        "net": ("nte", "ner", "met", "nett"),
        "org": ("ogr", "orgg", "rog"),
    }.items()
    for wrong in wrongs
}
ROLES = frozenset(
    (
        *("admin", "administrator", "office", "info", "contact", "hello", "support", "help"),
        *("hr", "jobs", "job", "career", "careers", "recruiting", "recruitment", "recruiter"),
        *("talent", "people", "hiring", "sales", "team", "service", "mail", "postmaster"),
        *("webmaster", "abuse", "noreply", "no-reply", "donotreply", "do-not-reply"),
        *("bewerbung", "bewerbungen", "kontakt", "contacto", "contato", "emploi", "recrutement"),
        *("candidatures", "personal"),
    )
)
# Providers that ignore dots (or more) before the @, and other names of the same provider.
MEANINGLESS = {"gmail.com": ".", "protonmail.com": "._-"}
SAME_PROVIDER = {
    "googlemail.com": "gmail.com",
    "proton.me": "protonmail.com",
    "pm.me": "protonmail.com",
    "me.com": "icloud.com",
    "mac.com": "icloud.com",
}
# Where nobody has a mailbox: kept free for examples and tests (RFC 2606, RFC 6761).
SAMPLES = ("example.com", "example.org", "example.net", "example", "test")
# What people type where a form insists on an address.
MADE_UP = {"test@test.com", "a@a.com", "abc@abc.com", "foo@bar.com", "none@none.com", "na@na.com"}
# Letters of other alphabets that are drawn as these Latin ones.
LOOK_ALIKE = str.maketrans(
    "асеорхуіјѕԁһӏκονρυατιօսոցհᴀɑɡıⅼ",
    "aceopxyijsdhlkovpuatiouoghaagil",
)
LETTERS_OF = ("LATIN", "CYRILLIC", "GREEK", "ARMENIAN")
LOST = ("?", "\N{REPLACEMENT CHARACTER}")
# No letter of any name; in the encoding that was meant they are one, as £ is Ł in Windows-1250.
MISREAD = frozenset("¡¢£¤¥¦§©¬®¯±²³¶¹¼½¾¿×÷")
# What programs write for nothing. Null and Nan, spelled as people spell them, are names.
NOTHING = {"null", "NULL", "(null)", "NaN", "nan", "undefined", "N/A", "n/a"}
# What people and forms write where there is no name; True and Test, spelled so, are names as well.
NO_NAMES = {
    *("TRUE", "true", "FALSE", "false", "TEST", "test", "UNKNOWN", "Unknown", "unknown"),
    *("TBD", "tbd", "NONE", "none", "XXX", "xxx"),
}
# How people mark a row that nobody should be invited from.
_REMARK = re.compile(
    r"\A(?:#|//|~)|\b(?:do not|don['’]t|withdrawn|withdrew|declined|rejected|duplicate)\b",
    re.IGNORECASE,
)
_MARKS = ("#", "//")  # at the start of an address as well
_BESIDE = re.compile(r"[(\[（【)\]）】,:]|\s[-–—]\s")
_SAYS_OUT = "this looks like a remark that the row is out; delete the row, or the remark"


def email_doubts(typed: str, key: str) -> Iterator[Doubt]:
    """Say what may be wrong with an address that has this key; usually nothing."""
    local, _, domain = key.rpartition("@")
    if slip := likely_slip(domain):
        yield Doubt(TYPO, f"{domain} may be a typo for {slip}")
    if local.partition("+")[0] in ROLES:
        yield Doubt(
            SHARED,
            "several people may read this mailbox, and whoever logs in with it is the candidate",
        )
    if local.startswith(_MARKS):
        yield Doubt(REMARK, _SAYS_OUT)
    if local.startswith("'"):
        yield Doubt(APOSTROPHE, "some programs put an apostrophe in front of text")
    if "?" in local:
        yield Doubt(LOST_CHARACTER, "a ? often replaces a character that a program lost")
    if not typed.isascii() or "xn--" in domain:
        yield from _look_alikes(local)
        # The domain as typed, because the key has every letter in its plainest form.
        as_typed = typed.rpartition("@")[2].casefold()
        yield from _look_alikes(_readable(domain) if as_typed.isascii() else as_typed)


@lru_cache(maxsize=65536)
def likely_slip(domain: str) -> str | None:
    """Return the domain that was probably meant: it differs by one typo."""
    if domain in _KNOWN:
        return None
    name, _, ending = domain.rpartition(".")
    if ending in ENDINGS:
        right = f"{name}.{ENDINGS[ending]}"
        return likely_slip(right) or right
    if len(domain) > _LONGEST:
        return None
    meant = next((_NEAR[near] for near in _without_one(domain) if near in _NEAR), None)
    return meant if meant and _one_slip_apart(domain, meant) else None


def mailbox(key: str) -> str:
    """Reduce a key to the mailbox that its provider most likely delivers to.

    Nearly all providers treat what follows a + as a label.
    """
    local, _, domain = key.rpartition("@")
    domain = SAME_PROVIDER.get(domain, domain)
    local = local.partition("+")[0] or local
    for character in MEANINGLESS.get(domain, ""):
        local = local.replace(character, "")
    return f"{local}@{domain}"


def is_sample(key: str) -> bool:
    """Say whether an address is one that is made up for an example."""
    domain = key.rpartition("@")[2]
    made_up = key in MADE_UP
    return made_up or any(domain == each or domain.endswith(f".{each}") for each in SAMPLES)


def _without_one(text: str) -> Iterator[str]:
    """A text, and each text that has one character less: two similar texts share one of these."""
    yield text
    for at in range(len(text)):
        yield text[:at] + text[at + 1 :]


def _one_slip_apart(domain: str, other: str) -> bool:
    """Say whether one letter was left out, added, changed, or swapped with the next."""
    start = next((at for at, (a, b) in enumerate(zip(domain, other, strict=False)) if a != b), None)
    if start is None:
        return abs(len(domain) - len(other)) == 1
    a, b = domain[start:], other[start:]
    swapped = a[:2] == b[1::-1] and a[2:] == b[2:]
    return swapped or a[1:] == b or a == b[1:] or a[1:] == b[1:]


_KNOWN = {*PROVIDERS, *OTHERS, *SAME_PROVIDER, "proton.me"}
_NEAR = {near: domain for domain in PROVIDERS for near in _without_one(domain)}
_LONGEST = max(map(len, PROVIDERS)) + 1


def _look_alikes(text: str) -> Iterator[Doubt]:
    """Point at letters that are drawn like Latin ones and are others."""
    foreign = [c for c in text if not c.isascii() and _drawn_as(c).isascii()]
    if not foreign:
        return
    alphabets = {alphabet for c in text if (alphabet := _alphabet(c))}
    # A word in one alphabet is normal writing, unless every letter of it looks Latin.
    others = [c for c in text if not c.isascii() and c not in foreign]
    if len(alphabets) > 1 or not others:
        names = ", ".join(dict.fromkeys(unicodedata.name(c, "?") for c in foreign))
        sentence = f"some letters only look like Latin letters: {names}"
        yield Doubt(LOOK_ALIKES, sentence)


def _drawn_as(character: str) -> str:
    """Return the Latin letter that a letter looks like, from another alphabet or just wider."""
    return unicodedata.normalize("NFKC", character.translate(LOOK_ALIKE))


@lru_cache(maxsize=1024)
def _alphabet(character: str) -> str | None:
    name = unicodedata.name(character, "")
    return next((letters for letters in LETTERS_OF if name.startswith(letters)), None)


def _readable(domain: str) -> str:
    """Return a domain as people see it; the key has it in ASCII."""
    import idna  # noqa: PLC0415 - few addresses need its tables

    try:
        return idna.decode(domain)
    except (idna.IDNAError, ValueError):
        return domain


def remarks(beside: str) -> Iterator[Doubt]:
    """Say that what stands beside a name marks a row nobody should be invited from, if it does."""
    if _REMARK.search(beside) or any(map(says_do_not_contact, _BESIDE.split(beside))):
        yield Doubt(REMARK, _SAYS_OUT)


def name_doubts(name: str) -> Iterator[Doubt]:
    """Say what may be wrong with a name; mostly nothing."""
    if name in NOTHING:
        yield Doubt("an empty cell, as programs write it", "programs write this for an empty cell")
    elif _REMARK.search(name) or (_BESIDE.search(name) and any(remarks(name))):
        yield Doubt(REMARK, _SAYS_OUT)
    elif "@" in name:
        yield Doubt(NO_NAME, "no name has an @ in it; check whether the columns are shifted")
    elif name in NO_NAMES or not any(map(str.isalpha, name)):
        yield Doubt(NO_NAME, "this is hardly a name, but it is sent as one")
    for character in LOST:
        if character in name:
            sentence = f"a {character} often replaces a character that a program lost"
            yield Doubt(LOST_CHARACTER, sentence)
    if name.isascii():
        return
    if meant := _read_as_bytes(name):
        sentence = f"probably {shown(meant)}, read by some program in the wrong encoding"
        yield Doubt(WRONG_ENCODING, sentence)
    elif odd := next((character for character in name if character in MISREAD), None):
        sentence = f"a {odd} often stands for a letter that was read in the wrong encoding"
        yield Doubt(WRONG_ENCODING, sentence)


def _read_as_bytes(name: str) -> str | None:
    """Return what the bytes of a name spell in UTF-8; by accident they hardly ever do."""
    try:
        return name.encode("cp1252").decode("utf-8")
    except UnicodeError:
        return None
