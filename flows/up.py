"""`campaign up`: one process that keeps Prefect's server, its worker and `reconcile` running."""

import asyncio
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from uuid import uuid4

from prefect.client.orchestration import get_client

from data.store.ledger import Ledger
from flows.dead_runs import OUR_WORKERS
from flows.deployments import POOL, make_pool
from flows.gently import PARENT, happens_within, stop_on_signal
from flows.prefect_home import open_private, prefect_home
from flows.reconcile import reconcile
from flows.server import Server

AT_ONCE = 4  # runs of a worker at a time; 40 late runs at once used 2.5 GB
LOOKS = 1.0  # seconds between two looks at whether server and worker are alive
# Prefect's own worker, in the wrapper that lets its runs end gently.
WORKER = (
    *(sys.executable, "-m", "flows.gently"),
    *(sys.executable, "-m", "prefect", "worker", "start"),
    *("--pool", POOL, "--type", "process", "--limit", str(AT_ONCE), "--name"),
)


async def serve(
    ledger: Ledger, folder: Path, server: Server | None, say: Callable[[str], None]
) -> None:
    """Run campaigns by schedule, by Prefect's pages and by the folder, until a signal comes."""
    async with stop_on_signal() as stop:
        async with get_client() as client:
            if await make_pool(client):
                say(f"The job template of the work pool {POOL} was changed. It is put right.")
        worker = await asyncio.to_thread(_worker)
        reconciling = asyncio.create_task(reconcile(ledger, folder, say))
        say(f"Ready. Campaigns of {folder} run by themselves. Ctrl-C stops it; nothing is lost.")
        try:
            while not await happens_within(LOOKS, stop):
                if server is not None and server.is_gone():
                    say("Prefect's server has died and is started again.")
                    server.start()
                    await asyncio.to_thread(server.wait)
                if worker.poll() is not None:
                    say("Prefect's worker has died and is started again. Its runs go on.")
                    worker = await asyncio.to_thread(_worker)
                if reconciling.done():
                    reconciling = asyncio.create_task(reconcile(ledger, folder, say))
        finally:
            reconciling.cancel()
            worker.terminate()
            say("Stopping: what is in flight gets its answer.")
            await asyncio.to_thread(worker.wait)
            await asyncio.gather(reconciling, return_exceptions=True)


def _worker() -> "subprocess.Popen[bytes]":
    """Start the worker, which logs into a file. Ctrl-C reaches this process, not the worker."""
    with open(prefect_home() / "worker.log", "ab", opener=open_private) as log:
        return subprocess.Popen(  # noqa: S603 - our own module
            (*WORKER, OUR_WORKERS + uuid4().hex[:8]),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            cwd=prefect_home(),
            start_new_session=True,
            env=os.environ
            | {"PREFECT_LOGGING_HANDLERS_CONSOLE_LEVEL": "INFO", PARENT: str(os.getpid())},
        )
