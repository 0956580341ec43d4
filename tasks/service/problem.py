"""A problem as the service lists it: 21 fields, of which we depend on two (interface 2, 4.2)."""

import json
from typing import Annotated, Any, TypeVar

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    StrictInt,
    StrictStr,
    ValidationError,
    ValidatorFunctionWrapHandler,
    WrapValidator,
)

Value = TypeVar("Value")


def _or_none(value: Any, read: ValidatorFunctionWrapHandler) -> Any:
    try:
        return read(value)
    except ValidationError:
        return None


# What a field holds if it is as documented; None if it is missing or of another shape.
Lenient = Annotated[Value | None, WrapValidator(_or_none)]


class Problem(BaseModel):
    """One problem. `id` and `title` are certain, everything else is as told or None.

    The interface leaves open the values of difficulty, the unit of time_limit, and the elements of
    open_events and submissions. The two meanings of public have the names `public` (0 or 1) and
    `is_public` (the boolean `_public` of the interface).
    """

    model_config = ConfigDict(extra="ignore", frozen=True)

    id: StrictInt
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


def read_problems(body: bytes | None) -> list[Problem] | None:
    """Read the list of problems; None when the answer is not an array.

    The array alone shows that the token and the API work (interface 4.2), so an entry without a
    usable id or title is left out rather than an error.
    """
    try:
        answer = json.loads(body) if body else None
    except (ValueError, RecursionError):
        return None
    if not isinstance(answer, list):
        return None
    problems = []
    for entry in answer:
        try:
            problems.append(Problem.model_validate(entry))
        except ValidationError:
            continue
    return problems
