"""Mask people's names and addresses in all that leaves the ledger and its owner's terminal."""

import re
from collections.abc import Callable, Collection, Iterable, Iterator
from unicodedata import normalize


def masked_name(first: str, last: str) -> str:
    """Write `A*** L***`."""
    return f"{_masked(first)} {_masked(last)}".strip()


def masked_email(email: str) -> str:
    """Write `a***@e***.com`: enough to recognise an address, not enough to write to it."""
    local, at, domain = email.strip().rpartition("@")
    host, dot, top = domain.rpartition(".")
    return f"{_masked(local)}{at}" + (f"{_masked(host)}.{top}" if dot else _masked(domain))


_EMAIL = re.compile(r"[^\s<>()\[\]{}\"',;:@]+@[^\s<>()\[\]{}\"',;:@]+")


def masked_text(text: str, names: Collection[str]) -> str:
    """Mask every address in a text that a person typed, and every word that is one of `names`.

    `names` come from `words_of_names`. A word in small letters does not count as a name; in a
    script without capitals, and perhaps without spaces, a name is masked wherever it occurs.
    """
    return replaced_in(text, names, name=_masked, address=masked_email)


def replaced_in(
    text: str,
    names: Collection[str],
    *,
    name: Callable[[str], str],
    address: Callable[[str], str],
) -> str:
    """Replace every address in a text, and every word that is one of `names`.

    The same rule as in `masked_text`: a word in small letters does not count as a name.
    """
    hidden = _EMAIL.sub(lambda match: address(match[0]), normalize("NFC", text))
    hidden = re.sub(
        r"\w+", lambda match: name(match[0]) if _is_name(match[0], names) else match[0], hidden
    )
    # Whether it occurs at all is asked first: of 100,000 names hardly one does.
    within = (part for part in names if part in hidden and _caseless(part))
    for part in sorted(within, key=len, reverse=True):
        hidden = hidden.replace(part, name(part))
    return hidden


def words_of_names(people: Iterable[tuple[str, str]]) -> set[str]:
    """Every word in these first and last names, as `masked_text` compares them."""
    return set(_words(people))


def names_in(texts: Iterable[str], people: Iterable[tuple[str, str]]) -> set[str]:
    """Those of their `words_of_names` that `masked_text` may find in one of these texts.

    Of 100,000 people hardly one is named in a text, and all their words take 25 MB.
    """
    whole = normalize("NFC", "\n".join(texts))
    words, folded = {word.casefold() for word in re.findall(r"\w+", whole)}, whole.casefold()
    return {
        word for word in _words(people) if word in words or (word in folded and _caseless(word))
    }


def _words(people: Iterable[tuple[str, str]]) -> Iterator[str]:
    for both in people:
        for name in both:
            for word in re.findall(r"\w+", normalize("NFC", name)):
                if len(word) > 1 or _caseless(word):
                    yield word.casefold()


def _is_name(word: str, names: Collection[str]) -> bool:
    return word[0].isupper() and word.casefold() in names


def _caseless(word: str) -> bool:
    return word.isalpha() and word.lower() == word.upper()


def _masked(text: str) -> str:
    text = text.strip()
    if len(text) == 1:
        return "***"  # the word is only one letter
    return f"{text[0]}***" if text else ""
