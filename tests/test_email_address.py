"""Email addresses: whether one is usable is for a library to say, however seldom it is asked."""

import pytest
from email_validator import EmailNotValidError, validate_email
from hypothesis import example, given, settings
from hypothesis import strategies as st

from config.email_address import LONGEST, LONGEST_LOCAL, WANTED, NotAnEmail, email_address

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
    if len(address) > LONGEST:
        return
    against = by_the_library(address)
    for _ in range(2):
        if against is None:
            assert email_address(address) == address
            continue
        with pytest.raises(NotAnEmail) as raised:
            email_address(address)
        assert str(raised.value).lower() == f"{WANTED} ({against})"
