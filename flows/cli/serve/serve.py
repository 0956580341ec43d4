"""`campaign serve`: schedules on one machine, beside a Prefect server that runs already."""

import asyncio
import os
import time
from enum import Enum, auto
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from config.command_line import command
from config.errors import BadSettings, CampaignError
from flows.cli.main import look_for_garbage
from flows.words.complaints import Mistyped, lines_of
from flows.words.speech import complain, counted, say

if TYPE_CHECKING:
    from collections.abc import Sequence

    from prefect.client.orchestration import PrefectClient
    from prefect.schedules import Schedule

    from config.reading.folder import Entry
    from config.settings import LocalSettings, ServiceSettings
    from flows.serving.deployments import Planned

Places = Annotated[
    list[Path], typer.Argument(metavar="FILE_OR_FOLDER", help="Campaigns, or folders of them.")
]
Cron = Annotated[
    str | None, typer.Option(metavar="LINE", help='When, as a cron line: "0 9 * * 1-5".')
]
Every = Annotated[
    int | None, typer.Option(min=1, metavar="MINUTES", help="Or a number of minutes between runs.")
]
Timezone = Annotated[
    str | None, typer.Option(metavar="ZONE", help="Such as Europe/Paris; default: UTC.")
]


class NoServer(CampaignError):
    """The Prefect server that is named does not answer."""


class RefusedLogin(CampaignError):
    """The Prefect server that is named lets nobody in with this login, or without any."""

    def __init__(self) -> None:
        super().__init__(
            "The Prefect server refuses this login: PREFECT_API_AUTH_STRING, or PREFECT_API_KEY. "
            "Set the one the server was started with, then run the same command again."
        )


class Server(Enum):
    """How a Prefect server receives us."""

    SILENT = auto()
    REFUSES = auto()  # our login, or that we have none
    OPEN = auto()  # to whoever reaches it
    WELL = auto()


def serve(
    places: Places, cron: Cron = None, every: Every = None, timezone: Timezone = None
) -> None:
    """Run campaigns on their schedules, until stopped.

    Needs a Prefect server (PREFECT_API_URL); campaign up starts one itself. A campaign runs on its
    own schedule, or on the one given here; without a schedule, you start it in Prefect.
    """
    from flows.engine.prefect_settings import prepare

    prepare(quiet=False)
    serve_all(places, schedule_of(cron, every, timezone))


def schedule_of(cron: str | None, every: int | None, timezone: str | None) -> "Schedule | None":
    """The schedule that was typed; None when there was none. Raises Mistyped."""
    from datetime import timedelta
    from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

    from prefect.schedules import Schedule

    from config.timetable.schedule import read_cron
    from flows.serving.deployments import every as so_often

    if timezone is not None:
        try:
            ZoneInfo(timezone)
        except (ZoneInfoNotFoundError, ValueError):
            wrong = f"{timezone} is not a time zone; write it like Europe/Paris"
            raise Mistyped(wrong) from None
    if cron is not None and every is not None:
        raise Mistyped("Give --cron or --every, not both")
    if cron is not None:
        try:
            return Schedule(cron=read_cron(cron), timezone=timezone or "UTC")
        except ValueError as error:
            raise Mistyped(f'--cron: found "{cron}", wanted {error}') from None
    if every is not None:
        return so_often(timedelta(minutes=every), timezone)
    return None


def planned(
    places: "Sequence[Path]", schedule: "Schedule | None", *, served: bool = False
) -> "tuple[list[Planned], list[Entry]]":
    """The deployments for these files and folders and the forms; bad files are left out.

    Also returns these, which were shown. Raises BadInput if there are only bad files.
    """
    from config.errors import BadInput
    from flows.pages.wrong_places import left_out_files
    from flows.serving.deployments import forms, planned_of

    deployments, bad = planned_of(places, schedule)
    problems = [problem for entry in bad for problem in entry.problems]
    if problems and not deployments:
        raise BadInput(problems)
    if served:  # into its log, for days
        complain(*left_out_files(bad))
        return [*deployments, *forms()], bad
    complain(*lines_of(problems))
    for file in dict.fromkeys(entry.file for entry in bad):
        complain(f"  left out until you fix it and run this again: {command('check', file)}")
    return [*deployments, *forms()], bad


def serve_all(
    places: "Sequence[Path]", schedule: "Schedule | None", inbox: "Planned | None" = None
) -> None:
    """Serve files and folders until SIGINT or SIGTERM. Raises BadSettings, BadInput.

    With an `inbox` the server is our own, which has no runs of other machines.
    """
    from config.settings import check_service, load_local

    deployments, _ = planned(places, schedule, served=True)
    deployments += [inbox] if inbox else []
    check_service()  # now, rather than in every run
    local = load_local()
    server = server_named()
    wide = [place.resolve() for place in places]
    stand_aside()

    async def serving() -> None:
        from prefect.client.orchestration import get_client

        from flows.serving.deployments import forms
        from flows.serving.folder_changes import Given
        from flows.serving.registering import prepare_server
        from flows.serving.serving import serve as until_stopped

        look_for_garbage()
        async with get_client() as client:
            await prepare_server(client, local.notify_url)
        await until_stopped(
            Given(wide, schedule),
            [*forms(), *([inbox] if inbox else [])],
            patience=patience_of(local),
            alone=inbox is not None,
            ready=ready,
            tell=lambda words: complain(*words),
        )

    def ready() -> None:
        say(f"{counted(len(deployments), 'deployment')} at {server}. Ctrl-C stops it.")
        say(*(f"  {deployment.full_name}: {deployment.when}" for deployment in deployments))

    asyncio.run(serving())
    say(
        "Stopped. At the next start, interrupted runs and schedules go on; a campaign that missed "
        "runs is run once."
    )


def patience_of(local: "LocalSettings") -> float:
    """How many seconds a run may take to end after it is asked to stop."""
    return local.request_deadline + 15


def stand_aside() -> None:
    """Change to Prefect's home: Prefect looks for a run's flows in the working folder first."""
    from prefect.settings import get_current_settings

    from config.folders import TYPED_IN, typed_in

    os.environ[TYPED_IN] = str(typed_in())
    os.chdir(get_current_settings().home)


def server_named(patience: float = 0.0) -> str:
    """Where the server's pages are.

    Raises BadSettings when none is named, NoServer when it does not answer within so many seconds,
    RefusedLogin.
    """
    from prefect.settings import get_current_settings

    api = get_current_settings().api.url
    if not api:
        raise BadSettings(
            "No Prefect server is named. Set PREFECT_API_URL to one that runs, or start one "
            f"together with everything else: {command('up', 'FOLDER')}",
            ["PREFECT_API_URL"],
        )
    ends, how = time.monotonic() + patience, look_at(api)
    if how is Server.SILENT and patience:
        say(f"Waiting for the Prefect server at {api} …")
    while how is Server.SILENT and time.monotonic() < ends:
        time.sleep(1.0)
        how = look_at(api)
    if how is Server.SILENT:
        raise NoServer(
            f"The Prefect server at {api} does not answer. Start it, or correct PREFECT_API_URL, "
            "which ends in /api; then run the same command again."
        )
    if how is Server.REFUSES:
        raise RefusedLogin
    return api.removesuffix("/api")


def service_here() -> "ServiceSettings":
    """The service's settings as a run gets them: set here, else kept by Prefect.

    Where no server is named Prefect starts one of its own for that. Raises BadSettings, NoServer,
    RefusedLogin.
    """
    from config.settings import load_local, load_service, service_source

    if load_local().credentials_block is None or service_source():
        return load_service()
    from flows.engine.prefect_settings import prepare

    prepare(quiet=True)
    from prefect.settings import get_current_settings

    from flows.engine.credentials import service_settings

    if get_current_settings().api.url:
        server_named()  # else it would be asked in vain for minutes
    return asyncio.run(service_settings())


def look_at(api: str) -> Server:
    """See how the server that Prefect's settings name receives us."""
    from prefect.client.orchestration import PrefectClient, get_client

    async def look() -> Server:
        async with PrefectClient(api) as anybody:
            if await anybody.api_healthcheck() is not None:
                return Server.SILENT
            if not await _refused(anybody):
                return Server.OPEN
        async with get_client() as client:
            return Server.REFUSES if await _refused(client) else Server.WELL

    return asyncio.run(look())


async def _refused(client: "PrefectClient") -> bool:
    """Ask for something small that needs a login."""
    from prefect.exceptions import PrefectHTTPStatusError

    try:
        await client.api_version()
    except PrefectHTTPStatusError as error:
        return error.response.status_code in (401, 403)
    return False
