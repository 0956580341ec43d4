"""Whether the process of a run is still alive: what a dead process had claimed is unsure."""

import os
import socket
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache
from pathlib import Path

# A run on another machine is taken for dead after this long without a heartbeat.
HEARTBEAT_EVERY = timedelta(seconds=15)
HEARTBEAT_EXPIRES = timedelta(minutes=3)
_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


@dataclass(frozen=True, slots=True)
class Process:
    """One process, different from every other process that ever had its number."""

    host: str
    pid: int
    start: str  # "" when there is no such process


def this_process() -> Process:
    """The process that asks."""
    return Process(socket.gethostname(), os.getpid(), _start_of(os.getpid()))


def is_alive(run: Process, heartbeat: datetime, now: datetime) -> bool:
    """On this machine: the same process is there. Elsewhere: its heartbeat has not expired.

    A stopped process (SIGSTOP) is alive: it may wake and send what it has claimed. Of another
    user's process that this machine hides, only the heartbeat tells.
    """
    if is_here(run):
        start = _start_of(run.pid)
        if start or not _is_hidden(run.pid):
            return bool(run.start) and start == run.start
    return now - heartbeat < HEARTBEAT_EXPIRES


def is_here(run: Process) -> bool:
    """Whether a process can be looked up on this machine: the same host, started only once since.

    Two machines may have one name, but never one boot id. Where there is none, the name decides.
    """
    here = this_process()
    boots = _boot_of(run.start), _boot_of(here.start)
    return run.host == here.host and (boots[0] == boots[1] or "" in boots)


def _boot_of(start: str) -> str:
    boot, slash, _ = start.partition("/")
    return boot if slash else ""


def _start_of(pid: int) -> str:
    """When a process started, in a form that stays unique across reboots and clock changes."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return _start_without_proc(pid)
    if fields[0] in ("Z", "X"):  # a zombie: it has ended, but its parent has not collected it
        return ""
    return f"{_boot()}/{fields[19]}"


@cache
def _boot() -> str:
    """Which start of which machine this is: by its time where there is no id (gVisor)."""
    try:
        return _BOOT_ID.read_text()[:8]
    except OSError:
        import psutil  # noqa: PLC0415 - only where there is no id

        return str(psutil.boot_time())


def _is_hidden(pid: int) -> bool:
    """Whether a process is there and may not be looked at: of another user, with hidepid."""
    try:
        os.kill(pid, 0)
    except PermissionError:
        return True
    except OSError:
        return False
    return False


def _start_without_proc(pid: int) -> str:
    if Path("/proc/self/stat").exists():
        return ""
    import psutil  # noqa: PLC0415 - only where there is no /proc

    try:
        return str(psutil.Process(pid).create_time())
    except psutil.NoSuchProcess:
        return ""
