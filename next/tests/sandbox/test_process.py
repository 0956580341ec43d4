"""`python -m sandbox`: what it prints, how it ends, and what it says of bad use."""

import json
import os
import shlex
import signal
import socket
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from tests.sandbox.conftest import CREDENTIALS


def command(*arguments: object) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-m", "sandbox", *map(str, arguments)],
        cwd=Path(__file__).parents[2],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_serves_until_a_signal(tmp_path: Path, number: signal.Signals) -> None:
    """The first line has its address, the next six are for a shell; it ends without a word."""
    record, outbox = tmp_path / "record.jsonl", tmp_path / "outbox"
    options = ("--record", record, "--outbox", outbox, "--token-lifetime", 60)
    with command("--port", 0, *options, "--fault", "token=503") as process:
        assert process.stdout is not None and process.stderr is not None
        first = process.stdout.readline()
        exported = [shlex.split(process.stdout.readline()) for _ in range(6)]
        settings = dict(words[1].split("=", 1) for words in exported if words[0] == "export")
        url = settings["ASSESSMENT_BASE_URL"]
        assert first.startswith(f"The sandbox answers at {url} ")
        assert settings == {
            **dict.fromkeys(("ASSESSMENT_AUTH_URL", "ASSESSMENT_APP_URL"), url),
            "ASSESSMENT_BASE_URL": url,
            "ASSESSMENT_CLIENT_ID": CREDENTIALS["client_id"],
            "ASSESSMENT_CLIENT_SECRET": CREDENTIALS["client_secret"],
            "ASSESSMENT_AUDIENCE": CREDENTIALS["audience"],
        }
        answers = [httpx.post(f"{url}/oauth/token", json=CREDENTIALS) for _ in range(2)]
        assert [answer.status_code for answer in answers] == [503, 200]
        assert answers[1].json()["expires_in"] == 60
        faults = [json.loads(line)["fault"] for line in record.read_text().splitlines()]
        assert faults == ["status", None]
        assert outbox.is_dir()
        os.kill(process.pid, number)
        assert process.wait() == 0
        assert (process.stdout.read(), process.stderr.read()) == ("", "")


def test_bad_use_is_said_in_one_sentence(tmp_path: Path) -> None:
    """A taken port, a place that cannot be written, another file, a mistyped fault: exit 2."""
    other = tmp_path / "people.csv"
    other.write_text("name\nAda\n")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        bad = [
            (("--port", port), f"127.0.0.1:{port}: Address already in use"),
            (("--record", other / "record"), f"{other}: File exists"),
            (("--record", tmp_path), f"{tmp_path}: Is a directory"),
            (("--record", other), f"{other}: it is not the record of a sandbox"),
            (("--outbox", other), f"{other}: File exists"),
            (("--fault", "invite=gone"), "'gone' is none of status"),
        ]
        running = [(command(*arguments), sentence) for arguments, sentence in bad]
        for process, sentence in running:
            said, wrong = process.communicate()
            assert (process.returncode, said) == (2, ""), sentence
            assert sentence in wrong and wrong.count("\n") == 1 and wrong.endswith(".\n")
