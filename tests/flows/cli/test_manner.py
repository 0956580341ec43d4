"""How the command line speaks: -q, -v, --no-color, --debug, --json, and its exit codes."""

import ast
import json
import os
import sys

import pytest

from flows.cli.commands import EXIT_CODES
from flows.words import speech
from flows.words.speech import FORMAT_VERSION
from tasks.status import logs
from tests.support.doubtful_campaign import KEY, DoubtfulCampaign
from tests.support.doubtful_campaign import doubtful as place
from tests.support.printed_commands import sources

__all__ = ["place"]


@pytest.mark.parametrize("words", [("-q", "pause", KEY), ("pause", KEY, "--quiet")])
def test_quiet_prints_the_last_line_alone(place: DoubtfulCampaign, words: tuple[str, ...]) -> None:
    place.run()
    answer = place.type(*words)
    assert answer.code == 0 and answer.err == ""
    [line] = answer.out.splitlines()
    assert line.startswith(f"{KEY}: paused by rita")


def test_quiet_says_what_a_detail_belongs_to(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Once, and before it."""
    monkeypatch.setattr("sys.stderr", sys.stdout)
    speech.begin(["-q"])
    speech.say("hiring: 2 added, 1 refused", "  links")
    speech.complain('  the service wrote: "no"')
    speech.say("  refused: fix it")
    speech.say_the_last()
    speech.begin([])
    shown = capsys.readouterr().out.splitlines()
    assert shown == ["hiring: 2 added, 1 refused", '  the service wrote: "no"']


@pytest.mark.parametrize("words", [("status", KEY), ("check", "hiring.yaml"), ("pause", KEY)])
def test_quiet_leaves_a_program_its_object(place: DoubtfulCampaign, words: tuple[str, ...]) -> None:
    place.run()
    assert place.type(*words, "--json", "-q").object["format_version"] == FORMAT_VERSION


def test_quiet_keeps_what_is_wrong(place: DoubtfulCampaign) -> None:
    answer = place.type("-q", "pause", "nosuch")
    assert (answer.code, answer.out) == (2, "")
    assert " nosuch " in answer.err


def test_verbose_shows_every_request(place: DoubtfulCampaign) -> None:
    """In words, naming nobody."""
    before = list(logs.log.handlers)
    try:
        place.type("status", "-v")
        place.run()
        [handler] = [each for each in logs.log.handlers if each not in before]
        shown = handler.stream.getvalue() if hasattr(handler.stream, "getvalue") else ""
    finally:
        logs.log.handlers[:] = before
    assert "invite" in shown and "example.com" not in shown


def test_no_color_and_NO_COLOR_are_the_same(place: DoubtfulCampaign) -> None:
    place.run()
    place.type("status", "--no-color")
    assert os.environ.pop("NO_COLOR") == "1"


def test_debug_says_where_an_error_comes_from_and_names_nobody(
    place: DoubtfulCampaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also an error that nobody foresaw: its message may hold whatever was read."""
    answer = place.type("pause", "nosuch", "--debug")
    assert "approve.py:" in answer.err and answer.err.rstrip().endswith("UnknownCampaign")

    def fail(*_: object) -> None:
        raise KeyError("Ada Lovelace, ada@example.com, s3cret")

    place.run()
    monkeypatch.setattr("data.campaigns.pauses.pause", fail)
    for more in ((), ("--debug",)):
        answer = place.type("pause", KEY, *more)
        assert answer.code == 1
        assert "KeyError" in answer.err and "test_manner.py:" in answer.err
        assert not any(word in answer.err for word in ("Ada", "ada@", "s3cret", "Traceback"))
    assert "type it again with --debug" not in answer.err


DECISIONS = {
    "pause": ("pause", KEY),
    "resume": ("resume", KEY),
    "withdraw": ("withdraw", KEY, "ada@example.com", "--why", "x"),
    "resend": ("resend", KEY, "ada@example.com", "--why", "x", "--yes"),
    "correct": ("correct", KEY, "ada@example.com", "ada@example.org", "--why", "x"),
    "links": ("links", KEY),
    "report": ("report", KEY),
    "export": ("export", "ada@example.com"),
    "forget": ("forget", "ada@example.com", "--why", "x", "--yes"),
    "ledger backup": ("ledger", "backup", "copy.db"),
}


@pytest.mark.parametrize("words", DECISIONS.values(), ids=DECISIONS)
def test_a_program_gets_the_same_as_people(place: DoubtfulCampaign, words: tuple[str, ...]) -> None:
    """One object: what was typed, how it came out, and the very lines that people read."""
    place.run()
    answer = place.type(*words, "--json")
    assert answer.code == 0, answer.err
    told = answer.object
    assert (told["format_version"], told["ok"], told["exit_code"]) == (FORMAT_VERSION, True, 0)
    assert told["command"] == words[-2 if words[0] == "ledger" else 0]
    assert told.get("campaign", KEY) == KEY
    assert "\n".join(told["said"]).strip() == answer.err.strip()
    if words[0] == "links":
        assert next(link["email1"] for link in told["links"]) == "ada@example.com"
    if words[0] == "export":
        assert told["campaigns"]


def test_every_object_has_the_version(place: DoubtfulCampaign) -> None:
    """Also where a command fails, and each of a list."""
    place.run()
    for words in (("status",), ("status", KEY), ("check", place.file), ("plan", place.file)):
        assert place.type(*words, "--json").object["format_version"] == FORMAT_VERSION
    failed = place.type("resume", "nosuch", "--json")
    assert (failed.code, failed.object["ok"]) == (2, False)
    assert json.loads(failed.out)["format_version"] == FORMAT_VERSION


SLIPS = {
    "no such command": ("sttaus",),
    "no such command of a group": ("ledger", "bakup"),
    "no such option": ("status", "--wy"),
    "no such option before the command": ("--versoin",),
    "an argument is missing": ("links",),
    "one too many": ("status", KEY, "more"),
    "no such value": ("links", KEY, "--format", "pdf"),
    "an option without its value": ("settle", KEY, "--project"),
    "options that do not go together": ("links", KEY, "--failed-only"),
    "a reason is missing": ("resend", KEY, "ada@example.com", "--yes", "--why", " "),
    "a command that answers people only": ("demo",),
}


@pytest.mark.parametrize("words", SLIPS.values(), ids=SLIPS)
def test_a_program_is_answered_whatever_was_mistyped(
    place: DoubtfulCampaign, words: tuple[str, ...]
) -> None:
    """The object of every other failure; people read the same words beside it."""
    place.run()
    answer = place.type(words[0], "--json", *words[1:])
    told = answer.object
    assert told == {
        "format_version": FORMAT_VERSION,
        "ok": False,
        "error": told["error"],
        "service_wrote": None,
    }
    assert answer.code == 2 and told["error"] and told["error"] in answer.err
    assert "Try 'campaign" in answer.err


def test_a_program_is_answered_where_nobody_foresaw_the_error(
    place: DoubtfulCampaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise KeyError("Ada Lovelace, ada@example.com, s3cret")

    place.run()
    monkeypatch.setattr("data.campaigns.pauses.pause", fail)
    answer = place.type("pause", KEY, "--json")
    assert (answer.code, answer.object["ok"]) == (1, False)
    assert "KeyError" in answer.object["error"] and "Ada" not in answer.out


@pytest.mark.parametrize(
    "words",
    [
        ("approve", KEY),  # no plan was shown
        ("confirm", KEY),  # there is no pilot
        ("allow", KEY, "ada@example.com", "--why", "x"),  # nobody is held
        ("settle", KEY, "--project", "again", "--why", "x"),  # nothing is unsure
        ("correct", KEY, "x@example.com", "y@example.com", "--why", "x"),
        ("ledger", "backup", "hiring.yaml"),  # a file that is there
        ("deploy", "hiring.yaml"),  # no server is named
        ("worker",),
    ],
)
def test_what_cannot_be_done_as_it_was_typed_ends_with_2(
    place: DoubtfulCampaign, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    """Whichever command it is: nothing was sent, and something else is to be typed or set."""
    monkeypatch.delenv("PREFECT_API_URL", raising=False)
    place.run()
    assert place.type(*words).code == 2


def test_the_program_ends_with_the_codes_of_the_table() -> None:
    """Every one that its source names is in the table, and the other way round."""
    named = {0, 130}
    for _, tree in sources():
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "Exit":
                values = [each for given in node.args for each in ast.walk(given)]
            elif isinstance(node, ast.Assign | ast.AnnAssign):
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                is_code = any(getattr(target, "id", "") == "exit_code" for target in targets)
                values = [node.value] if is_code and node.value else []
            else:
                values = []
            constants = (each.value for each in values if isinstance(each, ast.Constant))
            named |= {each for each in constants if type(each) is int}
    assert named == set(EXIT_CODES)
