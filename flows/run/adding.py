"""What has to be there before anybody is invited: the project, its problem, the candidates."""

import asyncio
from collections.abc import Callable, Sequence
from functools import partial

from data.decisions import adding_again
from data.sending import queue
from data.store.ledger import Ledger
from data.store.states import Step
from data.store.tables import Campaign
from flows.run.context import ActiveRun, check_stop, check_stop_beside, check_stop_in_ledger, flush
from flows.run.steps import may_go_on, name_of
from tasks.sending.bulk_add import Refusals, add
from tasks.sending.project import AttachProblem, CreateProject
from tasks.sending.sender import Order

ADDS = 10  # bulk adds in one step


async def create_project(run: ActiveRun) -> bool:
    """Create the project (interface 4.3); True once it is there."""
    return await _single(
        run, "create the project", lambda campaign: campaign.project_state, CreateProject
    )


async def attach_problem(run: ActiveRun) -> bool:
    """Add the problem to the project (interface 4.4); True once it is there."""
    return await _single(
        run, "add the problem", lambda campaign: campaign.problem_state, AttachProblem
    )


async def _single(
    run: ActiveRun,
    name: str,
    state_of: Callable[[Campaign], str],
    order: Callable[[Ledger, str], Order],
) -> bool:
    """Make one of the two single calls unless it was made; True once it is done."""
    current = run.campaign()
    if state_of(current) in (Step.WAITING, Step.REFUSED):
        await check_stop(run)
        ordered = order(run.context.ledger, run.key)
        await run.context.perform(name, partial(_send_one, run, ordered))
        current = run.campaign()
    patience = run.context.local.request_deadline
    # Another run may be making this call: wait for its answer, never call twice.
    while state_of(current) == Step.SENDING and patience > 0:
        await run.gate.wait(0.25)
        patience -= 0.25
        current = run.campaign()
        if run.gate.stopped:
            break
    return state_of(current) == Step.DONE


async def _send_one(run: ActiveRun, order: Order) -> None:
    await run.sender.run_to_end(run.sender.send(order))
    await flush(run)


async def add_candidates(run: ActiveRun) -> None:
    """Add everybody who waits, a hundred or so in a request (interface 4.5)."""
    ledger, project = run.context.ledger, run.campaign().project_id
    size = run.context.local.candidates_per_request
    refusals = Refusals()

    async def add_part(part: Sequence[int]) -> None:
        for start in range(0, len(part), size):
            await check_stop_in_ledger(run)
            if project is None or run.gate.stopped:
                return
            batch = part[start : start + size]
            adding = add(
                run.sender, ledger, project, batch, refusals, each=run.context.observer.on_sent
            )
            # Prefect is asked while the request is under way: a cancel stops the next one.
            await asyncio.gather(adding, check_stop_beside(run))
            if refusals.everybody:
                await flush(run)
                await asyncio.to_thread(ledger.write, adding_again.wait_again, refusals.rows)
                run.gate.stop(refusals.why)
        await flush(run)

    again = True
    while again:
        rows = await asyncio.to_thread(ledger.read, queue.to_add, run.begun.campaign)
        for start in range(0, len(rows), size * ADDS):
            if not await may_go_on(run):
                break
            part = rows[start : start + size * ADDS]
            name = name_of("add candidates", start, len(part), len(rows))
            await run.context.perform(name, partial(add_part, part))
        # A definition may say that people whose add is unsure are added once more.
        again = bool(await asyncio.to_thread(adding_again.add_again, ledger, run.begun.campaign))
        again = again and run.gate.stopped is None
