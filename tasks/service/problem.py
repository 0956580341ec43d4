"""A problem as the service lists it: 21 fields, of which we depend on two (interface 2, 4.2)."""

import re
from typing import Annotated, Any, TypeVar
from urllib.parse import urldefrag, urljoin, urlsplit

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StrictInt,
    StrictStr,
    ValidationError,
    ValidatorFunctionWrapHandler,
    WrapValidator,
)

from tasks.service.answer import parsed, read_id

Value = TypeVar("Value")


def _or_none(value: Any, read: ValidatorFunctionWrapHandler) -> Any:
    try:
        return read(value)
    except ValidationError:
        return None


# Each field as documented; None if it is missing or has another shape.
Lenient = Annotated[Value | None, WrapValidator(_or_none)]


def _number(value: Any) -> Any:
    """Read "42" as 42; leave everything else as it is."""
    return read_id(value) if isinstance(value, str) else value


class Problem(BaseModel):
    """One problem. `id` and `title` are certain; all else is as the service sent it, or None.

    The interface leaves open the values of difficulty, the unit of time_limit, and the elements of
    open_events and submissions. The two meanings of public have the names `public` (0 or 1) and
    `is_public` (the boolean `_public` of the interface).
    """

    model_config = ConfigDict(extra="ignore", frozen=True)

    id: Annotated[StrictInt, BeforeValidator(_number)]
    title: StrictStr
    description: Lenient[str] = None
    time_limit: Lenient[int] = None
    skills: Lenient[str] = None
    public: Lenient[int] = None
    owner_id: Lenient[str] = None
    difficulty: Lenient[str] = None
    date_created: Lenient[str] = None
    open: Lenient[int] = None
    like_count: Lenient[int] = None
    open_count: Lenient[int] = None
    view_count: Lenient[int] = None
    opened: Lenient[bool] = None
    solved: Lenient[bool] = None
    open_events: Lenient[list[Any]] = None
    submissions: Lenient[list[Any]] = None
    is_public: Lenient[bool] = Field(default=None, alias="_public")
    is_current_user_admin: Lenient[bool] = None
    liked_by_current_user: Lenient[bool] = None
    viewed_by_current_user: Lenient[bool] = None


class Problems(list[Problem]):
    """The problems of a list; `unusable` counts its entries without a usable id or title."""

    unusable = 0

    def go_on_with(self, page: "Problems") -> None:
        """Add one more page of the list; a problem on both pages is there once."""
        ids = {problem.id for problem in self}
        self.extend(problem for problem in page if problem.id not in ids)
        self.unusable += page.unusable


_LINK = re.compile(r'<([^<>]*)>((?:\s*;\s*[\w*]+\s*=\s*(?:"[^"]*"|[^\s,;"]*))*)')
_RELATIONS = re.compile(r';\s*rel\s*=\s*(?:"([^"]*)"|([^\s,;"]*))', re.IGNORECASE)


def next_page(page: str, link: str) -> str | None:
    """The page that a Link header calls next, if of the same origin: the token is sent to it."""
    for target, parameters in _LINK.findall(link):
        relations = _RELATIONS.search(parameters)
        if not relations or "next" not in (relations[1] or relations[2] or "").casefold().split():
            continue
        try:
            following = urljoin(page, target)
            here, there = urlsplit(page), urlsplit(following)
            same = (here.scheme, here.hostname, here.port) == (
                there.scheme,
                there.hostname,
                there.port,
            )
        except ValueError:
            return None
        return urldefrag(following).url if same and "@" not in there.netloc else None
    return None


def read_problems(body: bytes | None) -> Problems | None:
    """Read the list of problems; None when the answer is not an array.

    The array alone shows that the token and the API work (interface 4.2), so an entry without a
    usable id or title is left out rather than an error.
    """
    answer = parsed(body)
    if not isinstance(answer, list):
        return None
    problems = Problems()
    for entry in answer:
        try:
            problems.append(Problem.model_validate(entry))
        except ValidationError:
            problems.unusable += 1
    return problems
