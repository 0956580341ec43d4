"""What `campaign run` says on the way, where its output goes to a file or a pipe, or to nobody."""

import asyncio
import os
import pty
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from data.campaigns.remaining import Remaining
from data.store.states import Ending
from flows.cli.reading import TypedFile
from flows.cli.run.one_run import OneRun
from flows.cli.run.progress import LineObserver, progress
from flows.run.ending import Finish
from flows.run.interrupts import Stop, stopping_on_signals
from flows.run.observer import RunObserver
from sandbox.faults.faults import Fault
from sandbox.server import Sandbox
from tests.support.campaigns import Office, people
from tests.support.ledgers.small_ledger import definition


@pytest.fixture
def observer() -> RunObserver:
    return LineObserver(OneRun(TypedFile(Path("said.yaml")), definition(key="said")))


@pytest.mark.parametrize(("fault", "said"), [(None, True), ("partial", False)])
def test_an_add_counts_the_ids_that_came_back(
    tmp_path: Path,
    observer: RunObserver,
    capsys: pytest.CaptureFixture[str],
    fault: str | None,
    said: bool,
) -> None:
    """Whom the answer left out is unsure, not added."""
    with Sandbox() as service:
        office = Office.at(tmp_path, service)
        if fault:
            service.faults.add(Fault(fault, "add_candidates"))
        file = office.write("said", people("ada", "grace", "joan"))
        office.run(file, observer=observer)
    out = capsys.readouterr().out
    assert "said: 3 to add, 3 to invite" in out
    assert ("3 of 3 added" in out) is said


@pytest.mark.parametrize(("ending", "said"), [(Ending.COMPLETED, True), (Ending.STOPPED, False)])
def test_nothing_to_send_is_said_once_it_is_so(
    observer: RunObserver, capsys: pytest.CaptureFixture[str], ending: Ending, said: bool
) -> None:
    """Where another run is at work, nothing is left for this one, and everything may be to send."""
    observer.on_plan(Remaining())
    assert capsys.readouterr().out == ""
    observer.on_end(Finish("said", ending, None, {}))
    assert ("nothing to send" in capsys.readouterr().out) is said


def test_a_terminal_that_is_closed_tears_no_request_away(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is in flight gets its answer; the run ends, and nothing more is written."""
    ours, theirs = pty.openpty()
    run, gate = OneRun(TypedFile(Path("said.yaml")), definition(key="said")), Stop()

    async def pause() -> None:
        with stopping_on_signals(gate), progress(starts=False) as observers:
            bar = observers(run)
            os.close(ours)
            for _ in range(2):
                bar.on_pause(datetime(2026, 12, 1, 12, tzinfo=UTC))

    with os.fdopen(theirs, "w") as terminal:
        monkeypatch.setattr(sys, "stderr", terminal)
        asyncio.run(pause())
    assert gate.reason is not None
