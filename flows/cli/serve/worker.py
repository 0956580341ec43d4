"""`campaign worker`: runs what is deployed, on this machine, until stopped."""

from typing import Annotated

import typer

from flows.cli.serve.deploy import Pool
from flows.words.speech import say

STARTS = 120.0  # seconds that the server may need, where a machine starts both at once


def worker(
    pool: Pool = "campaigns",
    limit: Annotated[
        int | None,
        typer.Option(min=1, metavar="NUMBER", help="How many runs may be at work here at once."),
    ] = None,
    health: Annotated[
        bool,
        typer.Option("--with-healthcheck", help="Serve a health check on port 8080."),
    ] = False,
) -> None:
    """Run deployed campaigns on this machine, until stopped.

    Needs a Prefect server (PREFECT_API_URL). Ctrl-C or SIGTERM ends its runs gently: what is in
    flight finishes, and another worker, or this one at its next start, goes on with the rest. If
    the process of a run dies, you get a notice, and the run is started again.
    """
    import asyncio

    from config.settings import check_service, load_local
    from flows.engine.prefect_settings import prepare

    prepare(quiet=False)
    from flows.cli.serve.serve import patience_of, server_named, stand_aside
    from flows.serving.pool_worker import work

    check_service()  # now, rather than in every run
    local = load_local()
    server = server_named(STARTS)
    stand_aside()

    def ready() -> None:
        say(f"Working for the pool {pool} at {server}. Ctrl-C stops it.")

    asyncio.run(work(pool, patience=patience_of(local), limit=limit, health=health, ready=ready))
    say("Stopped. The next worker that starts goes on with its runs.")
