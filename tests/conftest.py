"""What several modules share; a fixture of the same name in a module comes before it."""

import os
import shutil
from pathlib import Path

from tests.prefect_home import automated, desk, plain, prefect, standing

__all__ = ["automated", "desk", "plain", "prefect", "standing"]

MEMORY = Path("/dev/shm")
ENOUGH = 2 * 2**30  # bytes; a whole run leaves a quarter of one GiB

# Each ledger waits for the disk with every commit, as it must; here memory is the disk, where
# there is enough of it. That a commit is durable is judged by tests of its own.
if os.access(MEMORY, os.W_OK) and shutil.disk_usage(MEMORY).free > ENOUGH:
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(MEMORY))
