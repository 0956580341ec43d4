"""Before anything is sent, a person may have to approve the plan: what it says, where it stands."""

from collections.abc import Iterator, Mapping
from datetime import timedelta
from hashlib import sha256
from pathlib import Path

from config.reading.sources import sources_of
from data.campaigns import approvals, intake
from data.campaigns.approvals import Answer, NotAnswered, Plan, ShownPlan, Standing
from data.campaigns.intake import Intent
from data.campaigns.remaining import Known, Remaining, fields_of, meant
from data.holds.held import Holds
from data.privacy.masking import masked_email, masked_name
from data.store.ledger import Ledger
from data.store.states import By, Ending, Step
from data.store.tables import Campaign
from tasks.plan.asked import CampaignSource as AskedFor
from tasks.plan.asked import Target
from tasks.plan.held import held_by, in_words
from tasks.plan.timing import timetable_of

NAMED = 10  # of the people in a plan


def plan_of(
    wanted: Target,
    asked: AskedFor,
    left: Remaining,
    terms: Intent | Campaign,
    ledger: Ledger,
    doubt: str | None = None,
) -> Plan:
    """Put what a run would do into words for the person who approves it.

    `doubt` is what speaks against the problem (tasks/plan/problem_doubts.py).
    """
    known = ledger.read(intake.known, wanted.known.id) if wanted.known else {}
    held = held_by(wanted.definition, wanted.known, ledger, wanted.service)
    people = [
        person
        for key, *person in _people(wanted, known, send=terms.send_invites)
        if key not in held
    ]
    told = [
        *_told(wanted, terms, left, people, Holds.of(held)),
        *([("look", doubt)] if doubt else []),
    ]
    return Plan(
        campaign=wanted.key,
        read=wanted.digest,
        service=terms.service,
        file=str(asked.file),
        definition=str(asked.definition) if asked.definition else None,
        told="\n".join(f"{word}: {said}" for word, said in told),
        within=timedelta(seconds=terms.answer_within) if terms.answer_within else None,
        timezone=terms.timezone,
        held=sha256("\n".join(sorted(held)).encode()).hexdigest() if held else "",
    )


Person = tuple[str, str, str, str]  # email key, first_name, last_name, email1


def _people(wanted: Target, known: Mapping[str, Known], *, send: bool) -> Iterator[Person]:
    """Everyone whom the run would add or invite, in the definition's order."""
    if wanted.definition is None:
        for person in known.values():
            if person.listed and _moves(person.add, person.invite, send=send):
                yield person.key, person.fields[0], person.fields[1], person.fields[2]
        return
    for candidate, before in meant(wanted.definition, known):
        worded_anew = (
            before is not None
            and before.add is Step.REFUSED
            and before.fields != fields_of(candidate)
        )
        if before is None or worded_anew or _moves(before.add, before.invite, send=send):
            yield candidate.key, candidate.first_name, candidate.last_name, candidate.email1


def _moves(add: Step, invite: Step, *, send: bool) -> bool:
    return add is Step.WAITING or (send and add is Step.DONE and invite is Step.WAITING)


def _told(
    wanted: Target, terms: Intent | Campaign, left: Remaining, people: list[list[str]], held: Holds
) -> Iterator[tuple[str, str]]:
    window = timetable_of(wanted).window
    # A definition names the project that it had created, and does not know its id.
    project = (wanted.known and wanted.known.project_id) or terms.project_id
    yield "project", f'create "{terms.name}"' if left.create else f"{project}, as it is"
    if left.attach:
        yield "problem", f"add {terms.problem_id or terms.problem_title}"
    else:
        yield "problem", "nothing to do"
    yield "add", f"{left.add:,} to the project" if left.add else "nobody"
    yield "invite", f"{left.invite:,} by email" if left.invite else "nobody"
    if held.number:
        yield "held", in_words(held)
    if people:
        yield "people", _named(people)
    if terms.starttime or terms.endtime:
        yield "open", f"{terms.starttime or 'at once'} to {terms.endtime or 'no end'}"
    by_email = f"; emails {window}" if window is not None and left.invite else ""
    yield "when", f"with the first run after the approval{by_email}"


def _named(people: list[list[str]]) -> str:
    some = [
        f"{masked_name(first, last)} ({masked_email(email)})"
        for first, last, email in people[:NAMED]
    ]
    more = f", and {len(people) - NAMED:,} more" if len(people) > NAMED else ""
    return ", ".join(some) + more


def held_back(asked: ShownPlan, stood: Standing) -> tuple[Ending, str] | None:
    """Say how a run ends whose plan is not approved, and why; None when it may go on.

    `stood` is where the plan stood before this run asked for an answer.
    """
    key = asked.plan.campaign
    if stood is Standing.APPROVED:
        return None
    if stood is Standing.REJECTED:
        why = f": {asked.why}" if asked.why else ""
        return Ending.STOPPED, (
            f"{asked.who} rejected this plan ({asked.code}){why}. Nothing was sent. Change the "
            f"definition, or decide otherwise: campaign approve {key} --plan {asked.code}"
        )
    by = f" until {asked.until}" if asked.until else ""
    return Ending.AWAITS_APPROVAL, (
        f"{_BEFORE.get(stood, '')}The plan {asked.code} waits for approval{by}; nothing was sent. "
        f"Look and decide: campaign approve {key}"
    )


_BEFORE = {
    Standing.LATE: "The plan shown before was not answered in time. ",
    Standing.CHANGED: "The definition has changed, so the plan shown before is void. ",
    Standing.OVERTAKEN: "Since the plan shown before, something was sent or settled, or other "
    "people are held: it is void. ",
}


def decide(
    ledger: Ledger, key: str, given: Answer, code: str | None, who: str, why: str
) -> ShownPlan:
    """Take a person's answer to the plan that a run has shown; answers that plan.

    `code` is the plan that the person saw; None: the one that is shown now. Raises NotAnswered.
    """
    asked, _ = ledger.read(approvals.look, key)
    if asked is None:
        raise NotAnswered(
            f"No plan of {key} was shown for approval. A run shows it, and sends nothing before "
            "the answer."
        )
    if code is not None and code != asked.code:
        raise NotAnswered(
            f"The plan {code} of {key} is void; the one shown last is {asked.code}. Nothing was "
            f"decided. Look again: campaign approve {key}"
        )
    if ledger.read(approvals.carried_out, asked):
        raise NotAnswered(
            f"The plan {asked.code} of {key} was approved by {asked.who} and carried out: there is "
            f"nothing left of it to decide. See: campaign status {key}"
        )
    if given is Answer.APPROVED:
        _, stands = ledger.read(approvals.look, key, _read_now(asked.plan))
        if (void := VOID.get(stands)) is not None:
            raise NotAnswered(
                f"The plan {asked.code} of {key} is void: {void}. Nothing was decided, and "
                "nothing was sent. The next run shows the plan as it is now."
            )
    ledger.write(approvals.answer, asked, given, By(who, why))
    return asked


def _read_now(plan: Plan) -> str | None:
    """The digest of the definition as it is now; None where it lies on another machine."""
    file, definition = Path(plan.file), Path(plan.definition) if plan.definition else None
    return sources_of(file, definition).digest if file.exists() else None


VOID = {
    Standing.CHANGED: "the definition has changed since it was shown",
    Standing.OVERTAKEN: "something of the campaign was sent or settled since it was shown",
    Standing.LATE: "nobody answered in time",
}
