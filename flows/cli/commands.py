"""Every command of `campaign`, and how what was typed becomes an exit code."""

import os
import signal
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer

from config.errors import BadSettings, CampaignError
from flows.cli.helping import Answering, Command, Group, epilog
from flows.words.complaints import explain, stand_somewhere
from flows.words.speech import answer_failure, begin, complain, manner, say_the_last, unwritten


class Entry(NamedTuple):
    """A command: the module of this room that has a function of its name, and an example.

    `words` is what the example has after the name, `then` what is typed next. `also` is what
    newcomers expect it to be called: it works, and help does not show it.
    """

    name: str
    module: str
    words: str
    then: str
    also: str | None = None

    @property
    def example(self) -> str:
        return f"{self.name} {self.words}".rstrip()


GROUPS = {
    "Start": (
        Entry("demo", "run.demo", "", "new hiring.yaml"),
        Entry("new", "prepare.new", "hiring.yaml", "check hiring.yaml"),
        Entry("sandbox", "run.sandbox", "--port 8700", "run hiring.yaml"),
        Entry("rehearse", "run.rehearse", "hiring.yaml", "run hiring.yaml"),
        Entry("schema", "prepare.new", "-o campaign.schema.json", "check hiring.yaml"),
        Entry("problems", "prepare.problems", "rate", "problems 42"),
    ),
    "Run": (
        Entry("check", "prepare.check", "hiring.yaml", "plan hiring.yaml"),
        Entry("plan", "prepare.plan", "hiring.yaml", "run hiring.yaml"),
        Entry("run", "run.run", "hiring.yaml", "links hiring"),
        Entry("approve", "decide.approve", "hiring", "run hiring.yaml"),
        Entry("confirm", "decide.approve", "hiring", "run hiring.yaml", "confirm-pilot"),
        Entry("pause", "decide.approve", "hiring", "resume hiring"),
        Entry("resume", "decide.approve", "hiring", "run hiring.yaml"),
    ),
    "Look": (
        Entry("status", "see.status", "hiring", "history hiring"),
        Entry("links", "see.links", "hiring -o links.csv", "status hiring"),
        Entry("history", "see.history", "hiring", "report hiring"),
        Entry("report", "see.report", "hiring -o report.html", "status hiring"),
    ),
    "Decide": (
        Entry("settle", "decide.settle", "hiring", "run hiring.yaml"),
        Entry(
            "resend",
            "decide.people",
            "hiring ada@example.com --why 'It went to spam' --yes",
            "run hiring.yaml",
            "invite-again",
        ),
        Entry(
            "correct",
            "decide.people",
            "hiring grace@example.com grace@example.org --why 'She has moved'",
            "run hiring.yaml",
        ),
        Entry(
            "withdraw",
            "decide.people",
            "hiring ada@example.com --why 'She has a job'",
            "clean-up hiring",
        ),
        Entry(
            "allow",
            "decide.people",
            "hiring ada@example.com --why 'She asked for it'",
            "run hiring.yaml",
            "release",
        ),
        Entry("block", "decide.block", "ada@example.com --why 'She asked for it'", "block"),
    ),
    "Privacy": (
        Entry(
            "forget",
            "decide.forget",
            "ada@example.com --why 'She asked for it' --yes",
            "clean-up hiring",
        ),
        Entry(
            "export",
            "decide.forget",
            "ada@example.com -o ada.json",
            "forget ada@example.com --why TEXT",
        ),
        Entry("clean-up", "decide.forget", "hiring", "clean-up hiring --done", "leftovers"),
    ),
    "Operate": (
        Entry("up", "serve.up", "campaigns", "status"),
        Entry("serve", "serve.serve", "hiring.yaml", "status"),
        Entry("deploy", "serve.deploy", "hiring.yaml", "worker"),
        Entry("worker", "serve.deploy", "", "status"),
        Entry("doctor", "see.doctor", "", "status"),
        Entry("metrics", "see.status", "-o campaigns.prom", "status"),
        Entry("credentials", "serve.deploy", "assessments", "deploy"),
        Entry("ledger", "serve.ledger", "backup ledger.bak", "status"),
    ),
}
COMMANDS = tuple(entry for entries in GROUPS.values() for entry in entries)

# They stay open until they are stopped, or write something that has a form of its own.
WITHOUT_JSON = ("demo", "sandbox", "schema", "up", "serve", "metrics")
EXIT_CODES = {
    0: "all done; a command that only shows something has shown it",
    1: "stopped, or not yet time for invitations: the service was not reached, it refused the "
    "credentials, a rule or Ctrl-C stopped the campaign, or you answered no",
    2: "a mistake in a file, a setting or what was typed; found before any request",
    3: "finished, and a person must look: something is unsure, refused or waiting for approval",
    130: "ended at once by Ctrl-C; run the same command again",
}
WITHOUT_SETTINGS = ("demo", "rehearse", "sandbox", "new", "schema", "check")


class Everything(Group):
    """All commands, in their groups."""

    titled = tuple((title, [entry.name for entry in entries]) for title, entries in GROUPS.items())

    def make_context(self, *given: Any, **named: Any) -> Any:
        with _slips_answered():
            return super().make_context(*given, **named)

    def invoke(self, ctx: Any) -> Any:
        with _slips_answered():
            return super().invoke(ctx)


@contextmanager
def _slips_answered() -> Iterator[None]:
    """Print JSON for a usage error too, if --json was typed."""
    try:
        yield
    except typer.TyperException as error:
        answer_failure(error.format_message())
        raise


def application(typed: str | None = None) -> typer.Typer:
    """Build the command line with only the command that was typed, or else with all of them.

    Importing the modules of the other commands would only cost time.
    """
    chosen = [entry for entry in COMMANDS if typed and typed in (entry.name, entry.also)]
    app = typer.Typer(
        cls=Everything,
        no_args_is_help=True,
        add_completion=not chosen,
        # A stack trace with local variables would show candidates' names and addresses.
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
        rich_markup_mode=None,
    )
    app.callback()(campaign)
    for entry in chosen or COMMANDS:
        module = import_module(f"flows.cli.{entry.module}")
        carried_out = getattr(module, entry.name.replace("-", "_"))
        below = epilog(entry.example, entry.then)
        if isinstance(carried_out, typer.Typer):
            app.add_typer(carried_out, name=entry.name, epilog=below)
        else:
            kind = Command if entry.name in WITHOUT_JSON else Answering
            for name in filter(None, (entry.name, entry.also)):
                hidden = name != entry.name
                app.command(name, cls=kind, epilog=below, hidden=hidden)(carried_out)
    return app


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        print(f"campaign {version('hiring-campaigns')}")
        raise typer.Exit


def campaign(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
    log_format: Annotated[
        str | None,
        typer.Option(
            metavar="words|json",
            help="json: a run writes a line for each request to standard error.",
        ),
    ] = None,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="Print only errors and the last line.")
    ] = False,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="Print a line for each request.")
    ] = False,
    no_color: Annotated[
        bool, typer.Option("--no-color", help="Print no colors, as with NO_COLOR=1.")
    ] = False,
    debug: Annotated[
        bool, typer.Option("--debug", help="Show where an error comes from, without names.")
    ] = False,
) -> None:
    """Hiring campaigns, sent without fear.

    Write down whom to invite to which assessment; campaign adds everyone to the project and
    invites them. Nobody is invited twice, nobody is forgotten, and what may have gone wrong is
    shown with its evidence. You can type every command again safely.

    To see it work: campaign demo. To begin: campaign new hiring.yaml.
    More about a command: campaign COMMAND --help
    """
    if log_format is not None:
        os.environ["CAMPAIGN_LOG_FORMAT"] = log_format  # read with the other settings
    if context.invoked_subcommand not in WITHOUT_SETTINGS and Path(".env").is_file():
        from config.settings import settings_named

        with suppress(BadSettings):  # whoever needs them says so
            complain(*filter(None, [settings_named()]))


def carry_out() -> int:
    """Carry out the command that was typed, say what went wrong, and answer the exit code."""
    if sys.unraisablehook is sys.__unraisablehook__:
        sys.unraisablehook = show_unraisable
    sys.argv[1:] = begin(sys.argv[1:])
    if manner().no_color:
        os.environ["NO_COLOR"] = "1"
    if manner().verbose:
        from tasks.status import logs

        logs.listen(logs.InWords())
    try:
        stand_somewhere()
        application(*sys.argv[1:2])(prog_name="campaign")
    except CampaignError as error:
        answer_failure(error)
        explain(error)
        _debug(error)
        return error.exit_code
    except Exception as error:
        if unwritten(error):
            raise
        from tasks.shell import in_words

        answer_failure(in_words(error))
        complain(
            in_words(error),
            *([] if manner().debug else ["To see more, run it again with --debug"]),
        )
        _debug(error)
        return 1
    except KeyboardInterrupt:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        code = 130
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else 0
    if code == 130:
        from flows.run.interrupts import AT_ONCE

        answer_failure(AT_ONCE)
        complain(AT_ONCE)
    say_the_last()
    return code


def show_unraisable(error: "sys.UnraisableHookArgs") -> None:
    """Show what Python could not raise, but for a Ctrl-C that came amid a callback of its own."""
    if error.exc_type is not KeyboardInterrupt:
        sys.__unraisablehook__(error)


def _debug(error: BaseException) -> None:
    """With --debug: where an error comes from. No message and no value, which may name people."""
    if not manner().debug:
        return
    if before := error.__cause__ or error.__context__:
        _debug(before)
    frames = traceback.extract_tb(error.__traceback__)
    complain(*(f"  {frame.filename}:{frame.lineno} in {frame.name}" for frame in frames))
    complain(type(error).__name__)
