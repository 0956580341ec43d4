"""A full name in one cell, taken apart because the definition says so."""

# What belongs to the family name that follows it.
PARTICLES = frozenset(
    (
        *("af", "al", "ap", "av", "bin", "bint", "da", "das", "de", "del", "della", "den", "der"),
        *("di", "do", "dos", "du", "el", "ibn", "la", "le", "lo", "ten", "ter", "van", "vom"),
        *("von", "y", "zu", "zum", "zur"),
    )
)


def split_name(full: str) -> tuple[str, str, bool]:
    """Answer first name, last name, and whether a person should look at them.

    A comma parts `Lovelace, Ada`; else the last word, with the particles before it, is the last
    name. Three words or more could be parted elsewhere. Without two words the last name is "".
    """
    family, comma, given = full.partition(",")
    if comma:
        return " ".join(given.split()), " ".join(family.split()), "," in given
    words = full.split()
    at = len(words) - 1
    while at > 1 and words[at - 1].casefold() in PARTICLES:
        at -= 1
    if at < 1:
        return " ".join(words), "", False
    return " ".join(words[:at]), " ".join(words[at:]), len(words) > 2
