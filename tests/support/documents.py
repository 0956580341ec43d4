"""The documents as they are typed: their fenced blocks, and a shell that types their commands.

In a ```console block a line that begins with `$ ` is typed, and what follows must be printed; `…`
stands for any text in a line, and alone on a line for any lines. A command must end with 0 unless
`$ echo $?` shows another number. A comment in front of a block may prepare it:

    <!-- file: autumn.yaml -->            the block is the content of this file
    <!-- workbook: people.xlsx -->        the block is its sheets, each below its [name]
    <!-- sheets: cut.xlsx old/cut.ods --> these files of tests/sheets lie in the folder
    <!-- sandbox: {"kind": "lost"} -->    the service meets this fault (sandbox/faults/faults.py)
"""

import csv
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from tests.support.prefects.warm_start import Warm, WarmStart
from tests.support.session import PATIENCE

ROOT = Path(__file__).parents[2]
BIN = Path(sys.executable).parent
ANY = "…"
QUOTED = re.compile(r"\"[^\"$`\\]*\"|'[^']*'")
# Settings, and words that no shell would act upon; what Prefect reads it reads as it is imported.
PLAINLY = re.compile(r"((?!PREFECT_)[A-Z_]+=[^\s|&;<>()$`]* )*campaign [^|&;<>()$`*?#~]*")


@dataclass(frozen=True)
class Block:
    """One fenced block. `prepared` is what the comment in front of it says, by its word."""

    file: Path
    line: int
    language: str
    text: str
    prepared: dict[str, str]

    def __str__(self) -> str:
        return f"{self.file.name}:{self.line}"


@dataclass(frozen=True)
class Command:
    """One command of a console block: what is typed, what is shown of its output, its exit code."""

    typed: str
    shown: str
    code: int


def documents() -> list[Path]:
    beside = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md")
    return [*(ROOT / name for name in beside), *sorted((ROOT / "docs").glob("*.md"))]


def blocks(file: Path) -> list[Block]:
    """Every fenced block of a document. Raises ValueError for one that is never closed."""
    found: list[Block] = []
    prepared: dict[str, str] = {}
    opened: tuple[int, str] | None = None
    inside: list[str] = []
    for number, line in enumerate(file.read_text("utf-8").splitlines(), start=1):
        if opened is not None:
            if line.startswith("```"):
                found.append(Block(file, *opened, "\n".join(inside), prepared))
                opened, inside, prepared = None, [], {}
            else:
                inside.append(line)
        elif line.lstrip().startswith("```"):
            opened = (number, line.strip().removeprefix("```"))
        elif comment := re.fullmatch(r"<!-- (file|workbook|sheets|sandbox): (.*) -->", line):
            prepared[comment[1]] = comment[2]
        elif line:
            prepared = {}
    if opened is not None:
        raise ValueError(f"{file.name}:{opened[0]}: this block is never closed")
    return found


def commands(block: Block) -> list[Command]:
    """Read a console block. Raises ValueError for output that no command stands before."""
    typed: list[tuple[str, list[str]]] = []
    for line in block.text.splitlines():
        if line.startswith("$ "):
            typed.append((line[2:], []))
        elif typed:
            typed[-1][1].append(line)
        else:
            raise ValueError(f"{block}: a console block begins with a command")
    found: list[Command] = []
    for words, shown in typed:
        if words == "echo $?" and found:
            last = found.pop()
            found.append(Command(last.typed, last.shown, int("".join(shown))))
        else:
            found.append(Command(words, "\n".join(shown), 0))
    return found


def fits(shown: str, printed: str) -> bool:
    """Compare what a document shows with what was printed; spaces at the ends of lines are free."""
    pattern = ""
    for line in lines(shown):
        if line.strip() == ANY:
            pattern += r"(?:[^\n]*\n)*"
        else:
            pattern += r"[^\n]*".join(re.escape(part) for part in line.rstrip().split(ANY)) + r"\n"
    return re.fullmatch(pattern, "".join(f"{one.rstrip()}\n" for one in lines(printed))) is not None


def lines(printed: str) -> list[str]:
    return printed.rstrip().splitlines()


def _workbook(text: str) -> bytes:
    from tests.sheets.writers import workbook

    sheets: dict[str, list[list[str | None]]] = {}
    for row in csv.reader(text.splitlines()):
        if len(row) == 1 and row[0].startswith("["):
            rows = sheets.setdefault(row[0].strip("[]"), [])
        else:
            rows.append([cell or None for cell in row])
    return workbook(sheets)


def _sheets(name: str) -> bytes:
    from tests.sheets.broken import BROKEN
    from tests.sheets.formats import EXPORTS

    return BROKEN[name][0]() if name in BROKEN else EXPORTS[name].content


class Shell:
    """One person at a fresh machine: a home, a folder, a ledger and a shell that remembers exports.

    `campaign sandbox` stays open until the end, at a free port, and its exports are typed as well.
    `more` is what the environment holds besides. With `warm`, the product's own commands begin
    with everything imported.
    """

    def __init__(self, folder: Path, warm: WarmStart | None = None, **more: str) -> None:
        self.folder, self._warm = folder, warm
        (folder / "home").mkdir(exist_ok=True)
        (folder / "work").mkdir()
        # The doctor looks there for what workers left: not for what those of other tests did.
        (folder / "temporary").mkdir(exist_ok=True)
        kept = {name: os.environ[name] for name in ("LANG", "TZ") if name in os.environ}
        self.environment = kept | {
            "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}",
            "HOME": str(folder / "home"),
            "TMPDIR": str(folder / "temporary"),
            "PYTHONUTF8": "1",
            "CAMPAIGN_DATABASE_URL": f"sqlite:///{folder}/ledger.db",
            "CAMPAIGN_OUTPUT_DIR": str(folder / "out"),
            **more,
        }
        self._open: list[Warm | subprocess.Popen[bytes]] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for process in self._open:
            process.send_signal(signal.SIGTERM)
            process.communicate(timeout=PATIENCE)

    def type(self, command: Command) -> str | None:
        """Type one command; answers what is not as the document says."""
        code, printed = self.answer(command)
        if code == command.code and fits(command.shown, printed):
            return None
        return (
            f"$ {command.typed}\n{printed}\n-- ended with {code}; shown, ending with "
            f"{command.code}:\n{command.shown}"
        )

    def answer(self, command: Command) -> tuple[int, str]:
        """Type one command; answers its exit code and what it printed."""
        if command.typed.startswith("campaign sandbox"):
            return 0, self._start(command)
        return self.run(command.typed)

    def prepare(self, block: Block) -> None:
        """Write the files of a block, or set the fault it speaks of."""
        if name := block.prepared.get("file"):
            self._write(name, f"{block.text}\n".encode())
        if name := block.prepared.get("workbook"):
            self._write(name, _workbook(block.text))
        for name in block.prepared.get("sheets", "").split():
            self._write(name, _sheets(Path(name).name))
        # A sandbox that did not start was told at its command.
        if self._open and (described := block.prepared.get("sandbox")):
            self._set_fault(json.loads(described))

    def _write(self, name: str, content: bytes) -> None:
        file = self.folder / "work" / name
        file.parent.mkdir(exist_ok=True)
        file.write_bytes(content)

    def run(self, typed: str) -> tuple[int, str]:
        """Type one line and wait for its end; answers its exit code and what it printed."""
        if typed.startswith("make "):
            # The environment of the tests is set up already; a test never changes it.
            typed = f"make -s -C '{ROOT}' -o setup -o setup-tests BIN='{BIN}' {typed[5:]}"
        plain = typed.replace("$PWD", str(self.folder / "work"))
        if self._warm is not None and PLAINLY.fullmatch(QUOTED.sub("''", plain)):
            said = self.folder / "said"
            said.unlink(missing_ok=True)
            ended = self._begin(self._warm, plain, said)
            printed, _ = ended.communicate(PATIENCE)
            assert ended.returncode is not None
            return ended.returncode, printed
        ended = subprocess.run(
            ["bash", "-c", typed],
            cwd=self.folder / "work",
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
            text=True,
            timeout=PATIENCE,
        )
        return ended.returncode, ended.stdout

    def _begin(self, warm: WarmStart, typed: str, said: Path) -> Warm:
        settings, words = {}, shlex.split(typed)
        while words[0] != "campaign":
            name, _, value = words.pop(0).partition("=")
            settings[name] = value
        return warm.begin(words[1:], self.folder / "work", self.environment | settings, both=said)

    def _start(self, command: Command) -> str:
        """Start the sandbox and wait for the last line that the document shows."""
        typed, said = f"{command.typed} --port 0", self.folder / f"said-{len(self._open)}"
        said.touch()
        last = lines(command.shown)[-1]
        process: Warm | subprocess.Popen[bytes]
        if self._warm is not None:
            process = self._begin(self._warm, typed, said)
        else:
            with said.open("wb") as into:
                process = subprocess.Popen(
                    typed.split(),
                    executable=str(BIN / "campaign"),
                    cwd=self.folder / "work",
                    env=self.environment,
                    stdin=subprocess.DEVNULL,
                    stdout=into,
                    stderr=into,
                )
        while process.poll() is None:
            if any(fits(last, line) for line in lines(said.read_text())):
                self._open.append(process)
                break
            time.sleep(0.02)  # another process writes it
        printed = said.read_text()
        self.environment |= dict(re.findall(r"^ *export (\w+)=(.*)$", printed, re.MULTILINE))
        return printed

    def _set_fault(self, described: dict[str, Any]) -> None:
        asked = urllib.request.Request(
            f"{self.environment['ASSESSMENT_BASE_URL']}/sandbox/faults",
            json.dumps([described]).encode(),
            {"Content-Type": "application/json"},
        )
        with urllib.request.urlopen(asked, timeout=PATIENCE) as answer:
            assert answer.status == 201


def mistakes(
    document: Path, folder: Path, warm: WarmStart | None = None, **more: str
) -> Iterator[str]:
    """Follow a document from its first block to its last; yields what is not as it says."""
    with Shell(folder, warm, **more) as shell:
        for block in blocks(document):
            shell.prepare(block)
            if block.language == "console":
                for command in commands(block):
                    if wrong := shell.type(command):
                        yield f"{block}\n{wrong}"
