"""Campaigns on one machine or on many: `deploy`, `worker`, and `credentials` kept in Prefect."""

import asyncio
from pathlib import Path
from typing import Annotated

import typer

from config.command_line import command
from flows.cli.serve.serve import (
    Cron,
    Every,
    Timezone,
    patience_of,
    planned,
    schedule_of,
    server_named,
    stand_aside,
)
from flows.words.speech import complain, counted, say

Places = Annotated[
    list[Path] | None,
    typer.Argument(metavar="FILE_OR_FOLDER", help="Campaigns, or folders of them."),
]
Pool = Annotated[
    str, typer.Option(metavar="NAME", help="The work pool; created if it does not exist.")
]
STARTS = 120.0  # seconds that the server may need, where a machine starts both at once


def deploy(
    places: Places = None,
    pool: Pool = "campaigns",
    cron: Cron = None,
    every: Every = None,
    timezone: Timezone = None,
    prune: Annotated[
        bool, typer.Option("--prune", help="Remove deployed campaigns that no file has any more.")
    ] = False,
) -> None:
    """Register campaigns and forms for workers.

    Needs a Prefect server (PREFECT_API_URL). Workers read the same files, ledger and settings;
    start one with campaign worker. You can safely type it again: it updates what is registered.
    """
    from config.settings import load_local
    from flows.engine.prefect_settings import prepare

    local = load_local()
    prepare(quiet=False)
    from flows.serving.deployments import of_wave_runs
    from flows.serving.registering import deploy_all, gone

    deployments, bad = planned(places or [], schedule_of(cron, every, timezone))
    if local.wave_runs > 1:
        deployments.append(of_wave_runs(pool))
    address = server_named()
    words = asyncio.run(deploy_all(deployments, pool, local.notify_url))
    say(f"{counted(len(deployments), 'deployment')} at {address}, for the work pool {pool}:")
    say(*(f"  {deployment.full_name}: {deployment.when}" for deployment in deployments))
    complain(*(f"Warning: {line}" for line in words))
    unreadable = {entry.file.resolve() for entry in bad}
    for name in asyncio.run(gone(deployments, places or [], unreadable, prune=prune)):
        if prune:
            say(f"Removed: {name}")
        else:
            complain(
                f"Warning: {name} is still deployed, but no file here has it any more. To remove "
                f"it: {command('deploy', *(places or []), '--prune')}"
            )
    say(f"On each machine that runs them, start a worker: {command('worker', '--pool', pool)}")
    if bad:
        raise typer.Exit(2)


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
    from config.settings import check_service, load_local
    from flows.engine.prefect_settings import prepare

    prepare(quiet=False)
    from flows.serving.pool_worker import work

    check_service()  # now, rather than in every run
    local = load_local()
    server = server_named(STARTS)
    stand_aside()

    def ready() -> None:
        say(f"Working for the pool {pool} at {server}. Ctrl-C stops it.")

    asyncio.run(work(pool, patience=patience_of(local), limit=limit, health=health, ready=ready))
    say("Stopped. The next worker that starts goes on with its runs.")


def credentials(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME", help="The name to give them: lower-case letters, digits and dashes."
        ),
    ],
) -> None:
    """Keep the six ASSESSMENT_ settings of this machine in Prefect.

    Encrypted, in Prefect's database. Runs elsewhere use them when CAMPAIGN_CREDENTIALS_BLOCK
    is set to NAME and none of the six is set there.
    """
    from config.settings import load_service
    from flows.engine.prefect_settings import prepare

    prepare(quiet=True)
    from flows.engine.credentials import check_name, keep

    check_name(name)
    service = load_service()
    address = server_named()
    asyncio.run(keep(name, service))
    say(f"Kept at {address} as {name}. To use them in a run: CAMPAIGN_CREDENTIALS_BLOCK={name}")
