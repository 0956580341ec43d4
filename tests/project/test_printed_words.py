"""What the source prints: commands that are real, and sentences that tests quote in one place."""

import re
from collections import defaultdict
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

import pytest

from tests.flows.cli.test_transcripts import transcripts
from tests.support.printed_commands import commands, literals, options, sites, strings
from tests.support.sources import parsed

pytestmark = pytest.mark.xdist_group("sources")  # parsed by one worker

# A command's name that is nothing to type.
NAMED = {
    ("tasks/outputs/workbook_copy/notes.py", "check"): "who has written a note in a cell",
}


def mentions() -> list[tuple[str, str, str, bool]]:
    """Every `campaign NAME …` in a string: file, name, the rest, and whether it is help."""
    pattern = re.compile(r"(^|`|  |: |['\"])campaign ([a-z][a-z-]+)((?: (?:--?[a-z-]+|[A-Z]+))*)")
    return [
        (file, found[2], found[3], is_help)
        for file, text, is_help in literals()
        for found in pattern.finditer(" ".join(re.split(r"[ \n](?= *\n)|\n *", text)))
    ]


def test_every_command_that_a_string_mentions_is_real() -> None:
    """A word of prose that follows `campaign` at such a place has none of a command's options."""
    wrong = [
        (file, name, rest)
        for file, name, rest, _ in mentions()
        if set(re.findall(r"--?[a-z-]+", rest)) - (options(name) if name in commands() else set())
    ]
    assert wrong == []


def test_what_is_to_be_typed_is_written_by_one_function() -> None:
    """So that it is quoted as a shell wants it, and tried (tests/flows/cli/test_next_steps.py)."""
    by_hand = {
        (file, name) for file, name, _, is_help in mentions() if name in commands() and not is_help
    }
    assert by_hand == set(NAMED)


def test_every_call_names_a_real_command() -> None:
    """With options that it has; words that only the moment of printing knows are tried there."""
    for site in sites():
        words = [word if isinstance(word, str) else "" for word in site.words]
        name = " ".join(words[:2]) if words[:1] == ["ledger"] else words[0] if words else ""
        if name:
            assert name in commands(), site
            assert {word for word in words if word.startswith("-")} <= options(name), site


TESTS = Path(__file__).parents[1]
RUN = 5  # words by which a sentence is known again; a sentence of four, by all of them


def runs(text: str, words: int = RUN) -> Iterator[tuple[str, ...]]:
    """All stretches of so many plain words in a text; anything else ends a stretch."""
    found = [word.strip("\"'.,:()?!") for word in text.split()]
    for at in range(len(found) - words + 1):
        if all(re.fullmatch("[A-Za-z][a-z'-]*", word) for word in found[at : at + words]):
            yield tuple(found[at : at + words])


# Tables of all the words of one kind: most of them no command shows in a reasonable time.
TABLES = {"tasks/service/test_verdict.py", "flows/report/test_story.py"}


def test_a_sentence_is_held_in_one_place() -> None:
    """So that another wording costs one edit: by a transcript, or else by one module of tests.

    The documents quote what they show, and are read beside the product (tests/project).
    """
    owners = defaultdict(set)
    for _, text, is_help in literals():
        if not is_help:
            for run in (*runs(text), *(runs(text, 4) if len(text.split()) == 4 else ())):
                owners[run].add(text)
    places = defaultdict(set)
    for transcript in transcripts():
        for run in chain(runs(text := transcript.read_text("utf-8")), runs(text, 4)):
            places[run].add("a transcript")
    for path in TESTS.rglob("*.py"):
        if path.parent != Path(__file__).parent:
            for text, is_help in strings(parsed(path)):
                plain = "" if is_help else text.replace("\\", "")
                for run in chain(runs(plain), runs(plain, 4)):
                    places[run].add(str(path.relative_to(TESTS)))
    again = [
        (" ".join(run), sorted(held - TABLES))
        for run, held in places.items()
        if len(owners.get(run, ())) == 1 and len(held - TABLES) > 1
    ]
    assert again == []
