"""One death: begin a program, end it at a moment by SIGKILL, and begin it until it ends by itself.

`Lane` does them one after the other, with a service of its own; several lanes go side by side.
Nothing here waits for a time. A program that says it reached the moment gets no answer, a request
that the service holds gets none either: both stand there when the signal comes. What that means:

- `sent` and `done` are the service's own and exact for everybody; of a program with threads, the
  others may have gone on meanwhile.
- The loops are exact everywhere: each moment lies between two lines of theirs.
- The libraries get a step. `claimed` and `answered` are its first and its last line, so what a
  library writes down before it calls a step is written, and what it writes after has not begun.
  `recorded` comes when the library gives the step's result back. Prefect tells its server of states
  on its own time: that is no record it goes by. procrastinate's `before` is the fetch of a job, of
  which the person is whoever waits longest; its `recorded` comes after the job's end is committed.
- Ours: `before` is the wish for a claim, in memory; `claimed` after its commit, before a connection
  is opened; `answered` after the exchange, before anybody has judged it; `recorded` after the
  commit that holds the outcome. That commit may hold the next person's claim.
"""

import json
import os
import select
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self

from tests.matrix.contenders import KEY, ROOT, Contender
from tests.matrix.judging import PEOPLE, PERSON, Death
from tests.matrix.moments import HARNESS, SEEN_BY_THE_SERVICE, Moment
from tests.matrix.service import PROJECT
from tests.matrix.warm import Warm

LONGEST = 300.0  # seconds until something happens; a program that takes longer hangs
OUTPUT, ERRORS = "output.txt", "errors.txt"  # standard output and standard error
STARTS = 5  # times that a program is begun again at most


class Misplaced(Exception):
    """A death that did not happen as it was asked for, or a program that did not come to an end."""


class NotReached(Misplaced):
    """A program that ended by itself before the moment: its own trouble, and no death at all."""


class Lane:
    """A service that stands while one program after the other dies. A context manager.

    `record` is where it writes what it did; `standing` is what the environment of each program says
    of other servers that stand.
    """

    def __init__(self, folder: Path, record: Path, standing: Mapping[str, str]) -> None:
        self.folder = folder
        self.record = record
        self._head = ""
        self._standing = dict(standing)
        self._lines: list[dict[str, Any]] = []
        self._rest = b""

    def __enter__(self) -> Self:
        self.folder.mkdir()
        with ExitStack() as opened:
            self._service = subprocess.Popen(
                [sys.executable, "-m", "tests.matrix.service", str(self.record)],
                bufsize=0,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                cwd=ROOT,
                start_new_session=True,
            )
            assert self._service.stdin and self._service.stdout
            opened.callback(self._service.stdout.close)
            opened.callback(self._service.wait)
            opened.callback(self._service.stdin.close)
            self._hears = self._service.stdout.fileno()
            self._port = self._next_line()["port"]
            self._desk = opened.enter_context(socket.socket(socket.AF_UNIX))
            self._desk.bind(str(self.folder / "moments"))
            self._desk.listen()
            self._warm: dict[tuple[str, ...], Warm] = {}
            self._opened = opened.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._opened.close()

    def die(self, contender: Contender, moment: Moment, number: int, again: int = 0) -> Death:
        """Let a program die at a moment, and begin it again. Raises NotReached, Misplaced."""
        case = f"{contender.name}-{moment}-{number}.{again}"
        began = time.monotonic()
        try:
            unsure = self._die(contender, moment, case)
        except (OSError, ValueError) as error:  # a status may be no JSON
            raise Misplaced(f"{case}: {error!r}\n{_last_words(self.folder / case)}") from error
        shutil.rmtree(self.folder / case)
        return Death(
            case,
            contender.name,
            moment,
            number,
            day=datetime.now(UTC).date().isoformat(),
            seconds=round(time.monotonic() - began, 3),
            unsure=tuple(sorted(unsure)),
            record=self.record.name,
            head=self._head,
            again=again,
        )

    def _die(self, contender: Contender, moment: Moment, case: str) -> set[str]:
        folder = self.folder / case
        environment = self._furnish(folder, case)
        held = moment if moment in SEEN_BY_THE_SERVICE else None
        self._order("open", case, people=PEOPLE, moment=held, person=PERSON)
        try:
            program = self._begin(contender, contender.words, folder, environment)
            if not self._follow(program.pid, moment):
                program.wait()
                raise NotReached(f"{case}: it ended before the moment\n{_last_words(folder)}")
            if program.wait() != -signal.SIGKILL:
                raise Misplaced(f"{case}: it ended otherwise\n{_last_words(folder)}")
            self._order("drop", case)
            self._begin_again(contender, folder, environment)
            return self._shown(contender, folder, environment)
        finally:
            self._order("close", case)

    def _begin_again(
        self, contender: Contender, folder: Path, environment: Mapping[str, str]
    ) -> None:
        """Begin the same command until it ends by itself, and well."""
        codes = []
        for _ in range(STARTS):
            codes.append(self._to_the_end(contender, contender.words, folder, environment))
            if codes[-1] in contender.exits:
                return
        raise Misplaced(f"{folder.name}: it ended with {codes}\n{_last_words(folder)}")

    def _shown(
        self, contender: Contender, folder: Path, environment: Mapping[str, str]
    ) -> set[str]:
        """Ask the program whom it shows as unsure."""
        if not contender.shown:
            return set()
        (folder / OUTPUT).unlink()
        code = self._to_the_end(contender, contender.shown, folder, environment)
        if code not in contender.exits:
            raise Misplaced(
                f"{folder.name}: {contender.shown} ended with {code}\n{_last_words(folder)}"
            )
        return contender.read((folder / OUTPUT).read_text("utf-8"))

    def _to_the_end(
        self,
        contender: Contender,
        words: Sequence[str],
        folder: Path,
        environment: Mapping[str, str],
    ) -> int:
        program = self._begin(contender, words, folder, environment)
        self._follow(program.pid, None)
        return program.wait()

    def _begin(
        self,
        contender: Contender,
        words: Sequence[str],
        folder: Path,
        environment: Mapping[str, str],
    ) -> "subprocess.Popen[bytes] | Warm":
        """Begin a command in its folder, in a group of its own: one signal ends all of it."""
        if contender.libraries:
            python, *script = words
            warm = self._warmed(python, contender.libraries)
            return warm.begin(script, folder, environment, (OUTPUT, ERRORS))
        with (folder / OUTPUT).open("ab") as output, (folder / ERRORS).open("ab") as errors:
            return subprocess.Popen(
                words,
                cwd=folder,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=errors,
                start_new_session=True,
            )

    def _warmed(self, python: str, libraries: tuple[str, ...]) -> Warm:
        if (warm := self._warm.get((python, *libraries))) is None:
            env = {"PATH": os.environ["PATH"], "HOME": str(self.folder), "PYTHONPATH": str(ROOT)}
            warm = self._opened.enter_context(Warm(python, libraries, env | self._standing))
            self._warm[python, *libraries] = warm
        return warm

    def _follow(self, pid: int, moment: Moment | None) -> bool:
        """Follow a program until it has reached the moment and is killed, or has ended before."""
        talking: list[socket.socket] = []
        process = os.pidfd_open(pid)
        try:
            while True:
                ready, _, _ = select.select(
                    [process, self._desk, self._hears, *talking], [], [], LONGEST
                )
                if not ready:
                    os.killpg(pid, signal.SIGKILL)
                    raise Misplaced(f"process {pid}: nothing happened in {LONGEST:.0f} s")
                if process in ready:
                    return False
                if self._desk in ready:
                    talking.append(self._desk.accept()[0])
                if self._hears in ready:
                    self._take_lines()
                here = any(line.get("moment") == moment for line in self._lines)
                self._lines.clear()
                for each in (each for each in talking if each in ready):
                    here = here or _hold(each, moment)
                if moment and here:
                    os.killpg(pid, signal.SIGKILL)
                    return bool(select.select([process], [], [], LONGEST)[0])
                talking = [each for each in talking if each.fileno() != -1]
        finally:
            os.close(process)
            for each in talking:
                each.close()

    def _furnish(self, folder: Path, case: str) -> dict[str, str]:
        """Make the folder of a case; answers the environment of its program."""
        folder.mkdir()
        base = f"http://127.0.0.1:{self._port}/{case}"
        invite = f"{base}/api/projects/{PROJECT}/candidates"
        lines = [f"{email} {invite}/{n}/invite\n" for n, email in enumerate(PEOPLE, start=1)]
        (folder / "people.txt").write_text("".join(lines))
        rows = [f"First{n},Last{n},{email}\n" for n, email in enumerate(PEOPLE, start=1)]
        (folder / "people.csv").write_text("first_name,last_name,email1\n" + "".join(rows))
        (folder / f"{KEY}.yaml").write_text(
            f"campaign: {KEY}\nproject: {{name: Engineers}}\nproblem: 42\n"
            "candidates: {file: people.csv}\n"
        )
        return {
            "PATH": os.environ["PATH"],
            "HOME": str(folder),
            "PYTHONPATH": str(ROOT),
            HARNESS: str(self.folder / "moments"),
            "ASSESSMENT_AUTH_URL": base,
            "ASSESSMENT_BASE_URL": base,
            "ASSESSMENT_APP_URL": base,
            "ASSESSMENT_CLIENT_ID": "matrix",
            "ASSESSMENT_CLIENT_SECRET": "matrix-secret",
            "ASSESSMENT_AUDIENCE": "https://matrix.invalid/api",
            "CAMPAIGN_DATABASE_URL": f"sqlite:///{folder / 'ledger.db'}",
            "CAMPAIGN_OUTPUT_DIR": str(folder / "out"),
            "CAMPAIGN_INVITES_IN_FLIGHT": "1",  # as all the others: one person after the other
            **self._standing,
        }

    def _order(self, order: str, case: str, **more: Any) -> None:
        assert self._service.stdin
        line = json.dumps({"order": order, "case": case, **more})
        self._service.stdin.write(line.encode() + b"\n")
        while self._next_line().get("did") != order:
            pass  # it held a request whose program is dead

    def _next_line(self) -> dict[str, Any]:
        while not self._lines:
            self._take_lines()
        return self._lines.pop(0)

    def _take_lines(self) -> None:
        more = os.read(self._hears, 65536)
        if not more:
            raise Misplaced("the service has ended")
        *whole, self._rest = (self._rest + more).split(b"\n")
        self._lines += map(json.loads, whole)
        if self._lines:
            self._head = self._lines[-1]["head"]


def _hold(talking: socket.socket, moment: Moment | None) -> bool:
    """Read what a program says: True if it dies there, else it may go on."""
    try:
        line = talking.recv(4096).decode()
        if line.split() == [str(moment), PERSON]:
            return True
        if line:
            talking.sendall(b"go on\n")
            return False
    except ConnectionError:
        pass  # of a program that was killed meanwhile
    talking.close()
    return False


def _last_words(folder: Path) -> str:
    """The last words of a program, for whoever looks for what went wrong."""
    files = [folder / name for name in (OUTPUT, ERRORS) if (folder / name).exists()]
    return "\n".join(file.read_text("utf-8", "replace")[-2000:] for file in files)
