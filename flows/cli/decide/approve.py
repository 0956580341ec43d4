"""`campaign approve`: a person looks at what a run would send, and approves or rejects it."""

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from config.command_line import command
from flows.cli.arguments import Key
from flows.cli.decide.pause import Why, ledger_with
from flows.cli.who import Who, login_name
from flows.words.closing import lines_of
from flows.words.manner import for_program
from flows.words.speech import answer_to, as_typed_for, say

if TYPE_CHECKING:
    from data.store.tables import Approval


def approve(
    key: Key,
    reject: Annotated[bool, typer.Option("--reject", help="Reject the plan; needs --why.")] = False,
    plan: Annotated[
        str | None,
        typer.Option(
            metavar="CODE", help="Decide only if this is still the plan; a run shows its code."
        ),
    ] = None,
    why: Why = "",
    who: Who = None,
) -> None:
    """Approve or reject the plan that a run has shown.

    For definitions with  invites: {approval: required}. Nothing is sent now: the next run sends
    exactly what was approved. The approval is void once the definition or the ledger has changed.
    """
    from data.campaigns import approvals
    from data.campaigns.approvals import Answer, code_of
    from tasks.plan.approval import decide

    if reject and not why.strip():
        raise typer.BadParameter("a rejection needs a reason, which is recorded: --why TEXT")
    given = Answer.REJECTED if reject else Answer.APPROVED
    with ledger_with(key) as ledger:
        shown, _ = ledger.read(approvals.look, key)
        if shown is not None:
            say(*lines_of(shown))
            if plan is None and not _agreed(shown, "Reject" if reject else "Approve"):
                say("Nothing was decided.")
                raise typer.Exit(1)
        seen = plan or (code_of(shown) if shown else None)
        asked = decide(ledger, key, given, seen, who or login_name(), why)
    for_program(plan=code_of(asked), answer=given)
    say(f"{key}: plan {code_of(asked)} {given}; nothing was sent now")
    if given is Answer.APPROVED:
        again = as_typed_for(key, asked.file, asked.definition, sheet=asked.sheet)
        say(f"  send: {command('run', *again)}")


def _agreed(asked: "Approval", verb: str) -> bool:
    """Ask whoever has just seen the plan; without a terminal, typing the command is the answer."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        return True
    from data.campaigns.approvals import code_of

    answer = answer_to(f"{verb} plan {code_of(asked)}? [y/N] ")
    return (answer or "").strip().casefold() in ("y", "yes")
