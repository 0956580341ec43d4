"""What the source says of commands: real ones, with real options, and written by `command`."""

import re

from tests.support.printed_commands import commands, literals, options, sites

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
