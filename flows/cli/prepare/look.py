"""What speaks against a campaign's problem: as last seen, or in the service's list as it is now."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from data.store.states import Step

if TYPE_CHECKING:
    from config.definition.model import Definition
    from data.store.tables import Campaign
    from flows.cli.prepare.forecast import Forecast
    from tasks.service.problem import Problem


def kept_doubt(definition: "Definition", campaign: "Campaign | None") -> str | None:
    """Say what the last run saw, and when; nothing where another problem is meant by now."""
    if campaign is None:
        return None
    if campaign.problem_state in (Step.WAITING, Step.REFUSED) and not _same(definition, campaign):
        return None
    return seen_doubt(campaign)


def seen_doubt(campaign: "Campaign") -> str | None:
    """Say what the last run saw against the campaign's problem, and when."""
    from config.timetable.moments import in_zone

    if campaign.problem_doubt is None or campaign.problem_seen_at is None:
        return None
    seen = in_zone(campaign.problem_seen_at, campaign.timezone)
    return f"{campaign.problem_doubt} (as of {seen})"


def _same(definition: "Definition", campaign: "Campaign") -> bool:
    from config.definition.model import ProblemById, ProblemByTitle

    match definition.problem:
        case ProblemById(id=number):
            return number == campaign.problem_id
        case ProblemByTitle(title=title):
            return title == campaign.problem_title
    return False


def looked(
    definitions: "Sequence[Definition]", forecasts: "Sequence[Forecast]"
) -> "Iterator[Forecast]":
    """Ask the service now, changing nothing: the same plans, with what its list says.

    Raises BadInput for a problem that the list does not have, as the run would; BadSettings,
    CampaignError where the service does not answer.
    """
    import asyncio

    from flows.cli.prepare.problems import list_problems
    from tasks.plan.preflight import find_problem
    from tasks.plan.problem_doubts import doubt_about

    listed = asyncio.run(list_problems())
    for definition, seen in zip(definitions, forecasts, strict=True):
        number = seen.problem_id
        if seen.problem is Step.WAITING and definition.problem is not None:
            number = find_problem(listed, definition.problem, definition.place)
        doubt = doubt_about(number, listed) if number is not None else None
        yield replace(seen, problem_doubt=doubt, looked=_nothing_against(number, listed))


def _nothing_against(number: int | None, listed: "Sequence[Problem]") -> str:
    """Say what was looked at, for whoever asked for a look."""
    if number is None:
        return "the project was made in the web application; only there you can see its problem"
    title = next((f' "{problem.title}"' for problem in listed if problem.id == number), "")
    return f"problem {number}{title} looks fine in the service's list"
