"""A worker that is told to stop lets its runs end first; a run that is told to stop hears it."""

import os
import signal
import subprocess
import sys
import textwrap

import psutil
import pytest

from flows.gently import end_runs

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


def test_what_a_killed_worker_leaves_ends_and_what_another_installation_has_goes_on() -> None:
    """So no more are at work than the worker that comes next may have; another one's go on."""
    wrapped = [sys.executable, "-m", "flows.gently", sys.executable, "-c"]
    wrapped += [textwrap.dedent(WORKER), textwrap.dedent(RUN)]
    command, began = [sys.executable, "-c", textwrap.dedent(RUN), "box 1"], []
    for home, run, what in (
        ("ours", "1", command),
        ("theirs", "2", command),
        ("ours", "", wrapped),
        ("ours", "", command),
    ):
        of = os.environ | {"PREFECT_HOME": home} | ({"PREFECT__FLOW_RUN_ID": run} if run else {})
        began.append(subprocess.Popen(what, env=of, stdout=subprocess.PIPE, text=True))
        assert began[-1].stdout.readline() == "begun\n"
    end_runs(psutil.Process().children(recursive=True), "box ", PREFECT_HOME="ours")
    assert began[1].poll() is None
    others = psutil.Process(began[2].pid).children(recursive=True)
    assert psutil.STATUS_ZOMBIE not in [each.status() for each in others]
    began[1].kill(), began[2].terminate()
    said = [each.communicate()[0] for each in began]
    # The worker is killed: it would begin others.
    assert said == ["ended gently\n", "", "ended gently\n", ""]


def test_a_worker_that_ends_by_itself_gives_its_exit_code() -> None:
    command = [sys.executable, "-m", "flows.gently", sys.executable, "-c", "raise SystemExit(7)"]
    assert subprocess.run(command, check=False).returncode == 7
