"""`campaign serve`: schedules on one machine, beside a Prefect server that runs already."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from config.errors import CampaignError
from flows.cli import garbage
from flows.cli.schedules import Cron, Every, Timezone
from flows.cli.speech import command, complain, counted, say

if TYPE_CHECKING:
    from collections.abc import Sequence

    from prefect.schedules import Schedule

    from config.places import Problem
    from flows.deployments import Planned

Places = Annotated[
    list[Path], typer.Argument(metavar="FILE_OR_FOLDER...", help="Campaigns, or folders of them.")
]


class NoServer(CampaignError):
    """There is no Prefect server to take schedules, or it does not answer."""


def serve(
    places: Places, cron: Cron = None, every: Every = None, timezone: Timezone = None
) -> None:
    """Run campaigns on their schedules, until stopped.

    Needs a Prefect server (PREFECT_API_URL); campaign up brings one along. A campaign runs
    on its own schedule, or on the one given here; without any it waits to be started in
    Prefect.
    """
    from flows.prefect_settings import prepare

    prepare(quiet=False)
    from flows.cli.schedules import schedule_of

    served, _ = planned(places, schedule_of(cron, every, timezone))
    serve_all(served)


def planned(
    places: "Sequence[Path]", schedule: "Schedule | None" = None
) -> "tuple[list[Planned], list[Problem]]":
    """What these files and folders and the forms make; a bad file among others is left out.

    Answers what is wrong as well, which was told. Raises BadInput where there is nothing else.
    """
    from config.errors import BadInput
    from flows.cli.complaints import lines_of
    from flows.deployments import forms
    from flows.places import planned_of

    found, problems = planned_of(places, schedule)
    if problems and not found:
        raise BadInput(problems)
    complain(*lines_of(problems))
    for file in dict.fromkeys(problem.place.file for problem in problems):
        complain(f"  left out until it is mended and this is typed again: {command('check', file)}")
    return [*found, *forms()], problems


def serve_all(planned: "Sequence[Planned]") -> None:
    """Serve deployments until SIGINT or SIGTERM, with their automations. Raises BadSettings."""
    import asyncio

    from config.settings import check_service, load_local

    check_service()  # now, rather than in every run
    local = load_local()
    server = server_named()
    _stand_aside()

    async def serving() -> None:
        from prefect.client.orchestration import get_client

        from flows.registering import prepare_server
        from flows.serving import serve as until_stopped

        garbage.look_from_now_on()
        async with get_client() as client:
            await prepare_server(client, local.notify_url)
        await until_stopped(planned, patience=local.request_deadline + 15, ready=ready)

    def ready() -> None:
        say(f"{counted(len(planned), 'deployment')} at {server}. Ctrl-C stops it.")
        say(*(f"  {one.flow.name}/{one.name}: {one.when}" for one in planned))

    asyncio.run(serving())
    say("Stopped. Schedules go on with the next start; what was missed is done once.")


def _stand_aside() -> None:
    """Stand in Prefect's home: Prefect looks for the flows of a run in the working folder first."""
    from prefect.settings import get_current_settings

    from config.settings import TYPED_IN, typed_in

    os.environ[TYPED_IN] = str(typed_in())
    os.chdir(get_current_settings().home)


def server_named() -> str:
    """Where the server's pages are. Raises NoServer when none is named or it does not answer."""
    from prefect.settings import get_current_settings

    api = get_current_settings().api.url
    if not api:
        raise NoServer(
            "No Prefect server is named. Set PREFECT_API_URL to one that runs, or start one "
            "together with everything else: campaign up"
        )
    if not answers(api):
        raise NoServer(f"The Prefect server at {api} does not answer (PREFECT_API_URL).")
    return api.removesuffix("/api")


def answers(api: str) -> bool:
    """Whether a Prefect server answers at this address."""
    import asyncio

    from prefect.client.orchestration import PrefectClient

    async def healthy() -> bool:
        async with PrefectClient(api) as client:
            return await client.api_healthcheck() is None

    return asyncio.run(healthy())
