"""One service under several spellings of its base URL is one; nothing else is."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from config.service_address import canonical, on_this_machine, same_service

SPELLINGS = [
    ("http://127.0.0.1:8700", "http://localhost:8700"),
    ("http://127.0.0.1:8700", "http://LOCALHOST.:8700/"),
    ("http://127.0.0.1:8700", "http://[::1]:8700"),
    ("http://127.0.0.1:8700", "http://[0:0:0:0:0:0:0:1]:8700"),
    ("http://127.0.0.1:8700", "http://[::ffff:127.0.0.1]:8700"),
    ("http://127.0.0.1", "http://localhost:80"),
    ("https://api.example.com", "https://API.Example.COM"),
    ("https://api.example.com", "HTTPS://api.example.com"),
    ("https://api.example.com", "https://api.example.com:443"),
    ("https://api.example.com", "https://api.example.com:0443/"),
    ("https://api.example.com", "https://api.example.com:"),
    ("https://api.example.com", "https://api.example.com."),
    ("https://api.example.com", "https://api.example.com.:443//"),
    ("https://api.example.com/v1", "https://api.example.com//v1/./x/../"),
    ("https://api.example.com/a~b", "https://api.example.com/%61%7Eb"),
    ("https://xn--bcher-kva.example", "https://bücher.example"),
    ("https://xn--bcher-kva.example", "https://BÜCHER。example"),
    ("https://xn--bcher-kva.example", "https://bu\u0308cher.example"),
]
OTHERS = [
    ("https://api.example.com", "https://api2.example.com"),
    ("https://api.example.com", "https://api.example.com:8443"),
    ("https://api.example.com", "https://api.example.com/v2"),
    ("https://api.example.com/v1", "https://api.example.com/V1"),
    ("https://api.example.com", "https://example.com"),
    ("http://127.0.0.1:8700", "http://127.0.0.1:8701"),
    ("http://127.0.0.1:8700", "http://127.0.0.2:8700"),
    ("http://localhost:8700", "https://localhost.example.com:8700"),
    ("https://straße.example", "https://strasse.example"),
]


@pytest.mark.parametrize(("address", "other"), SPELLINGS)
def test_spellings_of_one_service_are_one(address: str, other: str) -> None:
    """Whichever comes first; and the usual spelling is what is compared."""
    assert canonical(other) == canonical(address) == address
    assert same_service(address, other) and same_service(other, address)


@pytest.mark.parametrize(("address", "other"), OTHERS)
def test_other_services_stay_others(address: str, other: str) -> None:
    """Another port, path or name may be another service."""
    assert not same_service(address, other)


@given(st.text() | st.sampled_from([spelling for pair in SPELLINGS for spelling in pair]))
def test_a_canonical_address_stays_as_it_is(typed: str) -> None:
    """Whatever a ledger holds can be compared, and twice is as good as once."""
    assert canonical(canonical(typed)) == canonical(typed)


@pytest.mark.parametrize("address", ["http://localhost.:1", "http://127.3.2.1", "http://[::1]:80"])
def test_this_machine_is_known_by_all_its_names(address: str) -> None:
    """A sandbox is told from a real service by where it is."""
    assert on_this_machine(address)
    assert not on_this_machine("https://localhost.example.com")
    assert not on_this_machine("http://[")
