"""What this program relies on in other people's packages and nobody promises: each by name.

A test says what it is and which file needs it, so that an upgrade that breaks it fails here, by
name, before it fails in a campaign. What only a whole run shows is held by the test that
`ELSEWHERE` names. What is promised in a package's own reference needs no entry; whatever else is
reached into is found by the last tests of this file.

A package that is named here has an upper bound (tests/project/test_dependencies.py).
"""

import ast
import asyncio
import inspect
import logging
import os
import signal
import socket
import threading
import urllib.request
from datetime import UTC, datetime
from io import StringIO
from pathlib import Path
from typing import Any, cast

import h11
import pytest
import stamina
import uvicorn
from alembic.script import ScriptDirectory
from dotenv.parser import parse_stream
from prefect import flow_engine
from prefect._internal.observers import FlowRunCancellingObserver, FlowRunSuspendingObserver
from prefect.events import Event
from prefect.events.clients import AssertingEventsClient
from prefect.events.filters import EventFilter, EventOccurredFilter, EventResourceFilter
from prefect.events.worker import EventsWorker
from prefect.exceptions import TerminationSignal
from prefect.logging.configuration import DEFAULT_LOGGING_SETTINGS_PATH, load_logging_config
from prefect.logging.handlers import APILogHandler, APILogWorker
from prefect.logging.loggers import task_run_logger
from prefect.runner import Runner, _workspace_starter, _workspace_supervisor
from prefect.runner._workspace_runtime import PreparedWorkspaceManifest
from prefect.settings import PREFECT_API_URL, Settings, temporary_settings
from prefect.settings.legacy import _get_valid_setting_names
from prefect.task_engine import AsyncTaskRunEngine
from prefect.utilities.engine import capture_sigterm
from prefect.utilities.services import critical_service_loop
from prefect.workers.base import BaseWorker
from python_calamine import CalamineWorkbook, SheetTypeEnum, SheetVisibleEnum

from flows.cli.see.findings import installed
from flows.engine import prefect_settings
from flows.engine.login import OF_CLIENTS, OF_SERVERS, guarded
from flows.engine.runs import LISTENERS, PRINTS, STEPS
from flows.engine.worker_files import _WRITTEN_DOWN, FILE, FOLDERS
from sandbox.server import _Server
from tests.project.test_dependencies import ROOMS, ROOT
from tests.support.session import PATIENCE
from tests.support.sources import modules

pytestmark = pytest.mark.xdist_group("sources")  # parsed by one worker
# What only a whole run shows, or a test of its own holds: what is relied on, by that test.
ELSEWHERE = {
    "test_told::test_or_to_a_mailbox": (
        "the block for Slack takes any address of Apprise (flows/engine/notice_address.py)"
    ),
    "test_worker::test_a_worker_that_stops_or_is_killed_leaves_nobody_twice": (
        "a killed worker leaves its files behind (flows/engine/worker_files.py)"
    ),
    "test_deployments::test_a_name_that_prefect_does_not_take_is_told_before_anything_is_asked": (
        "prefect.types.names is the rule for names of blocks (flows/engine/credentials.py)"
    ),
    "test_deployments::test_what_a_server_keeps_is_bounded": (
        "how Prefect's server cleans up what it keeps (flows/engine/prefect_settings.py)"
    ),
    "test_temporary_server::test_a_server_named_in_a_profile_is_used": (
        "the form of Prefect's profiles.toml (flows/engine/prefect_settings.py)"
    ),
    "test_temporary_server::test_it_keeps_every_step_and_the_end_of_a_run": (
        "steps are told as events, and are recorded once they are found by their state "
        "(flows/engine/recorded.py)"
    ),
    "test_temporary_server::test_nobody_but_its_own_run_reaches_it": (
        "create_app is served by whoever asks for it; uvicorn awaits startup before it serves "
        "(flows/engine/prefect_server.py)"
    ),
    "test_kept_schedules::test_switched_off_in_prefect_it_stays_off": (
        "a schedule keeps its slug and a deployment its version (flows/serving/kept_schedules.py)"
    ),
    "test_folder_changes::test_the_next_wave_outlasts_a_file_that_is_away_for_a_moment": (
        "with a schedule go only the runs that it began (flows/serving/folder_changes.py)"
    ),
    "test_next_run::test_the_next_wave_is_scheduled_once": (
        "a run's idempotency key holds over states that differ (flows/engine/next_run.py)"
    ),
    "test_sandbox_faults::test_answers_are_not_held_back": (
        "asyncio leaves Nagle's delay on for sockets of other protocols (sandbox/server.py)"
    ),
    "test_yaml_file::test_a_broken_file_gets_one_plain_sentence": (
        "the words in which ruamel.yaml complains (config/reading/yaml_nodes.py)"
    ),
    "test_new_tables::test_a_new_ledger_is_as_one_that_was_migrated": (
        "how Alembic notes a version (data/store/opening.py)"
    ),
    "test_early_answers::test_a_yes_to_half_a_request_is_a_doubt_through_a_proxy": (
        "asyncio's TLS hands all that it is given to the transport below at once, and what has not "
        "left lies in a write buffer that a transport counts (tasks/service/connection.py)"
    ),
}


@pytest.mark.parametrize("name", ELSEWHERE)
def test_what_is_held_elsewhere_is_there(name: str) -> None:
    """A test that was renamed or moved would hold nothing here."""
    module, _, test = name.partition("::")
    [file] = (ROOT / "tests").rglob(f"{module}.py")
    assert f"def {test}(" in file.read_text("utf-8")


# -- Prefect: settings ----------------------------------------------------------------------------

NOWHERE = "http://127.0.0.1:9/api"  # else Prefect starts a server of its own
CONSOLE = "PREFECT_LOGGING_HANDLERS_CONSOLE_LEVEL"


def test_prefect_knows_every_setting_that_is_set(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that it does not know is passed over in silence (flows/engine/prefect_settings.py)."""
    for name in [name for name in os.environ if name.startswith("PREFECT_")]:
        monkeypatch.delenv(name)  # which tests before this one have set
    wanted = prefect_settings.RUNS | prefect_settings.SERVER | prefect_settings.QUIET
    wanted |= prefect_settings.UNSEEN | prefect_settings.kept_for(None) | guarded("user:password")
    names = {name for name in wanted if name.startswith("PREFECT_")}
    names |= {OF_CLIENTS, OF_SERVERS, *prefect_settings.LOGINS, "PREFECT_LOGGING_SETTINGS_PATH"}
    names |= {"PREFECT_HOME", "PREFECT_PROFILES_PATH", "PREFECT_API_URL"}
    assert names - {CONSOLE} <= set(_get_valid_setting_names(Settings))


def test_a_place_in_prefects_logging_file_is_a_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    """So the terminal is left to our own words (flows/engine/prefect_settings.py)."""
    monkeypatch.setenv(CONSOLE, prefect_settings.QUIET[CONSOLE])
    logs = load_logging_config(DEFAULT_LOGGING_SETTINGS_PATH)
    assert logs["handlers"]["console"]["level"] == "CRITICAL"


# -- Prefect: runs, their events and their ends ---------------------------------------------------


def test_a_heartbeat_is_an_event_of_its_run() -> None:
    """By which a look knows that a run on another machine lives (flows/serving/lookout.py)."""
    from prefect.server.events.filters import EventFilter as ServerEventFilter

    assert 'event="prefect.flow-run.heartbeat"' in inspect.getsource(flow_engine)
    occurred = EventOccurredFilter(since=datetime(2026, 12, 1, tzinfo=UTC))
    asked = EventFilter(resource=EventResourceFilter(id=["a"]), occurred=occurred)
    of_server = ServerEventFilter.model_validate(asked.model_dump(mode="json"))
    assert of_server.resource is not None
    assert of_server.resource.id == ["a"]
    assert of_server.occurred.since == occurred.since


@pytest.mark.parametrize("listener", [FlowRunSuspendingObserver, FlowRunCancellingObserver])
def test_what_listens_to_the_server_says_so_under_its_own_name(listener: type[Any]) -> None:
    """By which its stack is left out where the server goes away (flows/engine/runs.py); what it
    asks again by prints such stacks by its own hand."""
    assert listener.__name__ in LISTENERS
    assert listener(lambda *_: None).logger.name == f"prefect.{listener.__name__}"
    assert critical_service_loop.__name__ == PRINTS
    assert inspect.signature(critical_service_loop).parameters["printer"].default is print


def test_a_step_that_returns_its_failure_is_logged_with_an_empty_exception() -> None:
    """By a logger of this name, from which the line is taken (flows/engine/runs.py)."""
    assert "exc_info=True" in inspect.getsource(AsyncTaskRunEngine.handle_retry)
    assert f'"{STEPS}"' in inspect.getsource(task_run_logger)


def test_a_worker_takes_what_is_due_by_a_method_of_its_own() -> None:
    """Which ours passes through, so that it can leave some to others
    (flows/serving/pool_worker.py)."""
    asks = inspect.getsource(BaseWorker.get_and_submit_flow_runs)
    assert "self._submit_scheduled_flow_runs(flow_run_response=runs_response)" in asks
    submits = inspect.signature(BaseWorker._submit_scheduled_flow_runs)
    assert [*submits.parameters] == ["self", "flow_run_response"]


def test_what_waits_to_be_told_can_be_sent_before_the_end() -> None:
    """Workers are drained from a running loop and go on after it (flows/engine/recorded.py)."""
    AssertingEventsClient.reset()

    async def tell() -> list[Any]:
        worker = EventsWorker.instance(AssertingEventsClient)
        worker.send(Event(event="a", resource={"prefect.resource.id": "b"}))
        await APILogHandler.aflush()
        await cast(Any, EventsWorker.drain_all(at_exit=False))
        return [event.event for client in AssertingEventsClient.all for event in client.events]

    with temporary_settings({PREFECT_API_URL: NOWHERE}):
        assert asyncio.run(tell()) == ["a"]


@pytest.mark.parametrize(
    ("sender", "given"), [(EventsWorker, (AssertingEventsClient, ())), (APILogWorker, ())]
)
def test_what_sends_says_what_is_left_by_a_logger_of_its_name(
    sender: type[Any], given: tuple[Any, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """flows/engine/prefect_settings.py keeps it from having the last word of a command."""
    monkeypatch.setattr(os, "environ", dict(os.environ))
    logger = sender(*given)._logger
    assert (logger.name, logger.name in prefect_settings.SENDERS) == (sender.__name__, True)
    try:
        prefect_settings.prepare(quiet=True)
        assert logger.level == logging.CRITICAL
    finally:
        logger.setLevel(logging.NOTSET)


def test_a_runner_takes_sigterm_before_its_first_pause() -> None:
    """So that it can be taken back a moment later, for a gentle end (flows/serving/serving.py)."""
    before = signal.getsignal(signal.SIGTERM)

    async def begin() -> tuple[object, object]:
        runner = Runner(name="campaign", pause_on_shutdown=False)
        starting = asyncio.create_task(runner.start())
        await asyncio.sleep(0)
        taken = signal.getsignal(signal.SIGTERM)
        starting.cancel()
        await asyncio.wait({starting})
        return taken, runner.handle_sigterm

    try:
        with temporary_settings({PREFECT_API_URL: NOWHERE}):
            taken, its_own = asyncio.run(begin())
    finally:
        signal.signal(signal.SIGTERM, before)
    assert taken == its_own


def test_a_run_takes_sigterm_for_itself_and_raises(monkeypatch: pytest.MonkeyPatch) -> None:
    """Which is why signals are taken back; its stack: flows/engine/runs.py."""
    before = signal.getsignal(signal.SIGTERM)
    # It tells the process once more, when it has raised.
    monkeypatch.setattr("os.kill", lambda *_: None)
    try:
        with pytest.raises(TerminationSignal), capture_sigterm():
            handler = signal.getsignal(signal.SIGTERM)
            assert callable(handler) and handler is not before
            handler(signal.SIGTERM, None)
    finally:
        signal.signal(signal.SIGTERM, before)


# -- Prefect: files -------------------------------------------------------------------------------


def test_each_version_of_prefects_tables_is_known_to_the_doctor() -> None:
    """By the files of its migrations, as Alembic reads them (flows/cli/see/findings.py)."""
    from prefect.server.database import _migrations

    folder = next(iter(_migrations.__path__))
    scripts = ScriptDirectory(folder, version_locations=[f"{folder}/versions/sqlite"])
    revisions = {script.revision for script in scripts.walk_revisions()}
    assert len(revisions) > 100
    assert {revision for revision in revisions if not installed(revision)} == set()
    assert not installed("f00dfeed0000")


def test_a_worker_writes_the_environment_of_a_run_where_it_is_looked_for(tmp_path: Path) -> None:
    """In this folder and file, under this name, in a run with these variables (worker_files.py)."""
    starter = _workspace_starter.WorkspaceResolvingEngineCommandStarter(workspace_root=tmp_path)
    try:
        assert starter._manifest_path.match(f"{FOLDERS}/{FILE}")
    finally:
        starter.close()
    assert "environment" in PreparedWorkspaceManifest.model_fields
    assert _WRITTEN_DOWN[0] in _workspace_supervisor._RUNNER_OWNED_ENV_KEYS
    assert _WRITTEN_DOWN[1] in inspect.getsource(_workspace_supervisor)


def test_prefects_server_is_an_application_that_one_asks_for() -> None:
    """With its temporary kind (flows/engine/prefect_server.py). Not a final one: with this version
    of FastAPI, that frees no routes, but only looks through all that was imported for garbage."""
    from prefect.server.api import server

    inspect.signature(server.create_app).bind(ephemeral=True)
    assert not server._FASTAPI_COPIES_ROUTES_ON_INCLUDE


# -- uvicorn --------------------------------------------------------------------------------------


def test_prefects_database_begins_transactions_as_its_configuration_says() -> None:
    """Ours takes the place of its own, and begins each of them as a writer's
    (flows/engine/prefect_database.py)."""
    from prefect.server.database.configurations import AioSqliteConfiguration
    from prefect.server.database.dependencies import MODELS_DEPENDENCIES
    from prefect.server.utilities.database import get_dialect

    assert "database_config" in MODELS_DEPENDENCIES
    begin = inspect.signature(AioSqliteConfiguration.begin_transaction)
    assert [*begin.parameters] == ["self", "session", "with_for_update"]
    assert get_dialect("sqlite+aiosqlite:///prefect.db").name == "sqlite"


def test_uvicorn_hands_its_connections_to_who_looks_for_them() -> None:
    """The sandbox resets, halves and drops them (sandbox/service/wire.py), and ends a server
    without its waits, by its own main_loop, shutdown, on_tick and state (sandbox/server.py)."""
    met: list[tuple[bool, int, int]] = []

    class Application:
        async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
            transport = receive.__self__.transport
            state = server.server_state
            met.append(
                (
                    isinstance(transport.get_extra_info("socket"), object)
                    and callable(transport.abort),
                    len(state.tasks),
                    len(state.connections),
                )
            )
            assert scope["raw_path"] == b"/a%2Fb"
            await send({"type": "http.response.start", "status": 204, "headers": []})
            await send({"type": "http.response.body"})

        def stop(self) -> None:
            met.append((True, 0, 0))

    for name in ("startup", "main_loop", "shutdown", "on_tick"):
        assert inspect.iscoroutinefunction(getattr(uvicorn.Server, name))
    server = _Server(cast(Any, Application()), keep_alive=5)
    with socket.create_server(("127.0.0.1", 0)) as listener, server.serving(listener):
        port = listener.getsockname()[1]
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/a%2Fb", timeout=PATIENCE) as answer:
            assert answer.headers["date"]
    assert met == [(True, 1, 1), (True, 0, 0)]
    assert "sandbox" not in {thread.name for thread in threading.enumerate()}


# -- smaller ones ---------------------------------------------------------------------------------


def test_dotenv_says_which_lines_it_could_not_read() -> None:
    """Else a setting would be missing unnoticed (config/env_files.py)."""
    lines = [*parse_stream(StringIO("A=1\nB='2\nC=3\n"))]
    assert [(line.original.line, line.error) for line in lines][:2] == [(1, False), (2, True)]


def test_h11_keeps_what_comes_after_an_answer() -> None:
    """What is left over is nobody's answer (tasks/service/connection.py); nothing may follow the
    answer of a proxy either (tasks/service/channel.py)."""
    for method, answer in (
        (b"POST", b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nA"),
        (b"CONNECT", b"HTTP/1.1 200 OK\r\n\r\n"),
    ):
        connection = h11.Connection(h11.CLIENT)
        connection.send(h11.Request(method=method, target=b"a:1", headers=[(b"Host", b"a")]))
        connection.send(h11.EndOfMessage())
        connection.receive_data(answer + b"more")
        while connection.next_event() not in (h11.PAUSED, h11.NEED_DATA):
            if connection.their_state is h11.DONE:
                break
        assert connection.trailing_data == (b"more", False)


def test_calamine_names_kinds_of_sheets_so() -> None:
    """Only worksheets are read, and hidden ones are known (config/workbooks/xls.py)."""
    assert str(SheetTypeEnum.WorkSheet).endswith("WorkSheet")
    assert not str(SheetTypeEnum.ChartSheet).endswith("WorkSheet")
    file = ROOT / "tests" / "sheets" / "libreoffice" / "hidden-sheet.xls"
    book = CalamineWorkbook.from_path(str(file))
    visible = [sheet.visible == SheetVisibleEnum.Visible for sheet in book.sheets_metadata]
    assert True in visible and False in visible


def test_stamina_tells_of_each_try_under_its_own_name(caplog: pytest.LogCaptureFixture) -> None:
    """tasks/service/harmless_retries.py silences it by that name; it waits as it is told."""
    logger = logging.getLogger("stamina")
    level = logger.level
    logger.setLevel(logging.WARNING)
    tries = []

    async def fail_twice() -> None:
        async for attempt in stamina.retry_context(on=lambda _: 0.0, attempts=3).__aiter__():
            with attempt:
                tries.append(attempt.num)
                if len(tries) < 3:
                    raise ValueError

    try:
        asyncio.run(fail_twice())
    finally:
        logger.setLevel(level)
    assert tries == [1, 2, 3]
    assert {record.name for record in caplog.records} == {"stamina"}


# -- nothing else ---------------------------------------------------------------------------------

# Modules that are no part of a package's reference, and what reaches into them.
INSIDE = {
    "prefect.events.worker": {"flows/engine/recorded.py"},
    "prefect.logging.handlers": {"flows/engine/recorded.py"},
    "prefect.server.api.server": {"flows/engine/prefect_server.py"},
    "prefect.server.database": {"flows/cli/see/findings.py"},
    "prefect.server.database.configurations": {"flows/engine/prefect_database.py"},
    "prefect.server.database.dependencies": {"flows/engine/prefect_database.py"},
    "prefect.server.utilities.database": {"flows/engine/prefect_database.py"},
    "prefect.types.names": {"flows/engine/credentials.py"},
    "ruamel.yaml.reader": {"config/reading/yaml_nodes.py"},
    "dotenv.parser": {"config/env_files.py"},
}
# What their references describe.
PROMISED = {
    *("prefect", "prefect.artifacts", "prefect.cache_policies"),
    *("prefect.blocks.core", "prefect.blocks.notifications", "prefect.blocks.webhook"),
    *(f"prefect.client.schemas.{name}" for name in ("actions", "filters", "objects", "responses")),
    *("prefect.client.schemas.schedules", "prefect.client.schemas.sorting"),
    *("prefect.client.orchestration", "prefect.context", "prefect.deployments"),
    *("prefect.deployments.runner", "prefect.events.filters"),
    *("prefect.exceptions", "prefect.logging", "prefect.runner", "prefect.runtime"),
    *("prefect.schedules", "prefect.settings", "prefect.states", "prefect.types"),
    *("prefect.types.entrypoint", "prefect.workers.process"),
    *("ruamel.yaml", "ruamel.yaml.error", "ruamel.yaml.nodes", "dotenv", "uvicorn"),
}
PRIVATE = {
    ("flows/cli/see/findings.py", "_migrations"),
    ("flows/serving/pool_worker.py", "_submit_scheduled_flow_runs"),
}
# Our own, and what is public by its own documentation in spite of its underscore.
OURS = {"_engine", "_look", "_name", "_mapping", "_asdict", "_fields", "_exit"}


def test_nothing_else_of_these_packages_is_imported() -> None:
    """Whoever needs another module says here what is relied on, or that it is promised."""
    found: dict[str, set[str]] = {}
    for file, tree in modules(ROOMS):
        for node in ast.walk(tree):
            names = [node.module] if isinstance(node, ast.ImportFrom) and not node.level else []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            for name in filter(None, names):
                if name.partition(".")[0] in {"prefect", "ruamel", "dotenv", "uvicorn"}:
                    found.setdefault(name, set()).add(file)
    assert {name: files for name, files in found.items() if name not in PROMISED} == INSIDE
    assert found.keys() >= PROMISED


def _private(name: str) -> bool:
    return name.startswith("_") and not name.endswith("__")


def test_nothing_private_is_touched_and_nothing_is_replaced() -> None:
    """No name with an underscore of somebody else's, and no attribute set on what was imported."""
    private, replaced = set(), []
    for file, tree in modules(ROOMS):
        imported: set[str] = set()
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom):
                private |= {(file, alias.name) for alias in node.names if _private(alias.name)}
                parts = (node.module or "").split(".")
                private |= {(file, part) for part in parts if _private(part)}
            if isinstance(node, ast.Import | ast.ImportFrom):
                imported |= {alias.asname or alias.name.partition(".")[0] for alias in node.names}
        for node in ast.walk(tree):
            if not isinstance(node, ast.Attribute):
                continue
            owner = node.value.id if isinstance(node.value, ast.Name) else ""
            if _private(node.attr) and node.attr not in OURS and owner not in {"self", "cls"}:
                private.add((file, node.attr))
            if isinstance(node.ctx, ast.Store) and owner in imported:
                replaced.append((file, f"{owner}.{node.attr}"))
    assert private == PRIVATE
    # Its own documentation says that a program sets them.
    assert sorted(replaced) == [
        ("flows/cli/commands.py", "sys.unraisablehook"),
        *(("flows/cli/main.py", f"sys.{stream}") for stream in ("stderr", "stdin", "stdout")),
    ]
