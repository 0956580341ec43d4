"""Why something is not sent now: the only answer, for plan, claim, status and pages.

A claim asks `kept_back` in its own transaction, which sees everything that other campaigns have
sent or claimed. `campaign_holds` says what keeps back all of a campaign, `holds` what keeps back
single people. No claim asks for `room`, which counts all that was sent and would take too long.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from hashlib import sha256
from itertools import chain
from typing import Any

from sqlalchemy import Row, select
from sqlmodel import Session

from config.errors import command
from config.timetable import NEVER, may_send, next_by_rate, on_the_wall, span, wave
from data.campaigns.people import WITHDRAWN, ends_of, hashed, invites_of
from data.eligibility import evidence
from data.eligibility.evidence import APPROVE, REJECT, facts_of
from data.store.states import OPERATIONS, Op, State
from data.store.tables import PERSON, Campaign, now

LONGEST_PAUSE = timedelta(days=1)  # a later end comes from a wrong clock


class Kind(StrEnum):
    """The kinds of hold: on a whole campaign, then on single people."""

    THROTTLED = "throttled"  # the service asked for a pause
    PAUSED = "paused"  # a person said so, until `resume`
    UNSURE = "unsure"  # it is unknown whether the project was created, or has its problem
    PROJECT = "project"  # the project belongs to another campaign
    REMOVED = "removed"  # too many people are gone from the file (guard)
    APPROVAL = "approval"  # nobody has approved exactly this plan
    PILOT = "pilot"  # nobody has approved the pilot's email
    WINDOW = "window"  # invites.not_after or project.endtime has passed
    HOURS = "hours"  # before invites.not_before, or outside invites.hours
    RATE = "rate"  # invites.per_hour, or the setting invites_per_second
    DO_NOT_CONTACT = "do not contact"
    FORGOTTEN = "forgotten"  # has the mailbox of somebody who was erased
    SAME_PROBLEM = "same problem"  # another campaign invited them to it
    RECENT = "recent"  # another campaign invited them within invites.not_within
    SECOND_ADDRESS = "second address"  # looks like somebody invited, withdrawn, blocked or held
    CORRECTED = "corrected"  # another campaign corrected this address
    WITHDRAWN = "withdrawn"
    GONE = "gone"  # not in the file any more


class Scope(StrEnum):
    """What a hold stops."""

    CAMPAIGN = "campaign"  # every request
    INVITES = "invites"  # invitations only
    PERSON = "person"  # adding and inviting one person


@dataclass(frozen=True, slots=True)
class Hold:
    """One reason why something is not sent, and how it ends.

    `why` names nobody if it is about a whole campaign. A hold may end by itself at `until`; if a
    person has to end it, `type_this` is what to type. It does not hold `except_person`, the pilot.
    """

    kind: Kind
    scope: Scope
    why: str
    until: datetime | None = None
    type_this: str | None = None
    except_person: int | None = None

    @property
    def needs_a_person(self) -> bool:
        """Whether somebody has to decide before it ends."""
        return self.type_this is not None

    def covers(self, op: Op, person_id: int) -> bool:
        """Whether the hold stops this operation for this person (0: the project itself)."""
        applies = self.scope is not Scope.INVITES or OPERATIONS[op].emails
        return applies and person_id != self.except_person


def holds(
    session: Session, campaign: Campaign, people: Collection[int] | None = None
) -> dict[int, Hold]:
    """The held people of a campaign, each with the strongest reason.

    Without `people`, all who are still to be added or invited are checked.
    """
    asked = facts_of(session, campaign.id)
    them = evidence.of_people(session, people) if people is not None else None
    found = evidence.against(session, asked, them)
    if them is None:
        them = evidence.of_people(session, None, campaign.id) if found else []
    return _held(asked, them, found)


def kept_back(
    session: Session, facts: Any, op: Op, people: Sequence[Row[Any]], per_second: float | None
) -> dict[int, Hold]:
    """Which of these people (0: the project itself) may not have this operation now, and why.

    `facts` and `people` are rows of evidence.py; the project's row has the `id` 0. With a rate, the
    campaign's `per_hour` or the ledger's `per_second`, one invitation is let through at a time.
    """
    at = now()
    kept: dict[int, Hold] = {}
    for hold in _holds_of_all(facts, at, per_second):
        kept |= {row.id: hold for row in people if row.id not in kept and hold.covers(op, row.id)}
    free = [row for row in people if row.id not in kept]
    if asked := [row for row in free if row.id]:
        kept |= _held(facts, asked, evidence.against(session, facts, asked), claimed=op)
    next_turn = _rate(facts, at, per_second, taken=True)
    if OPERATIONS[op].emails and next_turn is not None:
        kept |= dict.fromkeys([row.id for row in free if row.id not in kept][1:], next_turn)
    return kept


def campaign_holds(
    session: Session, campaign: Campaign, at: datetime | None = None, code: str = ""
) -> list[Hold]:
    """The holds on a whole campaign now, the strongest first.

    With the `code` of a plan, only an approval of exactly that plan counts.
    """
    at = at or now()
    found = _holds_of_all(facts_of(session, campaign.id), at, None, code)
    return [each for each in (*found, room(session, campaign, at)[1]) if each is not None]


def room(session: Session, campaign: Campaign, at: datetime) -> tuple[int | None, Hold | None]:
    """How many more people may be invited now (None: all); if nobody may, also the hold on them.

    The pilot is neither counted nor held.
    """
    invites, pilot = invites_of(campaign), campaign.pilot_id or 0
    if not invites.waves:
        return None, None
    tried, last = evidence.tried(session, campaign.id, pilot)
    current = wave(invites.waves, tried)
    between = span(invites.between) if current.follows and invites.between else timedelta()
    begins, ends = last + between if last else at, ends_of(campaign)
    if ends is not None and begins >= ends:
        why = f"wave {current.number} would begin after the project's end: shorten `between`"
        typed = command("check", campaign.file)
        return 0, Hold(Kind.WINDOW, Scope.INVITES, why, type_this=typed, except_person=pilot)
    if at < begins <= at + 2 * between:  # a later time comes from a wrong clock
        why = f"wave {current.number} begins on {on_the_wall(begins, invites.timezone)}"
        return 0, Hold(Kind.HOURS, Scope.INVITES, why, until=begins, except_person=pilot)
    return current.room, None


def is_still_approved(facts: Any, code: str = "") -> bool:
    """Whether the last answer approved the plan with this code; without a code, whether it approved
    a plan with the same first part (`code_now`). `facts` is the campaign's row of evidence.py."""
    return facts.answer == APPROVE and str(facts.answered).startswith(code or _basis(facts))


def code_now(session: Session, campaign_id: int, held: Collection[int]) -> str:
    """The code of the plan as it is now, without the `held` people.

    Its first part is a hash of everything that decides what may be sent: the file's bytes, service,
    account, the resolved problem, and decisions that send more. Each claim compares it in its own
    transaction. The second part is a hash of the people who are left out: no claim knows all of
    them. Sending changes neither part.
    """
    everybody = select(PERSON.c.id, PERSON.c.email_key).where(
        PERSON.c.campaign_id == campaign_id, PERSON.c.listed
    )
    out = {*held, *session.scalars(WITHDRAWN, {"of": campaign_id})}
    keys = [key for number, key in session.execute(everybody) if number in out] if out else ()
    return _basis(facts_of(session, campaign_id)) + _digits(sorted(keys), 4)


def _holds_of_all(
    facts: Any, at: datetime, per_second: float | None, code: str = ""
) -> Iterator[Hold]:
    whole, invites, key = Scope.CAMPAIGN, invites_of(facts), facts.key
    if facts.paused_until is not None and at < facts.paused_until <= at + LONGEST_PAUSE:
        why = f"the service wants a pause until {on_the_wall(facts.paused_until, invites.timezone)}"
        yield Hold(Kind.THROTTLED, whole, why, until=facts.paused_until)
    if facts.paused == "pause":
        since = on_the_wall(facts.paused_at, invites.timezone)
        yield Hold(Kind.PAUSED, whole, f"paused since {since}", type_this=command("resume", key))
    if State.UNSURE in (facts.creation, facts.attachment):
        # People must not be added to a project that may be wrong, or lack its problem.
        what = "was created" if facts.creation is State.UNSURE else "has its problem"
        why = f"it is not known whether the project {what}"
        yield Hold(Kind.UNSURE, whole, why, type_this=command("settle", key))
    if facts.whose_project is not None:
        # In one project, people of both campaigns would get the same invitation.
        why = f"project {facts.project} belongs to the campaign {facts.whose_project}"
        yield Hold(Kind.PROJECT, whole, why, type_this=command("history", facts.whose_project))
    if invites.approval is not None and not is_still_approved(facts, code):
        # Until a run has resolved the problem's title, the plan has no code to approve.
        is_shown = facts.problem is not None and code == facts.shown
        words = ("approve", key, "--plan", code) if is_shown else ("run", facts.file)
        why = "nobody has approved this plan"
        if is_shown and facts.answer == REJECT and str(facts.answered).startswith(code):
            why, words = "this plan was rejected", (*words, "--why", "TEXT")
        yield Hold(Kind.APPROVAL, whole, why, type_this=command(*words))
    when, ends = may_send(invites, at), ends_of(facts)
    if when == NEVER or (ends is not None and ends <= (when or at)):
        why = f"the time for invitations is over ({'not_after' if when == NEVER else 'endtime'})"
        yield Hold(Kind.WINDOW, Scope.INVITES, why, type_this=command("check", facts.file))
    elif when is not None:
        why = f"no invitation goes out before {on_the_wall(when, invites.timezone)}"
        yield Hold(Kind.HOURS, Scope.INVITES, why, until=when)
    if invites.pilot is not None and (pilot := _pilot(facts)) is not None:
        yield pilot
    if (rate := _rate(facts, at, per_second)) is not None:
        yield rate


def _pilot(facts: Any) -> Hold | None:
    """The hold until a person approves the pilot's email; None once it is approved."""
    key = facts.key
    if facts.pilot_id is None:
        why = "the pilot was forgotten; name another address as invites.pilot"
        return Hold(Kind.PILOT, Scope.INVITES, why, type_this=command("check", facts.file))
    said = facts.pilot_answer if facts.pilot_answered == facts.pilot_generation else None
    if said == APPROVE:
        return None
    approve = command("approve", key, "--plan", Kind.PILOT)
    why, typed = {
        State.DONE: (f"nobody has approved email {facts.pilot_generation} to the pilot", approve),
        State.UNSURE: ("it is not known whether the pilot was invited", command("settle", key)),
        State.REFUSED: ("the service refused the pilot", command("status", key)),
        State.GIVEN_UP: ("the pilot is out; change invites.pilot", command("check", facts.file)),
    }.get(
        facts.pilot_invite if facts.pilot_add is State.DONE else facts.pilot_add,
        ("the pilot is invited first", None),
    )
    if said == REJECT:
        why, typed = "the pilot's email was rejected", command("history", key)
    return Hold(Kind.PILOT, Scope.INVITES, why, type_this=typed, except_person=facts.pilot_id)


def _rate(
    facts: Any, at: datetime, per_second: float | None, *, taken: bool = False
) -> Hold | None:
    """The hold until the rates allow an invitation; if one leaves now (`taken`), until the next."""
    of_all = per_second * 3600 if per_second is not None else None
    rates = ((invites_of(facts).per_hour, facts.last_invited), (of_all, facts.last_of_all))
    found = []
    for per_hour, last in rates:
        if per_hour is None:
            continue
        free = next_by_rate(per_hour, at if taken else last, at)
        # Ignore times too far ahead: a wrong clock wrote them.
        if at < free <= at + 2 * timedelta(hours=1) / per_hour:
            why = f"at most {per_hour:,.10g} invitations an hour"
            found.append(Hold(Kind.RATE, Scope.INVITES, why, until=free))
    return max(found, key=lambda hold: hold.until or at, default=None)


def _held(
    facts: Any, people: Sequence[Row[Any]], found: evidence.Found, claimed: Op | None = None
) -> dict[int, Hold]:
    """For each held person, the strongest reason that nobody lifted. `claimed` is the operation for
    which all of them are claimed in one commit."""
    erased = any(kind == evidence.ERASED for kind, _ in found)
    boxes = {row.mailbox for row in people} if erased else ()
    digests = hashed(facts.uuid, boxes)
    held: dict[int, Hold] = {}
    invited: dict[str, str] = {}  # by mailbox, in this commit
    for row in people:
        reasons = _against(row, found, digests.get(row.mailbox, ""), pilot=row.id == facts.pilot_id)
        if row.mailbox in invited and row.id != facts.pilot_id:
            why = f"has the mailbox of {invited[row.mailbox]}, who is being invited"
            reasons = chain(reasons, [(Kind.SECOND_ADDRESS, why)])
        lifted = {*(row.let_through or ())}  # 1.1.0 wrote kinds alone
        if reason := next((r for r in reasons if lifted.isdisjoint((r[0], lift_of(*r)))), None):
            typed = _to_type(facts.key, reason[0], row.email1)
            held[row.id] = Hold(reason[0], Scope.PERSON, reason[1], type_this=typed)
        elif claimed and OPERATIONS[claimed].emails:
            invited.setdefault(row.mailbox, row.email1)
    return held


def lift_of(kind: Kind, why: str) -> str:
    """The note that lets somebody through for this reason, which may be another person, whatever
    becomes of them, and for no other of its kind."""
    about = why.partition(", who ")[0].removeprefix("has the mailbox of ")
    return f"{kind} {_digits([about.removeprefix('has the name of ')], 4)}"


def _against(
    row: Row[Any], found: evidence.Found, digest: str, *, pilot: bool
) -> Iterator[tuple[Kind, str]]:
    """The reasons against one person. A `pilot` may be in any number of campaigns."""
    if (evidence.LISTING, row.mailbox) in found:
        yield Kind.DO_NOT_CONTACT, "on the do-not-contact list"
    elif (evidence.LISTING, domain := row.email_key.rpartition("@")[2]) in found:
        yield Kind.DO_NOT_CONTACT, f"{domain} is on the do-not-contact list"
    if (evidence.ERASED, digest) in found:
        yield Kind.FORGOTTEN, "has the mailbox of somebody who was forgotten"
    for last in () if pilot else found.get((evidence.RECENT, row.mailbox), ())[:1]:
        why = f"was invited by the campaign {last.campaign} on {last.at:%Y-%m-%d} (not_within)"
        yield Kind.RECENT, why
    theirs = {evidence.PROBLEM: row.mailbox, evidence.MAILBOX: row.mailbox}
    theirs |= {evidence.NAME: row.name_key}
    for kind, what in () if pilot else theirs.items():
        for other in found.get((kind, what), ()):
            if other.person == row.id:
                continue
            if kind == evidence.PROBLEM:
                why = f"was invited to the same problem by the campaign {other.campaign}"
                yield Kind.SAME_PROBLEM, why
            else:
                gone = " and is not in the file any more" if kind == evidence.NAME else ""
                was = _WAS.get(other.state, "was held or is on the do-not-contact list")
                yield Kind.SECOND_ADDRESS, f"has the {kind} of {other.email1}, who {was}{gone}"
    for one in () if pilot else found.get((evidence.CORRECTED, row.email_key), ()):
        new = f"who has {one.email1} now" if one.email1 else "who was forgotten"
        yield Kind.CORRECTED, f"is an old address of somebody in the campaign {one.campaign}, {new}"
    if row.invited is State.GIVEN_UP:
        yield Kind.WITHDRAWN, row.withdrawn or "withdrawn"
    if not row.listed:
        yield Kind.GONE, "no longer in the file"


def _to_type(key: str, kind: Kind, email1: str) -> str | None:
    if kind is Kind.GONE:
        return None  # no command helps: the file has to name them
    words = {Kind.CORRECTED: ("correct", "NEW"), Kind.WITHDRAWN: ("withdraw", "--undo")}
    word, *rest = words.get(kind, ("invite", "--why", "TEXT"))
    return command(word, key, email1, *rest)


def _basis(facts: Any) -> str:
    """The first part of a plan's code: what may be sent."""
    project = (facts.spec or {}).get("project", {}).get("id")
    decided = max(facts.decided or 0, facts.lifted or 0) or None
    whole = (facts.key, facts.service, facts.account, facts.digest, project)
    return _digits((*whole, facts.problem, decided), 12)


def _digits(parts: Iterable[object], number: int) -> str:
    return sha256("\n".join(map(str, parts)).encode()).hexdigest()[:number]


_WAS = dict.fromkeys((State.SENDING, State.UNSURE, State.WAITING), "may have been invited")
_WAS |= {State.DONE: "was invited", State.GIVEN_UP: "was withdrawn"}
