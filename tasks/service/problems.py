"""The service's problems, and how a title finds one (interface 4.2)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from config.errors import CampaignError
from tasks.service.answers import parsed, plain, read_id


class NotTheService(CampaignError):
    says = "ASSESSMENT_BASE_URL does not give the list of problems: {why}. Nothing was sent."
    then = "Check the address and what your credentials may do, then run again."


class NoSuchProblem(CampaignError):
    says = 'The service has no problem titled "{title}".{nearest} Nothing was sent.'
    then = "List them with: campaign problems"


class SeveralProblems(CampaignError):
    says = 'The service has {count} problems titled "{title}": {ids}. Nothing was sent.'
    then = "Write the id that you mean, as in: problem: {first}"


@dataclass(frozen=True, slots=True)
class ServiceProblem:
    """A problem with a valid id and title; `record` is all that the service wrote about it."""

    id: int
    title: str
    record: Mapping[str, Any]


def read_problems(body: bytes | None) -> list[ServiceProblem] | None:
    """Read the list of problems. Returns None if it is no array.

    Entries without an id or a title are left out: the array alone shows that token and API work.
    """
    answer = parsed(body)
    if not isinstance(answer, list):
        return None
    return [
        ServiceProblem(number, entry["title"], entry)
        for entry in answer
        if isinstance(entry, dict) and isinstance(entry.get("title"), str)
        if (number := read_id(entry.get("id"))) is not None
    ]


def problem_titled(title: str, problems: Sequence[ServiceProblem]) -> ServiceProblem:
    """Find the only problem with this title; capitals and the number of blanks do not matter.

    Raises NoSuchProblem with the nearest title, SeveralProblems.
    """
    wanted = plain(title)
    found = [each for each in problems if plain(each.title) == wanted]
    if len(found) == 1:
        return found[0]
    if found:
        ids = ", ".join(str(each.id) for each in found)
        raise SeveralProblems(count=len(found), title=title, ids=ids, first=found[0].id)
    titles = {plain(each.title): each.title for each in problems}
    near = get_close_matches(wanted, titles, n=1)
    nearest = f' The nearest is "{titles[near[0]]}".' if near else ""
    raise NoSuchProblem(title=title, nearest=nearest)


def matching(words: Sequence[str], problems: Sequence[ServiceProblem]) -> list[ServiceProblem]:
    """The problems whose title, skills or difficulty contain all of these words."""

    def text(each: ServiceProblem) -> str:
        told = (each.title, each.record.get("skills"), each.record.get("difficulty"))
        return plain(" ".join(str(part or "") for part in told))

    return [each for each in problems if all(plain(word) in text(each) for word in words)]
