"""Runs of a campaign in processes of their own, which may be killed or stopped at any boundary.

One server process imports the product once and forks itself for each run, before it has any
thread or event loop: a run costs milliseconds, and is as real as one typed at a terminal.
"""

import asyncio
import gc
import json
import os
import select
import signal
import subprocess
import sys
from dataclasses import asdict, dataclass, field
from pathlib import Path
from types import SimpleNamespace, TracebackType
from typing import Any, Self

from tests.support.session import PATIENCE


@dataclass(frozen=True)
class ChildRun:
    """One run to be made. `service` and `local` are the fields of the two settings.

    `at` is the boundary (crash_points) at which it gets the signal `by`, None for none. `mutant`
    names a fault put into the product. `together`: it begins when `ChildRuns.go` is called.
    `host` is the machine it is on, "" for this one. Where it is stopped, its clocks go on by
    `slept` seconds: 0 for a machine that was paused with all its clocks.
    """

    file: str
    campaign: str
    service: dict[str, Any]
    local: dict[str, Any]
    at: int | str | None = None
    by: int = signal.SIGKILL
    mutant: str | None = None
    together: bool = False
    host: str = ""
    slept: float = 0.0


@dataclass(frozen=True)
class End:
    """How a run's process came to an end, or stands still.

    `at` names the boundary of its signal, `passed` counts those it passed. `finish` holds the
    run's own words: ending, reason and counts; `error` what it raised.
    """

    pid: int
    code: int | None = None
    signal: int | None = None
    stopped: bool = False
    at: str | None = None
    passed: int = 0
    finish: dict[str, Any] = field(default_factory=dict)
    error: str | None = None

    @property
    def killed(self) -> bool:
        return self.signal == signal.SIGKILL

    @property
    def as_asked(self) -> bool:
        """It came to its end, or was killed because it was asked for."""
        return self.code == 0 or (self.killed and self.at is not None)


class ChildRuns:
    """The server's other end: starts runs and waits for them. A context manager.

    `warm` names the databases for which the server has done what a run does first of all.
    """

    def __enter__(self) -> Self:
        self.warm: set[str] = set()
        self._server = subprocess.Popen(
            [sys.executable, __file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            # Named, because a command that ran in this process has made Python's path a safe one.
            env={**os.environ, "NO_PROXY": "*", "PYTHONPATH": str(Path(__file__).parents[3])},
        )
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        assert self._server.stdin and self._server.stdout
        self._server.stdin.close()
        self._server.wait()
        self._server.stdout.close()

    def start(self, run: ChildRun) -> int:
        """Start a run; answers its process id."""
        return int(self._ask("start", **asdict(run))["pid"])

    def go(self) -> None:
        """Let all that were started `together` begin at once."""
        self._ask("go")

    def wait(self, pid: int) -> End:
        """Wait until a run has ended or stands still."""
        return End(**self._ask("wait", pid=pid))

    def warm_up(self, run: ChildRun) -> None:
        """Make a run in the server itself: what it does first of all is done for all the others."""
        self._ask("warm up", **asdict(run))

    def run(self, run: ChildRun) -> End:
        """Make one run and wait for it."""
        return self.wait(self.start(run))

    def _ask(self, what: str, **fields: Any) -> dict[str, Any]:
        assert self._server.stdin and self._server.stdout
        try:
            self._server.stdin.write(json.dumps({"what": what, **fields}) + "\n")
            self._server.stdin.flush()
            line = self._server.stdout.readline()
        except BrokenPipeError:
            line = ""
        assert line, f"the server of runs has ended, with {self._server.wait()}"
        answer: dict[str, Any] = json.loads(line)
        return answer


# -- the server -------------------------------------------------------------------------------


class Server:
    """Forks a process for each run and keeps what it said."""

    def __init__(self) -> None:
        self._says: dict[int, int] = {}
        self._barrier, self._bar = os.pipe()

    def serve(self) -> None:
        """Answer one line for each line asked, until there are no more."""
        for line in sys.stdin:
            asked = json.loads(line)
            match asked.pop("what"):
                case "start":
                    answer = {"pid": self._start(ChildRun(**asked))}
                case "go":
                    answer = self._go()
                case "wait":
                    answer = asdict(self._wait(asked["pid"]))
                case "warm up":
                    answer = _conduct(ChildRun(**asked))
                    _keep_what_is_there()
            print(json.dumps(answer), flush=True)
        for pid in self._says:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)

    def _start(self, run: ChildRun) -> int:
        hears, says = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.close(self._bar)
            os.close(hears)
            if run.together:
                select.select([self._barrier], [], [])  # readable once the bar is lifted
            _be(run, says)
        os.close(says)
        self._says[pid] = hears
        return pid

    def _go(self) -> dict[str, Any]:
        os.close(self._bar)
        os.close(self._barrier)
        self._barrier, self._bar = os.pipe()
        return {}

    def _wait(self, pid: int) -> End:
        _, status = os.waitpid(pid, os.WUNTRACED)
        if os.WIFSTOPPED(status):
            said = json.loads(os.read(self._says[pid], 4096))
            return End(pid, stopped=True, **said)
        with os.fdopen(self._says.pop(pid)) as hears:
            said = {}
            for line in hears:
                said.update(json.loads(line))
        if os.WIFSIGNALED(status):
            return End(pid, signal=os.WTERMSIG(status), **said)
        return End(pid, code=os.WEXITSTATUS(status), **said)


def _be(run: ChildRun, says: int) -> None:
    """Be the process of one run. Never returns."""
    from data.sending import processes
    from tests.promise.crashes.crash_points import Boundaries, watch
    from tests.promise.mutants import MUTANTS

    def say(**what: Any) -> None:
        os.write(says, json.dumps(what).encode() + b"\n")

    code = 1
    try:
        signal.alarm(int(PATIENCE))  # a run that takes longer hangs
        if run.mutant is not None:
            MUTANTS[run.mutant]()
        boundaries = Boundaries(
            run.at,
            signal.Signals(run.by),
            lambda name, n: say(at=name, passed=n),
            lambda: _sleep(run.slept),
        )
        if run.host:
            processes.socket = SimpleNamespace(gethostname=lambda: run.host)  # type: ignore[attr-defined]
        watch(boundaries)
        say(finish=_conduct(run), passed=boundaries.passed)
        code = 0
    except BaseException as error:  # noqa: BLE001 - told, and judged by whoever waits
        say(error=f"{type(error).__name__}: {error}")
    finally:
        os._exit(code)


def _sleep(seconds: float) -> None:
    """Let the clocks of this process say that it stood still for so long."""
    from data.store import clock

    awake = clock._clocks
    clock._clocks = lambda: (awake()[0] + seconds, awake()[1] + seconds)


def _conduct(run: ChildRun) -> dict[str, Any]:
    from config.settings import LocalSettings, ServiceSettings
    from data.store.ledger import Ledger
    from flows.run.order import CampaignSource, RunContext, conduct

    os.environ["XDG_DATA_HOME"] = str(Path(run.file).parent / "data-directory")
    local = LocalSettings.model_construct(
        **{**run.local, "output_dir": Path(run.local["output_dir"])}
    )
    service = ServiceSettings(**run.service)
    with Ledger.open(local.database_url) as ledger:
        end = asyncio.run(
            conduct(
                CampaignSource(Path(run.file), run.campaign), RunContext(ledger, service, local)
            )
        )
    return {"ending": end.ending, "reason": end.reason, "counts": end.counts}


def _warm_up() -> None:
    """Import what every run needs, and make its waits short: they are not what is tried here."""
    import anyio._backends._asyncio  # noqa: F401
    import h11  # noqa: F401

    from config.tables import file_bytes
    from flows.run import order
    from tasks.sending import sender, throttle
    from tasks.service import channel, client, verdict
    from tasks.service.channel import trust
    from tests.promise import mutants  # noqa: F401
    from tests.promise.crashes import crash_points  # noqa: F401
    from tests.support.ledgers.compiled_once import compile_once

    trust()
    verdict.pause_of.__kwdefaults__.update(least=0.01, most=0.01, default=0.01)
    sender.FIRST_WAIT = 0.01
    throttle.QUIET = throttle.LONG_QUIET = throttle.FIRST_GAP = 0.01
    file_bytes.REST = 0.0  # what these runs read is written before they begin
    # A call may take as long as it likes, on a machine with much other work and while its run is
    # stopped: the deadline of these runs is how long one waits for another's call.
    channel._CONNECT_SECONDS = client._TOKEN_SECONDS = PATIENCE
    vars(order)["Service"] = lambda settings, **how: client.Service(
        settings, **{**how, "deadline": PATIENCE}
    )
    compile_once()
    _keep_what_is_there()


def _keep_what_is_there() -> None:
    gc.collect()
    gc.disable()  # a run is over before there is garbage worth looking for
    gc.freeze()  # what is shared with every fork stays shared


if __name__ == "__main__":
    _warm_up()
    Server().serve()
