"""`campaign problems`: which problems the service has, to put one into a definition."""

import asyncio
from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated

import typer

from flows.cli.arguments import AsJson
from flows.cli.speech import answering, counted, print_json, say, say_table

if TYPE_CHECKING:
    from tasks.service.problem import Problem

SHOWN = ("id", "title", "difficulty", "skills", "time_limit")
SEARCHED = ("id", "title", "difficulty", "skills")


def problems(
    search: Annotated[
        str, typer.Argument(metavar="[SEARCH]", help="Part of an id, title, skill or difficulty.")
    ] = "",
    as_json: AsJson = False,
) -> None:
    """List the service's problems.

    Asks the service and changes nothing; needs the ASSESSMENT_ settings.
    """
    with answering(as_json):
        found = matching(search, asyncio.run(_listed()))
    if as_json:
        print_json(
            {"problems": [problem.model_dump(mode="json", by_alias=True) for problem in found]}
        )
        return
    if found:
        say_table(SHOWN, [[getattr(problem, name) for name in SHOWN] for problem in found])
        say(f"{counted(len(found), 'problem')}. Put one into a definition:  problem: {found[0].id}")
    else:
        say("No problem fits. All of them: campaign problems" if search else "No problems yet.")


def matching(search: str, listed: "Iterable[Problem]") -> "list[Problem]":
    """Keep the problems with the search in their id, title, difficulty or skills, in any case."""
    sought = search.strip().casefold()
    return [
        problem
        for problem in listed
        if any(sought in str(getattr(problem, name) or "").casefold() for name in SEARCHED)
    ]


async def _listed() -> "list[Problem]":
    from config.settings import load_local, load_service
    from tasks.service.client import Service

    deadline = load_local().request_deadline
    async with Service(load_service(), deadline=deadline) as service:
        return await service.problems()
