"""A worker that is told to stop lets its runs end first; a run that is told to stop hears it."""

import os
import signal
import subprocess
import sys
import textwrap

import pytest

from flows.gently import stop_signals

RUN = """
    import signal, sys, time
    def end(*_):
        time.sleep(0.3)  # what is in flight gets its answer
        print("ended gently")
        sys.exit()
    signal.signal(signal.SIGTERM, end)
    print("begun", flush=True)
    time.sleep(60)
"""
WORKER = """
    import os, subprocess, sys, time
    run = subprocess.Popen(
        [sys.executable, "-c", sys.argv[1]], env=os.environ | {"PREFECT__FLOW_RUN_ID": "1"}
    )
    try:
        time.sleep(60)
    finally:
        run.kill()
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_worker_lets_its_runs_end_before_it_does(number: signal.Signals) -> None:
    command = [sys.executable, "-c", textwrap.dedent(WORKER), textwrap.dedent(RUN)]
    with subprocess.Popen(
        [sys.executable, "-m", "flows.gently", *command], stdout=subprocess.PIPE, text=True
    ) as wrapped:
        assert wrapped.stdout and wrapped.stdout.readline() == "begun\n"
        os.kill(wrapped.pid, number)
        assert wrapped.stdout.read() == "ended gently\n"


def test_after_nohup_a_closed_terminal_stops_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(signal, "getsignal", lambda _: signal.SIG_IGN)
    assert stop_signals() == (signal.SIGTERM, signal.SIGINT)


def test_a_worker_that_ends_by_itself_gives_its_exit_code() -> None:
    command = [sys.executable, "-m", "flows.gently", sys.executable, "-c", "raise SystemExit(7)"]
    assert subprocess.run(command, check=False).returncode == 7
    gone = os.environ | {"WRAPPED_BY": str(2**30)}  # before the wrapper began
    command[-1] = "import time; time.sleep(60)"
    assert subprocess.run(command, env=gone, check=False, timeout=30).returncode == 241  # SIGTERM
