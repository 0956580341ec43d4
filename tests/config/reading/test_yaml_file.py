"""YAML that is no definition: one plain sentence, with line and column."""

from pathlib import Path

import pytest

from config.reading.reading import read_campaigns
from tests.config.refusals import mistakes
from tests.support import yaml_definition as sample
from tests.wording import EMPTY_FILE, NO_FILE, NOT_ORDINARY, NOT_TEXT

BAD = [
    ("tab", "campaign: a\nproject:\n\tname: x\n", "3:1", "this line is indented with a tab"),
    ("colon", "campaign: a: b\n", "1:12", "put quotes around text"),
    ("at sign", "campaign: @a\n", "1:11", "begins with @"),
    ("open quote", "campaign: 'a\n\n", "1:11", "a quote is opened and never closed"),
    ("open mapping", "project: {name: A\n", "1:10", "not closed"),
    ("no colon", "campaign: a\nproject\nproblem: 1\n", "2:1", "a colon is missing"),
    ("two documents", sample.MINIMAL + "---\na: 1\n", "6:1", "second document"),
    ("a list", "- a\n", "1:1", "wanted a mapping"),
    ("text", "hello\n", "1:1", "wanted a mapping"),
    ("comments only", "# nothing\n", "", EMPTY_FILE),
    ("spaces only", " \n\n", "", EMPTY_FILE),
    ("nothing", "", "", EMPTY_FILE),
    ("control character", "campaign: a\nx: \x01\n", "2", "U+0001 is not allowed"),
    ("deep nesting", "a: " + "[" * 20_000, "", "nested too deeply"),
    ("alias", "campaign: *a\n", "1:11", "aliases"),
]


def complaints(path: Path) -> list[str]:
    return [str(problem).removeprefix(str(path)) for problem in mistakes(read_campaigns, path)]


@pytest.mark.parametrize(("text", "place", "said"), [pytest.param(*b[1:], id=b[0]) for b in BAD])
def test_a_broken_file_gets_one_plain_sentence(
    tmp_path: Path, text: str, place: str, said: str
) -> None:
    """What is wrong and where, in words of people who write campaigns."""
    path = tmp_path / "c.yaml"
    path.write_text(text, encoding="utf-8")
    (complaint,) = complaints(path)
    assert complaint.startswith(f":{place}: " if place else ": ")
    assert said in complaint


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"\x89PNG\r\n\x1a\n\x00\x00", "binary"),
        (b"campaign: a\nname: Zo\xeb\n", f":2: {NOT_TEXT} in UTF-8"),
    ],
)
def test_bytes_that_are_no_text(tmp_path: Path, data: bytes, said: str) -> None:
    """A picture, or another encoding, is told as such."""
    path = tmp_path / "c.yaml"
    path.write_bytes(data)
    (complaint,) = complaints(path)
    assert said in complaint


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_byte_order_marks_are_understood(tmp_path: Path, encoding: str) -> None:
    """Editors on Windows put a mark in front, or use two bytes to a letter."""
    path = tmp_path / "c.yaml"
    path.write_text(sample.MINIMAL.replace("Ada", "Zoë"), encoding=encoding)
    assert read_campaigns(path).definitions[0].candidates[0].first_name == "Zoë"


def test_what_is_no_file(tmp_path: Path) -> None:
    """A missing file, a folder, a device and an unknown kind are told apart."""
    assert complaints(tmp_path / "c.yaml") == [f": {NO_FILE}"]
    assert complaints(tmp_path) == [": this is a folder, wanted a file"]
    assert complaints(Path("/dev/zero")) == [f": {NOT_ORDINARY}"]
    assert complaints(Path("a\0.yaml")) == [f": {NO_FILE}"]
    other = tmp_path / "c.docx"
    other.write_text("x")
    assert "wanted a definition (.yaml)" in complaints(other)[0]


def test_a_field_written_twice_is_told_with_both_places(tmp_path: Path) -> None:
    """Taking either one in silence might be the wrong one."""
    path = tmp_path / "c.yaml"
    path.write_text(sample.MINIMAL + "problem: 2\n")
    assert complaints(path) == [
        f":6:1, problem: problem is written twice, first at {path}:3:1",
    ]
    path.write_text(sample.MINIMAL.replace("last_name", "first_name"))
    assert any(":5:23, first_name: first_name is written twice" in c for c in complaints(path))


def test_anchors_and_tags_are_refused(tmp_path: Path) -> None:
    """Nothing in a definition stands for something else; nothing in it is run."""
    path = tmp_path / "c.yaml"
    path.write_text(sample.MINIMAL.replace("{name: A}", "{name: &x A, description: *x}"))
    assert any(":2:17: anchors (&) are not supported" in said for said in complaints(path))
    path.write_text(sample.MINIMAL.replace("A}", "!!python/object:os.system A}"))
    assert any("is not supported; leave it out" in said for said in complaints(path))


def test_a_tower_of_aliases_costs_nothing(tmp_path: Path) -> None:
    """Nine lines that would unfold to a billion words are refused at once."""
    tower = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    tower += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 9)]
    path = tmp_path / "c.yaml"
    path.write_text("\n".join(tower))
    assert any("anchors" in said for said in complaints(path))
