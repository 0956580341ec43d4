"""How the command line speaks: to people in lines and tables, to programs in one JSON object.

People read standard output; with `--json` that belongs to the program alone and people read
standard error. Colour and boxes adapt to the terminal, and no encoding makes a command fail.
"""

import errno
import json
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from io import TextIOWrapper
from typing import IO, TYPE_CHECKING, Any, TextIO

from config.errors import BadInput, CampaignError

if TYPE_CHECKING:
    from rich.console import Console

    from data.store.tables import Campaign

FORMAT_VERSION = 1  # of every JSON object that is printed
# Where no terminal says how wide it is: a row of a table stays one line in a file or a pipe.
UNSEEN_WIDTH = 240
GONE = {errno.EPIPE, errno.EIO}  # whoever read: `| head`, a closed terminal
FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
QUOTED = 5  # different answers of the service that are shown in one place
# Each may stand before or behind the name of the command.
ANYWHERE = {
    **dict.fromkeys(("-q", "--quiet"), "quiet"),
    **dict.fromkeys(("-v", "--verbose"), "verbose"),
    "--no-color": "no_color",
    "--debug": "debug",
}


@dataclass(slots=True)
class Manner:
    """`as_json`: standard output is for a program, which gets `more` in addition to `said`, the
    lines for people; `last` is the one of them that -q prints. `answered`: the program has its
    object."""

    quiet: bool = False
    verbose: bool = False
    no_color: bool = False
    debug: bool = False
    as_json: bool = False
    last: str = field(default="", init=False)
    said: list[str] = field(default_factory=list, init=False)
    more: dict[str, Any] = field(default_factory=dict, init=False)
    answered: bool = field(default=False, init=False)


_now = [Manner()]  # threads of a run speak in the same manner


def manner() -> Manner:
    return _now[0]


def begin(typed: Sequence[str]) -> list[str]:
    """Set the manner by these options; returns what else was typed."""
    last = typed.index("--") if "--" in typed else len(typed)
    chosen = {ANYWHERE.get(word) for word in typed[:last]} | {"--json"}.intersection(typed[:last])
    names = ("quiet", "verbose", "no_color", "debug", "--json")
    _now[:] = [Manner(*[name in chosen for name in names])]
    return [word for word in typed[:last] if word not in ANYWHERE] + list(typed[last:])


def for_program(**values: Any) -> None:
    """Add to the object that `--json` prints, besides the lines for people."""
    manner().more.update(values)


def tolerate_every_encoding() -> None:
    """Let a terminal that lacks a character show `?` instead of ending the command."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")


def say(*lines: str) -> None:
    """Tell a person, line by line; beside the JSON object when a program asked."""
    here = manner()
    if here.as_json:
        here.said += lines
    if not here.quiet:
        _print(lines, _for_people())
    elif not here.as_json:
        heads = [line for line in lines if line.strip() and not line.startswith(" ")]
        here.last = heads[-1] if heads else here.last


def unwritten(error: BaseException) -> bool:
    """Whether what was printed could not be written: nobody reads it, or its disk is full."""
    return isinstance(error, OSError) and error.filename is None and error.errno in GONE | FULL


def say_the_last() -> None:
    """With -q: the last line for people that is not an indented detail, once."""
    last, manner().last = manner().last, ""
    if last:
        _print([last], sys.stdout)


def _for_people() -> TextIO:
    return sys.stderr if manner().as_json else sys.stdout


def _print(lines: Iterable[str], stream: TextIO) -> None:
    """If nobody reads the output any more, let a run under way end, and print nothing."""
    for line in lines:
        try:
            print(printable(line), file=stream, flush=True)
        except OSError:
            if not goes_on_unread(stream):
                raise


def goes_on_unread(stream: IO[str]) -> bool:
    """Nobody reads a stream any more: let a run under way end, and print nothing. False where none
    is under way.
    """
    from flows.run.interrupts import nobody_reads

    under_way = nobody_reads()
    if under_way:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
    return under_way


def say_at_length(lines: Sequence[str]) -> None:
    """Tell a person a long story: on a terminal that it does not fit, page by page."""
    from click import echo_via_pager
    from rich.console import Console

    fits = len(lines) < Console().size.height
    if fits or not on_a_terminal() or manner().as_json or manner().quiet:
        say(*lines)
        return
    os.environ.setdefault("LESS", "FRX")  # what fits needs no pager after all, and stays in sight
    echo_via_pager("\n".join(map(printable, lines)) + "\n")


def on_a_terminal() -> bool:
    """Whether somebody is there who reads what is said, and can answer."""
    return sys.stdin.isatty() and sys.stdout.isatty()


def answer_to(question: str, stream: TextIO | None = None) -> str | None:
    """Ask on `stream`, or where people read, and read one line, trimmed; None where none comes."""
    stream = stream or _for_people()
    # input() would put the question on standard error, where nobody may be looking.
    print(printable(question), end="", file=stream, flush=True)
    typed = sys.stdin.readline()
    if not typed:
        print(file=stream, flush=True)
    return typed.strip() if typed else None


def agrees(question: str, stream: TextIO | None = None) -> bool:
    """Ask a question that ends with [y/N]; no answer is a no."""
    return (answer_to(question, stream) or "").casefold() in ("y", "yes")


def complain(*lines: str) -> None:
    """Tell a person what went wrong, on standard error; with -q after what a detail belongs to."""
    if lines and lines[0].startswith(" "):
        say_the_last()
    _print(lines, sys.stderr)


def say_table(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Show rows under a header; numbers are aligned to the right, and None is left empty."""
    if manner().quiet:
        return
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(*columns, box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    shown = [list(row) for row in rows]
    for position, column in enumerate(table.columns):
        column.overflow = "fold"
        if shown and all(isinstance(row[position], int | None) for row in shown):
            column.justify = "right"
    for row in shown:
        # As Text, brackets in a name are brackets and no markup.
        table.add_row(*(Text("" if cell is None else printable(str(cell))) for cell in row))
    _console().print(table)


def _console() -> "Console":
    from rich.console import Console

    stream = _for_people()
    return Console(file=stream, highlight=False, width=None if stream.isatty() else UNSEEN_WIDTH)


def answer_program(answer: Mapping[str, Any] | Sequence[Mapping[str, Any]]) -> None:
    """Print the one value that a program asked for; ASCII, so that it survives every encoding."""
    if not manner().as_json:
        return
    manner().answered = True
    whole = _versioned(answer) if isinstance(answer, Mapping) else [*map(_versioned, answer)]
    print(json.dumps(whole, default=str))


def print_bytes(content: bytes) -> None:
    """Print a file as it is: the terminal's encoding is not the file's."""
    sys.stdout.flush()
    sys.stdout.buffer.write(content)


def _versioned(answer: Mapping[str, Any]) -> dict[str, Any]:
    return {"format_version": FORMAT_VERSION, **answer}


def answer_failure(error: CampaignError | str) -> None:
    """Give a program an object for a failed command, if one was asked for and none was printed."""
    if manner().answered:
        return
    if isinstance(error, BadInput):
        problems = [problem.as_json() for problem in error.problems]
        warnings = [warning.as_json() for warning in error.warnings]
        answer_program({"ok": False, "problems": problems, "warnings": warnings})
    else:
        wrote = error.wrote if isinstance(error, CampaignError) else None
        answer_program({"ok": False, "error": str(error), "service_wrote": wrote})


def counted(number: int, single: str, many: str | None = None) -> str:
    """Write `1 candidate`, `2 candidates`, `1,000 candidates`."""
    return f"{number:,} {single if number == 1 else many or single + 's'}"


def quoted(words: str, requests: int = 1) -> str:
    """Quote what the service wrote, so that it cannot pass for words of ours."""
    to = "" if requests == 1 else f" in {requests:,} answers"
    return f'the service wrote{to}: "{words}"'


def most_quoted(counts: Mapping[str, int]) -> list[str]:
    """Quote what the service wrote, most frequent first; `counts` has the requests by text."""
    most = sorted(counts.items(), key=lambda item: -item[1])
    others = len(most) - QUOTED
    more = [f"and {counted(others, 'other answer')}"] if others > 0 else []
    return [*(quoted(words, number) for words, number in most[:QUOTED]), *more]


def printable(text: str) -> str:
    """Take the power out of text that others wrote: no escape sequence reaches the terminal."""
    return "".join(
        c if c.isprintable() or c in "\n\t" else "\N{REPLACEMENT CHARACTER}" for c in text
    )


def run_again(campaign: "Campaign") -> list[str]:
    """What is typed after `run` for a campaign that was run before, as it was then."""
    from config.reading.sources import as_typed_for  # its readers take longer than a help

    return as_typed_for(
        campaign.key, campaign.definition, campaign.belongs_to, sheet=campaign.sheet
    )
