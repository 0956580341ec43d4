"""What speaks against a problem in the service's list: whether candidates can work on it. Pure.

The interface names the fields and leaves open what they mean for a candidate (interface 2,
"Problem"). So this is a warning for a person, never a refusal: it stops nothing.
"""

from collections.abc import Iterator, Sequence

from tasks.service.problem import Problem


def doubt_about(number: int, listed: Sequence[Problem]) -> str | None:
    """Say what speaks against the problem of this id, in one sentence; None: nothing does."""
    problem = next((each for each in listed if each.id == number), None)
    if problem is None:
        return (
            f"The service does not list problem {number} for these credentials. Check in the web "
            "application that candidates can still work on it."
        )
    doubts = " and ".join([*_not_visible(problem), *_not_open(problem, listed)])
    if not doubts:
        return None
    return (
        f'Problem {number} "{problem.title}" {doubts}. '
        "Check in the web application that candidates can work on it."
    )


def _not_visible(problem: Problem) -> Iterator[str]:
    """Our own problem need not be public; somebody else's non-public problem may be closed to us.

    Either of the two fields counts: one is the other's counterpart.
    """
    if (problem.public == 0 or problem.is_public is False) and not problem.is_current_user_admin:
        yield "is not public, and belongs to another account"


def _not_open(problem: Problem, listed: Sequence[Problem]) -> Iterator[str]:
    """The interface's only example is not open, so that alone says nothing.

    It does if other problems of the same service are open.
    """
    if problem.open == 0 and any(other.open for other in listed):
        yield "is not open, although others are"
