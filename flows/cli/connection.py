"""The commands `problems`, which asks the service, and `doctor`, which checks everything."""

import asyncio
import json
import os
from importlib.metadata import version

import typer

from config.errors import CampaignError
from config.settings import service_settings
from flows.cli import words
from flows.prefect_home import import_prefect
from flows.server import see_it_answer
from tasks.doctor import Check, examine
from tasks.service.client import Service
from tasks.service.problems import ServiceProblem, matching


def problems(
    search: list[str] = typer.Argument(None, metavar="words", help="Words of a title or skill."),
    as_json: bool = typer.Option(False, "--json", help="Print one JSON object."),
) -> int:
    """List the service's problems with their ids. A definition names one after `problem:`.

    Example: campaign problems two sum
    """

    async def listed() -> list[ServiceProblem]:
        async with Service(service_settings()) as service:
            return await service.problems()

    found = matching(search or [], asyncio.run(listed()))
    if as_json:
        records = [dict(each.record) | {"id": each.id} for each in found]
        print(json.dumps({"problems": records}, ensure_ascii=False, indent=2))
        return 0
    for each in found:
        more = (each.record.get(name) for name in ("difficulty", "skills"))
        said = ", ".join(text for text in more if isinstance(text, str) and text)
        print(f"{each.id:>8}  {' '.join(each.title.split())}" + (f"  ({said})" if said else ""))
    if not found:
        words.aside("The service has no such problem.")
    return 0


def doctor(offline: bool = typer.Option(False, "--offline", help="Do not ask the service.")) -> int:
    """Check settings, credentials, ledger and Prefect. What is wrong says how to fix it.

    Example: campaign doctor
    """
    found = [*asyncio.run(examine(ask_the_service=not offline)), _prefect()]
    for each in found:
        how = "WRONG" if not each.well else "to do" if each.then else "ok   "
        print(f"{how}  {each.name}: {each.says}")
        if each.then:
            print(f"         {each.then}")
    return 0 if all(f.well for f in found) else 1


def _prefect() -> Check:
    says = "campaign starts a server when it needs one"
    try:
        import_prefect()
        if address := os.environ.get("PREFECT_API_URL"):
            see_it_answer()
            says = f"the server at {address} answers"
    except CampaignError as error:  # settings or server are wrong
        return Check.of("Prefect", error)
    return Check("Prefect", True, f"{version('prefect')}; {says}")
