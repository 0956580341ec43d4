"""The verdicts that `campaign settle` takes as options, each with what it says of the service."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from flows.cli.outputs import output_option


class Attached(StrEnum):
    """What may be said of the problem."""

    ATTACHED = "attached"
    AGAIN = "again"


class Added(StrEnum):
    """What may be said of all unsure adds."""

    AGAIN = "again"
    WITHDRAW = "withdraw"


class Sent(StrEnum):
    """What may be said of all unsure invitations."""

    SENT = "sent"
    AGAIN = "again"
    WITHDRAW = "withdraw"


ForProject = Annotated[
    str | None,
    typer.Option(
        metavar="ID|again", help="ID: the project exists and has this id; again: there is none."
    ),
]
ForProblem = Annotated[
    Attached | None, typer.Option(help="attached: the project has its problem; again: it has none.")
]
ForCandidate = Annotated[
    list[str] | None,
    typer.Option(metavar="EMAIL=ID", help="This person is there with this id; can be repeated."),
]
ForCandidates = Annotated[
    Added | None,
    typer.Option(
        help="All other people whose add is unsure: not there (again), or not wanted (withdraw)."
    ),
]
ForInvites = Annotated[
    Sent | None,
    typer.Option(
        help="All unsure invitations: arrived (sent), not arrived (again), not wanted (withdraw)."
    ),
]
Listed = Annotated[
    str | None,
    typer.Option(
        metavar="CODE",
        help="Decide only if what is unsure is still what was listed; the listing shows its code.",
    ),
]
Filled = Annotated[
    Path | None,
    typer.Option(
        "--from",
        metavar="FILE",
        help="Read verdicts from a filled-in file, or ids from a list of candidates.",
    ),
]
Export = Annotated[
    bool, typer.Option("--export", help="Write a file with a row for each doubt, for --from.")
]
Output = Annotated[Path | None, output_option("The file to export to.")]
Why = Annotated[
    str | None,
    typer.Option(
        metavar="TEXT",
        help="The reason, recorded with the decision; needed for again and withdraw.",
    ),
]
Now = Annotated[
    bool,
    typer.Option(
        "--no-wait",
        help="With again: do not wait until the service has certainly finished.",
    ),
]
AcceptLedger = Annotated[
    bool,
    typer.Option(
        "--accept-ledger", help="This ledger is the right one, whatever the receipt says."
    ),
]
