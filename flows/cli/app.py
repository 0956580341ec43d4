"""The command line: run what was typed; if it fails, say why and exit with its code."""

import flows.cli.loading  # noqa: F401

# isort: split

import gc
import os
import signal
import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any

import typer
from typer.core import TyperGroup
from typer.main import get_command

from config.errors import BadInput, Bug, CampaignError, quoted
from flows.cli.words import harmless

COMPLETES = "_CAMPAIGN_COMPLETE"
# The panels of `campaign --help`, with their commands as module.function of this folder.
PANELS = {
    "Begin": "demo.demo connection.doctor prepare.new connection.problems serve.sandbox",
    "Send": "prepare.check serve.orders look.plan run.run serve.up",
    "Look": "look.history outputs.links outputs.report look.status",
    "Decide about a campaign": "decide.approve decide.pause decide.resume settle.settle",
    "Decide about people": (
        "decide.block decide.correct decide.forget decide.invite decide.withdraw"
    ),
}
PLACES = {place.partition(".")[2]: place for place in " ".join(PANELS.values()).split()}


class Interrupted(CampaignError):
    says = "Interrupted. What was sent is recorded, and the same command goes on."
    exit_code = 130


def main() -> None:
    """Run the command that was typed, and exit with its code."""
    # From here on these signals raise KeyboardInterrupt, and `run` says so in a sentence.
    for each in (signal.SIGINT, signal.SIGTERM):
        signal.signal(each, signal.default_int_handler)
    # Garbage collection of imported modules would take a quarter of a command's time.
    gc.set_threshold(20_000)
    os.umask(0o077)  # others cannot read what we write, except candidates' pages
    sys.stdout, sys.stderr = harmless(sys.stdout), harmless(sys.stderr)
    if COMPLETES in os.environ:  # a shell asks how a word can be completed
        program()(prog_name="campaign")
    code = run(sys.argv[1:])
    gc.freeze()
    sys.exit(code)


def run(words: Sequence[str]) -> int:
    """Run one command. Whatever a person can cause ends in a sentence and an exit code."""
    try:
        commands = program()
        with commands.make_context("campaign", list(words)) as context:
            code = commands.invoke(context)
    except CampaignError as error:
        return say(error, words)
    except typer.Exit as end:  # after the help
        return end.exit_code
    except (KeyboardInterrupt, typer.Abort):
        print(file=sys.stderr)  # ends the line in which the terminal shows ^C
        return say(Interrupted(), words)
    except BrokenPipeError:  # a reader such as `head` has ended
        sys.stderr.close()
        return 1
    except Exception as error:  # noqa: BLE001 - the one place where anything may arrive
        if hasattr(error, "show") and hasattr(error, "exit_code"):  # typer's, about a wrong option
            error.show()
            return int(error.exit_code)
        so = "What was sent is recorded; the same command goes on from there."
        return say(Bug(error, so), words)
    return code if isinstance(code, int) else 0


def program() -> Any:
    """All commands, by name."""
    # Plain help: with rich it would take twice as long, and draw its boxes into files as well.
    app = typer.Typer(cls=Commands, no_args_is_help=True, rich_markup_mode=None)
    app.callback(invoke_without_command=True)(campaign)
    commands: Any = get_command(app)
    commands.commands = dict.fromkeys(PLACES)
    return commands


class Commands(TyperGroup):
    """The commands. Only the module of the typed command is imported; to list them, none."""

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if cmd_name not in PLACES:
            return None
        module, _, name = PLACES[cmd_name].partition(".")
        app = typer.Typer(add_completion=False, rich_markup_mode=None)
        app.command(name)(getattr(import_module(f"flows.cli.{module}"), name))
        return get_command(app)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        for title, places in PANELS.items():
            with formatter.section(title):
                formatter.write_dl([_summary(*place.split(".")) for place in places.split()])


def _summary(module: str, name: str) -> tuple[str, str]:
    """The name of a command, and the first sentence of its docstring."""
    source = Path(__file__).with_name(f"{module}.py").read_text("utf-8")
    docstring = source.partition(f"\ndef {name}(")[2].split('"""')[1]
    return name, docstring.partition(".")[0]


def campaign(
    version_: bool = typer.Option(False, "--version", help="Say which version this is."),
) -> None:
    """Send hiring campaigns: nobody is invited twice, nobody is forgotten."""
    if version_:
        print(f"campaign {version('hiring-campaigns')}")
        raise typer.Exit


def say(error: CampaignError, words: Sequence[str]) -> int:
    """Say on standard error what stopped the command, and what to type next."""
    for mistake in error.mistakes if isinstance(error, BadInput) else ():
        print(mistake, file=sys.stderr)
    for who, why in getattr(error, "objections", ()):  # for these people a decision was refused
        print(who.strip() or '""', f"{why}.", file=sys.stderr)
    print(error, file=sys.stderr)
    for wrote in error.service_words:
        print(f'The service wrote: "{wrote}"', file=sys.stderr)
    if error.then:
        print(error.then, file=sys.stderr)
    elif isinstance(error, BadInput | Interrupted):
        print("Then type: campaign", *map(quoted, words), file=sys.stderr)
    return error.exit_code
