"""Decisions of a person as forms in Prefect's UI: a plan, a pilot, what is unsure.

They call what the command line calls. A form's fields are kept by Prefect, so people are named by
the numbers that the campaign's page shows, never by address.
"""

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Annotated, Any

from prefect.client.schemas.objects import State
from prefect.runtime import flow_run
from prefect.states import Completed, Failed
from pydantic import Field

from config.errors import CampaignError
from config.settings import load_local
from data.campaigns import approvals, queries
from data.campaigns.approvals import CODE, MARK, REJECTED, Answer
from data.decisions import adding_again, settling
from data.decisions.verdicts import (
    NEED_A_REASON,
    OR_AT_ONCE,
    Decided,
    Doubt,
    Doubts,
    NotDecided,
    about,
    listed,
)
from data.store.ledger import Ledger
from data.store.states import By, Operation, Word
from flows.campaign import run_campaign
from flows.pages.notices import our_flow
from flows.pages.seen import named_by_its_clock, show
from flows.run.ending import finish
from flows.words.doubts import STEPS
from tasks.plan.asking_approval import decide
from tasks.plan.pilot import confirm
from tasks.shell import in_words

# The final state of a form whose answer cannot be taken; a run that it starts tells of itself.
NOT_DECIDED = "NotDecided"

# Prefect shows a field's limits in its form, and the words of the docstring beside it.
Key = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9._-]{0,99}$")]
Who = Annotated[str, Field(min_length=1, max_length=100)]
Why = Annotated[str, Field(max_length=500)]
Code = Annotated[str, Field(pattern=rf"^[0-9a-f]{{{CODE}}}$")]
PlanCode = Annotated[str, Field(pattern=rf"^[0-9a-f]{{{CODE}}}({REJECTED}[0-9a-f]{{{MARK}}})?$")]
Number = Annotated[int, Field(gt=0)]


class What(StrEnum):
    """The steps that may be unsure, by the names that the campaign's page gives them."""

    PROJECT = STEPS[Operation.CREATE]
    PROBLEM = STEPS[Operation.ATTACH]
    ADD = STEPS[Operation.ADD]
    INVITE = STEPS[Operation.INVITE]


class Verdict(StrEnum):
    """What a person may have found out about an unsure step."""

    ID = Word.ID
    ATTACHED = Word.ATTACHED
    SENT = Word.SENT
    AGAIN = Word.AGAIN
    WITHDRAW = Word.WITHDRAW


class Nothing(CampaignError):
    """A form is about a campaign, or a step, that has nothing to decide."""


class NotListed(CampaignError):
    """A form is not about what the campaign's page lists now."""


@dataclass(frozen=True, slots=True)
class Filled:
    """What a person filled in to settle something; `person` is a candidate's row."""

    what: What
    word: Word
    value: int | None = None
    person: int | None = None
    listed: str | None = None


def _name() -> str:
    key = flow_run.parameters["campaign"]
    return f"{flow_run.flow_name}: {named_by_its_clock(key, key)}"


@our_flow("approve campaign", _name, [NOT_DECIDED])
async def approve_campaign(
    campaign: Key, plan: PlanCode, answer: Answer, who: Who, why: Why = ""
) -> State[Any]:
    """Approve the plan of a campaign, and run it; or reject it, with a reason.

    The campaign's page, among the artifacts, shows the plan and its code. An approval is void once
    the definition or the ledger has changed.

    Args:
        campaign: The campaign's key, such as backend-2026.
        plan: The code of the plan, as the campaign's page shows it.
        answer: Approved plans are sent at once.
        who: Who decides this.
        why: Kept with the decision. A rejection needs it. Name no candidate here.
    """
    try:
        if answer is Answer.REJECTED and not why.strip():
            raise Nothing("A rejection needs a reason: fill in why. Nothing was decided.")
        local = load_local()
        with Ledger.open(local.database_url, create=False) as ledger:
            asked = decide(ledger, campaign, answer, plan, who, why)
            if answer is Answer.REJECTED:
                answered = ledger.read(approvals.last, campaign)
                await show(ledger, local, replace(finish(ledger, campaign, None), plan=answered))
    except Exception as error:  # noqa: BLE001 - a traceback in Prefect may name people
        return Failed(name=NOT_DECIDED, message=in_words(error))
    if answer is Answer.REJECTED:
        return Completed(message=f"{who} rejected the plan {plan}; nothing was sent.")
    return await _run(asked.file, campaign, asked.definition, asked.sheet)


async def _run(file: str, campaign: str, definition: str | None, sheet: str | None) -> State[Any]:
    ran = await run_campaign(file, campaign, definition, sheet=sheet, return_state=True)
    # As a new state: Prefect would replace the message of a subflow's state with its own.
    return State(type=ran.type, name=ran.name, message=ran.message)


@our_flow("confirm pilot", _name, [NOT_DECIDED])
async def confirm_pilot(campaign: Key, who: Who, why: Why = "") -> State[Any]:
    """Confirm that the pilot's invitation is right, and invite the others.

    Open the email that the pilot got, follow its link, and look at what candidates will see.

    Args:
        campaign: The campaign's key, such as backend-2026.
        who: Who has looked at it.
        why: Kept with the decision. Name no candidate here.
    """
    try:
        with Ledger.open(load_local().database_url, create=False) as ledger:
            in_ledger = ledger.read(queries.find_campaign, campaign)
            if in_ledger is None:
                raise Nothing(f"There is no campaign {campaign} in the ledger.")
            confirm(ledger, in_ledger, who, why)
    except Exception as error:  # noqa: BLE001 - a traceback in Prefect may name people
        return Failed(name=NOT_DECIDED, message=in_words(error))
    return await _run(in_ledger.definition, campaign, in_ledger.belongs_to, in_ledger.sheet)


@our_flow("settle campaign", _name, [NOT_DECIDED])
async def settle_campaign(  # noqa: PLR0913, PLR0917 - the fields of the form
    campaign: Key,
    what: What,
    verdict: Verdict,
    who: Who,
    why: Why = "",
    value: Number | None = None,
    person: Number | None = None,
    listed: Code | None = None,
) -> State[Any]:
    """Settle what is unsure in a campaign, after a look in the web application.

    The campaign's page lists it, with the verdicts that fit and a code. Nothing is sent: the next
    run goes on from the verdicts.

    Args:
        campaign: The campaign's key, such as backend-2026.
        what: The kind of step that is unsure, as the campaign's page names it.
        verdict: What you have found out, or what to do (again, withdraw).
        who: Who decides this.
        why: Kept with the decision. The verdicts again and withdraw need it. Name no candidate.
        value: With the verdict id, the id that the web application shows. To replace an id that was
            mistyped and had no effect yet, give the right one here; for a candidate, fill in person
            as well.
        person: Only this person, by the number on the campaign's page; everyone without it.
        listed: The code of the list on the campaign's page. Whatever became unsure since then is
            not settled. Leave it empty only for a refused add, or to replace a mistyped id.
    """
    local = load_local()
    filled = Filled(what, Word(verdict), value, person, listed)
    try:
        with Ledger.open(local.database_url, create=False) as ledger:
            try:
                number = _settle(ledger, campaign, filled, By(who, why))
            except NotListed:
                await show(ledger, local, finish(ledger, campaign, None))
                raise
            end = finish(ledger, campaign, None)
            await show(ledger, local, end)
    except NotDecided as error:
        objections = [each.replace(OR_AT_ONCE, "") for each in error.objections.values()]
        return Failed(name=NOT_DECIDED, message="; ".join(dict.fromkeys(objections)))
    except Exception as error:  # noqa: BLE001 - a traceback in Prefect may name people
        return Failed(name=NOT_DECIDED, message=in_words(error))
    left = end.counts["unsure"]
    return Completed(
        message=f"{number:,} settled as {verdict}, {left:,} still unsure. The next run goes on."
    )


def _settle(ledger: Ledger, key: str, filled: Filled, by: By) -> int:
    """Take one verdict on everything of a kind, or on one person; returns how many steps."""
    campaign = ledger.read(queries.find_campaign, key)
    if campaign is None:
        raise Nothing(f"There is no campaign {key} in the ledger.")
    if filled.word in NEED_A_REASON and not by.why.strip():
        raise Nothing(f"{filled.word} needs a reason: fill in why. Nothing was decided.")
    adding_again.recover(ledger, campaign.id)
    decided = [
        Decided(doubt.attempt, doubt.row, filled.word, filled.value, doubt.typed)
        for doubt in _meant(ledger.read(settling.find, campaign.id, typed=True), filled)
    ]
    if not decided:
        what, person = filled.what, filled.person
        step = f"{what} of person {person}" if person else what
        raise Nothing(f"In {key} no {step} is unsure. Nothing was decided.")
    ledger.write(settling.settle, campaign.id, decided, by, soon=False)
    return len(decided)


def _meant(doubts: Doubts, filled: Filled) -> list[Doubt]:
    """The doubts that a verdict is about: none that the page did not list.

    A refused add and a step with a typed id are not unsure, so they have no code. Raises NotListed.
    """
    operation = next(each for each in STEPS if STEPS[each] == filled.what)
    about_these = about(doubts, operation, filled.word, filled.person)
    unsure = [doubt for doubt in about_these if doubt in doubts.steps]
    if filled.listed is None and unsure:
        raise NotListed(
            "Fill in listed: the code that the campaign's page shows beside what is unsure. "
            "Nothing was decided."
        )
    if filled.listed is None:
        return about_these
    if unsure and filled.listed != listed(doubts.steps, operation):
        raise NotListed(
            f"What is unsure is not what the campaign's page listed as {filled.listed}, so nothing "
            "was decided. The page now shows what is unsure, with a new code."
        )
    return unsure
