"""`python -m sandbox`: what it prints, how it ends, and what it says of bad use."""

import json
import shlex
import signal
import socket
import sys
from pathlib import Path
from subprocess import PIPE, Popen

import httpx
import pytest

from tests.sandbox.conftest import CREDENTIALS


def command(*arguments: object) -> Popen[str]:
    words, root = [sys.executable, "-m", "sandbox", *map(str, arguments)], Path(__file__).parents[2]
    return Popen(words, cwd=root, stdout=PIPE, stderr=PIPE, text=True)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_serves_until_a_signal(tmp_path: Path, number: signal.Signals) -> None:
    """The first line has its address, the next six are for a shell; it ends without a word."""
    record = tmp_path / "record.jsonl"
    with command("--port", 0, "--record", record, "--fault", "token=503") as process:
        assert process.stdout is not None and process.stderr is not None
        first = process.stdout.readline()
        exported = [shlex.split(process.stdout.readline()) for _ in range(6)]
        settings = dict(words[1].split("=", 1) for words in exported)
        url = settings["ASSESSMENT_BASE_URL"]
        assert first.startswith(f"The sandbox answers at {url} ")
        assert settings["ASSESSMENT_CLIENT_SECRET"] == CREDENTIALS["client_secret"]
        assert httpx.post(f"{url}/oauth/token", json=CREDENTIALS).status_code == 503
        assert json.loads(record.read_text())["fault"] == "status"
        process.send_signal(number)
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
        for process, sentence in [(command(*arguments), sentence) for arguments, sentence in bad]:
            said, wrong = process.communicate()
            assert (process.returncode, said) == (2, ""), sentence
            assert sentence in wrong and wrong.count("\n") == 1 and wrong.endswith(".\n")
