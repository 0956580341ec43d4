"""What holds for all tests: where their files are, and in which order they run."""

import gc
import os
import shutil
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser

MEMORY, ROOM = Path("/dev/shm"), 4 * 2**30


def pytest_configure() -> None:
    """Have all files in memory where there is room: what is killed loses nothing that it wrote.
    Signals are heard, also by tests that began in the background or after `nohup`."""
    for number, hears in (
        (signal.SIGINT, signal.default_int_handler),
        (signal.SIGHUP, signal.SIG_DFL),
    ):
        if signal.getsignal(number) == signal.SIG_IGN:
            signal.signal(number, hears)
    if os.access(MEMORY, os.W_OK) and shutil.disk_usage(MEMORY).free > ROOM:
        os.environ["TMPDIR"] = tempfile.tempdir = str(MEMORY)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Spread those that only compute among those that mostly wait, so that no core is idle."""
    waiting = [item for item in items if {"promises", "flows"} & {*item.path.parts}]
    computing = [item for item in items if item.path.match("tasks/sending/*")]
    place = {id(e): n / len(some) for some in (waiting, computing) for n, e in enumerate(some)}
    items.sort(key=lambda item: place.get(id(item), 0))


def pytest_collection_finish() -> None:
    """Look for garbage seldom, and never in what was imported: a twentieth of all that computes."""
    gc.freeze()
    gc.set_threshold(20_000)


@pytest.fixture(scope="session", autouse=True)
def _data_directory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """What the program keeps of its own in a person's data directory is not that of who tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_DATA_HOME", str(tmp_path_factory.mktemp("data")))
        yield


@pytest.fixture(scope="module")
def browser() -> Iterator["Browser"]:
    from playwright.sync_api import expect, sync_playwright

    path = shutil.which("chromium") or pytest.fail("this needs Chromium")
    arguments, patience = ["--no-sandbox", "--disable-gpu"], 120_000  # milliseconds
    expect.set_options(timeout=patience)
    with sync_playwright() as playwright:
        yield playwright.chromium.launch(executable_path=path, args=arguments, timeout=patience)
