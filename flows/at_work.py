"""A scheduled run that comes due while the one before is still at work is dropped.

By a lock of this machine, which is free as soon as the process that holds it is gone, however it
ended. Prefect's own limit is not that sure: a worker that is killed as it begins a run occupies it
for minutes, a server that forgets its leases for ever, and a run that cannot renew its lease while
the server is away is ended by Prefect in the midst of its work.
"""

import fcntl
from collections.abc import Callable, Coroutine, Iterator
from contextlib import ExitStack, contextmanager
from functools import wraps
from typing import Any, ParamSpec

from platformdirs import user_data_path
from prefect.client.orchestration import get_client
from prefect.client.schemas.objects import FlowRun, State
from prefect.context import FlowRunContext
from prefect.states import Cancelled

from data.own_files import make_folder
from flows.engine.idle_looks import DROPPED, forget_earlier
from flows.engine.machine import say_where
from flows.pages.seen import tolerantly

LOCKS = user_data_path("hiring-campaigns", appauthor=False) / "at-work"
P = ParamSpec("P")


def dropped_beside_another(
    work: Callable[P, Coroutine[Any, Any, State[Any]]],
) -> Callable[P, Coroutine[Any, Any, State[Any]]]:
    """Have a flow do nothing where a schedule began it beside another run of its deployment.

    What a person asked for is never dropped: claims in the ledger keep two runs safe, on one
    machine and on many.
    """

    @wraps(work)
    async def whole(*args: P.args, **kwargs: P.kwargs) -> State[Any]:
        await tolerantly(say_where())
        with _alone() as alone:
            state = await work(*args, **kwargs) if alone else Cancelled(message=DROPPED)
        await tolerantly(_tidy(state.message))
        return state

    return whole


async def _tidy(ended_as: str | None) -> None:
    if (run := _run()) is not None and run.deployment_id is not None:
        async with get_client() as client:
            await forget_earlier(client, run.deployment_id, run.id, ended_as)


def _run() -> FlowRun | None:
    context = FlowRunContext.get()
    return context.flow_run if context else None


@contextmanager
def _alone() -> Iterator[bool]:
    """Whether this run may go on; if so, scheduled runs are dropped as long as the block lasts."""
    run = _run()
    if run is None or run.deployment_id is None:
        yield True
        return
    with ExitStack() as held:
        try:
            make_folder(LOCKS)
            file = held.enter_context((LOCKS / str(run.deployment_id)).open("a"))
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            alone = True
        except BlockingIOError:
            alone = not run.auto_scheduled
        except OSError:
            alone = True  # without a place for locks, runs share the work
        yield alone
