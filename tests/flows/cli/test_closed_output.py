"""A terminal that is closed, a reader that has gone, a person who presses Ctrl-C thrice."""

import fcntl
import os
import select
import signal
import subprocess
import termios
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from data.campaigns import queries
from data.store.ledger import Ledger
from sandbox.faults.faults import Fault
from sandbox.server import Sandbox
from tests.support.prefects.prefect_home import CAMPAIGN, Desk
from tests.support.prefects.prefect_tables import furnish

PEOPLE = 300


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    with Sandbox() as service:
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(tmp_path),
            "CAMPAIGN_DATABASE_URL": f"sqlite:///{tmp_path / 'ledger.db'}",
            "CAMPAIGN_OUTPUT_DIR": str(tmp_path / "out"),
            **service.environment(),
        }
        furnish(tmp_path / ".prefect")
        service.faults.add(Fault("slow", "invite", count=None, seconds=0.5))
        desk = Desk(tmp_path, service, environment)
        desk.campaign("cut", PEOPLE)
        yield desk


def begin(desk: Desk, **how: Any) -> subprocess.Popen[str]:
    """A run that has invited some of its people, and is inviting others."""
    process = subprocess.Popen(
        [CAMPAIGN, "run", "cut.yaml"],
        env=desk.environment,
        cwd=desk.folder,
        stdin=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
        **{"stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | how,
    )
    desk.service.wait_for(lambda record: len(record.invitations) >= 20, timeout=300)
    return process


def steps(desk: Desk) -> Counter[str]:
    """How many stand where with their invitation; who was invited is in the service's record."""
    with Ledger.open(desk.environment["CAMPAIGN_DATABASE_URL"], create=False) as ledger:
        campaign = ledger.read(queries.find_campaign, "cut")
        assert campaign is not None
        return Counter(each.invite_state for each in queries.candidates(ledger, campaign.id))


def ended_gently(desk: Desk) -> None:
    """Nothing is in doubt, and all that the service received is recorded as done."""
    stands = steps(desk)
    received = len(desk.service.record.invitations)
    assert stands == {"done": received, "waiting": PEOPLE - received}
    assert 20 <= received < PEOPLE


@pytest.mark.timeout(600)
def test_a_closed_terminal_ends_a_run_gently(desk: Desk) -> None:
    """A window is closed, or ssh is gone: the system says SIGHUP, and no line can be written."""
    ours, theirs = os.openpty()
    closed = threading.Event()

    def look() -> None:
        while not closed.is_set():
            if select.select([ours], [], [], 0.1)[0]:
                os.read(ours, 4096)

    looks = threading.Thread(target=look)
    looks.start()
    try:
        process = begin(
            desk,
            stdout=theirs,
            stderr=theirs,
            preexec_fn=lambda: fcntl.ioctl(1, termios.TIOCSCTTY, 0),
        )
    finally:
        closed.set()
        looks.join()
        os.close(theirs)
        os.close(ours)
    process.wait(timeout=200)
    assert process.returncode == 1
    ended_gently(desk)


@pytest.mark.timeout(600)
def test_a_hangup_ends_a_run_gently(desk: Desk) -> None:
    """Where somebody still reads, it says so."""
    process = begin(desk)
    os.killpg(process.pid, signal.SIGHUP)
    out, err = process.communicate(timeout=200)
    assert process.returncode == 1
    assert err.strip() == "stopped: The run was interrupted."
    assert "waiting: campaign run" in out
    ended_gently(desk)


@pytest.mark.timeout(600)
@pytest.mark.parametrize("streams", [("stdout",), ("stdout", "stderr")])
def test_a_reader_that_has_gone_ends_a_run_gently(desk: Desk, streams: tuple[str, ...]) -> None:
    """As behind `| head -1`: the next line has nowhere to go."""
    process = begin(desk)
    for name in streams:
        getattr(process, name).close()
    process.wait(timeout=200)
    assert process.returncode == 1
    if "stderr" not in streams:
        assert process.stderr is not None
        assert process.stderr.read().strip() == "stopped: The run was interrupted."
        process.stderr.close()
    ended_gently(desk)


@pytest.mark.timeout(600)
def test_nohup_lets_a_run_go_on(desk: Desk) -> None:
    """Who asks for it to outlive the terminal gets that."""
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        process = begin(desk)
    finally:
        signal.signal(signal.SIGHUP, before)
    os.killpg(process.pid, signal.SIGHUP)
    desk.service.faults.clear()
    out, _ = process.communicate(timeout=200)
    assert (process.returncode, f"{PEOPLE} invited" in out) == (0, True)


@pytest.mark.timeout(600)
def test_impatience_shows_no_stack(desk: Desk) -> None:
    """Three Ctrl-C: it ends at once, in words; what was in flight is in doubt, and no more."""
    process = begin(desk)
    for _ in range(3):
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGINT)
            time.sleep(1.2)  # less, and it is one and the same wish
    out, err = process.communicate(timeout=200)
    assert process.returncode in (1, 130, -signal.SIGINT)
    assert "Traceback" not in out + err and "Error" not in out + err
    assert steps(desk)["unsure"] + steps(desk)["sending"] <= 8


@pytest.mark.timeout(600)
@pytest.mark.parametrize("away", ["moved", "deleted", "replaced"])
def test_a_ledger_that_vanishes_ends_a_run(desk: Desk, away: str) -> None:
    """Nobody is invited without a record; what a person can put back knows of every invitation."""
    process = begin(desk)
    ledger, aside = desk.folder / "ledger.db", desk.folder / "aside.db"
    match away:
        case "moved":
            ledger.rename(aside)
        case "deleted":
            ledger.unlink()
        case "replaced":
            aside.touch()
            aside.replace(ledger)
    out, err = process.communicate(timeout=200)
    assert process.returncode == 1
    assert "was moved, replaced or deleted while it was in use, so nothing more is sent" in err
    assert "Traceback" not in out + err
    received = len(desk.service.record.invitations)
    assert f"{received} invited" in out
    if away == "moved":  # the file alone has it all
        desk.environment["CAMPAIGN_DATABASE_URL"] = f"sqlite:///{aside}"
        ended_gently(desk)
