"""Whether the process of a run is still alive: what a dead one had claimed is unsure."""

import os
import socket
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

# A run on another machine is taken for dead after this long without a heartbeat.
HEARTBEAT_EVERY = timedelta(seconds=15)
HEARTBEAT_EXPIRES = timedelta(minutes=3)


@dataclass(frozen=True, slots=True)
class Process:
    """One process, told apart from every other one that ever had its number."""

    host: str
    pid: int
    start: str  # "" when there is no such process


def this_process() -> Process:
    """The process that asks."""
    return Process(socket.gethostname(), os.getpid(), _start_of(os.getpid()))


def is_alive(run: Process, heartbeat: datetime, now: datetime) -> bool:
    """Same host: the very process is there. Another host: its heartbeat has not expired.

    A stopped process (SIGSTOP) lives: it may wake and send what it has claimed.
    """
    if run.host == socket.gethostname():
        return bool(run.start) and _start_of(run.pid) == run.start
    return now - heartbeat < HEARTBEAT_EXPIRES


def _start_of(pid: int) -> str:
    """When a process started, in a form that neither a reboot nor a changed clock repeats."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except (FileNotFoundError, ProcessLookupError):
        return _start_without_proc(pid)
    if fields[0] in ("Z", "X"):  # ended; only its parent has not asked yet
        return ""
    return f"{boot[:8]}/{fields[19]}"


def _start_without_proc(pid: int) -> str:
    if Path("/proc/self/stat").exists():
        return ""
    import psutil  # noqa: PLC0415 - only where there is no /proc

    try:
        return str(psutil.Process(pid).create_time())
    except psutil.NoSuchProcess:
        return ""
