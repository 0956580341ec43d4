"""A terminal that is closed, a reader that has gone, a person who presses Ctrl-C thrice."""

import errno
import fcntl
import os
import select
import shlex
import signal
import subprocess
import sys
import termios
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from data.campaigns import queries
from data.store.errors import LedgerGone
from data.store.ledger import Ledger
from flows.cli.commands import show_unraisable
from flows.cli.reading import TypedFile
from flows.cli.run.one_run import OneRun
from flows.cli.run.telling import tell
from flows.run.interrupts import INTERRUPTED
from sandbox.faults.faults import Fault
from sandbox.server import Sandbox
from tests.support.ledgers.small_ledger import definition
from tests.support.prefects.prefect_home import CAMPAIGN, Desk, WarmDesk, answer
from tests.support.prefects.prefect_tables import furnish
from tests.support.session import PATIENCE

PEOPLE = 900  # for a minute, so that a slow machine does not end before it is told to
SLOWLY = Fault("slow", "invite", count=None, seconds=0.5)


@pytest.fixture
def alone(tmp_path: Path) -> Iterator[Desk]:
    """Where a run has no Prefect server but its own; `desk` is beside one that stands."""
    with Sandbox() as service:
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(tmp_path),
            "PREFECT_HOME": str(tmp_path / ".prefect"),
            "CAMPAIGN_DATABASE_URL": f"sqlite:///{tmp_path / 'ledger.db'}",
            "CAMPAIGN_OUTPUT_DIR": str(tmp_path / "out"),
            **service.environment(),
        }
        furnish(tmp_path / ".prefect")
        service.faults.add(SLOWLY)
        desk = Desk(tmp_path, service, environment)
        desk.campaign("cut", PEOPLE)
        yield desk


def hear_of_hangups() -> None:
    """In a new process: who began the tests may have asked that they outlast one, as nohup does."""
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


def take_terminal() -> None:
    """Likewise: a closed terminal tells whom it belongs to."""
    hear_of_hangups()
    fcntl.ioctl(1, termios.TIOCSCTTY, 0)


def begin(desk: Desk, **how: Any) -> subprocess.Popen[str]:
    """A run that has invited some of its people, and is inviting others."""
    process = subprocess.Popen(
        [CAMPAIGN, "run", "cut.yaml"],
        env=desk.environment,
        cwd=desk.folder,
        stdin=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
        **{"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "preexec_fn": hear_of_hangups}
        | how,
    )
    desk.service.wait_for(lambda record: len(record.invitations) >= 20, timeout=PATIENCE)
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


@pytest.mark.journey
def test_a_closed_terminal_ends_a_run_gently(alone: Desk) -> None:
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
        process = begin(alone, stdout=theirs, stderr=theirs, preexec_fn=take_terminal)
    finally:
        closed.set()
        looks.join()
        os.close(theirs)
        os.close(ours)
    process.wait(timeout=PATIENCE)
    assert process.returncode == 1
    ended_gently(alone)


@pytest.mark.journey
def test_a_hangup_ends_a_run_gently(alone: Desk) -> None:
    """Where somebody still reads, it says so."""
    process = begin(alone)
    os.killpg(process.pid, signal.SIGHUP)
    out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 1
    assert err.strip() == f"stopped: {INTERRUPTED}"
    assert "waiting: campaign run" in out
    ended_gently(alone)


@pytest.mark.xdist_group("prefect")
@pytest.mark.parametrize("streams", [("stdout",), ("stdout", "stderr")])
def test_a_reader_that_has_gone_ends_a_run_gently(desk: WarmDesk, streams: tuple[str, ...]) -> None:
    """As behind `| head -1`: the next line has nowhere to go."""
    desk.service.faults.add(SLOWLY)
    desk.campaign("cut", PEOPLE)
    process = begin(desk)
    for name in streams:
        getattr(process, name).close()
    process.wait(timeout=PATIENCE)
    assert process.returncode == 1
    if "stderr" not in streams:
        assert process.stderr is not None
        assert process.stderr.read().strip() == f"stopped: {INTERRUPTED}"
        process.stderr.close()
    ended_gently(desk)


def in_a_shell(desk: Desk, typed: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        ["sh", "-c", typed],
        cwd=desk.folder,
        env=desk.environment,
        capture_output=True,
        text=True,
        check=False,
    )


def sent_unread(desk: Desk, more: str, closed: str) -> None:
    desk.service.faults.clear()
    desk.campaign("cut", 1)
    shut = " ".join(f"{stream}>&-" for stream in closed.split())
    ended = in_a_shell(desk, f"{CAMPAIGN} run cut.yaml --yes {more} {shut}")
    assert (ended.returncode, ended.stdout) == (0, "")
    assert "Traceback" not in ended.stderr
    assert len(desk.service.record.of("invite")) == 1


@pytest.mark.journey
def test_closed_streams_are_nobody_who_reads(alone: Desk) -> None:
    """As a supervisor begins it. What is opened next must not get the number of a stream."""
    sent_unread(alone, "", "0 1 2")


@pytest.mark.xdist_group("prefect")
@pytest.mark.parametrize(("more", "closed"), [("", "1 2"), ("--json", "1")])
def test_some_closed_streams_are_nobody_who_reads_either(
    desk: WarmDesk, more: str, closed: str
) -> None:
    """The others stay what they are."""
    sent_unread(desk, more, closed)


def test_a_process_that_is_started_finds_closed_streams_open_too(tmp_path: Path) -> None:
    """Such as a run that a server starts: its ledger must not get the number of a stream."""
    seen = tmp_path / "seen"
    child = f"import os; open({str(seen)!r}, 'w').write(str([os.fstat(n) and n for n in range(3)]))"
    parent = (
        "import subprocess, sys; from flows.cli.main import _open_every_stream; "
        f"_open_every_stream(); subprocess.run([sys.executable, '-c', {child!r}])"
    )
    typed = shlex.join([sys.executable, "-c", parent])
    subprocess.run(["sh", "-c", f"{typed} 0<&- >&- 2>&-"], check=True)
    assert seen.read_text() == "[0, 1, 2]"


@pytest.mark.journey
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="it is Linux's")
@pytest.mark.parametrize("words", ["--help", "status --json", "check cut.yaml"])
def test_a_full_disk_is_said(alone: Desk, words: str) -> None:
    """Where `> log.txt` has no room any more."""
    with Path("/dev/full").open("w") as full:
        ended = subprocess.run(
            [CAMPAIGN, *words.split()],
            cwd=alone.folder,
            env=alone.environment,
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert ended.returncode == 1
    assert os.strerror(errno.ENOSPC) in ended.stderr
    assert "fault" not in ended.stderr


@pytest.mark.journey
def test_a_folder_that_is_gone_is_said(alone: Desk) -> None:
    """Its relative paths would lead nowhere."""
    typed = f"mkdir gone && cd gone && rmdir ../gone && {CAMPAIGN} status"
    ended = in_a_shell(alone, typed)
    assert (ended.returncode, "cd ~" in ended.stderr) == (2, True)


@pytest.mark.journey
def test_nohup_lets_a_run_go_on(alone: Desk) -> None:
    """Who asks for it to outlive the terminal gets that."""
    few = 200  # enough to be amid them
    alone.campaign("cut", few)
    process = begin(alone, preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
    os.killpg(process.pid, signal.SIGHUP)
    alone.service.faults.clear()
    out, _ = process.communicate(timeout=PATIENCE)
    assert (process.returncode, f"{few} invited" in out) == (0, True)


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError])
def test_only_an_interrupt_is_not_shown_where_python_cannot_raise_it(
    error: type[BaseException], capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that comes while something is collected has no other way out than a stack."""

    class Collected:
        def __del__(self) -> None:
            raise error

    monkeypatch.setattr(sys, "unraisablehook", show_unraisable)
    Collected()
    assert ("Traceback" in capfd.readouterr().err) is (error is ValueError)


@pytest.mark.journey
def test_impatience_shows_no_stack(alone: Desk) -> None:
    """Three Ctrl-C: it ends at once, in words; what was in flight is in doubt, and no more."""
    process = begin(alone)
    for _ in range(3):
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGINT)
            time.sleep(1.2)  # less, and it is one and the same wish
    out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode in (1, 130, -signal.SIGINT)
    assert "Traceback" not in out + err and "Error" not in out + err
    assert steps(alone)["unsure"] + steps(alone)["sending"] <= 8


@pytest.mark.xdist_group("prefect")
@pytest.mark.parametrize("away", ["moved", "deleted", "replaced"])
def test_a_ledger_that_vanishes_ends_a_run(desk: WarmDesk, away: str) -> None:
    """Nobody is invited without a record; what a person can put back knows of every invitation."""
    desk.service.faults.add(SLOWLY)
    desk.campaign("cut", PEOPLE)
    process = desk.start("run", "cut.yaml")
    desk.service.wait_for(lambda record: len(record.invitations) >= 20, timeout=PATIENCE)
    ledger, aside = desk.folder / "ledger.db", desk.folder / "aside.db"
    match away:
        case "moved":
            ledger.rename(aside)
        case "deleted":
            ledger.unlink()
        case "replaced":
            aside.touch()
            aside.replace(ledger)
    ended = answer(process)
    out, err = ended.out, ended.err
    assert ended.code == 1
    assert str(LedgerGone(str(ledger))) in err
    assert "Traceback" not in out + err
    received = len(desk.service.record.invitations)
    assert f"{received} invited" in out
    if away == "moved":  # the file alone has it all
        desk.environment["CAMPAIGN_DATABASE_URL"] = f"sqlite:///{aside}"
        ended_gently(desk)


def test_how_it_stands_is_not_guessed_without_the_ledger(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nobody waits for sure whom the file that is gone may know as invited."""
    run = OneRun(TypedFile(Path("cut.yaml")), definition(key="cut"), error=LedgerGone("ledger.db"))
    _, codes = tell([run], f"sqlite:///{tmp_path / 'ledger.db'}")
    assert codes == [1]
    assert capsys.readouterr().out == ""
