"""YAML that is no definition; check.files.md shows what is said about each."""

from pathlib import Path

import pytest

from config.reading.reading import read_campaigns
from config.reading.yaml_nodes import PLAIN_WORDS, TOO_DEEP, read_nodes
from config.tables.file_bytes import FOLDER, NO_SUCH_FILE, NOT_ORDINARY
from tests.config.refusals import mistakes
from tests.support import yaml_definition as sample
from tests.support.documents import fits

# What ruamel.yaml says of each, and where it is.
BAD = [
    ("campaign: a\nproject:\n\tname: x\n", "3:1", "'\\t' that cannot start"),
    ("campaign: a: b\n", "1:12", "mapping values are not allowed"),
    ("campaign: @a\n", "1:11", "'@' that cannot start"),
    ("campaign: `a`\n", "1:11", "'`' that cannot start"),
    ("campaign: %a\n", "1:11", "'%' that cannot start"),
    ("campaign: 'a\n\n", "1:11", "while scanning a quoted scalar"),
    ("project: {name: A\n", "1:10", "expected ',' or"),
    ("project:\n  name: A\n problem: 1\n", "3:2", "expected <block end>"),
    ("campaign: a\nproject\nproblem: 1\n", "2:1", "could not find expected ':'"),
    (sample.MINIMAL + "---\na: 1\n", "6:1", "expected a single document"),
    ("campaign: *a\n", "1:11", "undefined alias"),
]


def complaints(path: Path) -> list[str]:
    return [str(problem).removeprefix(str(path)) for problem in mistakes(read_campaigns, path)]


@pytest.mark.parametrize(("text", "place", "machine"), BAD, ids=[each[2] for each in BAD])
def test_a_broken_file_gets_one_plain_sentence(
    tmp_path: Path, text: str, place: str, machine: str
) -> None:
    """In words of people who write campaigns, where the mistake begins."""
    path = tmp_path / "c.yaml"
    path.write_text(text, encoding="utf-8")
    assert complaints(path) == [f":{place}: {dict(PLAIN_WORDS)[machine]}"]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_byte_order_marks_are_understood(tmp_path: Path, encoding: str) -> None:
    """Editors on Windows put a mark in front, or use two bytes to a letter."""
    path = tmp_path / "c.yaml"
    path.write_text(sample.MINIMAL.replace("Ada", "Zoë"), encoding=encoding)
    assert read_campaigns(path).definitions[0].candidates[0].first_name == "Zoë"


def test_what_is_no_file(tmp_path: Path) -> None:
    """A missing file, a folder, a device and an unknown kind are told apart."""
    assert complaints(tmp_path / "c.yaml") == [f": {NO_SUCH_FILE}"]
    assert complaints(tmp_path) == [f": {FOLDER}"]
    assert complaints(Path("/dev/zero")) == [f": {NOT_ORDINARY}"]
    assert complaints(Path("a\0.yaml")) == [f": {NO_SUCH_FILE}"]
    other = tmp_path / "c.docx"
    other.write_text("x")
    assert [problem.found for problem in mistakes(read_campaigns, other)] == ['"c.docx"']


def test_a_field_written_twice_is_told_with_both_places(tmp_path: Path) -> None:
    """Taking either one in silence might be the wrong one."""
    path = tmp_path / "c.yaml"
    path.write_text(sample.MINIMAL + "problem: 2\n")
    (complaint,) = complaints(path)
    assert fits(f":6:1, problem: …, first at {path}:3:1", complaint)
    path.write_text(sample.MINIMAL.replace("last_name", "first_name"))
    assert any(c.startswith(":5:23, first_name: ") for c in complaints(path))


def test_anchors_and_tags_are_refused(tmp_path: Path) -> None:
    """Nothing in a definition stands for something else; nothing in it is run."""
    path = tmp_path / "c.yaml"
    path.write_text(sample.MINIMAL.replace("{name: A}", "{name: &x A, description: *x}"))
    assert any(said.startswith(":2:17: anchors ") for said in complaints(path))
    path.write_text(sample.MINIMAL.replace("A}", "!!python/object:os.system A}"))
    assert any("python/object:os.system" in said for said in complaints(path))


def test_an_anchor_that_is_used_twice_is_told_once_each() -> None:
    """In the words of a complaint alone: no warning of a library stands beside them."""
    assert [
        problem.place.line
        for problem in mistakes(read_nodes, b"a: &x 1\nb: &x 2\n", "campaign.yaml")
    ] == [1, 2]


@pytest.mark.parametrize("opening", ["- ", "{a: "])
def test_what_is_nested_without_end_is_refused(opening: str) -> None:
    """It is a mistake in the file, however deep it goes."""
    (mistake,) = mistakes(read_nodes, (opening * 100_000).encode(), "campaign.yaml")
    assert mistake.message == TOO_DEEP


def test_a_tower_of_aliases_costs_nothing(tmp_path: Path) -> None:
    """Nine lines that would unfold to a billion words are refused at once."""
    tower = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    tower += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 9)]
    path = tmp_path / "c.yaml"
    path.write_text("\n".join(tower))
    assert any("anchors" in said for said in complaints(path))
