"""`campaign worker`: runs what is deployed, on this machine, until stopped."""

from typing import Annotated

import typer

from flows.cli.serve.deploy import Pool
from flows.words.speech import say


def worker(
    pool: Pool = "campaigns",
    limit: Annotated[
        int | None,
        typer.Option(min=1, metavar="NUMBER", help="How many runs may be at work here at once."),
    ] = None,
    health: Annotated[
        bool,
        typer.Option("--with-healthcheck", help="Answer at port 8080 whether it still works."),
    ] = False,
) -> None:
    """Run deployed campaigns on this machine, until stopped.

    Needs a Prefect server (PREFECT_API_URL). Ctrl-C or SIGTERM ends its runs gently: what is in
    flight finishes, and another worker, or this one at its next start, goes on with the rest. A
    run whose process died is told to you and begun again.
    """
    import asyncio

    from config.settings import check_service, load_local
    from flows.engine.prefect_settings import prepare

    prepare(quiet=False)
    from flows.cli.serve.serve import patience_of, server_named, stand_aside
    from flows.serving.pool_worker import work

    check_service()  # now, rather than in every run
    local = load_local()
    server = server_named()
    stand_aside()

    def ready() -> None:
        say(f"Working for the pool {pool} at {server}. Ctrl-C stops it.")

    asyncio.run(work(pool, patience=patience_of(local), limit=limit, health=health, ready=ready))
    say("Stopped. What its runs left goes on with the next worker.")
