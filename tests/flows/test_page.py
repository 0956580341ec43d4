"""The page of a campaign in Prefect: masked, without power, and with what to do next."""

import re
from datetime import UTC, datetime

import pytest

from data.decisions.doubts import Doubt
from data.store.states import Op
from flows.ending import End, Ending
from flows.page import SHOWN, artifact_key, campaign_page, text
from tests.tasks.outputs.standing import standing

WELL = Ending("x", End.DONE, "2 of 2 invited.")


def doubt(number: int, email1: str = "ada.lovelace@example.org") -> Doubt:
    at = datetime(2026, 5, 4, 9, 30, tzinfo=UTC)
    name = ("Ada", "Lovelace")
    return Doubt(number, number, Op.INVITE, email1, *name, at, 4, None, "Ada is unknown")


def test_it_shows_how_far_who_is_unsure_and_what_to_type() -> None:
    to_type = "campaign run '/a/```b`.yaml'"
    ending = Ending("backend-2026", End.ATTENTION, "2 of 4 invited, 1 unsure.", to_type)
    half = standing(candidates=4, added=4, invited=2, unsure=1)
    page = campaign_page(half, [doubt(17)], ending, {})
    assert page.startswith("# backend-2026\n")
    assert "2 of 4 invited" in page
    assert f"\n\n    {to_type}\n\n" in page
    assert re.search(r"(?m)^\| 17 \| invite \| .* \| 2026-05-04 09:30 \| no answer \|$", page)
    for word in ("lovelace", "Lovelace", "Ada", "known"):  # a name, or the service's own words
        assert word not in page


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("<script>alert(1)</script>", "&lt;script&gt;alert(1)&lt;/script&gt;"),
        ("a | b", r"a \| b"),
        ("[x](javascript:y)", r"\[x\](javascript:y)"),
        ("line\nline", "line line"),
        ("\u202egnp", r"\\u202egnp"),
        ("**bold** `code`", r"\*\*bold\*\* \`code\`"),
    ],
)
def test_what_others_wrote_has_no_power(written, shown) -> None:
    assert text(written) == shown


def test_a_long_table_says_how_many_more_there_are() -> None:
    page = campaign_page(standing(), [doubt(n) for n in range(SHOWN + 3)], WELL, {})
    assert page.count("| invite |") == SHOWN
    assert "and 3 more" in page


def test_keys_that_differ_have_pages_that_differ() -> None:
    keys = {artifact_key(key) for key in ("a.b", "a-b", "a_b", "ab")}
    assert len(keys) == 4
    assert all(re.fullmatch(r"[a-z0-9-]+", key) for key in keys)
