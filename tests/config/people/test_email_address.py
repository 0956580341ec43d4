"""Email addresses: a library says which are usable, however seldom it is asked, and we say why."""

import pytest
from email_validator import EmailNotValidError, validate_email
from hypothesis import example, given, settings
from hypothesis import strategies as st

from config.people.email_address import LONGEST, LONGEST_LOCAL, WANTED, email_address
from tests.support.documents import fits

LOCALS = ("ada", "a.b", "a+b", "a..b", ".a", "a.", "a-", "_", "o'neil", "zoë", '"a b"', "", "a b")
DOMAINS = (
    *("example.com", "EXAMPLE.com", "a.test", "a.local", "localhost", "example", "a..com", ".com"),
    *("-a.com", "a-.com", "a.com-", "a.1", "1.2.3.4", "[1.2.3.4]", "a_b.com", "münchen.de", ""),
    *("xn--mnchen-3ya.de", "xn--a.com", "ab--c.com", "a.invalid", f"{'a' * 64}.com", "a.com."),
)
DOTTED = st.text(st.sampled_from("aB1.-_+@ëx"), max_size=12)


def by_the_library(address: str) -> str | None:
    """Say what the library has against an address; None: nothing."""
    try:
        validate_email(address, check_deliverability=False, test_environment=True)
    except EmailNotValidError as error:
        return str(error).lower().rstrip(".")
    return None


@settings(max_examples=500, deadline=None)
@given(st.sampled_from(LOCALS) | DOTTED, st.sampled_from(DOMAINS) | DOTTED)
@example("a" * LONGEST_LOCAL, f"{'b' * 60}.{'c' * 60}.{'d' * 60}.com")
@example("a", f"{'.'.join(['b' * 60] * 4)}.com")
def test_an_address_is_judged_as_the_library_judges_it(local: str, domain: str) -> None:
    """A domain that was judged once for somebody is as good, or as bad, for the next one."""
    address = f"{local}@{domain}".strip()
    if len(address) > LONGEST or address.count("@") > 1:
        return
    against = by_the_library(address)
    for _ in range(2):
        if against is None:
            assert email_address(address) == address
            continue
        with pytest.raises(ValueError) as raised:
            email_address(address)
        assert str(raised.value).lower() == f"{WANTED} ({against})"


LONG_LOCAL, LONG_DOMAIN = "a" * 64, ".".join(("b" * 63, "c" * 63, "d" * 57, "org"))


@pytest.mark.parametrize(
    "typed",
    [
        "ada@example.com",
        " ada@example.com\u00a0",
        "Zoë@Bücher.example",
        "'t@b.org",
        "o’neil@b.org",
        "a@b.test",
        f"{LONG_LOCAL}@b.org",
    ],
)
def test_an_address_stays_as_it_was_typed(typed: str) -> None:
    """Only the spaces around it go: the log-in must equal it (interface 4.7)."""
    assert email_address(typed) == typed.strip()


def test_the_longest_address_is_one() -> None:
    """254 characters are the most that a mail server takes."""
    longest = f"{LONG_LOCAL}@{LONG_DOMAIN}"
    assert len(longest) == 254
    assert email_address(longest) == longest


TWO = "…, not 2: …"
ONE_AT = f"{WANTED} with one @ in it"
TOO_LONG = "… 254 characters, 64 …"
INSIDE = "…: {}"


@pytest.mark.parametrize(
    ("typed", "why"),
    [
        ("ana@", "… (there …)"),
        ("ana", "… (an …)"),
        ("Ana Lee <ana@b.org>", INSIDE.format("ana@b.org")),
        ("Ana <", INSIDE.format("")),
        ("<ana@b.org> or <eve", INSIDE.format("eve")),
        ("<ana@b.org> at home", WANTED),
        ("ana@b.org,", "… comma …"),
        ("ana@b.org;", "… semicolon …"),
        ("“ana@b.org”", "… without “ and ” around it"),
        ("ana@b.org”", "… without ” around it"),
        ("“ana@b.org", "… without “ around it"),
        ("'ana@b.org'", "… without ' around it"),
        ("«ana@b.org»", "… without « and » around it"),
        ('"ana@b.org”', '… without " and ” around it'),
        ("ana@b\n.org", "… line"),
        ("ana@@b.org", ONE_AT),
        ("ana@b\r.org", "… line"),
        ("ana@b.org, eve@b.org", TWO),
        ("ana@b.org <ana@b.org>", INSIDE.format("ana@b.org")),
        (f"ana@b.org,{' ' * 981}eve@b.org", TWO),
        (f"ana@b.org,{' ' * 982}eve@b.org", ONE_AT),
        ("an\U000e0100a@b.org", "… VARIATION SELECTOR-17"),
        ("an\u2065a@b.org", "… U+2065"),
        ("an\u200ba@b.org", "… ZERO WIDTH SPACE"),
        ("an\u00ada@b.org", "… SOFT HYPHEN"),
        ("an\u3164a@b.org", "… HANGUL FILLER"),
        (f"{LONG_LOCAL}a@b.org", TOO_LONG),
        (f"{LONG_LOCAL}@b{LONG_DOMAIN[1:]}s", TOO_LONG),
        ("a" * 255, TOO_LONG),
    ],
)
def test_what_is_no_address_is_told_in_words(typed: str, why: str) -> None:
    """Nothing is repaired in silence; where the address can be seen, it is pointed to."""
    with pytest.raises(ValueError) as refused:
        email_address(typed)
    assert fits(why, str(refused.value))


def test_nobody_is_asked_about_an_address() -> None:
    """A domain that does not exist is no mistake of form, and a check sends nothing anywhere."""
    assert email_address("ada@nowhere.invalid-domain-xyz.org")
