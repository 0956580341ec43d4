"""Forms in Prefect's pages, by which a person approves or rejects a plan, or settles a doubt.

The forms call the same functions as the commands. Because Prefect keeps what is typed into a form,
a person types a doubt's number, which the page shows, and no address; `who` and `why` are removed
from Prefect before the ledger keeps them.
"""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Literal

from prefect import flow
from prefect.client.orchestration import get_client
from prefect.client.schemas.objects import State
from prefect.runtime import flow_run
from pydantic import Field
from sqlmodel import Session

from config.errors import CampaignError, NotAsTyped, command
from data.decisions.approvals import OWN, approve
from data.decisions.decisions import By, NotDecided, ReasonMissing
from data.decisions.doubts import Settlement, doubts, settle_all
from data.sending.runs import deciding
from data.store.tables import Campaign
from flows.ending import End, Ending
from flows.page import announce, publish_page
from flows.steps import scrubbed
from flows.this_run import run_now

PATIENCE = 30.0  # seconds that Prefect may take to begin a run
CampaignKey = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9._-]*$")]
YesOrNo = Literal["approve", "reject"]
VerdictWord = Literal["sent", "again", "withdraw"]
Who = Annotated[str, Field(pattern=r"\S", max_length=100)]


TAKEN_OUT = "-"  # in the place of who decided, once that is read


class IsRead(NotAsTyped):
    says = "A form decides once, and then forgets who decided. Nothing was changed by trying again."
    then = "Fill in a new one."


class NotSettled(NotAsTyped):
    says = "{key}: number {number} {why}. Nothing was changed. Its page shows what is unsure."


@flow(name="approve", flow_run_name="approve {campaign}")
async def approve_campaign(
    campaign: CampaignKey, plan: str, answer: YesOrNo, who: Who, why: str = ""
) -> State[Any]:
    """Approve the plan of a campaign, or the pilot's email, and run it; or reject it.

    Args:
        campaign: The campaign's key.
        plan: The code of the plan, as the campaign's page shows it; for the pilot's email, pilot.
        answer: An approved plan is sent at once.
        who: Who decides.
        why: For whoever reads the history later.
    """

    def decide(session: Session, of: Campaign) -> str:
        by, reject = _by(who, why), answer == "reject"
        answered = approve(session, of.id, by, reject=reject, only=plan.strip())
        own = f" ({OWN})" if answered.own else ""
        return f"{answer} {answered.code or 'the pilot'}{own}"

    return await _decided(campaign, decide, run=answer == "approve")


@flow(name="settle", flow_run_name="settle {campaign}")
async def settle_campaign(
    campaign: CampaignKey,
    number: int,
    verdict: VerdictWord,
    who: Who,
    why: str = "",
    service_id: int | None = None,
) -> State[Any]:
    """Settle what is unsure, after a look in the web application, and run the campaign.

    Args:
        campaign: The campaign's key.
        number: The number beside it on the campaign's page.
        verdict: Sent: it happened. Again: it did not, and the next run sends it. Withdraw: whatever
            happened, nothing more is sent to this person. The last two need a reason.
        who: Who decides.
        why: For whoever reads the history later.
        service_id: For a project or an added person that was sent, the id that the service shows.
    """

    def decide(session: Session, of: Campaign) -> str:
        found = [doubt for doubt in doubts(session, of.id) if doubt.part_id == number]
        if not found:
            raise NotSettled(key=of.key, number=number, why="is not unsure any more")
        word = Settlement(verdict, found[0].email1, found[0].op, service_id, number)
        try:
            settle_all(session, of.id, [word], _by(who, why))
        except NotDecided as error:
            raise NotSettled(key=of.key, number=number, why=error.objections[0][1]) from None
        return f"{number} settled as {verdict}"

    return await _decided(campaign, decide)


def _by(who: str, why: str) -> By:
    if who == TAKEN_OUT:
        raise IsRead
    return By(who, why)


async def _decided(
    key: str, decide: Callable[[Session, Campaign], str], *, run: bool = True
) -> State[Any]:
    """Record a decision in the ledger, with `run` begin a run that sends, and renew the page."""
    try:
        await _take_out_who_and_why()
        with scrubbed(), deciding(key) as (session, campaign):
            ending = Ending(key, End.DONE, f"{decide(session, campaign)}.")
            file = Path(campaign.file)
    except CampaignError as error:
        then = "" if isinstance(error, ReasonMissing) else error.then  # the form has a field
        ending = Ending(key, End.of(error), str(error), then)
        await announce(ending, {})
        return ending.state()
    if run:
        ending = await _begun(ending, file)
    await publish_page(ending)
    return ending.state()


async def _begun(ending: Ending, file: Path) -> Ending:
    """Begin the campaign's run; if none begins, the ending says why."""
    kind, why = End.DONE, "Its deployment is paused"
    try:
        async with get_client() as client:
            if await asyncio.wait_for(run_now(client, file, ending.key), PATIENCE):
                return ending
    except Exception as error:  # noqa: BLE001 - a server fails in ways of its own
        kind, why = End.STOPPED, f"Prefect confirmed no run ({type(error).__name__})"
    sentence = f"{ending.sentence} {why}, so nothing is sent yet."
    return replace(ending, kind=kind, sentence=sentence, next_step=command("run", file))


async def _take_out_who_and_why() -> None:
    typed = flow_run.parameters | {"who": TAKEN_OUT, "why": ""}
    async with get_client() as client:
        await client.update_flow_run(flow_run.id, parameters=typed)
