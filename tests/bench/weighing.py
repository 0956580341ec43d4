"""Runs one program to its end, and weighs it: time, processor, memory, writes. Linux only."""

import os
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

EVERY = 0.2  # seconds between two looks at a program's processes
BLOCK = 512  # bytes; what the kernel counts writes in


class Failed(Exception):
    """A program that was to be measured did not end well; its last words are in the message."""


@dataclass(frozen=True, slots=True)
class Weighed:
    """What one run of a program took, with every process that it started and waited for.

    `cpu` in seconds of one processor, `memory` in bytes: the sum of each process's own peak.
    `written`: bytes that it had the kernel write to a disk.
    """

    seconds: float
    cpu: float
    memory: int
    written: int
    said: str


def weigh(
    command: Sequence[str | Path],
    folder: Path,
    environment: Mapping[str, str],
    *,
    codes: Collection[int] = (0,),
) -> Weighed:
    """Run a command in a folder until it ends. Raises Failed unless it ends with one of `codes`."""
    with tempfile.TemporaryFile() as out:
        begun = time.perf_counter()
        process = _start(command, folder, environment, out.fileno())
        with _peaks(process.pid) as peaks:
            _, status, used = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - begun
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        said = out.read().decode(errors="replace")
    if process.returncode not in codes:
        raise Failed(f"{' '.join(map(str, command))} ended with {process.returncode}:\n{said}")
    written = used.ru_oublock * BLOCK
    return Weighed(seconds, used.ru_utime + used.ru_stime, peaks(), written, said)


def kill_when(
    reached: Callable[[], bool],
    command: Sequence[str | Path],
    folder: Path,
    environment: Mapping[str, str],
) -> None:
    """Run a command and end all its processes with SIGKILL once `reached`.

    Raises Failed where it ends by itself before that.
    """
    with tempfile.TemporaryFile() as out:
        process = _start(command, folder, environment, out.fileno())
        while not reached():
            if process.poll() is not None:
                out.seek(0)
                raise Failed(out.read().decode(errors="replace"))
            time.sleep(0.05)
        for pid in reversed([process.pid, *_descendants(process.pid)]):
            os.kill(pid, signal.SIGKILL)
        process.wait()


def _start(
    command: Sequence[str | Path], folder: Path, environment: Mapping[str, str], out: int
) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        list(map(str, command)),
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=out,
        stderr=out,
    )


class _peaks:
    """Follows the processes below one; called at the end, it sums each one's peak."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._peaks: dict[int, int] = {}
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._look_again_and_again)

    def __enter__(self) -> Callable[[], int]:
        self._thread.start()
        return lambda: sum(self._peaks.values())

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def _look_again_and_again(self) -> None:
        while not self._over.wait(EVERY):
            for pid in (self._pid, *_descendants(self._pid)):
                # The kernel keeps each process's peak, so nothing between two looks is missed. The
                # last look counts: a child that is only about to become its program has its
                # parent's memory still, which is no memory more.
                self._peaks[pid] = _peak(pid) or self._peaks.get(pid, 0)


def _peak(pid: int) -> int:
    try:
        for line in Path(f"/proc/{pid}/status").read_text("ascii").splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    except (OSError, ValueError):
        pass  # it has gone meanwhile
    return 0


def _descendants(pid: int) -> Iterator[int]:
    try:
        found = [
            int(child)
            for task in Path(f"/proc/{pid}/task").iterdir()
            for child in (task / "children").read_text("ascii").split()
        ]
    except OSError:
        return
    for child in found:
        yield child
        yield from _descendants(child)
