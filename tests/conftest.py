"""What several modules share; a fixture of the same name in a module comes before it."""

import gc
import os
import shutil
from pathlib import Path

import pytest

from tests.databases import begin_session, each_database, end_session, one_test_of_many, postgres
from tests.prefect_home import automated, desk, plain, prefect, standing

__all__ = [
    "automated",
    "desk",
    "each_database",
    "one_test_of_many",
    "plain",
    "postgres",
    "prefect",
    "standing",
]

MEMORY = Path("/dev/shm")
ENOUGH = 2 * 2**30  # bytes; a whole run leaves a quarter of one GiB

# Each ledger waits for the disk with every commit, as it must; here memory is the disk, where
# there is enough of it. That a commit is durable is judged by tests of its own.
if os.access(MEMORY, os.W_OK) and shutil.disk_usage(MEMORY).free > ENOUGH:
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(MEMORY))

# Most of what is imported and collected stays to the end. Looking through it for garbage as often
# as Python does by itself takes half of the time of collecting, and a share of that of each test.
gc.set_threshold(50_000, 20, 50)


def pytest_collection_finish() -> None:
    gc.collect()
    gc.freeze()


def pytest_configure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):
        begin_session()


def pytest_unconfigure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):
        end_session()
