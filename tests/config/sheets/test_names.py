"""Full names taken apart: nobody gets a wrong name without a word."""

import csv
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from config.sheets.names import LONGEST, split_name

FILE = Path(__file__).parents[2] / "data" / "full_names.csv"
with FILE.open(encoding="utf-8", newline="") as file:
    NAMES = [tuple(row.values()) for row in csv.DictReader(file)]
SPLIT = [(kind, full, (first, last), split_name(full)) for kind, full, first, last in NAMES]


def test_what_nobody_is_told_of_is_right() -> None:
    """A name with both parts and without a note is as the person has it."""
    wrong = [
        full
        for _, full, right, split in SPLIT
        if split.last and not split.note and (split.first, split.last) != right
    ]
    assert wrong == []


def test_most_names_are_read_rightly_and_plain_ones_silently() -> None:
    """A note about everybody would be read by nobody."""
    right = [full for _, full, wanted, s in SPLIT if (s.first, s.last) == wanted]
    plain = [split.note for kind, _, _, split in SPLIT if kind == "plain"]
    assert (len(SPLIT), len(right)) == (30, 17)
    assert set(plain) == {""}


def test_a_single_name_has_no_last_name() -> None:
    """No title and no degree stands for the name that is missing."""
    assert {split.last for kind, *_, split in SPLIT if kind == "one word"} == {""}


def test_a_note_says_how_a_name_was_read() -> None:
    """With what to write if it is wrong, which is then read so."""
    assert split_name("Dr. Ada Lovelace").note == (
        'read as first name Ada, last name Lovelace, without "Dr."; if that is wrong, write it '
        'as "Last, First"'
    )


@settings(deadline=None, derandomize=True)
@given(st.text(max_size=40) | st.text("ab ,.()'-&王김IVX", max_size=LONGEST + 5))
def test_any_text_is_taken_apart(text: str) -> None:
    """Nothing breaks, and nothing is made up."""
    split = split_name(text)
    assert {*split.first, *split.last} <= {*text, " "}
