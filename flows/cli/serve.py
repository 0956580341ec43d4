"""The commands that run until Ctrl-C: `up`, `orders` and `sandbox`."""

import asyncio
import os
import sys
from contextlib import suppress
from itertools import count
from pathlib import Path

import typer
import uvicorn

from config.errors import BadSettings, quoted
from config.settings import service_settings, settings, variable
from data.store.ledger import Ledger
from flows.prefect_home import login, prefect_home
from flows.server import listening, standing_server
from sandbox.__main__ import main
from tasks.orders.desk import Desk, application

FOLDER = typer.Argument(..., exists=True, file_okay=False, help="The folder of your campaigns.")


def up(
    folder: Path = FOLDER,
    port: int = typer.Option(4200, min=1, max=65535, help="Of Prefect's pages."),
) -> None:
    """Prefect's pages, schedules, the watched folder and forms. Stays until Ctrl-C.

    What you put into FOLDER is sent without being asked for: a campaign with a schedule at its
    time, any other at once, and each again when its file changes.

    Example: campaign up campaigns
    """
    settings = service_settings()
    # If somebody edits .env, the worker's runs keep this ledger: what it planned goes nowhere else.
    os.environ[variable("database_url")] = settings.database_url
    print("Starting Prefect …", flush=True)
    with standing_server(port) as server, Ledger.open(settings.database_url) as ledger:
        if server is not None:
            seen = sys.stdout.isatty()  # if not, a log may keep the login
            says = f": {login()}" if seen else f" is in {prefect_home() / 'login'}"
            print(f"Prefect's pages: {server.address}\nTheir login{says}", flush=True)
        from flows.up import serve

        asyncio.run(serve(ledger, folder, server, lambda line: print(line, flush=True)))


def orders(
    folder: Path = FOLDER,
    port: int = typer.Option(8090, min=1, max=65535, help="Where orders come in."),
    host: str = typer.Option("127.0.0.1", help="Of which network; others than this machine's."),
) -> None:
    """Take people in by HTTP, as a hiring system or a script orders them. Stays until Ctrl-C.

    Needs CAMPAIGN_ORDERS_TOKEN. `campaign up` sends what comes in.

    Example: campaign orders campaigns
    """
    token = settings().orders_token
    if token is None:
        raise BadSettings(problem="CAMPAIGN_ORDERS_TOKEN: not set, wanted 16 characters or more.")
    with listening(host, port) as taken, Ledger.open() as ledger, suppress(KeyboardInterrupt):
        desk = application(Desk(folder, ledger, token.get_secret_value()))
        config = uvicorn.Config(desk, log_config=None, access_log=False, limit_concurrency=100)
        print(f"Orders: http://{host}:{port}/campaigns/KEY/candidates. Ctrl-C stops.", flush=True)
        uvicorn.Server(config).run([taken])


def sandbox(
    port: int = typer.Option(8700, min=0, max=65535, help="0 takes a free one."),
    fault: list[str] = typer.Option(
        [], help="What goes wrong, as in invite=lost:3; invite=help lists all."
    ),
) -> int:
    """The assessment service on your own desk, to practise with. It sends no email.

    Each port has its own record, outbox and ledger, and goes on with them when you start it again.

    Example: campaign sandbox --fault invite=lost:3
    """
    folder = settings().output_dir / "sandbox"
    new = (folder / f"free-{number}" for number in count(1))
    place = folder / str(port) if port else next(each for each in new if not each.exists())
    place.mkdir(parents=True, exist_ok=True)
    print("Type these lines in another terminal. Practice has a ledger of its own.", flush=True)
    print(f"export CAMPAIGN_DATABASE_URL={quoted(f'sqlite:///{place}/practice.db')}")
    options = ["--port", str(port), "--record", f"{place}/record.jsonl"]
    faults = [word for each in fault for word in ("--fault", each)]
    return main([*options, "--outbox", f"{place}/outbox", *faults])
