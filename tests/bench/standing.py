"""A Prefect server of the benchmarks' own, which starts as on anybody's machine."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.support.ports import free_port
from tests.support.prefects.prefect_home import (
    PrefectServer,
    of_the_server,
    wait_for_server,
)


@contextmanager
def prefect_server(home: Path) -> Iterator[PrefectServer]:
    """A server that starts as on anybody's machine, in an empty home, and is ended again."""
    port = free_port()
    server = PrefectServer(f"http://127.0.0.1:{port}/api", home)
    command = [str(Path(sys.executable).parent / "prefect"), "server", "start", "--port", str(port)]
    with (home / "server.log").open("wb") as log:
        environment = of_the_server(server, port)
        process = subprocess.Popen(command, env=environment, stdout=log, stderr=log)
        try:
            wait_for_server(f"{server.api}/health", process)
            yield server
        finally:
            process.terminate()
            process.wait(timeout=100)
