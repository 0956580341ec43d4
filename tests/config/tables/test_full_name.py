"""Full names taken apart: 349 of the kinds that break splitters, and what is told of them."""

import csv
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from config.tables.full_name import LONGEST, Names, Split, split_name
from tests.flows.cli.test_cli import Typed, clean_environment, typed

__all__ = ["clean_environment", "typed"]

# Each with the first and the last name that the person has; empty where nobody could send it.
FILE = Path(__file__).parents[2] / "sheets" / "full_names.csv"
with FILE.open(encoding="utf-8", newline="") as file:
    NAMES = [tuple(row.values()) for row in csv.DictReader(file)]
SPLIT = [(kind, full, (first, last), split_name(full)) for kind, full, first, last in NAMES]
# Neither reading is right, and each says so: a place, two people, a short title.
NOT_AMONG_BOTH = {
    *("M. Pierre Durand", "St. John Smith", "Ada Lovelace - Berlin", "Ada & Charles Babbage"),
    "Ada Lovelace/Grace Hopper",
}
DEFINITION = (
    "campaign: a\nproject: {name: A}\nproblem: 1\ncandidates: {file: p.csv, split_name: true}\n"
)


def test_there_are_as_many_names_as_the_first_line_says() -> None:
    """At least 300, none twice."""
    assert len({full for _, full, _, _ in SPLIT}) == len(SPLIT) == 349


def test_what_nobody_is_told_of_is_right() -> None:
    """Without a doubt beside it, a split is the one that the person would have made."""
    wrong = [
        (full, split)
        for kind, full, right, split in SPLIT
        if kind != "one word" and not split.doubt and (split.first, split.last) != right
    ]
    assert wrong == []


def test_one_of_both_readings_is_right() -> None:
    """What is told names the right reading, the first or the other one."""
    neither = {
        full
        for kind, full, right, split in SPLIT
        if kind != "one word" and right not in ((split.first, split.last), split.other)
    }
    assert neither == NOT_AMONG_BOTH


def test_a_single_name_is_a_mistake() -> None:
    """Nobody gets a title, or the same word twice, for the name that is missing."""
    for kind, full, _, split in SPLIT:
        assert (bool(split.first) and bool(split.last)) != (kind == "one word"), full


def test_most_names_are_certain() -> None:
    """A doubt about everybody would be read by nobody."""
    told = Counter(kind for kind, *_, split in SPLIT if split.doubt)
    assert told["plain"] == 0
    assert (told["last, first"], told["particle"], told["initials"]) == (8, 13, 1)
    assert sum((split.first, split.last) == right for *_, right, split in SPLIT) >= 279


@pytest.mark.parametrize(
    ("full", "left_out", "other"),
    [
        ("Ada Lovelace", "", None),
        ("Ada Lovelace, PhD", "PhD", None),
        ("Gabriel García Márquez", "", ("Gabriel", "García Márquez")),
        ("Dr. Wang Xiaoming", "Dr.", ("Xiaoming", "Wang")),
        ("Jack MA", "", ("Jack", "")),
    ],
)
def test_a_doubt_names_what_is_left_out_and_the_other_reading(
    full: str, left_out: str, other: Names | None
) -> None:
    """A word that may be a degree leaves nothing for the other name."""
    split = split_name(full)
    assert (split.left_out, split.other) == (left_out, other)
    shown = filter(None, (left_out, *(other if other and other[1] else ())))
    assert all(f'"{word}"' in split.doubt for word in shown)
    assert bool(split.doubt) == bool(left_out or other)


def test_what_is_written_to_settle_a_doubt_is_read_so() -> None:
    """`Last, First` is named where it is read as the other reading said."""
    written = 0
    for _, full, _, split in SPLIT:
        first, last = split.other or ("", "")
        settled = split_name(f"{last}, {first}")
        if f'"{last}, {first}"' in split.doubt:
            written += 1
            assert (settled.first, settled.last) == (first, last), full
        elif last:
            assert (settled.first, settled.last) != (first, last), full
    assert written > 120


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=40) | st.text("ab ,.()'-&王김IVX", max_size=LONGEST + 5))
def test_any_text_is_taken_apart(text: str) -> None:
    """Nothing breaks, and whoever has both names has letters of the cell in both."""
    split = split_name(text)
    assert isinstance(split, Split)
    assert set(split.first + split.last) <= set(text) | {" "}


def test_each_doubt_is_shown_however_many_there_are(typed: Typed, tmp_path: Path) -> None:
    """Both readings of every name that is not certain, by check and by plan."""
    people = [f"Ada{letter} King Lovelace" for letter in "abcdefghijklmnopqrstuvwxyz"]
    lines = ["Name,E-mail", *(f"{name},{n}@mail.example" for n, name in enumerate(people))]
    (tmp_path / "p.csv").write_text("\n".join([*lines, "Grace Hopper,g@mail.example"]))
    (tmp_path / "a.yaml").write_text(DEFINITION)
    for command in ("check", "plan"):
        answer = typed(command, "a.yaml")
        assert answer.code == 0
        said = answer.out + answer.err
        for name in people:
            first = name.split()[0]
            assert f'"{name}" is split into "{first} King" and "Lovelace"' in said
            assert f'if "{first}" and "King Lovelace" are meant' in said
        assert '"Grace Hopper" is split' not in said
