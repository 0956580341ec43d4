"""Commands that begin with everything imported, each in a process of its own.

To import Prefect takes longer than a small campaign does. One process imports it once and forks
itself for each command, before it has any thread or event loop: what is typed has its own
environment, folder, output and exit code, gets signals and dies, as if it came from a terminal.
"""

import json
import os
import select
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from tests.support.session import PATIENCE

CAMPAIGN = "from flows.cli.main import main; sys.exit(main())"  # as the installed command does it


@dataclass
class Warm:
    """One command under way, with what is used of a Popen. Its output goes to two files."""

    pid: int
    out: Path
    err: Path
    start: "WarmStart"
    returncode: int | None = None

    def send_signal(self, number: int) -> None:
        if self.returncode is None:
            os.kill(self.pid, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def poll(self) -> int | None:
        """Its exit code, once it has come to its end."""
        if self.returncode is None:
            self.returncode = self.start.look(self.pid)
        return self.returncode

    def wait(self, timeout: float) -> int | None:
        """Wait for its end; answers its exit code. Raises TimeoutExpired, and it is killed."""
        if self.returncode is None:
            self.returncode = -signal.SIGKILL  # what it is where the wait takes too long
            self.returncode = self.start.wait(self.pid, timeout)
        return self.returncode

    def communicate(self, timeout: float) -> tuple[str, str]:
        """Wait for its end; answers what it said. Raises TimeoutExpired, and it is killed."""
        self.wait(timeout)
        return self.out.read_text(), self.err.read_text()


class WarmStart:
    """The process that forks, seen from the tests. A context manager.

    Prefect reads `environment` when it is imported; a command's own may differ in all but that.
    """

    def __init__(self, environment: Mapping[str, str], folder: Path) -> None:
        self._environment, self._folder = environment, folder
        self._numbers = count(1)

    def __enter__(self) -> Self:
        self._process = subprocess.Popen(
            [sys.executable, __file__],
            bufsize=0,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=self._environment,
        )
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        assert self._process.stdin and self._process.stdout
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()

    def begin(
        self,
        words: list[str],
        folder: Path,
        environment: Mapping[str, str],
        code: str = CAMPAIGN,
        *,
        both: Path | None = None,
    ) -> Warm:
        """Start Python `code` with these words as its arguments, in a folder.

        `both` is the one file of all that it says, as on a terminal; else there are two.
        """
        number = next(self._numbers)
        out, err = (both or self._folder / f"{number}.{name}" for name in ("out", "err"))
        asked = {
            "code": code,
            "words": words,
            "folder": str(folder),
            "environment": dict(environment),
            "files": [os.devnull, str(out), str(err)],
        }
        pid = self._ask(number, PATIENCE, begin=asked)
        assert pid is not None
        return Warm(pid, out, err, self)

    def look(self, pid: int) -> int | None:
        """The exit code of a process; None while it is at work."""
        return self._ask(next(self._numbers), PATIENCE, look=pid)

    def wait(self, pid: int, seconds: float) -> int | None:
        """Wait for a process; answers its exit code, as a Popen has it."""
        try:
            return self._ask(next(self._numbers), seconds, wait=pid)
        except BaseException:
            os.kill(pid, signal.SIGKILL)  # nobody waits for it any more
            raise

    def _ask(self, number: int, seconds: float, **asked: Any) -> int | None:
        assert self._process.stdin and self._process.stdout
        self._process.stdin.write(json.dumps({"number": number, **asked}).encode() + b"\n")
        while select.select([self._process.stdout], [], [], seconds)[0]:
            answered: int
            code: int | None
            answered, code = json.loads(self._process.stdout.readline())
            if answered == number:  # else nobody waited for it
                return code
        raise subprocess.TimeoutExpired(str(asked)[:200], seconds)


# -- the process that forks -------------------------------------------------------------------


def _serve() -> dict[str, Any] | None:
    """Answer one line for each line asked; returns in each fork, with what it is to be."""
    left: set[int] = set()
    for line in sys.stdin:
        asked = json.loads(line)
        if "begin" in asked:
            pid = os.fork()
            if pid == 0:
                begin: dict[str, Any] = asked["begin"]
                return begin
            left.add(pid)
            answer: int | None = pid
        else:
            pid = asked.get("wait") or asked["look"]
            ended, status = os.waitpid(pid, 0 if "wait" in asked else os.WNOHANG)
            answer = os.waitstatus_to_exitcode(status) if ended else None
            left.discard(ended)
        print(json.dumps([asked["number"], answer]), flush=True)
    for pid in left:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
    return None


def _be(asked: dict[str, Any]) -> None:
    """Become the command that was asked for, from its standard input to its exit code."""
    os.environ.clear()
    os.environ.update(asked["environment"])
    tempfile.tempdir = None  # where it is, the command's own environment says
    os.chdir(asked["folder"])
    for number, (file, how) in enumerate(
        zip(
            asked["files"],
            (os.O_RDONLY, *[os.O_WRONLY | os.O_CREAT | os.O_APPEND] * 2),
            strict=True,
        )
    ):
        opened = os.open(file, how, 0o600)
        os.dup2(opened, number)
        os.close(opened)
    sys.argv = ["campaign", *asked["words"]]
    exec(asked["code"], {"__name__": "__main__", "sys": sys})


def _warm_up() -> None:
    """Import what a run, a form, a look, a deployment and Prefect's server need."""
    import gc

    from flows.engine.prefect_settings import prepare

    prepare(quiet=True)
    import anyio._backends._asyncio  # noqa: F401
    import prefect.cli.server
    import prefect.server.api.server
    import prefect.task_engine
    import prefect.utilities.visualization  # noqa: F401

    import flows.batch
    import flows.cli.main
    import flows.cli.run.one_run
    import flows.cli.run.sending
    import flows.engine.temporary_server  # noqa: F401

    gc.freeze()  # what is shared with every fork stays shared


if __name__ == "__main__":
    _warm_up()
    if (this := _serve()) is not None:
        _be(this)
