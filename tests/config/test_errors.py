"""Mistakes say where they are, in the order in which files are read; errors have words."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from config.errors import CampaignError, Mistake, Place, command, in_order, printable

FILE = Path("people.xlsx")


@pytest.mark.parametrize(
    ("mistake", "line"),
    [
        (
            Mistake(Place(FILE, sheet="Candidates", cell="C7"), "", "email1", "ana@", "an address"),
            'people.xlsx, Candidates!C7, email1: found "ana@", wanted an address',
        ),
        (
            Mistake(Place(Path("hiring.yaml"), 3, 9), "", "project.endtime", None, "a time"),
            "hiring.yaml:3:9, project.endtime: missing, wanted a time",
        ),
        (Mistake(Place(Path("a.csv"), 4), "two tables"), "a.csv:4: two tables"),
        (Mistake(Place(Path("a\nb.csv"), 4), "x"), r"a\nb.csv:4: x"),
        (Mistake(Place(FILE, sheet="S"), "empty"), "people.xlsx, S: empty"),
        (Mistake(Place(FILE), "", "sheet", {}, "a name"), "found a mapping, wanted a name"),
        (Mistake(Place(FILE), "", "a", "one\ntwo"), r'found "one\ntwo"'),
        (Mistake(Place(FILE), "", "a", "a" * 80), f'found "{"a" * 59}…"'),
    ],
)
def test_a_mistake_is_one_line(mistake: Mistake, line: str) -> None:
    """Whatever was found, it stays one line, and begins with the place."""
    assert line in str(mistake)
    assert "\n" not in str(mistake)


def test_json_has_exactly_the_keys_that_other_programs_read() -> None:
    """`check --json` prints these objects; what does not apply is null."""
    mistake = Mistake(Place(FILE, sheet="S", cell="B2"), "", "email1", 7, "an address")
    assert mistake.as_json() == {
        "file": "people.xlsx",
        "line": None,
        "column": None,
        "sheet": "S",
        "cell": "B2",
        "field": "email1",
        "found": "7",
        "wanted": "an address",
        "message": "found 7, wanted an address",
    }


def test_mistakes_are_sorted_as_they_are_read() -> None:
    """From the top, then to the right: B before AA; files and sheets stay as they came."""
    places = [
        Place(FILE, sheet="S", cell="AA2"),
        Place(Path("a.yaml"), 9, 1),
        Place(FILE, sheet="S", cell="B2"),
        Place(Path("a.yaml"), 2, 5),
        Place(FILE, sheet="S", cell="B10"),
        Place(FILE, sheet="R", cell="A1"),
    ]
    order = [str(each.place) for each in in_order(Mistake(place, "x") for place in places)]
    assert order == [
        *("people.xlsx, S!B2", "people.xlsx, S!AA2", "people.xlsx, S!B10"),
        *("a.yaml:2:5", "a.yaml:9:1", "people.xlsx, R!A1"),
    ]


class Gone(CampaignError):
    says = """{name} is gone. Nothing was
    sent."""
    then = "Then type: campaign check {name}"
    exit_code = 3


def test_a_person_reads_the_words_of_an_error() -> None:
    """They are no docstring, which `python -OO` would leave out."""
    error = Gone(name="a.yaml")
    assert str(error) == "a.yaml is gone. Nothing was sent."
    assert (error.then, error.exit_code) == ("Then type: campaign check a.yaml", 3)
    program = "from flows.cli.app import main; main()"
    typed = [sys.executable, "-OO", "-c", program, "check", "gone.yaml"]
    did = subprocess.run(typed, capture_output=True, text=True, check=False)
    assert "1 mistake. Nothing was sent." in did.stderr


class GoneToo(CampaignError):
    says = "It is gone."
    then = "campaign check {name} --json"


ODD = [
    "$(rm x)",
    "it's `x`",
    "a\nb.yaml",
    "\x1b]0;x\x07\\",
    "\x9b'",
    "\udcff",
    "",
]


@pytest.mark.parametrize("word", ODD, ids=ascii)
def test_a_printed_command_works_as_typed(word: str) -> None:
    """Whatever a file is called; and nothing in it is obeyed by a shell or a terminal."""
    for typed in (command("check", word, "--json"), GoneToo(name=word).then):
        assert typed.isprintable()
        program = f"campaign() {{ printf '%s\\0' \"$@\"; }}; {typed}"
        did = subprocess.run(["bash", "-c", program], capture_output=True, check=True)
        assert did.stdout.decode(errors="surrogateescape").split("\0")[:-1] == [
            *("check", word, "--json")
        ]


def test_a_name_that_begins_with_a_dash_is_no_option() -> None:
    assert command("check", Path("-o.yaml"), "--json") == "campaign check ./-o.yaml --json"
    typed = command("invite", "backend", "-ada@x.org", "--why", "TEXT")
    assert typed == "campaign invite backend --why TEXT -- -ada@x.org"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Zoë 山田\u3000太郎\t🙂\n", None),
        ("عل\u200cی क्\u200dष", None),  # joiners belong to the spelling
        ("\x1b]0;x\x07", r"\u001b]0;x\u0007"),
        ("\x9b2J\x85", r"\u009b2J\u0085"),
        ("\u202eabc\u2066\u200f", r"\u202eabc\u2066\u200f"),
        ("a\rb\U000e0041\udcff", r"a\rb\udb40\udc41\udcff"),
    ],
    ids=ascii,
)
def test_what_a_terminal_would_obey_is_escaped_as_in_json(text: str, shown: str | None) -> None:
    assert printable(text) == (shown or text)
    said = text.replace("\udcff", "")
    assert json.loads(printable(json.dumps(said, ensure_ascii=False))) == said
