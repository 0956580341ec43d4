"""Every command of `campaign`, and how what was typed becomes an exit code.

0 all done; 1 stopped, or not yet time for invitations; 2 bad input or usage, before any request;
3 finished, but a person must look, or nothing sent before a person approves; 130 interrupted.
"""

import os
import signal
import sys
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Annotated

import typer

from config.errors import BadSettings, CampaignError
from flows.words.complaints import explain
from flows.words.speech import complain

# In the order of the help; each command, or group of them, is what has its name in its module.
COMMANDS = (
    ("demo", "flows.cli.run.demo"),
    ("rehearse", "flows.cli.run.rehearse"),
    ("sandbox", "flows.cli.run.sandbox"),
    ("new", "flows.cli.prepare.new"),
    ("check", "flows.cli.prepare.check"),
    ("plan", "flows.cli.prepare.plan"),
    ("run", "flows.cli.run.run"),
    ("status", "flows.cli.see.status"),
    ("links", "flows.cli.see.links"),
    ("history", "flows.cli.see.history"),
    ("report", "flows.cli.see.report"),
    ("approve", "flows.cli.decide.approve"),
    ("confirm", "flows.cli.decide.confirm"),
    ("pause", "flows.cli.decide.pause"),
    ("resume", "flows.cli.decide.pause"),
    ("settle", "flows.cli.decide.settle"),
    ("resend", "flows.cli.decide.resend"),
    ("block", "flows.cli.decide.block"),
    ("allow", "flows.cli.decide.allow"),
    ("correct", "flows.cli.decide.correct"),
    ("withdraw", "flows.cli.decide.correct"),
    ("clean-up", "flows.cli.decide.clean_up"),
    ("forget", "flows.cli.decide.forget"),
    ("export", "flows.cli.decide.export"),
    ("problems", "flows.cli.prepare.problems"),
    ("doctor", "flows.cli.see.doctor"),
    ("metrics", "flows.cli.see.metrics"),
    ("up", "flows.cli.serve.up"),
    ("serve", "flows.cli.serve.serve"),
    ("deploy", "flows.cli.serve.deploy"),
    ("credentials", "flows.cli.serve.credentials"),
    ("ledger", "flows.cli.serve.ledger"),
)

WITHOUT_SETTINGS = ("demo", "rehearse", "sandbox", "new", "check")


def application(typed: str | None = None) -> typer.Typer:
    """Build the command line: with the command that was typed alone, else with all of them.

    A command's module, and what that imports, costs time to whoever typed another one.
    """
    app = typer.Typer(
        no_args_is_help=True,
        add_completion=False,
        # A stack trace with local variables would show candidates' names and addresses.
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
        rich_markup_mode=None,
    )
    app.callback()(campaign)
    for name, module in [listed for listed in COMMANDS if listed[0] == typed] or COMMANDS:
        entry = getattr(import_module(module), name.replace("-", "_"))
        if isinstance(entry, typer.Typer):
            app.add_typer(entry, name=name)
        else:
            app.command(name)(entry)
    return app


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        print(f"campaign {version('hiring-campaigns')}")
        raise typer.Exit


def campaign(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Say which version.")
    ] = False,
    log_format: Annotated[
        str | None,
        typer.Option(
            metavar="words|json", help="json: runs write a line for each request on standard error."
        ),
    ] = None,
) -> None:
    """Hiring campaigns, sent without fear.

    Write down whom to invite to which assessment; campaign adds everyone to the project and
    invites them. Nobody is invited twice, nobody is forgotten, and what may have gone wrong is
    shown with its evidence. Every command is safe to type again.

    To see it work: campaign demo. To begin: campaign new hiring.yaml
    """
    if log_format is not None:
        os.environ["CAMPAIGN_LOG_FORMAT"] = log_format  # read with the other settings
    if context.invoked_subcommand not in WITHOUT_SETTINGS and Path(".env").is_file():
        from config.settings import settings_named

        with suppress(BadSettings):  # whoever needs them says so
            complain(*filter(None, [settings_named()]))


def carry_out() -> int:
    """Carry out the command that was typed, say what went wrong, and answer the exit code."""
    try:
        application(*sys.argv[1:2])(prog_name="campaign")
    except CampaignError as error:
        explain(error)
        return error.exit_code
    except KeyboardInterrupt:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        code = 130
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else 0
    if code == 130:
        from flows.run.interrupts import AT_ONCE

        complain(AT_ONCE)
    return code
