"""Decisions of a person about people and campaigns: one journal, and one way to move a step.

Each decision is a function of a session, all or nothing: if any part of it is refused, it raises
NotDecided and changes nothing. The journal never holds addresses or names, except in a reason that
somebody typed.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import select
from sqlmodel import Session

from config.emails import checked_address, email_key
from config.errors import NotAsTyped
from config.sheets.entries import entry
from data.campaigns.intake import add_people
from data.campaigns.people import forgotten_among, known_person, own_steps
from data.eligibility import do_not_contact
from data.eligibility.evidence import facts_of
from data.eligibility.holds import Hold, Kind, holds, lift_of
from data.store.states import BRINGS_ID, WORDS, Op, State
from data.store.tables import DO_NOT_CONTACT, PART, Campaign, Decision, Part, Person, Step

NOBODY = "is nobody whom a run of this campaign read; delete the row if there is one, or `block` it"
UNDER_WAY = "is being added or invited right now; wait until the run ends"
CORRECTED = "was corrected before; name the new address"
GONE = "is not in the file any more; put this person back into it, then run it"
UNSURE = "may have been added or invited already; settle that first (undo a withdrawal before)"
AGAIN = "is invited once more by the next run, if your file still has this person: a second email"
AFTER_ALL = "is invited by the next run"
DUE = "is due anyway; the next run goes on with this person"
OwnSteps = dict[Op, Step]


@dataclass(frozen=True, slots=True)
class By:
    """Who decides, and why."""

    who: str
    why: str = ""


class NotDecided(NotAsTyped):
    """Only `objections` hold names and addresses, so the text itself may go anywhere."""

    says = "Nothing was changed, because of what stands above ({count})."

    def __init__(self, objections: Sequence[tuple[str, str]]) -> None:
        self.objections = list(objections)
        super().__init__(count=len(self.objections))


class ReasonMissing(NotAsTyped):
    says = "Say why, for whoever reads the history later. Nothing was changed."
    then = "Type it again with  --why TEXT"


def withdraw(session: Session, campaign_id: int, emails: Sequence[str], by: By) -> list[str]:
    """Send these people nothing more; what was sent stays sent. Returns their `email1`."""
    people = _people(session, campaign_id, emails, _withdrawn)
    for person, steps in people:
        step_back(session, steps, "withdrawn", by)
        part = steps[Op.INVITE].part_id or steps[Op.ADD].part_id
        note(session, "withdraw", by, campaign_id, person.id, part)
    return [person.email1 for person, _ in people]


def undo(session: Session, campaign_id: int, emails: Sequence[str], by: By) -> list[str]:
    """Take withdrawals back: each step returns to the state of its last request."""
    people = _people(
        session, campaign_id, emails, lambda *one: None if _withdrawn(*one) else "is not withdrawn"
    )
    for person, steps in people:
        for step in steps.values():
            move(session, step, "undo")
        note(session, "undo", by, campaign_id, person.id)
    return [person.email1 for person, _ in people]


def invite(
    session: Session, campaign_id: int, emails: Sequence[str], by: By, *, through: bool = True
) -> dict[str, str]:
    """Invite these people once more; with `through`, lift the strongest hold on each who waits: on
    others no hold was shown yet. Returns what that means for each. Raises ReasonMissing."""
    if not by.why.strip():
        raise ReasonMissing
    people = _people(session, campaign_id, emails, _against_inviting)
    done: dict[str, str] = {}
    for person, steps in people:
        emailed = _any_part(session, State.DONE, steps[Op.INVITE])
        added, invited = steps[Op.ADD].state, steps[Op.INVITE].state
        waited = invited is State.WAITING and added is not State.REFUSED
        move(session, steps[Op.INVITE], "invite")
        for step in steps.values():
            move(session, step, "undo")
            move(session, step, "again")
        lifted, though = [], ""
        if through and waited and (hold := _hold_on(session, person)) is not None:
            lifted, though = [str(hold.kind)], f", though held: {hold.why}"
            lifts = {*(person.let_through or ()), lift_of(hold.kind, hold.why)}
            person.let_through = sorted(lifts)
        note(session, "invite", by, campaign_id, person.id, steps[Op.INVITE].part_id, lifted)
        done[person.email1] = (AGAIN if emailed else AFTER_ALL) + though
        if through and (hold := _hold_on(session, person)) is not None:  # a reason not seen yet
            done[person.email1] = f"is still held: {hold.why}; type this again to lift that, too"
    return done


def correct(session: Session, campaign_id: int, old: str, new: str, by: By) -> str:
    """Replace a wrong address: the old and the new address are two people in the ledger.

    The old address gets nothing more; a run adds and invites the new one, which is returned.
    """
    [email1] = parsed([new], checked_address)
    [(person, steps)] = _people(session, campaign_id, [old], _against_correcting)
    other = known_person(session, campaign_id, email_key(email1))
    if (why_not := _against_address(session, person, email1, other)) is not None:
        raise NotDecided([(new, why_not)])
    step_back(session, steps, "corrected", by)
    session.get_one(Campaign, campaign_id).digest = ""  # the next run reads the file anew
    fields = {**person.fields, "email1": email1}
    if other is None:
        add_people(session, campaign_id, {email_key(email1): fields})
        [(other, _)] = _people(session, campaign_id, [email1], lambda *_: None)
    elif other.became == person.id:  # an earlier correction is undone
        other.became = None
        for step in own_steps(session, campaign_id, other.id).values():
            move(session, step, "undo")
    else:  # this address was or is a row of the file, and nothing was sent to it
        other.fields, other.email1, other.name_key = fields, email1, person.name_key
    person.became, other.listed = other.id, True
    note(session, "correct", by, campaign_id, person.id, steps[Op.INVITE].part_id, other.id)
    return email1


def block(session: Session, typed: Sequence[str], by: By, *, lift: bool = False) -> list[str]:
    """Put addresses or whole domains on the do-not-contact list, or take them off.

    Returns what was blocked, or lifted.
    """
    entries = parsed(typed, entry)
    change = do_not_contact.lift if lift else do_not_contact.block
    changed = change(session, entries)
    listed = DO_NOT_CONTACT.c.email_key.in_(changed)
    for number in session.scalars(select(DO_NOT_CONTACT.c.id).where(listed)):
        note(session, "lift" if lift else "block", by, value=number)
    return changed


def parsed(typed: Iterable[str], parse: Callable[[str], str]) -> list[str]:
    """Parse each text. Raises NotDecided with those that cannot be parsed."""
    read, objections = [], []
    for each in typed:
        try:
            read.append(parse(each))
        except ValueError as error:
            objections.append((each, f"is not {error}"))
    if objections:
        raise NotDecided(objections)
    return read


def pause(session: Session, campaign_id: int, by: By, *, resume: bool = False) -> bool:
    """Pause a campaign from the next request on, or resume it. Returns False if nothing changed."""
    word = "resume" if resume else "pause"
    if (facts_of(session, campaign_id).paused or "resume") == word:
        return False
    note(session, word, by, campaign_id)
    return True


def note(
    session: Session,
    word: str,
    by: By,
    campaign_id: int | None = None,
    person_id: int | None = None,
    part_id: int | None = None,
    value: Any = None,
) -> None:
    """Write a decision into the journal."""
    decision = Decision(who=by.who, why=by.why or None, word=word, campaign_id=campaign_id)
    decision.person_id, decision.part_id, decision.value = person_id, part_id, value
    session.add(decision)
    session.flush()


def move(session: Session, step: Step, name: str, value: int | None = None, why: str = "") -> bool:
    """Move a step, and its part if unsure, by a person's word; False if the word does not fit.

    `value` is the service's id, if one goes with the word.
    """
    word = WORDS[name]
    if step.state not in word.fits:
        return False
    part = session.get(Part, step.part_id) if step.part_id is not None else None
    stood = part.state if part else None
    back = stood if stood in (State.DONE, State.REFUSED, State.UNSURE) else State.WAITING
    step.state = word.step or back
    step.why = why or None
    if value is not None:
        step.service_id = value
    if part is not None and word.part is not None and part.state is State.UNSURE:
        part.state = word.part
        part.service_id = value if value is not None else part.service_id
    if word.again:
        step.generation += 1
    session.add(step)
    session.flush()
    return True


def step_back(session: Session, steps: OwnSteps, word: str, by: By) -> None:
    """Give up the steps of a person, except an add that is done: an added person stays added."""
    why = f"{word} by {by.who}" + (f": {by.why}" if by.why else "")
    for op, step in steps.items():
        if op not in BRINGS_ID or step.state is not State.DONE:
            move(session, step, "withdraw", why=why)


def _people(
    session: Session, campaign_id: int, emails: Iterable[str], against: Any
) -> list[tuple[Person, OwnSteps]]:
    """The people at these addresses, with their steps. Raises NotDecided if any does not fit."""
    found, objections = {}, []
    for typed in emails:
        person = known_person(session, campaign_id, email_key(typed))
        if person is None:
            objections.append((typed, NOBODY))
            continue
        steps = own_steps(session, campaign_id, person.id)
        if State.SENDING in (step.state for step in steps.values()):
            why_not = UNDER_WAY
        else:
            why_not = CORRECTED if person.became else against(session, person, steps)
        if why_not is not None:
            objections.append((typed, why_not))
        found[person.id] = (person, steps)
    if objections:
        raise NotDecided(objections)
    return list(found.values())


def _hold_on(session: Session, person: Person) -> Hold | None:
    """The hold on this person that `invite` can lift."""
    campaign = session.get_one(Campaign, person.campaign_id)
    hold = holds(session, campaign, [person.id]).get(person.id)
    return None if hold is None or hold.kind in (Kind.GONE, Kind.WITHDRAWN) else hold


def _withdrawn(_: Session, __: Person, steps: OwnSteps) -> str | None:
    return "is withdrawn already" if steps[Op.INVITE].state is State.GIVEN_UP else None


def _against_correcting(session: Session, person: Person, steps: OwnSteps) -> str | None:
    """Why this person may not be corrected. If held, they would be free at the new address."""
    if (hold := _hold_on(session, person)) is None or hold.kind is Kind.CORRECTED:
        return _withdrawn(session, person, steps)
    return f"is held: {hold.why}; only whoever is let through first (`invite`) can be corrected"


def _against_inviting(session: Session, person: Person, steps: OwnSteps) -> str | None:
    if not person.listed:
        return GONE
    if _any_part(session, State.UNSURE, *steps.values()):
        return UNSURE
    added, invited = steps[Op.ADD].state, steps[Op.INVITE].state
    waits = invited is State.WAITING and added in (State.WAITING, State.DONE)
    return DUE if waits and _hold_on(session, person) is None else None


def _any_part(session: Session, state: State, *steps: Step) -> bool:
    """Whether a part of any request for these steps is in this state."""
    them = PART.c.step_id.in_([step.id for step in steps]), PART.c.state == state
    return session.scalar(select(PART.c.id).where(*them).limit(1)) is not None


def _against_address(
    session: Session, person: Person, email1: str, other: Person | None
) -> str | None:
    key = email_key(email1)
    if key == person.email_key:
        return "is the same address"
    if forgotten_among(session, [key]):
        return "was forgotten on request"
    if other is None or other.became == person.id:
        return None if person.listed else GONE  # the next run would not read them
    # Only somebody who waits, and was never corrected, can be the new address of another person.
    steps = own_steps(session, other.campaign_id, other.id).values()
    untouched = other.became is None and {State.WAITING} == {step.state for step in steps}
    alike = other.name_key == person.name_key or not other.listed
    return None if untouched and alike else "is a candidate of this campaign already"
