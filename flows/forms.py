"""Decisions as forms in Prefect's pages: approve or reject a plan, settle what is unsure.

They call what the commands call; the ledger decides. Prefect keeps what is typed into a form: so
people are named by the numbers on the campaign's page, and who decides and why is taken out of
Prefect before it is taken into the ledger.
"""

from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

from prefect import flow
from prefect.client.orchestration import get_client
from prefect.client.schemas.objects import State
from prefect.runtime import flow_run
from prefect.states import Completed, Failed
from pydantic import Field
from sqlmodel import Session

from config.errors import CampaignError
from config.settings import settings
from data.campaigns.people import find
from data.decisions.approvals import PILOT, PlanChanged, approve
from data.decisions.decisions import By, NotDecided
from data.decisions.doubts import Verdict, doubts, settle
from data.eligibility.approved import shown_last
from data.store.ledger import Ledger
from data.store.tables import Campaign
from flows.ending import End, Ending
from flows.page import publish_page
from flows.runs import run_now
from flows.steps import scrubbed

Key = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9._-]*$")]
Who = Annotated[str, Field(min_length=1, max_length=100)]


class Answer(StrEnum):
    """What a person says of a plan, or of the pilot's email."""

    APPROVE = "approve"
    REJECT = "reject"


class Word(StrEnum):
    """What a person found out in the service's web application."""

    SENT = "sent"  # it happened
    AGAIN = "again"  # it did not happen; the next run sends it
    WITHDRAW = "withdraw"  # whatever happened, nothing more is sent to this person


class NotSettled(CampaignError):
    """{key}: number {number} {why}. Nothing was changed. Its page shows what is unsure."""

    exit_code = 2


@flow(name="approve", flow_run_name="approve {campaign}")
async def approve_campaign(
    campaign: Key, plan: str, answer: Answer, who: Who, why: str = ""
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
        shown = shown_last(session, of.id)
        if plan.strip() not in (shown, PILOT):
            raise PlanChanged(key=of.key, file=of.file)
        by, reject = By(who, why), answer is Answer.REJECT
        answered = approve(session, of.id, by, reject=reject, only=plan.strip())
        return f"{answer} {answered.code or 'the pilot'}"

    return await _decided(campaign, decide, run=answer is Answer.APPROVE)


@flow(name="settle", flow_run_name="settle {campaign}")
async def settle_campaign(
    campaign: Key,
    number: int,
    verdict: Word,
    who: Who,
    why: str = "",
    service_id: int | None = None,
) -> State[Any]:
    """Settle what is unsure, after a look in the web application. What is to be sent again is.

    Args:
        campaign: The campaign's key.
        number: The number beside it on the campaign's page.
        verdict: What you found out; again and withdraw need a reason.
        who: Who decides.
        why: For whoever reads the history later.
        service_id: For a project or an added person that was sent, the id that the service shows.
    """

    def decide(session: Session, of: Campaign) -> str:
        found = [doubt for doubt in doubts(session, of.id) if doubt.part_id == number]
        if not found:
            raise NotSettled(key=of.key, number=number, why="is not unsure any more")
        word = Verdict(verdict, found[0].email1, found[0].op, service_id, number)
        try:
            settle(session, of.id, [word], By(who, why))
        except NotDecided as error:
            raise NotSettled(key=of.key, number=number, why=error.objections[0][1]) from None
        return f"{number} settled as {verdict}"

    return await _decided(campaign, decide, run=verdict is Word.AGAIN)


async def _decided(
    key: str, decide: Callable[[Session, Campaign], str], *, run: bool = False
) -> State[Any]:
    """Take a decision into the ledger, show it on the campaign's page, and run what it frees."""
    try:
        await _take_out_who_and_why()
        with (
            scrubbed(),
            Ledger.open(settings().database_url, create=False) as ledger,
            ledger.writing() as session,
        ):
            campaign = find(session, key)
            says, file = decide(session, campaign), Path(campaign.file)
    except CampaignError as error:
        return Failed(message=f"{End.BAD_INPUT}: {error}")
    await publish_page(Ending(key, End.DONE, f"{says}."))
    if run:
        async with get_client() as client:
            await run_now(client, file, key, str(flow_run.id))
    return Completed(message=f"{End.DONE}: {says}")


async def _take_out_who_and_why() -> None:
    typed = flow_run.parameters | {"who": "", "why": ""}
    async with get_client() as client:
        await client.update_flow_run(flow_run.id, parameters=typed)
