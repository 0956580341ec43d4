"""Help: in groups, whole lines, examples that work; and what a shell completes."""

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from data.sending import runs
from data.store.ledger import Ledger
from flows.cli.commands import COMMANDS, GROUPS, Entry, application
from flows.cli.helping import ALSO, first_line
from flows.cli.main import main
from sandbox.server import Sandbox
from tests.support.documents import Shell
from tests.support.ledgers.small_ledger import definition, intent
from tests.support.prefects.prefect_home import Standing

CAMPAIGN = Path(sys.executable).with_name("campaign")
LONGEST = 64  # characters of a line of `campaign --help`, beside the name
Type = Callable[..., tuple[int, str]]


@pytest.fixture(autouse=True)
def clean_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each test has a ledger and a folder of its own."""
    for name in os.environ:
        if name.startswith(("ASSESSMENT_", "CAMPAIGN_")) and name != "CAMPAIGN_TESTS_SESSION":
            monkeypatch.delenv(name)
    monkeypatch.setenv("CAMPAIGN_DATABASE_URL", f"sqlite:///{tmp_path}/ledger.db")
    monkeypatch.setenv("CAMPAIGN_OUTPUT_DIR", str(tmp_path / "out"))
    monkeypatch.setattr("config.folders.home", lambda: tmp_path / "home")
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def typed(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Type:
    """Type a command; answers its exit code and what it printed on both streams."""

    def type_it(*words: object) -> tuple[int, str]:
        monkeypatch.setattr(sys, "argv", ["campaign", *map(str, words)])
        with pytest.raises(SystemExit) as ended:
            main()
        return ended.value.code or 0, "".join(capsys.readouterr())  # type: ignore[return-value]

    return type_it


@cache
def every() -> dict[str, Any]:
    """Every command by what is typed for it, those of `ledger` too."""
    top = get_command(application()).commands  # type: ignore[attr-defined]
    below = {f"ledger {name}": one for name, one in top["ledger"].commands.items()}
    return top | below


# -- what is read -----------------------------------------------------------------------------


def test_the_commands_stand_in_groups(typed: Type) -> None:
    """Each under its title, in whole lines that fit a terminal."""
    code, help_text = typed("--help")
    assert code == 0
    titles = re.findall(r"^(\w+):$", help_text, re.MULTILINE)
    assert titles == ["Options", "Start", "Run", "Look", "Decide", "Privacy", "Operate"]
    assert "..." not in help_text.partition("COMMAND [ARGS]...")[2]
    for entry in COMMANDS:
        line = first_line(every()[entry.name])
        assert len(line) <= LONGEST, f"at most {LONGEST} characters: {line}"
        assert re.search(rf"^  {entry.name} +{re.escape(line)}$", help_text, re.MULTILINE), line


def test_every_command_is_in_one_group() -> None:
    names = [entry.name for entries in GROUPS.values() for entry in entries]
    shown = [name for name, one in get_command(application()).commands.items() if not one.hidden]  # type: ignore[attr-defined]
    assert sorted(set(names)) == sorted(names) == sorted(shown)


@pytest.mark.parametrize("words", [entry.name for entry in COMMANDS] + ["ledger backup"])
def test_help_is_for_people(typed: Type, words: str) -> None:
    """It names no type of Python, explains each option, and ends with an example and the next."""
    code, help_text = typed(*words.split(), "--help")
    assert code == 0
    assert not re.search(r"<(str|path|int|float|list)\b|\{", help_text.replace("invites: {", ""))
    options = help_text.partition("Options:")[2].partition("Example:")[0]
    assert "..." not in options
    example, then = help_text.rstrip().splitlines()[-2:]
    assert example.startswith(f"  Example:  campaign {words}")
    assert then.startswith("  Next:     campaign ")


@pytest.mark.parametrize(
    "words", [entry.example for entry in COMMANDS] + [e.then for e in COMMANDS]
)
def test_an_example_is_spelled_right(words: str) -> None:
    """Its command, options and arguments are accepted, whatever it would find."""
    name, *rest = shlex.split(words)
    assert every()[name].make_context(name, rest).command is every()[name]


@pytest.mark.parametrize(
    ("words", "nearest"),
    [
        (["chekc"], "Did you mean 'check'?"),
        (["sttaus", "--json"], "Did you mean 'status'?"),
        (["ledger", "bakup"], "Did you mean 'backup'?"),
        (["check", "x.yaml", "--jsn"], "--json"),
        (["--versoin"], "--version"),
        (["status", "--debgu"], "--debug"),
        (["invite-agian"], "Did you mean 'invite-again'?"),
        (["confirm-pilto"], "'confirm-pilot'"),
        (["plan", "x.yaml", "--loook"], "--ask-service"),
    ],
)
def test_a_slip_names_the_nearest(typed: Type, words: list[str], nearest: str) -> None:
    code, printed = typed(*words)
    assert (code, nearest in printed) == (2, True), printed


@pytest.mark.parametrize("entry", [entry for entry in COMMANDS if entry.also])
def test_a_command_is_found_by_the_name_that_newcomers_expect(typed: Type, entry: Entry) -> None:
    """And help, which is the contract, shows its own name alone."""
    code, help_text = typed(entry.also, "--help")
    assert (code, first_line(every()[entry.name]) in help_text) == (0, True)
    assert str(entry.also) not in typed("--help")[1]
    assert complete(f"campaign {entry.also[:-1] if entry.also else ''}").split() == []


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        ("rehearse x.yaml --keep", "rehearse x.yaml --open"),
        ("settle x --invites again --now --who=Ada", "settle x --invites again --no-wait --by=Ada"),
        ("plan x.yaml --look", "plan x.yaml --ask-service"),
        ("forget a@b.c --lift --who Ada", "forget a@b.c --allow-again --by Ada"),
        ("run x.csv --definition x.yaml", "run x.csv --campaign x.yaml"),
        ("block a@b.c --why x -- --who", "block a@b.c --why x -- --who"),
    ],
)
def test_the_other_names_of_an_option_do_the_same(typed: Type, words: str, shown: str) -> None:
    """Scripts that have them go on working; help shows one name of each."""
    name, *before = shlex.split(words)
    _, *now = shlex.split(shown)
    contexts = [every()[name].make_context(name, rest) for rest in (before, now)]
    assert contexts[0].params == contexts[1].params
    assert not ALSO.keys() & set(re.findall(r"--[\w-]+", typed(name, "--help")[1])) - {"--lift"}


def test_an_option_that_a_command_has_is_never_another_one() -> None:
    """`--lift` was both: it still takes somebody off the do-not-contact list."""
    assert every()["block"].make_context("block", ["a@b.c", "--lift"]).params["lift"] is True
    assert "--allow-again" not in {name for each in every()["block"].params for name in each.opts}


# -- what works -------------------------------------------------------------------------------


# They start servers, or need one: tried with the documents.
SERVERS = {"demo", "rehearse", "sandbox", "up", "serve", "deploy", "worker", "credentials"}
NEED_MORE = {"approve", "confirm"}  # a plan that waits, a pilot
NOBODY_HELD = {"allow": 2}


@pytest.mark.xdist_group("prefect")
def test_the_examples_work_one_after_the_other(tmp_path: Path, standing: Standing) -> None:
    """A newcomer who types them in their order meets nothing that fails."""
    with (
        Sandbox(tmp_path / "sandbox", port=0) as service,
        Shell(tmp_path, standing.warm, PREFECT_API_URL=standing.server.api) as shell,
    ):
        shell.environment |= service.environment()
        for entry in COMMANDS:
            if entry.name in SERVERS | NEED_MORE:
                continue
            code, printed = shell.run(f"campaign {entry.example}")
            assert code == NOBODY_HELD.get(entry.name, 0), f"{entry.example}\n{printed}"


@cache
def completion() -> str:
    """The product's own script for bash, as the product prints it."""
    typed = f"PATH={CAMPAIGN.parent}:$PATH; campaign --show-completion; exit"
    ended = subprocess.run(["bash", "-c", typed], capture_output=True, text=True, check=True)
    return ended.stdout


def complete(line: str) -> str:
    """Ask bash what it would complete at the end of a line."""
    words = shlex.split(line) + ([""] if line.endswith(" ") else [])
    array = " ".join(map(shlex.quote, words))
    script = (
        f"PATH={CAMPAIGN.parent}:$PATH; {completion()}\n"
        f"COMP_WORDS=({array}); COMP_CWORD={len(words) - 1}; "
        '_campaign_completion campaign; printf "%s\\n" "${COMPREPLY[@]}"'
    )
    ended = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True)
    assert ended.stderr == ""
    return ended.stdout


@pytest.mark.journey
def test_a_shell_completes_commands_options_and_keys(tmp_path: Path) -> None:
    """With the script that the program prints, in a real bash; files are completed by bash."""
    assert complete("campaign re").split() == ["rehearse", "resume", "report", "resend"]
    assert complete("campaign links --fo").split() == ["--format"]
    assert complete("campaign links --format x").split() == ["xlsx"]
    assert complete("campaign check hir").split() == []
    assert complete("campaign status ").split() == []  # there is no ledger, and none is made
    assert not (tmp_path / "ledger.db").exists()
    with Ledger.open(f"sqlite:///{tmp_path}/ledger.db") as ledger:
        for key in ("autumn", "spring"):
            runs.begin(ledger, key, definition("ada", key=key), intent())
    assert complete("campaign links ").split() == ["autumn", "spring"]
    assert complete("campaign plan x.yaml --only sp").split() == ["spring"]


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_the_other_shells_are_answered(typed: Type, shell: str, monkeypatch: Any) -> None:
    """As their scripts ask, where none of them is installed."""
    monkeypatch.setenv("_CAMPAIGN_COMPLETE", f"complete_{shell}")
    monkeypatch.setenv("_TYPER_COMPLETE_ARGS", "campaign stat")
    monkeypatch.setenv("_TYPER_COMPLETE_FISH_ACTION", "get-args")
    code, printed = typed()
    assert (code, "status" in printed, "check" in printed) == (0, True, False)
