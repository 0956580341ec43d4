"""`campaign problems`: which problems the service has, to put one into a definition."""

import asyncio
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

from config.command_line import command
from flows.words.speech import answer_program, counted, manner, say, say_table

if TYPE_CHECKING:
    from tasks.service.problem import Problem, Problems

SHOWN = ("id", "title", "difficulty", "skills", "time_limit")
SEARCHED = ("id", "title", "difficulty", "skills", "description")


def problems(
    search: Annotated[
        str,
        typer.Argument(
            metavar="SEARCH",
            help="An id, to see everything about one problem; or part of a title, text or skill.",
        ),
    ] = "",
    skill: Annotated[
        str, typer.Option(metavar="TEXT", help="Only problems with this in their skills.")
    ] = "",
    difficulty: Annotated[
        str, typer.Option(metavar="TEXT", help="Only problems of this difficulty.")
    ] = "",
) -> None:
    """List the coding problems that the service has, or show one.

    Asks the service and changes nothing; needs the ASSESSMENT_ settings.
    """
    listed = list_problems()
    fitting = list(narrowed(matching(search, listed), skill=skill, difficulty=difficulty))
    if manner().as_json:
        described = [problem.model_dump(mode="json", by_alias=True) for problem in fitting]
        answer_program({"problems": described})
    elif len(fitting) == 1 and str(fitting[0].id) == search.strip():
        say(*details(fitting[0], listed))
    elif fitting:
        say_table(SHOWN, [[getattr(problem, name) for name in SHOWN] for problem in fitting])
        number = counted(len(fitting), "problem")
        say(f"{number}. Put one into a definition:  problem: {fitting[0].id}")
    elif listed:
        say(f"No problem matches. To list all: {command('problems')}", *_choices(listed))
    elif listed.unusable:
        number = counted(listed.unusable, "problem")
        say(f"The service lists {number}, but none that has both an id and a title.")
    else:
        say("No problems yet.")


def matching(search: str, listed: "Iterable[Problem]") -> "list[Problem]":
    """Keep the problem with this id, or those with the text in a field, ignoring upper case."""
    sought = search.strip().casefold()
    everything = list(listed)
    exactly = [problem for problem in everything if str(problem.id) == sought]
    return exactly or [
        problem
        for problem in everything
        if any(sought in str(getattr(problem, name) or "").casefold() for name in SEARCHED)
    ]


def narrowed(listed: "Iterable[Problem]", *, skill: str, difficulty: str) -> "Iterator[Problem]":
    """Keep those with a skill that has this in it, and those of exactly this difficulty."""
    wanted, level = skill.strip().casefold(), difficulty.strip().casefold()
    for problem in listed:
        fits = level in ("", (problem.difficulty or "").strip().casefold())
        if fits and wanted in (problem.skills or "").casefold():
            yield problem


def _choices(listed: "Iterable[Problem]") -> "Iterator[str]":
    """Which skills and difficulties there are, as nobody can know them (interface 2)."""
    for name, option in (("skills", "--skill"), ("difficulty", "--difficulty")):
        values = dict.fromkeys(filter(None, (getattr(problem, name) for problem in listed)))
        if values:
            say_it = ", ".join(list(values)[:10]) + (", …" if len(values) > 10 else "")
            yield f"  {option}: {say_it}"


def details(problem: "Problem", listed: "list[Problem]") -> "Iterator[str]":
    """Everything that the service says of one problem, in the interface's own words."""
    from tasks.plan.problem_doubts import doubt_about

    yield f"{problem.id}  {problem.title}"
    values = problem.model_dump(mode="json", by_alias=True, exclude={"id", "title", "description"})
    for name, value in values.items():
        if value is not None:
            yield f"  {name:<24}{_worded(value)}"
    if problem.description:
        yield from ("", *(f"  {line}" for line in problem.description.splitlines()))
    if doubt := doubt_about(problem.id, listed):
        yield from ("", doubt)
    yield from ("", f"Put it into a definition:  problem: {problem.id}")


def _worded(value: Any) -> str:
    if isinstance(value, list):
        return counted(len(value), "entry", "entries")  # of a shape that the interface leaves open
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value)


def list_problems() -> "Problems":
    """Ask the service. Raises BadSettings, and CampaignError where it does not answer."""
    from config.errors import CampaignError
    from config.settings import load_local
    from flows.cli.serve.serve import service_here
    from tasks.service.client import Service

    local, settings = load_local(), service_here()

    async def ask() -> "Problems":
        async with Service(
            settings, deadline=local.request_deadline, ca_file=local.ca_file
        ) as service:
            try:
                return await service.problems()
            except CampaignError as error:
                error.wrote = service.wrote
                raise

    return asyncio.run(ask())
