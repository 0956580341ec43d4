"""Prefect's own tables, made once in a session of tests and copied into each fresh home.

To make them takes longer than all the rest of a server's start. A home that nobody furnishes is
found empty, and its server makes them, as on anybody's machine.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from tests.support.session import alone_with

MAKE = """\
import asyncio
from prefect.server.database import provide_database_interface
async def make():
    await provide_database_interface().create_db()
asyncio.run(make())
"""


def furnish(home: Path) -> None:
    """Lay a database, with Prefect's tables and nothing in them, into a Prefect home."""
    with alone_with("prefect") as made:
        if not made.exists():
            environment = {"PATH": os.environ["PATH"], "HOME": str(made), "PREFECT_HOME": str(made)}
            subprocess.run([sys.executable, "-c", MAKE], env=environment, check=True)
    home.mkdir(parents=True, exist_ok=True)
    shutil.copy(made / "prefect.db", home)
