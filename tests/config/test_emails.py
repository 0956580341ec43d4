"""Two spellings of one address are one person; two persons never share a key."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from config.emails import checked_address, email_key, mailbox

CORPUS = Path(__file__).parents[1] / "data" / "addresses.jsonl"
CASES = [json.loads(line) for line in CORPUS.read_text("utf-8").splitlines()]


@pytest.mark.parametrize("case", CASES, ids=lambda case: ascii(case["typed"])[:40])
def test_the_corpus_of_addresses(case: dict[str, Any]) -> None:
    """What was typed, its key, what is sent, its mailbox."""
    assert email_key(case["typed"]) == case["key"]
    assert mailbox(case["typed"]) == case.get("mailbox", mailbox(case["typed"]))
    if case["sent"] is None:
        with pytest.raises(ValueError, match="an email address"):
            checked_address(case["typed"])
    else:
        assert checked_address(case["typed"]) == case["sent"]


@pytest.mark.parametrize(
    ("typed", "wanted"),
    [
        ("ana@", "(there must be something after the @-sign)"),
        ("Ana Lee <ana@b.org>", "only, what is between < and >: ana@b.org"),
        *(
            (typed, "alone, not several: keep one, or write  several: first  under candidates")
            for typed in ("ana@b.org/eve@b.org", "ana@b.org (Work) / a@c.org")
        ),
        (
            "ana@b.org (Work)",
            "alone; (Work) looks like a remark: delete this row if the person is out, els…",
        ),
        ("a" * 65 + "@b.org", "of at most 254 characters, 64 before the @"),
        ("an\u200ba@b.org", "without the invisible ZERO WIDTH SPACE"),
    ],
)
def test_what_is_no_address_is_told_in_words(typed: str, wanted: str) -> None:
    """Nothing is repaired in silence; where the address can be seen, it is pointed to."""
    with pytest.raises(ValueError, match="an email address") as refused:
        checked_address(typed)
    assert str(refused.value).startswith(f"an email address {wanted.rstrip('…')}")


@given(st.text(max_size=40))
def test_a_key_is_its_own_key(text: str) -> None:
    """Keys are stored and compared again: reducing one twice changes nothing."""
    assert email_key(email_key(text)) == email_key(text)


@given(st.emails())
def test_case_and_surrounding_spaces_never_matter(address: str) -> None:
    """What a service sends back in another case still finds its candidate."""
    assert email_key(f"\u00a0{address.upper()} ") == email_key(address)
