"""People's names and addresses, masked: for whatever leaves the ledger and its owner's terminal."""

import re
from collections.abc import Collection, Iterable


def masked_name(first: str, last: str) -> str:
    """Write `A*** L***`."""
    return f"{_masked(first)} {_masked(last)}".strip()


def masked_email(email: str) -> str:
    """Write `a***@e***.com`: enough to recognise an address, not enough to write to it."""
    local, at, domain = email.strip().rpartition("@")
    host, dot, top = domain.rpartition(".")
    return f"{_masked(local)}{at}" + (f"{_masked(host)}.{top}" if dot else _masked(domain))


_EMAIL = re.compile(r"[^\s<>()\[\]{}\"',;:@]+@[^\s<>()\[\]{}\"',;:@]+")


def masked_text(said: str, names: Collection[str]) -> str:
    """Mask every address in a text that a person typed, and every word that is one of `names`.

    Names are compared in any case; a word in small letters is taken for no name.
    """
    hidden = _EMAIL.sub(lambda found: masked_email(found[0]), said)
    return re.sub(
        r"\w+",
        lambda found: (
            _masked(found[0])
            if found[0][0].isupper() and found[0].casefold() in names
            else found[0]
        ),
        hidden,
    )


def words_of_names(people: Iterable[tuple[str, str]]) -> set[str]:
    """Every word in these first and last names, as `masked_text` compares them."""
    words = (word for both in people for name in both for word in re.findall(r"\w+", name))
    return {word.casefold() for word in words if len(word) > 1}


def _masked(text: str) -> str:
    text = text.strip()
    return f"{text[0]}***" if text else ""
