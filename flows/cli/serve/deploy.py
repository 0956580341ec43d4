"""`campaign deploy`: campaigns as deployments for workers, on one machine or on many."""

from pathlib import Path
from typing import Annotated

import typer

from config.command_line import command
from flows.cli.serve.schedules import Cron, Every, Timezone
from flows.words.speech import complain, counted, say

Places = Annotated[
    list[Path] | None,
    typer.Argument(metavar="FILE_OR_FOLDER", help="Campaigns, or folders of them."),
]
Pool = Annotated[
    str, typer.Option(metavar="NAME", help="The work pool; created if it does not exist.")
]


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
    import asyncio

    from config.settings import load_local
    from flows.engine.prefect_settings import prepare

    local = load_local()
    prepare(quiet=False)
    from flows.cli.serve.schedules import schedule_of
    from flows.cli.serve.serve import planned, server_named
    from flows.serving.deployments import of_wave_runs
    from flows.serving.registering import deploy_all, gone

    deployments, problems = planned(places or [], schedule_of(cron, every, timezone))
    if local.wave_runs > 1:
        deployments.append(of_wave_runs(pool))
    address = server_named()
    words = asyncio.run(deploy_all(deployments, pool, local.notify_url))
    say(f"{counted(len(deployments), 'deployment')} at {address}, for the work pool {pool}:")
    say(*(f"  {deployment.full_name}: {deployment.when}" for deployment in deployments))
    complain(*(f"Warning: {line}" for line in words))
    unreadable = {Path(problem.place.file).resolve() for problem in problems}
    for name in asyncio.run(gone(deployments, places or [], unreadable, prune=prune)):
        if prune:
            say(f"Removed: {name}")
        else:
            complain(
                f"Warning: {name} is still deployed, but no file here has it any more. To remove "
                f"it: {command('deploy', *(places or []), '--prune')}"
            )
    say(f"On each machine that runs them, start a worker: {command('worker', '--pool', pool)}")
    if problems:
        raise typer.Exit(2)
