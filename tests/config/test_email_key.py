"""Two spellings of one address are one person; two persons never share a key."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from config.email_key import email_key


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Ana@Example.ORG", "ana@example.org"),
        ("  ana@example.org\t", "ana@example.org"),
        ("\u00a0ana@example.org\u00a0", "ana@example.org"),
        ("jose\u0301@example.org", "jos\u00e9@example.org"),
        ("JOSÉ@example.org", "josé@example.org"),
        ("STRASSE@example.org", "straße@example.org"),
        ("ana@Bücher.example", "ana@xn--bcher-kva.example"),
        ("ana@bu\u0308cher.example", "ana@BÜCHER.example"),
        ("ana@ｅｘａｍｐｌｅ.org", "ana@example.org"),
    ],
)
def test_spellings_of_one_address_share_a_key(one: str, other: str) -> None:
    """Case, spaces, composition of accents and the form of the domain tell nobody apart."""
    assert email_key(one) == email_key(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("ana@example.org", "anna@example.org"),
        ("ana@example.org", "ana+1@example.org"),
        ("a.na@example.org", "ana@example.org"),
        ("ana@strasse.example", "ana@straße.example"),
        ("ana@example.org", "\u0430na@example.org"),
    ],
)
def test_different_addresses_have_different_keys(one: str, other: str) -> None:
    """Nothing is guessed about what a mail provider treats as one mailbox."""
    assert email_key(one) != email_key(other)


@pytest.mark.parametrize("odd", ["", "@", "no at", "a@-ü-.example", "a@" + "ü" * 400, "\ud800@ü"])
def test_any_text_has_a_key(odd: str) -> None:
    """An answer of the service may hold anything; matching it must not fail."""
    assert isinstance(email_key(odd), str)


@given(st.text(max_size=40))
def test_a_key_is_its_own_key(text: str) -> None:
    """Keys are stored and compared again: reducing one twice changes nothing."""
    assert email_key(email_key(text)) == email_key(text)


@given(st.emails())
def test_case_and_surrounding_spaces_never_matter(address: str) -> None:
    """What a service sends back in another case still finds its candidate."""
    assert email_key(f"\u00a0{address.upper()} ") == email_key(address)
