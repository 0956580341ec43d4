"""`campaign doctor`: is everything that a campaign needs in order, and how to fix what is not."""

from itertools import zip_longest
from typing import TYPE_CHECKING

import typer

from config.command_line import command
from flows.words.speech import answer_program, counted, quoted, say

if TYPE_CHECKING:
    from tasks.status.health import Finding


def doctor() -> None:
    """Check that everything is in order; say how to fix what is not.

    Settings, credentials (one token, one list of problems), clock, ledger, disk, packages and
    Prefect. Nothing is changed and nothing is sent. Ends with 1 if something needs fixing.
    """
    from flows.cli.see.findings import findings
    from tasks.status.health import How

    every = list(findings())
    wrong = [finding for finding in every if finding.how is How.MEND]
    answer_program({"ok": not wrong, "findings": [finding.as_json() for finding in every]})
    for finding in every:
        head = [f"{finding.how:<8} {finding.what:<12}"]
        for line, first in zip_longest(_lines(finding), head, fillvalue=""):
            say(f"{first:<21} {line}")
    look = [finding for finding in every if finding.how is How.LOOK]
    say("", _sum(len(wrong), look))
    raise typer.Exit(1 if wrong else 0)


def _lines(finding: "Finding") -> list[str]:
    wrote = [quoted(finding.wrote)] if finding.wrote else []
    return [*finding.said.splitlines(), *wrote, *finding.mend.splitlines()]


def _sum(wrong: int, doubtful: "list[Finding]") -> str:
    if wrong:
        return f"{counted(wrong, 'thing')} to fix. Then run again: {command('doctor')}"
    if doubtful:
        return f"Campaigns can run, with {counted(len(doubtful), 'warning')}."
    return f"Everything is in order. Where campaigns stand: {command('status')}"
