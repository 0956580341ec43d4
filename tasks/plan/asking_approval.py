"""A person may have to approve the plan before anything is sent: its words, and its state."""

from collections.abc import Iterator, Sequence
from datetime import timedelta
from hashlib import sha256
from pathlib import Path

from config.command_line import command
from config.reading.sources import as_typed_for, sources_of
from data.campaigns import approvals
from data.campaigns.approvals import (
    Answer,
    NotAnswered,
    PlanInWords,
    Standing,
    code_of,
    code_to_approve,
    until,
)
from data.campaigns.remaining import Due
from data.holds.rule import Holds
from data.privacy.masking import masked_email, masked_name
from data.store.ledger import Ledger
from data.store.states import By, Ending
from data.store.tables import Approval, Campaign
from tasks.plan.holds import in_words as counted_in_words
from tasks.plan.plan import Plan
from tasks.plan.target import CampaignSource
from tasks.plan.timing import timetable_of

NAMED = 10  # how many people of a plan are named


def in_words(plan: Plan, source: CampaignSource, terms: Campaign) -> PlanInWords:
    """Put what a run would do into words for the person who approves it."""
    target, held = plan.target, plan.held
    sheet = [("sheet", source.sheet)] if source.sheet else []
    lines = [*sheet, *_lines(plan, terms), *([("look", plan.doubt)] if plan.doubt else [])]
    return PlanInWords(
        campaign_key=target.key,
        read=target.digest,
        service=terms.service,
        file=str(source.file),
        definition=str(source.definition) if source.definition else None,
        sheet=source.sheet,
        told="\n".join(f"{word}: {line}" for word, line in lines),
        within=timedelta(seconds=terms.answer_within) if terms.answer_within else None,
        timezone=terms.timezone,
        held=sha256("\n".join(sorted(held)).encode()).hexdigest() if held else "",
    )


def _lines(plan: Plan, terms: Campaign) -> Iterator[tuple[str, str]]:
    left, campaign = plan.left, plan.target.known
    table = timetable_of(plan.target)
    # A definition names the project that was created for it, but does not have its id.
    project = (campaign and campaign.project_id) or terms.project_id
    yield "project", f'create "{terms.name}"' if left.create else f"{project}, as it is"
    if left.attach:
        yield "problem", f"add {terms.problem_id or terms.problem_title}"
    else:
        yield "problem", "nothing to do"
    yield "add", f"{left.add:,} to the project" if left.add else "nobody"
    yield "invite", f"{left.invite:,} by email" if left.invite else "nobody"
    if plan.held:
        yield "held", counted_in_words(Holds.of(plan.held))
    if plan.people:
        yield "people", _named(plan.people)
    if terms.starttime or terms.endtime:
        yield "open", f"{terms.starttime or 'at once'} to {terms.endtime or 'no end'}"
    by_email = f"; emails {table.window}" if table.window is not None and left.invite else ""
    yield "when", f"with the first run after the approval{by_email}"
    if left.invite:
        yield from ((word, rule) for word, rule in table.in_words() if word != "when")


def _named(people: Sequence[Due]) -> str:
    names = [
        f"{masked_name(person.first_name, person.last_name)} ({masked_email(person.email1)})"
        for person in people[:NAMED]
    ]
    more = f", and {len(people) - NAMED:,} more" if len(people) > NAMED else ""
    return ", ".join(names) + more


def held_back(asked: Approval, stood: Standing) -> tuple[Ending, str] | None:
    """Say how a run with an unapproved plan ends, and why; None if it may go on.

    `stood` is the state of the plan before this run asked for an answer.
    """
    key, shown = asked.campaign_key, code_of(asked)
    if stood is Standing.APPROVED:
        return None
    if stood is Standing.REJECTED:
        why = f": {asked.why}" if asked.why else ""
        approve = command("approve", key, "--plan", code_to_approve(asked))
        return Ending.STOPPED, (
            f"{asked.who} rejected this plan ({shown}){why}. Nothing was sent. Change the "
            f"definition, or approve the plan after all: {approve}"
        )
    by = f" until {until(asked)}" if asked.answer_by else ""
    return Ending.AWAITS_APPROVAL, (
        f"{BEFORE.get(stood, '')}Plan {shown} is waiting for approval{by}; nothing was "
        f"sent. Look at it and decide: {command('approve', key)}"
    )


BEFORE = {
    Standing.LATE: "The earlier plan was not answered in time. ",
    Standing.CHANGED: "The definition has changed, so the earlier plan is void. ",
    Standing.OVERTAKEN: "The earlier plan is void: since then something was sent or settled, or "
    "other people are held. ",
}


def decide(
    ledger: Ledger,
    key: str,
    given: Answer,
    code: str | None,
    who: str,
    why: str,
) -> Approval:
    """Record a person's answer to the plan that a run has shown; returns that plan as it was.

    `code` is the plan that the person saw; None: the latest plan. A rejected plan is approved only
    by the code of that rejection. What is approved already is not approved again. Raises
    NotAnswered.
    """
    asked, _ = ledger.read(approvals.look, key)
    if asked is None:
        raise NotAnswered(
            f"No plan of {key} has been shown for approval. A run shows one, and sends nothing "
            "until you answer."
        )
    shown = code_of(asked)
    if code is not None and code.partition("-")[0] != shown:
        raise NotAnswered(
            f"{code} is not the latest plan of {key}; that is {shown}. Nothing was decided. "
            f"Look again: {command('approve', key)}"
        )
    if ledger.read(approvals.carried_out, asked):
        raise NotAnswered(
            f"Plan {shown} of {key} was approved by {asked.who} and carried out, so there is "
            f"nothing to decide. See: {command('status', key)}"
        )
    _, stands = ledger.read(approvals.look, key, _read_now(asked))
    if (void := VOID.get(stands)) is not None:
        run = as_typed_for(key, asked.file, asked.definition, sheet=asked.sheet)
        raise NotAnswered(
            f"Plan {shown} of {key} is void: {void}. Nothing was decided, and nothing was sent. "
            f"A run with something to send shows the plan anew: {command('run', *run)}"
        )
    overruling = code_to_approve(asked)
    if given is Answer.APPROVED and asked.answer == Answer.REJECTED and code != overruling:
        approves = command("approve", key, "--plan", overruling)
        raise NotAnswered(
            f"{asked.who} rejected plan {shown} of {key}, so nothing was decided. To approve it "
            f"all the same, its code is {overruling}: {approves}"
        )
    if not asked.answer == given == Answer.APPROVED:
        ledger.write(approvals.answer, asked, given, By(who, why))
    return asked


def _read_now(plan: Approval) -> str | None:
    """The digest of the definition as it is now; None if the file is on another machine."""
    file, definition = Path(plan.file), Path(plan.definition) if plan.definition else None
    return sources_of(file, definition, plan.sheet).digest if file.exists() else None


VOID = {
    Standing.CHANGED: "the definition has changed since it was shown",
    Standing.OVERTAKEN: "something was sent or settled since it was shown",
    Standing.LATE: "nobody answered in time",
}
