"""What each command says, held word for word by one transcript of it.

After a change of wording, `make transcripts` writes them again; the difference is what to read.
"""

import os
from pathlib import Path

import pytest

from tests.support.documents import Shell, mistakes
from tests.support.prefects.prefect_home import Standing
from tests.support.printed_commands import commands
from tests.support.transcripts import transcripts, typed_again


def test_every_command_has_a_transcript() -> None:
    """`ledger` is one, with the commands below it. Hidden are the names of old."""
    shown = {name.split()[0] for name, each in commands().items() if not each.hidden}
    assert {path.stem for path in transcripts()} == shown


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
