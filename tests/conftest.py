"""What several modules share; a fixture of the same name in a module comes before it."""

import gc
import os
from collections import Counter
from collections.abc import Iterator
from functools import cache
from itertools import count
from pathlib import Path

import httpx
import psutil
import pytest
from httpx._transports import default as transports
from hypothesis import HealthCheck, settings

from config.tables import file_bytes
from flows.words.speech import begin
from tasks.sending import sender, throttle
from tasks.service import channel, client, verdict
from tests.promise.crashes.child_runs import ChildRuns
from tests.sheets.reader import read_here
from tests.support.campaigns import office
from tests.support.ledgers.compiled_once import compile_once
from tests.support.ledgers.databases import each_database, end_postgres, one_test_of_many, postgres
from tests.support.prefects.prefect_home import automated, desk, plain, prefect, standing
from tests.support.session import PATIENCE, begin_session, end_session, memory

__all__ = [
    "automated",
    "desk",
    "each_database",
    "office",
    "one_test_of_many",
    "plain",
    "postgres",
    "prefect",
    "standing",
]

# Each ledger waits for the disk with every commit, as it must; here memory is the disk, where
# there is enough of it. That a commit is durable is judged by tests of its own.
if (roomy := memory()) is not None:
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(roomy))

# How long an example takes says something about the machine, and nothing about a rule.
settings.register_profile("here", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("here")

# Most of what is imported and collected stays to the end. Looking through it for garbage as often
# as Python does by itself takes half of the time of collecting, and a share of that of each test.
gc.set_threshold(50_000, 20, 50)

compile_once()

# Whoever writes a file and reads it in the same moment would wait for it to come to rest; tests of
# that set it themselves (tests/promise/test_written_while_read.py).
file_bytes.REST = 0.0


# On a machine with much other work a connection to it, and the first byte of an answer, may take
# longer than the ten seconds that the product allows, and the five of httpx.
channel._CONNECT_SECONDS = client._TOKEN_SECONDS = PATIENCE
for part in ("connect", "read", "write", "pool"):
    setattr(httpx._config.DEFAULT_TIMEOUT_CONFIG, part, PATIENCE)

# Each client of httpx reads this machine's certificates anew, which takes longer than its call.
transports.create_ssl_context = cache(transports.create_ssl_context)

_numbers = count()


@pytest.fixture(autouse=True)
def data_directory(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> Path:
    """A data directory of the test's own, and of all that it starts: copies of receipts know
    campaigns by key and service, and tests have the same ones again and again."""
    folder = tmp_path_factory.getbasetemp() / f"data-directory-{next(_numbers)}"
    monkeypatch.setenv("XDG_DATA_HOME", str(folder))
    return folder


@pytest.fixture(autouse=True)
def nothing_typed_before() -> None:
    """A process types one command; here the `--json` or `-q` of an earlier test would last."""
    begin(())


@pytest.fixture(autouse=True)
def workbooks_read_here(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Outside journeys, and the tests of the process that reads them."""
    journey = request.node.get_closest_marker("journey")
    if journey is None and not request.node.path.is_relative_to(THE_READER):
        read_here(monkeypatch)


@pytest.fixture
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pauses, backoff and quiet last a moment: how long they last is others' tests."""
    asked = verdict.pause_of.__kwdefaults__
    assert asked
    for name in ("least", "default"):
        monkeypatch.setitem(asked, name, 0.01)
    monkeypatch.setattr(sender, "FIRST_WAIT", 0.01)
    for name in ("QUIET", "LONG_QUIET", "FIRST_GAP"):
        monkeypatch.setattr(throttle, name, 0.01)


@pytest.fixture(scope="session")
def child_runs() -> Iterator[ChildRuns]:
    """Where runs are forked from that die; to be made ready takes as long as thirty of them."""
    with ChildRuns() as runs:
        yield runs


# Groups whose tests go through everything, as `make journeys` does: commands typed by a newcomer,
# workers, schedules, messages to a team, a real browser, LibreOffice. They mostly wait.
JOURNEYS = {
    *("browser", "demo", "editor", "libreoffice", "next_steps", "schedules", "told", "up"),
    "workers",
}


# Of what holds on both databases, these are tried on the server with every change as well: who may
# send; of the rows of a table, one in so many. All others go there with the journeys, and with
# every change to a ledger in a file.
ON_BOTH_ALWAYS = Path(__file__).parent / "data" / "sending"
ROWS_EACH = 5
PROMISE = Path(__file__).parent / "promise"
THE_READER = Path(__file__).parent / "config" / "workbooks"


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """Journeys mostly wait, for Prefect or a browser: two of them go beside each other. Other tests
    hardly wait, and workers beyond one more than processors take the caches from each other; but on
    a machine with other work, they get their share of it.
    """
    processors = os.cpu_count() or 1
    if config.option.markexpr != "not journey":
        return 2 * processors
    busy = psutil.cpu_percent(0.3) > 70
    return 4 * processors if busy else processors + 1


@pytest.hookimpl(tryfirst=True)  # before it is chosen by marker
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tell journeys, and begin with what takes longest: groups, each done by one worker alone."""
    rows = Counter[str]()
    for item in items:
        group = item.get_closest_marker("xdist_group")
        if "child_runs" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.xdist_group("child runs"))  # made ready by one worker alone
        grouped = group is not None and group.args[0] in JOURNEYS
        if grouped or _with_prefect_standing(item) or _on_a_server_as_well(item, rows):
            item.add_marker("journey")
    items.sort(key=_turn)


def _turn(item: pytest.Item) -> int:
    """Groups first, then the promise, whose tests take longest: none is left to one worker alone
    when the others are done.
    """
    if item.get_closest_marker("xdist_group") is not None:
        return 0
    return 1 if item.path.is_relative_to(PROMISE) else 2


def _with_prefect_standing(item: pytest.Item) -> bool:
    """Whether a test needs Prefect's own server, which takes longer to start than most suites."""
    return not {"plain", "automated"}.isdisjoint(getattr(item, "fixturenames", ()))


def _on_a_server_as_well(item: pytest.Item, rows: Counter[str]) -> bool:
    """Whether a test repeats on the server what others show with a file. Counts a table's rows."""
    case = getattr(item, "callspec", None)
    if case is None or "postgresql" not in case.params.values():
        return False
    if not item.path.is_relative_to(ON_BOTH_ALWAYS):
        return True
    table = item.nodeid.partition("[")[0]
    rows[table] += 1
    return rows[table] % ROWS_EACH != 1


def pytest_collection_finish() -> None:
    gc.collect()
    gc.freeze()


def pytest_configure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):
        begin_session()


def pytest_unconfigure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):
        end_postgres()
        end_session()
