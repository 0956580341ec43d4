"""The command line: which commands there are, and how each one ends.

A command is a line here and a function of its name in its module, which imports what it needs when
it is called: `campaign --help` imports no command at all. It returns its exit code, or nothing.
"""

import gc
import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.metadata import version
from typing import Any

import typer
from typer.core import TyperGroup

from config.errors import BadInput, Bug, CampaignError, command

COMMANDS = {
    "Begin": {
        "demo": ("serve", "See it work: a sample campaign against a sandbox, twice"),
        "new": ("prepare", "Write a definition to fill in, from an export if you like"),
        "problems": ("connection", "List the service's problems"),
        "sandbox": ("serve", "The assessment service on your own desk, to practise with"),
        "doctor": ("connection", "Check settings, credentials, ledger and Prefect"),
    },
    "Send": {
        "check": ("prepare", "Find every mistake in definitions and tables; sends nothing"),
        "plan": ("look", "Show what a run would do; sends nothing"),
        "run": ("run", "Show the plan, ask, and send what is left; safe to repeat"),
        "up": ("serve", "Prefect's pages, schedules, the watched folder and forms"),
    },
    "Look": {
        "status": ("look", "Show where campaigns stand, and who needs a person"),
        "history": ("look", "Show every request and every decision in order"),
        "links": ("outputs", "Write each candidate's link, also into a copy of your own sheet"),
        "report": ("outputs", "Write one page to send and to keep"),
    },
    "Decide about a campaign": {
        "approve": ("decide", "Approve a plan, or the pilot's email"),
        "settle": ("settle", "Say what became of a request whose result is unknown"),
        "pause": ("decide", "Send nothing more of a campaign for now"),
        "resume": ("decide", "Let a paused campaign go on"),
    },
    "Decide about people": {
        "invite": ("decide", "Invite somebody once more, or although they are held"),
        "correct": ("decide", "Put the right address in the place of a wrong one"),
        "withdraw": ("decide", "Send somebody nothing more"),
        "block": ("decide", "Never write to an address or a domain again"),
        "forget": ("decide", "Remove a person everywhere, for good"),
    },
}
INTERRUPTED = 130


def main() -> None:
    """Run the command that was typed, and exit with its code."""
    # What is imported is no garbage: to look for some in it would take a quarter of a command.
    gc.set_threshold(20_000)
    code = run(sys.argv[1:])
    gc.freeze()
    sys.exit(code)


def run(words: Sequence[str]) -> int:
    """Run one command. Whatever a person can cause ends in a sentence and an exit code."""
    try:
        code = program(words)(list(words), prog_name="campaign", standalone_mode=False)
    except CampaignError as error:
        return say(error, words)
    except (KeyboardInterrupt, typer.Abort):
        return INTERRUPTED
    except BrokenPipeError:  # whoever read our output has seen enough
        sys.stderr.close()
        return 1
    except Exception as error:  # noqa: BLE001 - the one place where anything may arrive
        if hasattr(error, "show") and hasattr(error, "exit_code"):  # what was typed is no command
            error.show()
            return int(error.exit_code)
        so = "What was sent is recorded; the same command goes on from there."
        return say(Bug(error, so), words)
    return code if isinstance(code, int) else 0


def program(words: Sequence[str]) -> typer.Typer:
    """All commands by name and help; the one that was typed with its options."""
    # Plain help: with rich it would take twice as long, and draw its boxes into files as well.
    app = typer.Typer(
        cls=InPanels, no_args_is_help=True, add_completion=False, rich_markup_mode=None
    )
    app.callback()(campaign)
    typed = next((word for word in words if not word.startswith("-")), None)
    for commands in COMMANDS.values():
        for name, (module, _) in commands.items():
            function = _nothing
            if name == typed:
                function = getattr(import_module(f"flows.cli.{module}"), name)
            app.command(name)(function)
    return app


class InPanels(TyperGroup):
    """Lists the commands as COMMANDS groups them."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        for panel, commands in COMMANDS.items():
            with formatter.section(panel):
                formatter.write_dl([(name, purpose) for name, (_, purpose) in commands.items()])


def _version(asked: bool) -> None:
    if asked:
        print(f"campaign {version('hiring-campaigns')}")
        raise typer.Exit


VERSION = typer.Option(
    False, "--version", callback=_version, is_eager=True, help="Say which version this is."
)


def campaign(version_: bool = VERSION) -> None:
    """Send hiring campaigns: nobody is invited twice, nobody is forgotten."""


def say(error: CampaignError, words: Sequence[str]) -> int:
    """Say what stopped the command of these words, and what to type next, on standard error."""
    if isinstance(error, BadInput):
        for mistake in error.mistakes:
            print(mistake, file=sys.stderr)
    print(error, file=sys.stderr)
    for wrote in error.service_words:
        print(f'The service wrote: "{wrote}"', file=sys.stderr)
    if error.then:
        print(error.then, file=sys.stderr)
    elif isinstance(error, BadInput):
        print(f"Then type: {command(*words)}", file=sys.stderr)
    return error.exit_code


def _nothing() -> None:
    """Stand in for a command that was not typed."""
