"""What each command says, held word for word by a transcript of it.

`check.md` is the transcript of `check`; a command with more to say has others beside it, each named
after what it is about, such as `check.cells.md`. One is read as a document is
(tests/support/documents.py): its console blocks are typed in their order. After a change of
wording, `make transcripts` writes down what they say now, and a person reads the difference. A line
that still fits keeps its `…`.
"""

import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from socket import gethostname

import pytest

from tests.support.documents import ROOT, Command, Shell, blocks, commands, fits, lines, mistakes
from tests.support.prefects.prefect_home import Standing
from tests.support.printed_commands import commands as product_commands

TRANSCRIPTS = ROOT / "tests" / "flows" / "cli" / "transcripts"
# What differs from one time to the next: moments (with this machine's zone), ports, codes of plans,
# how long a request took, ids that nobody chose.
CHANGING = re.compile(
    r"\b\d{4}-\d\d-\d\d(?:[ T]\d\d:\d\d(?::\d\d(?:\.\d+[+]00:00)?)?)?\b(?: \([A-Z]+\))?"
    r"|\b\d\d:\d\d:\d\d\b|(?<=127\.0\.0\.1:)\d+|(?<=\b[Pp]lan )(?!0{8})[0-9a-f]{8}\b"
    r"|(?<=\bafter )\d[\d.,]* m?s\b|\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b"
)


def transcripts() -> list[Path]:
    return sorted(TRANSCRIPTS.glob("*.md"))


def typed_again(transcript: Path, shell: Shell) -> str:
    """The text of a transcript, with what its commands say now."""
    text = transcript.read_text("utf-8")
    with shell:
        for block in blocks(transcript):
            shell.prepare(block)
            if block.language == "console":
                now = [line for command in commands(block) for line in _said(command, shell)]
                text = text.replace(f"```console\n{block.text}\n```", _fenced(now), 1)
    return text


def _fenced(shown: Sequence[str]) -> str:
    return "\n".join(["```console", *shown, "```"])


def _said(command: Command, shell: Shell) -> Iterator[str]:
    code, printed = shell.answer(command)
    yield f"$ {command.typed}"
    if command.typed.startswith("campaign sandbox") or fits(command.shown, printed):
        yield from lines(command.shown)
    else:
        before = [line for line in lines(command.shown) if line.strip() != "…"]
        yield from (_shown(line, before, shell) for line in lines(printed))
    if code:
        yield from ("$ echo $?", str(code))


def _shown(line: str, before: Sequence[str], shell: Shell) -> str:
    """How a transcript shows a line: as before if it fits, else without what changes."""
    kept = next((old for old in before if fits(old, line)), None)
    plain = line
    for place in (shell.folder / "work", shell.folder, ROOT):
        plain = plain.replace(str(place), "…")
    plain = plain.replace(f" on {gethostname()}", " on …")
    return CHANGING.sub("…", plain.rstrip()) if kept is None else kept


def test_every_command_has_a_transcript() -> None:
    """`ledger` is one, with the commands below it. Hidden are the names of old."""
    shown = {name.split()[0] for name, each in product_commands().items() if not each.hidden}
    assert {path.name.partition(".")[0] for path in transcripts()} == shown


@pytest.mark.xdist_group("transcripts")
@pytest.mark.parametrize("transcript", transcripts(), ids=lambda path: path.stem)
def test_a_command_says_what_its_transcript_shows(
    transcript: Path, tmp_path: Path, standing: Standing
) -> None:
    more = {"PREFECT_API_URL": standing.server.api}
    if os.environ.get("WRITE_TRANSCRIPTS"):
        again = typed_again(transcript, Shell(tmp_path, standing.warm, **more))
        transcript.write_text(again, encoding="utf-8")
        return
    wrong = list(mistakes(transcript, tmp_path, standing.warm, **more))
    assert not wrong, "\n\n".join(wrong)
