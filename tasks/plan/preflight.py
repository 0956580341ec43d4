"""Before anything is sent: does the service answer, and does it have the problem?"""

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches

from config.command_line import command
from config.definition.model import ProblemById, ProblemByTitle
from config.errors import BadInput
from config.mistakes import Mistake, Place, shown
from tasks.plan.plan import Plan
from tasks.plan.problem_doubts import doubt_about
from tasks.plan.target import Target
from tasks.service.client import Service
from tasks.service.problem import Problem, Problems


@dataclass(frozen=True, slots=True)
class Look:
    """What the service's list says: which problem is meant, if it still has to be attached, and
    what speaks against the campaign's problem.
    """

    problem: int | None = None
    doubt: str | None = None


async def preflight(service: Service, plan: Plan) -> Look:
    """Check that the token and the API work (interface 4.2), and find which problem is meant.

    Raises BadInput if the problem is not found exactly once.
    """
    listed = await service.problems()
    if plan.left.attach:
        meant = _meant(listed, plan.target)
        return Look(meant, None if meant is None else doubt_about(meant, listed))
    campaign = plan.target.known
    if campaign is None or campaign.problem_id is None:
        return Look()  # a project made in the web application has its problem already
    return Look(None, doubt_about(campaign.problem_id, listed))


def _meant(listed: Sequence[Problem], wanted: Target) -> int | None:
    definition = wanted.definition  # which is read again as long as its problem is to be attached
    if definition is None or definition.problem is None:
        return None
    return find_problem(listed, definition.problem, definition.place)


def find_problem(
    listed: Sequence[Problem], wanted: ProblemById | ProblemByTitle, place: Place
) -> int:
    """Find the one problem that is meant, by id or by exact title, in the service's list.

    `place` is where to point when the problem itself has no place in a file.
    Raises BadInput: an unknown id, or a title that matches none or
    several. The service has no other way to ask for a problem (interface 4.2).
    """
    place = wanted.place or place
    if isinstance(wanted, ProblemById):
        if wanted.unlisted or any(problem.id == wanted.id for problem in listed):
            return wanted.id
        insist = f"; if it is in the web application:  problem: {{id: {wanted.id}, unlisted: true}}"
        raise BadInput([_mistake(place, str(wanted.id), _nearest(listed, "") + insist)])
    title = wanted.title.strip()
    matches = [problem.id for problem in listed if problem.title.strip() == title]
    if len(matches) == 1:
        return matches[0]
    if matches:
        ids = ", ".join(map(str, matches))
        raise BadInput(
            [_mistake(place, shown(title), f"one problem; several have this title: {ids}")]
        )
    raise BadInput([_mistake(place, shown(title), _nearest(listed, title))])


def _mistake(place: Place, what: str, wanted: str) -> Mistake:
    return Mistake(place, field="problem", found=what, wanted=wanted)


def _nearest(listed: Sequence[Problem], title: str) -> str:
    if not listed and isinstance(listed, Problems) and listed.unusable:
        return f"a problem of the service; its list has {listed.unusable} without id or title"
    if not listed:
        return "a problem of the service, but it lists none for these credentials"
    near = get_close_matches(title, [problem.title for problem in listed], n=1, cutoff=0.5)
    if near:
        return f"a problem of the service, perhaps {shown(near[0])}; see: {command('problems')}"
    return f"a problem that the service lists; see: {command('problems')}"
