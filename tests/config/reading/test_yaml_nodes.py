"""Two parsers read definitions: whichever does, the same is understood, at the same places."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from config.errors import BadInput
from config.reading import yaml_nodes
from config.reading.starter import starter_yaml
from config.reading.yaml_file import read_yaml
from config.tables.written import Location
from tests.config.refusals import mistakes
from tests.support import yaml_definition as sample

EXAMPLE = Path(__file__).parents[3] / "config" / "examples" / "backend.yaml"
CORPUS = [
    sample.MINIMAL,
    starter_yaml("hiring.yaml", "hiring"),
    EXAMPLE.read_text(encoding="utf-8"),
    *(f"a: {one}\n" for one in ("no", "on", "Yes", "y", "true", "TRUE", "~", "Null", "null", "")),
    *(f"a: {one}\n" for one in ("010", "0o10", "0x1F", "0b11", "1_000", "1:30", "190:20:30")),
    *(f"a: {one}\n" for one in ("1e3", ".5", "1.", ".inf", ".NaN", "+1", "-0", "=", "<<")),
    *(f"a: {one}\n" for one in ("2026-12-01", "2026-12-01 09:00", "2026-12-01T09:00:00Z")),
    *(f"a: {one}\n" for one in ("'it''s'", '"\\u00e9\\n"', "'a\n\n  b'", "a\n  b # c", "a#b", "#")),
    *(f"a: {one}\n" for one in ("|\n  b\n", ">-\n  b\n  c\n", "!t b", "!!int '1'", "&x b", "*x")),
    *(f"a: {{{one}}}\n" for one in ("b:c", "b", "b, c: ", '"b":c', "b: http://c.d", "? b", ": c")),
    *("<<: {a: 1}\nb: 2\n", "a: 1\na: 2\n", "? a\n: b\n", "a:\n- b\n-\n- c\n", "a:\n\nb:\n  # c\n"),
    *("%YAML 1.1\n---\na: no\n", "---\na: 1\n...\n", "a: 1\n---\nb: 2\n", "a:\tb\n", "\ta: b\n"),
    *("a: b\r\nc: d\r\n", "a: b\rc: d\n", "a: b\x85c: d\n", "a: b\u2028c: d\n", "a: \ufeffb\n"),
    *("a: 'Zoë 😀 \xa0'\n", "a: b: c\n", "a: [b\n", "a: 'b\n", "- a\n", "a: @b\n", "- - a\n - b\n"),
    *(f"{'a' * 1024}: b\n", f"{'a' * 1025}: b\n"),
    *("- " * 100_000 + "a", "{a: " * 100_000),
]
PIECES = st.sampled_from(
    [
        *("a", "b: ", "- ", "\n", "\n  ", "\n    ", "\n- ", " ", "{", "}", "[", "]", ",", ":"),
        *('"', "'", "#", " #", "---", "...", "1", "é", "😀", "=", "<<: ", "~", "null", "1:30"),
        *("-", " : ", ".", "@", "+", "{a: b, ", '{a: "b", ', "{: ", "\t", "|", ">", "&x ", "*x"),
        *("? ", "!t ", "%", "\\", "\r\n", "\x85", "\u2028", "\ufeff", "\xa0"),
    ]
)


def understood(text: str) -> list[Any]:
    """Everything that is read from a definition, with all its places, or what is wrong with it."""
    try:
        document = read_yaml(text.encode(), "a.yaml")
    except BadInput as error:
        return [str(problem) for problem in error.problems]
    places = [(str(document.name(at)), str(document.value(at))) for at in ways(document.fields)]
    return [repr(document.fields), [str(problem) for problem in document.problems], places]


def ways(content: Any, so_far: Location = ()) -> Iterator[Location]:
    yield so_far
    inside = content.items() if isinstance(content, dict) else ()
    for step, value in enumerate(content) if isinstance(content, list) else inside:
        yield from ways(value, (*so_far, step))


def check_read_alike(text: str) -> None:
    with patch.object(yaml_nodes, "READ_ALIKE", re.compile(r"(?!)")):
        by_ruamel = understood(text)
    assert understood(text) == by_ruamel


@pytest.mark.parametrize("text", CORPUS, ids=range(len(CORPUS)))
def test_what_people_write_is_read_alike(text: str) -> None:
    """Old words for yes and no, old numbers, times, quotes, blocks: none depends on the parser."""
    check_read_alike(text)


def test_an_anchor_that_is_used_twice_is_told_once_each() -> None:
    """In the words of a complaint alone: no warning of a library stands beside them."""
    assert [
        problem.place.line
        for problem in mistakes(yaml_nodes.read_nodes, b"a: &x 1\nb: &x 2\n", "campaign.yaml")
    ] == [1, 2]


@settings(max_examples=400, deadline=None)
@given(st.lists(PIECES, max_size=14).map("".join))
@example("\n...\n...")
@example("...\n...")
def test_whatever_is_written_is_read_alike(text: str) -> None:
    """Nothing that anybody might write means one thing to one parser and another to the other."""
    check_read_alike("k: " + text)
    check_read_alike(text)


@pytest.mark.parametrize("text", [starter_yaml("a.yaml", "a"), EXAMPLE.read_text(encoding="utf-8")])
def test_what_people_begin_with_is_read_fast(text: str) -> None:
    """A definition that was made from the starter or the example is left to libyaml."""
    assert yaml_nodes.READ_ALIKE.fullmatch(text)
