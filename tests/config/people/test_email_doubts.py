"""Warnings about people: who might be locked out, invited twice, or called by a spoilt name."""

import pytest

from config.email_key import email_key
from config.people.doubts import (
    APOSTROPHE,
    LOOK_ALIKES,
    LOST_CHARACTER,
    NO_NAME,
    PROVIDERS,
    REMARK,
    SHARED,
    TYPO,
    WRONG_ENCODING,
    email_doubts,
    likely_slip,
    mailbox,
    name_doubts,
)


@pytest.mark.parametrize(
    ("domain", "meant"),
    [
        ("gmial.com", "gmail.com"),
        ("gmai.com", "gmail.com"),
        ("gmaill.com", "gmail.com"),
        ("gnail.com", "gmail.com"),
        ("gmail.con", "gmail.com"),
        ("gmial.con", "gmail.com"),
        ("hotmial.com", "hotmail.com"),
        ("outlok.com", "outlook.com"),
        ("example.con", "example.com"),
        ("example.nett", "example.net"),
    ],
)
def test_a_slip_of_the_fingers(domain: str, meant: str) -> None:
    """One letter too many, too few, another, or two swapped; an ending that does not exist."""
    assert likely_slip(domain) == meant


@pytest.mark.parametrize(
    "domain",
    [
        *PROVIDERS,
        "mail.com",
        "ymail.com",
        "email.com",
        "gmx.de",
        "example.com",
        "gmeil.org",
        "me.com",
    ],
)
def test_a_proper_domain_is_no_slip(domain: str) -> None:
    """A provider of its own is not taken for another one."""
    assert likely_slip(domain) is None


@pytest.mark.parametrize(
    ("typed", "kinds"),
    [
        ("ada@example.com", []),
        ("jobs@example.com", [SHARED]),
        ("jobs+ada@example.com", [SHARED]),
        ("jobsearcher@example.com", []),
        ("ad?@example.com", [LOST_CHARACTER]),
        ("'ada@example.com", [APOSTROPHE]),
        ("o'neil@example.com", []),
        ("\u0430da@example.com", [LOOK_ALIKES]),
        ("ada@xn--exmple-4nf.com", [LOOK_ALIKES]),
        ("адам@example.com", []),
        ("сосо@example.com", [LOOK_ALIKES]),
        ("josé@example.com", []),
        ("ａｄａ@example.com", [LOOK_ALIKES]),
        ("ada@ｅｘａｍｐｌｅ.com", [LOOK_ALIKES]),
        ("ada@bücher.example", []),
        ("ada@xn--bcher-kva.example", []),
        ("info@gmial.com", [TYPO, SHARED]),
        ("#ada@corp.org", [REMARK]),
        ("//ada@corp.org", [REMARK]),
        ("a#1@corp.org", []),
    ],
)
def test_what_is_doubtful(typed: str, kinds: list[str]) -> None:
    """Nothing is said about an address that is as it should be."""
    assert [doubt.kind for doubt in email_doubts(typed, email_key(typed))] == kinds


@pytest.mark.parametrize(
    ("name", "kinds"),
    [
        ("Ada", []),
        ("José Núñez", []),
        ("Łukasz", []),
        ("愛", []),
        ("Jos?", [LOST_CHARACTER]),
        ("Jos\ufffd", [LOST_CHARACTER]),
        ("JosÃ©", [WRONG_ENCODING]),
        ("MÃ¼ller", [WRONG_ENCODING]),
        ("£ukasz", [WRONG_ENCODING]),
        ("¯ak", [WRONG_ENCODING]),
        ("Micha³", [WRONG_ENCODING]),
        ("Mº Gal·la D´Angelo", []),
        ("Hans «Hansi» Œrsted", []),
    ],
)
def test_what_a_program_did_to_a_name(name: str, kinds: list[str]) -> None:
    """What was spoilt on the way is pointed at, with what was most likely meant."""
    found = list(name_doubts(name))
    assert [doubt.kind for doubt in found] == kinds
    if "Ã" in name:
        assert "José" in found[0].sentence or "Müller" in found[0].sentence


@pytest.mark.parametrize(
    ("kind", "names"),
    [
        (
            NO_NAME,
            ["ada@corp.org", "Ada ada@corp.org", "TRUE", "false", "2026-05-01", "3", "-", "."],
        ),
        (NO_NAME, ["unknown", "Unknown", "TEST", "none", "…"]),
        (REMARK, ["#Alan", "# Ada", "//Di", "~~Cy~~", "~Di", "DO NOT INVITE", "Grace (withdrawn)"]),
        (
            REMARK,
            ["Ada - DUPLICATE", "Declined: Ada", "Don’t invite", "withdrew", "Ada [rejected]"],
        ),
        (REMARK, ["Ada (zurückgezogen)", "Ada [DNC]", "Ada - opted out", "Désisté: Ada"]),
        ("an empty cell, as programs write it", ["null", "N/A"]),
        (None, ["Null", "Nan", "True", "Test", "A", "A.", "Ng", "愛", "भ", "O'Neil", "X Æ A-12"]),
        (None, ["Dono Notley", "Donota", "Withdrawne", "Ada/Adele", "Anna #2", "Skip", "Doe-Nott"]),
    ],
)
def test_what_is_hardly_a_name(kind: str | None, names: list[str]) -> None:
    """Shifted columns, cells of other kinds, marked rows: pointed at once; a real name never is."""
    for name in names:
        assert [doubt.kind for doubt in name_doubts(name)] == [kind] * (kind is not None), name


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("a.d.a@gmail.com", "ada@googlemail.com", True),
        ("ada+jobs@example.com", "ada@example.com", True),
        ("a_d.a@proton.me", "ada@protonmail.com", True),
        ("ada@me.com", "ada@icloud.com", True),
        ("a.da@example.com", "ada@example.com", False),
        ("ada@example.com", "ada@example.org", False),
        ("+ada@example.com", "+bob@example.com", False),
    ],
)
def test_addresses_of_one_mailbox(one: str, other: str, same: bool) -> None:
    """What providers are known to ignore, and the label behind a +."""
    assert (mailbox(one) == mailbox(other)) is same
