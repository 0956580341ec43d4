"""Scheduled runs with nothing to do: one beside a run at work is dropped, and most are forgotten.

Dropped by a lock of this machine, which is free as soon as the process that holds it is gone,
however it ended. Prefect's own limit is not that sure: a worker that is killed as it begins a run
occupies it for minutes, a server that forgets its leases for ever, and a run that cannot renew its
lease while the server is away is ended by Prefect in the midst of its work.
"""

import fcntl
from collections.abc import Callable, Coroutine, Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import wraps
from typing import Any, ParamSpec
from uuid import UUID

from platformdirs import user_data_path
from prefect.client.orchestration import PrefectClient, get_client
from prefect.client.schemas.objects import FlowRun, State
from prefect.client.schemas.sorting import FlowRunSort
from prefect.exceptions import ObjectNotFound
from prefect.states import Cancelled

from data.own_files import make_folder
from flows.engine.runs import find_runs, say_where, this_run
from flows.pages.seen import tolerantly

LOCKS = user_data_path("hiring-campaigns", appauthor=False) / "at-work"
NOTHING_NEW = "Nothing new"
DROPPED = "The previous run is still in progress and does the work of this one."
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
    if (run := this_run()) is not None and run.deployment_id is not None:
        async with get_client() as client:
            await forget_earlier(client, run.deployment_id, run.id, ended_as)


async def forget_earlier(
    client: PrefectClient, deployment: UUID, this: UUID, ended_as: str | None = None
) -> int:
    """Remove earlier runs of a deployment that had nothing to do.

    One a minute would hide, in a single night, the runs that a person wants to see in the morning.
    `this` is the run that is at work now. Of the scheduled runs that ended with the same message
    (`ended_as`), the first one stays, because it may have done something. Returns how many were
    removed.
    """
    runs = await find_runs(
        client,
        sort=FlowRunSort.EXPECTED_START_TIME_DESC,
        limit=100,
        deployment_id={"any_": [deployment]},
        state={"name": {"any_": ["Completed", "Cancelled"]}},
    )
    earlier = [run for run in runs if run.id != this]
    idle = [run.id for run in earlier if _words(run) in (NOTHING_NEW, DROPPED)]
    alike = [run.id for run in earlier if run.auto_scheduled and _words(run) == ended_as]
    gone = dict.fromkeys([*idle, *alike[:-1]])
    for run in gone:
        with suppress(ObjectNotFound):  # another run beside this one tidies as well
            await client.delete_flow_run(run)
    return len(gone)


def _words(run: FlowRun) -> str | None:
    return run.state.message if run.state else None


@contextmanager
def _alone() -> Iterator[bool]:
    """Whether this run may go on; if so, scheduled runs are dropped as long as the block lasts."""
    run = this_run()
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
