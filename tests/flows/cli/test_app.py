"""How every command ends: a sentence and an exit code, whatever happens."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from config.errors import BadInput, CampaignError, Mistake, Place, printable
from flows.cli import app, prepare, words


class Stopped(CampaignError):
    says = "The service refused everybody."
    then = "Then type: campaign status hiring"


class NeedsYou(CampaignError):
    says = "One invitation needs a decision."
    exit_code = 3


def raising(error: BaseException) -> Callable[[], None]:
    def command() -> None:
        """Do nothing but this."""
        raise error

    return command


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (Stopped(), 1, "The service refused everybody.\nThen type: campaign status hiring\n"),
        (BadInput([Mistake(Place(Path("a.csv"), 3), "no name")]), 2, "a.csv:3: no name\n"),
        (NeedsYou(), 3, "One invitation needs a decision.\n"),
        (KeyboardInterrupt(), 130, "\nInterrupted. What was sent is recorded"),
        (BrokenPipeError(), 1, ""),
        (IndexError("ada@people.test"), 1, "This is a bug in campaign, not in your file: Index"),
    ],
)
def test_how_a_command_ends(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    error: BaseException,
    code: int,
    said: str,
) -> None:
    """Nothing that a person can cause shows a stack trace, or what an exception holds."""
    monkeypatch.setattr(prepare, "check", raising(error))
    monkeypatch.setattr(sys.stderr, "close", lambda: None)
    assert app.run(["check"]) == code
    shown = capsys.readouterr().err
    assert shown.startswith(said)
    assert "Traceback" not in shown
    assert "ada@" not in shown


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["--help"], 0, "check"),
        (["--version"], 0, "campaign 1."),
        (["new", "--from", "people.sql"], 2, "campaign new hiring.yaml\n"),
        (["new", "a.yaml", "--from", "https://a.test/b.csv"], 2, "campaign new a.yaml\n"),
    ],
)
def test_what_is_typed(
    capsys: pytest.CaptureFixture[str], words: list[str], code: int, said: str
) -> None:
    assert app.run(words) == code
    shown = capsys.readouterr()
    assert said in shown.out + shown.err


@pytest.mark.parametrize(
    ("stdin", "stderr", "answer"),
    [(False, False, True), (False, True, True), (True, False, False), (True, True, None)],
)
def test_only_a_person_who_sees_the_question_is_asked(
    stdin: bool, stderr: bool, answer: bool | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []
    monkeypatch.setattr(sys.stdin, "isatty", lambda: stdin)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: stderr)
    monkeypatch.setattr(words.typer, "confirm", lambda question, **_: asked.append(question))
    assert words.nobody_objects("Send this?") is answer
    assert bool(asked) == (answer is None)


def test_no_name_is_obeyed_by_a_terminal_or_a_shell(tmp_path: Path) -> None:
    """A printed command does what it says when it is pasted."""
    name = "-o\x1b]0;x\x07\u202e\x9b $(touch pwned)\n`touch pwned`'.yaml"
    (tmp_path / name).write_text('campaign: a\nproject: {name: "A\u200fB", endtime: "\u202e"}\n')
    program = Path(sys.executable).with_name("campaign")

    def said(*words: str | Path) -> str:
        done = subprocess.run(
            words,
            env={"PATH": f"{program.parent}:/usr/bin:/bin", "HOME": str(tmp_path)},
            cwd=tmp_path,
            capture_output=True,
            check=False,
        )
        text = (done.stdout + done.stderr).decode()
        assert printable(text) == text
        assert done.returncode == 2
        return text

    checked = said(program, "check", "--", name)
    assert said("bash", "-c", checked.rpartition("then type: ")[2]) == checked
    found = json.loads(said(program, "check", "--json", "--", name))["problems"]
    assert {each["file"] for each in found} == {name}
    said(program, "check", f"--{name}")
    assert not (tmp_path / "pwned").exists()


@pytest.mark.parametrize(
    ("words", "foreign"),
    [
        ("--help", "pandas prefect pydantic ruamel openpyxl httpx sqlalchemy asyncio"),
        ("check hiring.yaml", "pandas prefect openpyxl httpx sqlalchemy"),
    ],
)
def test_a_command_imports_only_what_it_needs(tmp_path: Path, words: str, foreign: str) -> None:
    """Help is there at once, and a definition with its people in it is read without pandas."""
    person = "- {first_name: Ada, last_name: Lovelace%d, email1: a%d@people.test}\n"
    people = "".join(person % (number, number) for number in range(10))
    text = f"campaign: a\nproject: {{name: X}}\nproblem: 1\ncandidates:\n{people}"
    (tmp_path / "hiring.yaml").write_text(text)
    program = (
        "import sys; from flows.cli import app; code = app.run(sys.argv[2:]); "
        "sys.exit(code or ' '.join(set(sys.argv[1].split()) & set(sys.modules)) or 0)"
    )
    root = Path(app.__file__).parents[2]
    done = subprocess.run(
        [sys.executable, "-c", program, foreign, *words.split()],
        env={"PYTHONPATH": str(root)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
