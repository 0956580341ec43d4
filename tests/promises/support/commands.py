"""The command line under judgement, as a person types it: with a home, a ledger and a folder.

    campaign.write("hiring", people=3)              -> the path of hiring.yaml
    campaign("run", "hiring.yaml", "--yes").code    -> 0; .out, .err, .said (both), .json()
    campaign.start("run", …)                        -> Running: .kill(), .send(SIGTERM), .end()
    campaign.status("hiring")                       -> the object of `status hiring --json`
    campaign.follow(answer, "settle")               -> types the first `campaign settle …` printed

The binary is the one that CAMPAIGN names, else the one beside this Python.
"""

import contextlib
import fcntl
import json
import os
import pty
import re
import shlex
import signal
import socket
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self, TypeVar

import psutil

T = TypeVar("T")
BINARY = os.environ.get("CAMPAIGN") or str(Path(sys.executable).with_name("campaign"))
PATIENCE = 300.0  # seconds before a test gives up; nothing is judged by time
WHO = "mara"  # the login name of whoever types
HELP = subprocess.run([BINARY, "--help"], stdout=subprocess.PIPE, text=True, check=True).stdout
COMMANDS = re.findall(r"^  ([a-z]+)  ", HELP, re.M)
PRINTED = re.compile(rf"\bcampaign (?:{'|'.join(COMMANDS)})\b(?: [^\n`]*)?")
Person = str | dict[str, Any]


def wait_for(
    what: Callable[[], T], running: "Running | None" = None, seconds: float = PATIENCE
) -> T:
    """Look again and again until something is true, and answer it.

    Fails when a running command has ended without it.
    """
    ends = time.monotonic() + seconds
    while True:
        ended = running is not None and running.ended
        if found := what():
            return found
        if ended:
            raise AssertionError(f"the command has ended: {running.end()}")  # type: ignore[union-attr]
        assert time.monotonic() < ends, f"waited in vain; {running and running.shown()}"
        time.sleep(0.01)


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port: int = listening.getsockname()[1]
        return port


def kill(process: "subprocess.Popen[bytes]") -> None:
    """kill -9 of it and of all that it has started, at once."""
    if process.poll() is None:
        top = psutil.Process(process.pid)
        for each in (top, *top.children(recursive=True)):
            with contextlib.suppress(psutil.NoSuchProcess):  # one may end with another
                each.kill()
        process.wait()


@dataclass(frozen=True)
class Answer:
    """What a command that has ended said; a code below 0 is the signal that ended it."""

    code: int
    out: str
    err: str

    @property
    def said(self) -> str:
        return self.out + self.err

    def json(self) -> Any:
        """The one object on standard output."""
        return json.loads(self.out)

    def printed(self, word: str, **placeholders: str) -> str:
        """The first printed command that begins so; TEXT="she asked" fills in a placeholder."""
        found = [line for line in PRINTED.findall(self.said) if f"{line} ".find(f" {word} ") == 8]
        assert found, f"`campaign {word} …` is not printed in:\n{self.said}"
        line = re.split(r",? (?:then|or|and)\b", found[0].strip())[0].rstrip(".)")
        for name, value in placeholders.items():
            line = re.sub(rf"\b{name}\b", shlex.quote(value), line)
        return line


class Running:
    """A command at work, in a process group of its own."""

    def __init__(
        self, words: Sequence[object], folder: Path, environment: dict[str, str], terminal: bool
    ) -> None:
        self._output = folder.parent / "output"
        self._output.mkdir(exist_ok=True)
        number = len(list(self._output.iterdir()))
        self._files = [self._output / f"{number:03}.{name}" for name in ("out", "err")]
        self._terminal, its_end = pty.openpty() if terminal else (None, None)
        with contextlib.ExitStack() as stack:
            out, err = (stack.enter_context(each.open("wb")) for each in self._files)
            self.process = subprocess.Popen(
                [BINARY, *map(str, words)],
                cwd=folder,
                env=environment,
                stdin=its_end if terminal else subprocess.DEVNULL,
                stdout=its_end if terminal else out,
                stderr=its_end if terminal else err,
                start_new_session=True,
                preexec_fn=_at_terminal if terminal else None,  # noqa: PLW1509 - one system call
            )
        if its_end is not None and self._terminal is not None:
            os.close(its_end)
            os.set_blocking(self._terminal, False)

    @property
    def ended(self) -> bool:
        ended = self.process.poll() is not None
        if self._terminal is not None:
            with contextlib.suppress(OSError), self._files[0].open("ab", 0) as shown:
                while some := os.read(self._terminal, 4096):
                    shown.write(some)
        return ended

    def shown(self) -> str:
        """All that it has said so far."""
        return "".join(each.read_text(errors="replace") for each in self._files)

    def until_shown(self, text: str) -> Self:
        """Wait until it says this."""
        wait_for(lambda: text in self.shown(), self)
        return self

    def until(self, look: Callable[[], object]) -> Self:
        """Wait for anything, such as `lambda: len(service.entries("invite")) >= 5`."""
        wait_for(look, self)
        return self

    def type(self, keys: str) -> None:
        """Type at its terminal (`terminal=True`): "yes\\n"; "\\x03" is Ctrl-C."""
        os.write(self._terminal, keys.encode())  # type: ignore[arg-type]

    def hang_up(self) -> None:
        """Close its terminal, as a window or a connection is closed."""
        terminal, self._terminal = self._terminal, None
        if terminal is not None:
            os.close(terminal)

    def send(self, number: signal.Signals) -> Self:
        """Send a signal to it and to all that it has started in its group."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, number)
        return self

    def kill(self) -> Answer:
        """kill -9, at once."""
        return self.send(signal.SIGKILL).end()

    def end(self) -> Answer:
        """Wait for its end; PATIENCE at most."""
        if self._terminal is None:
            self.process.wait(PATIENCE)
        wait_for(lambda: self.ended)
        return Answer(
            self.process.returncode, *(each.read_text(errors="replace") for each in self._files)
        )

    def close(self) -> None:
        """Nothing of it is left, frozen or not."""
        self.send(signal.SIGKILL)
        self.process.wait()
        self.hang_up()


def _at_terminal() -> None:
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


class Campaign:
    """Whoever types commands: in `folder`, with an empty home and a ledger of their own."""

    def __init__(self, place: Path, prefect: Callable[[], str]) -> None:
        self.home = place / "home"
        self.folder = place / "campaigns"
        self.ledger = place / "ledger" / "ledger.db"
        self.outputs = place / "outputs"
        for each in (self.home, self.folder, self.ledger.parent):
            each.mkdir(parents=True)
        kept = ("PATH", "LANG", "LC_ALL", "TZ", "TMPDIR", "LD_LIBRARY_PATH", "PYTHONPATH")
        self.environment = {name: os.environ[name] for name in kept if name in os.environ} | {
            "HOME": str(self.home),
            "XDG_DATA_HOME": str(self.home / "share"),
            "PREFECT_HOME": str(self.home / "prefect"),
            "LOGNAME": WHO,
            "CAMPAIGN_DATABASE_URL": f"sqlite:///{self.ledger}",
            "CAMPAIGN_OUTPUT_DIR": str(self.outputs),
        }
        self.prefect = prefect
        self._started: list[Running] = []

    def start(self, *words: object, terminal: bool = False, **settings: str) -> Running:
        """Begin a command; settings are environment variables for it alone.

        `run` and `demo` have the session's Prefect server, unless the environment names another.
        """
        environment = self.environment | settings
        if words[0] in ("run", "demo"):
            environment.setdefault("PREFECT_API_URL", self.prefect())
        running = Running(words, self.folder, environment, terminal)
        self._started.append(running)
        return running

    def __call__(self, *words: object, **settings: str) -> Answer:
        """Type a command without a terminal, and wait for its end."""
        return self.start(*words, **settings).end()

    def type(self, line: str) -> Answer:
        """Type a line that begins with `campaign`."""
        name, *words = shlex.split(line)
        assert name == "campaign", line
        return self(*words)

    def follow(self, answer: Answer, word: str, **placeholders: str) -> Answer:
        """Type what an answer printed to go on, and see that it is understood (no exit code 2)."""
        line = answer.printed(word, **placeholders)
        followed = self.type(line)
        assert followed.code != 2, f"{line}: {followed.said}"
        return followed

    def status(self, key: str = "hiring") -> dict[str, Any]:
        answer = self("status", key, "--json")
        assert answer.code in (0, 3), answer
        found: dict[str, Any] = answer.json()
        return found

    def states(self, key: str = "hiring", step: str = "invite") -> dict[str, str]:
        """Where everybody stands, by address as typed: {"person0@example.org": "done", …}."""
        return {each["email1"]: each[step] for each in self.status(key)["candidates"]}

    def write(
        self,
        key: str = "hiring",
        people: int | Iterable[Person] = 3,
        in_a_table: bool = False,
        **fields: Any,
    ) -> Path:
        """Write KEY.yaml with its people; `fields` replace or add to the definition.

        People are a number of persons, addresses, or dicts of columns. They stand in KEY.csv only
        if asked for: without a table a command takes half a second less. A field that is None is
        left out; `candidates={…}` is joined with the name of the table.
        """
        definition = {
            "campaign": key,
            "project": {"name": f"Engineers {key}", "timezone": "Europe/Paris"},
            "problem": 42,
        } | fields
        listed = addresses(people)
        if in_a_table or "candidates" in fields:
            table = self.people(listed, f"{key}.csv")
            definition["candidates"] = {"file": table.name} | fields.get("candidates", {})
        else:
            definition["candidates"] = [*map(person, listed)]
        path = self.folder / f"{key}.yaml"
        lines = [f"{k}: {json.dumps(v)}\n" for k, v in definition.items() if v is not None]
        path.write_text("".join(lines))
        return path

    def people(self, people: int | Iterable[Person], name: str = "hiring.csv") -> Path:
        """Write, or write anew, a table of people."""
        rows = [person(one) for one in addresses(people)]
        columns = list(dict.fromkeys(column for row in rows for column in row))
        lines = [",".join(str(row.get(column, "")) for column in columns) for row in rows]
        path = self.folder / name
        path.write_text("\n".join([",".join(columns), *lines]) + "\n")
        return path

    def close(self) -> None:
        for running in self._started:
            running.close()


def addresses(people: int | Iterable[Person]) -> list[Any]:
    """So many addresses: person0@example.org, person1@example.org, …; a list stays as it is."""
    if isinstance(people, int):
        return [f"person{number}@example.org" for number in range(people)]
    return list(people)


def person(one: Person) -> dict[str, Any]:
    """A row of a table; somebody of whom only the address is given has names made from it."""
    if isinstance(one, dict):
        return one
    name = one.partition("@")[0].capitalize()
    return {"first_name": name, "last_name": f"Of{name}", "email1": one}
