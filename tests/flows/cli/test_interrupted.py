"""Ctrl-C as a terminal sends it: to every process of the group, Prefect's server among them."""

import asyncio
import logging
import os
import signal
import subprocess
from pathlib import Path

import httpx
import pytest
from prefect.exceptions import ObjectNotFound, SignatureMismatchError, TerminationSignal
from prefect.utilities.services import critical_service_loop

from flows.engine.runs import LISTENERS, RUNS, STEPS, leave_its_stack_out, printed_stacks_left_out
from flows.run.interrupts import INTERRUPTED, Stop, stopping_on_signals
from sandbox.faults.faults import Fault
from sandbox.server import Sandbox
from tests.support.prefects.prefect_home import CAMPAIGN, Desk
from tests.support.prefects.prefect_tables import furnish
from tests.support.session import PATIENCE


@pytest.mark.journey
def test_ctrl_c_on_a_terminal_ends_gently(tmp_path: Path) -> None:
    """The run ends soon, in its own words, with nothing unsure; the same command goes on."""
    with Sandbox() as service:
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(tmp_path),
            "CAMPAIGN_DATABASE_URL": f"sqlite:///{tmp_path / 'ledger.db'}",
            "CAMPAIGN_OUTPUT_DIR": str(tmp_path / "out"),
            **service.environment(),
        }
        furnish(tmp_path / ".local" / "share" / "hiring-campaigns" / "prefect")
        service.faults.add(Fault("slow", "invite", count=None, seconds=0.5))
        file = Desk(tmp_path, service, environment).campaign("terminal", 900)
        process = subprocess.Popen(
            [CAMPAIGN, "run", str(file)],
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        service.wait_for(lambda record: len(record.invitations) >= 20, timeout=PATIENCE)
        os.killpg(process.pid, signal.SIGINT)
        out, err = process.communicate(timeout=PATIENCE)
        assert process.returncode == 1
        assert err.strip() == f"stopped: {INTERRUPTED}"
        assert "unsure" not in out and "waiting: campaign run" in out
        assert len(service.record.invitations) < 900


def test_what_begins_after_the_signal_is_stopped_as_well() -> None:
    """A campaign of a folder has its gate only after it has read its file: it was meant too."""

    async def run() -> str | None:
        heard, begun = Stop(), Stop()
        with stopping_on_signals(heard):
            os.kill(os.getpid(), signal.SIGTERM)
            await heard.or_after(60)
            with stopping_on_signals(begun):
                return begun.reason

    assert asyncio.run(run()) == INTERRUPTED


class _Anything:
    def stop(self, reason: str) -> None: ...


@pytest.mark.parametrize("listener", LISTENERS)
@pytest.mark.parametrize(("of", "lines"), [("prefect.{}", 1), ("asyncio", 0)])
def test_a_server_that_goes_away_shows_no_stack(
    listener: str, of: str, lines: int, caplog: pytest.LogCaptureFixture
) -> None:
    """Prefect's own line that it listens in another way now is enough."""
    logger = logging.getLogger(of.format(listener))
    logger.addHandler(caplog.handler)  # Prefect's do not hand on what they say
    try:
        leave_its_stack_out()
        try:
            raise EOFError("stream ends")
        except EOFError:
            logger.exception("Exception in callback %s._done", listener)
    finally:
        logger.removeHandler(caplog.handler)
    assert len({record.getMessage() for record in caplog.records}) == lines
    assert "EOFError" not in caplog.text


def test_what_prefect_prints_of_it_is_left_out(capsys: pytest.CaptureFixture[str]) -> None:
    """Past its logs; whatever else is written meanwhile comes through, such as a run's words."""

    async def fail() -> None:
        raise httpx.ConnectError("All connection attempts failed")

    with printed_stacks_left_out():
        print("A run says something.")
        with pytest.raises(RuntimeError, match="error threshold"):
            asyncio.run(critical_service_loop(fail, 0.0))
        print("A run says more.")
    assert capsys.readouterr().out == "A run says something.\nA run says more.\n"


@pytest.mark.parametrize("error", [None, OSError("no room")])
def test_a_step_that_failed_in_our_words_has_no_empty_stack(error: OSError | None) -> None:
    """Prefect shows an exception where there is none; one that there is stays."""
    leave_its_stack_out()
    logger, why = logging.getLogger(STEPS), (type(error), error, None) if error else (None,) * 3
    record = logger.makeRecord(STEPS, logging.ERROR, "", 0, "Task run failed", (), why)
    assert logger.filter(record)
    ends = "\nOSError: no room" if error else ""
    assert logging.Formatter().format(record) == f"Task run failed{ends}"


@pytest.mark.parametrize(
    "error", [ObjectNotFound(OSError()), SignatureMismatchError("shet"), OSError("no room")]
)
@pytest.mark.parametrize("name", RUNS)
def test_a_run_that_was_deleted_or_cannot_begin_shows_no_stack(name: str, error: Exception) -> None:
    """Prefect finds nowhere to note how it ended, or a parameter that its flow does not have."""
    leave_its_stack_out()
    logger, why = logging.getLogger(name), (type(error), error, None)
    record = logger.makeRecord(name, logging.ERROR, "", 0, "The run failed", (), why)
    assert logger.filter(record)
    assert bool(record.exc_info) is isinstance(error, OSError)


@pytest.mark.parametrize("end", [TerminationSignal(signal.SIGTERM), OSError("no room")])
def test_a_run_that_a_signal_ends_while_prefect_waits_shows_no_stack(
    end: BaseException, caplog: pytest.LogCaptureFixture
) -> None:
    """Whatever else goes wrong at the end of a process is shown."""

    async def prefect_waits_for_its_last_state() -> None:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            raise end from None

    async def run() -> asyncio.Task[None]:
        leave_its_stack_out()
        with stopping_on_signals(_Anything()):
            last = asyncio.create_task(prefect_waits_for_its_last_state())
            await asyncio.sleep(0)
        return last

    assert asyncio.run(run()).exception() is end
    assert bool(caplog.records) is isinstance(end, OSError)
