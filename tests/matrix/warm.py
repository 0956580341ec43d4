"""A Python that has imported some libraries already, and forks itself for each program.

`python warm.py LIBRARY...` reads orders, a line of JSON each: `start` with a command line, its
folder and environment, answered by a process id; then `wait`, answered by how that process ended.
Nothing but time is spared: each program is a process of its own, read from its file as Python reads
it, that no other has been before. Of the programs compared nothing is imported here, only what
others wrote; it has no thread and has opened nothing when it forks.

Standard library only: programs of other environments run this file.
"""

import gc
import importlib
import json
import os
import runpy
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Self


class Warm:
    """The other end of it: begins programs, one after the other. A context manager."""

    pid: int  # of the program that was begun last

    def __init__(self, python: str, libraries: Sequence[str], env: Mapping[str, str]) -> None:
        self._words = [python, "-P", __file__, *libraries]
        self._env = env

    def __enter__(self) -> Self:
        pipe = subprocess.PIPE
        self._server = subprocess.Popen(
            self._words, env=self._env, stdin=pipe, stdout=pipe, start_new_session=True
        )
        return self

    def __exit__(self, *_: object) -> None:
        self._server.communicate()

    def begin(
        self, words: Sequence[str], folder: Path, env: Mapping[str, str], writes: Sequence[str]
    ) -> Self:
        """Begin a program; what it `writes` is added to two files of its folder."""
        self.pid = self._ask(words=words, folder=str(folder), env=env, writes=writes)
        return self

    def wait(self) -> int:
        """Wait until it has ended; answers as `Popen.wait` does."""
        return self._ask()

    def _ask(self, **order: Any) -> int:
        assert self._server.stdin and self._server.stdout
        self._server.stdin.write(json.dumps(order).encode() + b"\n")
        self._server.stdin.flush()
        return int(self._server.stdout.readline())


def _order() -> dict[str, Any]:
    """Carry out orders. Answers that of a program, in a process made for it; else never returns."""
    pid = 0
    for line in sys.stdin:
        if order := json.loads(line):
            pid = os.fork()
            if pid == 0:
                return dict(order)
            print(pid, flush=True)
        else:
            print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), flush=True)
    sys.exit()


def _be(words: Sequence[str], folder: str, env: Mapping[str, str], writes: Sequence[str]) -> None:
    """Be a program as if it had been typed; Python ends this process as it would end that."""
    os.setsid()  # a group of its own: one signal ends all of it
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(env)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    for number, file in enumerate(writes, start=1):
        os.dup2(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), number)
    sys.argv = [*words]
    sys.path.insert(0, str(Path(words[0]).parent))
    runpy.run_path(words[0], run_name="__main__")


if __name__ == "__main__":
    for library in sys.argv[1:]:
        importlib.import_module(library)
    gc.collect()
    gc.freeze()  # what is shared with every fork stays shared
    _be(**_order())
