"""What the ledger has against adding and inviting single people, and the shape of every hold.

Each kind of evidence is one indexed query, for a handful of people or for a whole campaign.
"""

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from functools import cache
from typing import Any

from sqlalchemy import ColumnElement, Row, Select, and_, bindparam, exists, or_, select
from sqlmodel import Session

from config.emails import email_key
from config.errors import command
from data.campaigns.people import forgotten_mailboxes, invites_of, own_steps, steps_of
from data.eligibility.do_not_contact import DOMAIN, LISTED, standing
from data.store.states import Op, State
from data.store.tables import CAMPAIGN, DO_NOT_CONTACT, FORGOTTEN, PART, PERSON, STEP, Campaign


class Kind(StrEnum):
    """What keeps somebody back; of single people, the strongest first."""

    PAUSED = "paused"  # a person said so, until `resume`
    UNSURE = "unsure"  # the project, or its problem, may be at the service already
    PROJECT = "project"  # another campaign made the project that this one would use
    REMOVED = "removed"  # too many people are gone from the file (guard)
    APPROVAL = "approval"  # nobody has approved exactly this plan
    PILOT = "pilot"  # nobody has approved the pilot's email
    WINDOW = "window"  # invites.not_after has passed
    HOURS = "hours"  # before invites.not_before, or outside invites.hours
    RATE = "rate"  # invites.per_hour, or the setting of all campaigns
    THROTTLED = "throttled"  # the service asked for a pause
    WITHDRAWN = "withdrawn"
    GONE = "gone"  # not in the file any more
    DO_NOT_CONTACT = "do not contact"
    FORGOTTEN = "forgotten"  # has the mailbox of somebody who was erased
    SAME_PROBLEM = "same problem"  # another campaign invited them to it
    SECOND_ADDRESS = "second address"  # looks like somebody invited, withdrawn or blocked


class Scope(StrEnum):
    """How much one hold keeps back."""

    CAMPAIGN = "campaign"  # every request
    INVITES = "invites"  # invitations only
    PERSON = "person"  # adding and inviting one person


@dataclass(frozen=True, slots=True)
class Hold:
    """One reason why something is not sent, and how it ends.

    `why` of a whole campaign names nobody; of a person it may. `until` is when a campaign's ends by
    itself, `type_this` what ends it otherwise. `except_person` is whom it lets pass: the pilot.
    """

    kind: Kind
    scope: Scope
    why: str
    until: datetime | None = None
    type_this: str | None = None
    except_person: int | None = None

    def keeps(self, op: Op, person_id: int) -> bool:
        """Whether it keeps back this operation for this person (0: the project itself)."""
        if self.scope is Scope.INVITES and op is not Op.INVITE:
            return False
        return person_id != self.except_person


def holds(
    session: Session,
    campaign: Campaign,
    people: Collection[int] | None = None,
    claimed: Op | None = None,
) -> dict[int, Hold]:
    """Who of a campaign's people is kept back, and why: the strongest reason of each.

    Without `people`: of everybody who is still to be added or invited. With `claimed`, they are
    claimed for this in one commit.
    """
    asked = _people(whole=people is None)
    of = {"campaign": campaign.id, "people": people}
    rows = session.execute(asked, of).all() if people is not None else None
    listed, others = _listed(session, campaign.id, rows), _others(session, campaign, rows)
    found = _Evidence(listed, others, _names_of_the_gone(session, campaign.id, rows))
    if rows is None:
        anything = found.anything or session.scalar(select(FORGOTTEN.c.id).limit(1))
        rows = session.execute(asked, of).all() if anything else []
    forgotten = forgotten_mailboxes(session, {row.email_key for row in rows})
    pilot = email_key(invites_of(campaign).pilot or "")
    held = {}
    for row in rows:
        against = found.against(row, row.email_key in forgotten, row.email_key == pilot)
        lifted = row.let_through or ()
        if reason := next((each for each in against if each[0] not in lifted), None):
            typed = _to_type(campaign.key, reason[0], row.email1)
            held[row.id] = Hold(reason[0], Scope.PERSON, reason[1], type_this=typed)
        elif claimed is Op.INVITE:
            why = f"has the mailbox of {row.email1}, who is being invited"
            found.others[row.mailbox].append((row.id, Kind.SECOND_ADDRESS, why))
    return held


def _to_type(key: str, kind: Kind, email1: str) -> str | None:
    if kind is Kind.GONE:
        return None  # put this person back into the file
    if kind is Kind.WITHDRAWN:
        return command("withdraw", key, email1, "--undo")
    return command("invite", key, email1, "--why", "TEXT")


Others = dict[str, list[tuple[int, Kind, str]]]
"""People by mailbox or name, and what it means for whoever else has it."""


@dataclass(slots=True)
class _Evidence:
    """What was found: entries of the list, others of the same mailbox, names of the gone."""

    listed: set[str]
    others: Others
    names: Others

    @property
    def anything(self) -> bool:
        return bool(self.listed or self.others or self.names)

    def against(self, row: Row[Any], forgotten: bool, pilot: bool) -> Iterator[tuple[Kind, str]]:
        """Judge one person; the pilot is typed by whoever runs the campaign, in each of theirs."""
        if row.invited is State.GIVEN_UP:
            yield Kind.WITHDRAWN, row.why or "withdrawn"
        if not row.listed:
            yield Kind.GONE, "no longer in the file"
        if row.mailbox in self.listed:
            yield Kind.DO_NOT_CONTACT, "on the do-not-contact list"
        elif (domain := row.email_key.rpartition("@")[2]) in self.listed:
            yield Kind.DO_NOT_CONTACT, f"{domain} is on the do-not-contact list"
        if forgotten:
            yield Kind.FORGOTTEN, "has the mailbox of somebody who was forgotten"
        if pilot:
            return
        yield from (each[1:] for each in self.others.get(row.mailbox, ()) if each[0] != row.id)
        yield from (each[1:] for each in self.names.get(row.name_key, ()) if each[0] != row.id)


# Composed once: a claim asks these, and composing them takes longer than the answer.
@cache
def _people(*, whole: bool) -> Select[Any]:
    invite = STEP.alias()
    asked: Select[Any] = select(
        *(PERSON.c[each] for each in _COLUMNS),
        invite.c.state.label("invited"),
        invite.c.why.label("why"),
    ).join(invite, steps_of(invite, Op.INVITE))
    these: Any = _to_come() if whole else bindparam("people", expanding=True)
    return asked.where(PERSON.c.id.in_(these)).order_by(PERSON.c.id)


@cache
def _to_come(what: str = "id") -> Select[Any]:
    """The people whom a run still has to add or invite, or their mailboxes."""
    add, invite = STEP.alias(), STEP.alias()
    to_come = or_(
        add.c.state == State.WAITING,
        and_(add.c.state == State.DONE, invite.c.state == State.WAITING),
    )
    return (
        select(PERSON.c[what])
        .join(add, steps_of(add, Op.ADD))
        .join(invite, steps_of(invite, Op.INVITE))
        .where(PERSON.c.campaign_id == bindparam("campaign"), PERSON.c.listed, to_come)
    )


@cache
def _of_the_mailboxes(*, whole: bool) -> Select[Any]:
    """Whoever has one of these mailboxes, in any campaign, and was invited or withdrawn."""
    columns = (PERSON.c[each] for each in ("id", "campaign_id", "mailbox", "email1", "became"))
    boxes: Any = _to_come("mailbox") if whole else bindparam("boxes", expanding=True)
    return (
        select(*columns, STEP.c.state, _may_have_happened())
        .join(STEP, steps_of(STEP, Op.INVITE))
        .where(PERSON.c.mailbox.in_(boxes), _touched())
    )


def _listed(session: Session, campaign_id: int, rows: Sequence[Row[Any]] | None) -> set[str]:
    """Which entries of the do-not-contact list concern these people, or (None) anybody to come."""
    if rows is None:
        everybody = select(PERSON.c.mailbox).where(PERSON.c.campaign_id == campaign_id)
        theirs = or_(DO_NOT_CONTACT.c.kind == DOMAIN, DO_NOT_CONTACT.c.email_key.in_(everybody))
        return set(session.scalars(LISTED.where(theirs)))
    return standing(session, {w for r in rows for w in (r.mailbox, r.email_key.rpartition("@")[2])})


def _others(session: Session, campaign: Campaign, rows: Sequence[Row[Any]] | None) -> Others:
    """Who else has one of these mailboxes: in this campaign, or was invited to the same problem."""
    of: dict[str, Any] = {"campaign": campaign.id, "boxes": [row.mailbox for row in rows or ()]}
    found = session.execute(_of_the_mailboxes(whole=rows is None), of).all()
    same = _same_problem(session, campaign) if any(r[1] != campaign.id for r in found) else {}
    others: Others = defaultdict(list)
    for person, campaign_id, box, email1, became, state, came in found:
        if campaign_id == campaign.id:
            why = f"has the mailbox of {email1}, {_was(state)}"
            others[box].append((became or person, Kind.SECOND_ADDRESS, why))
        elif came and campaign_id in same:
            why = f"was invited to the same problem by the campaign {same[campaign_id]}"
            others[box].insert(0, (became or person, Kind.SAME_PROBLEM, why))
    return others


def _same_problem(session: Session, campaign: Campaign) -> dict[int, str]:
    """The other campaigns at this service that have the same problem or project, by their key."""
    own = own_steps(session, campaign.id)
    same = [
        and_(STEP.c.op == op, STEP.c.service_id == step.service_id)
        for op, step in own.items()
        if step.service_id is not None
    ]
    others = (
        select(CAMPAIGN.c.id, CAMPAIGN.c.key)
        .join(STEP, and_(STEP.c.campaign_id == CAMPAIGN.c.id, STEP.c.person_id == 0))
        .where(CAMPAIGN.c.service == campaign.service, CAMPAIGN.c.id != campaign.id, or_(*same))
    )
    return {row.id: row.key for row in session.execute(others)} if same else {}


def _names_of_the_gone(
    session: Session, campaign_id: int, rows: Sequence[Row[Any]] | None
) -> Others:
    """The names of people who were invited, withdrawn or blocked and left the file since: all of
    them (None), or those that one of these people has.

    A candidate is an email key, so a row whose address was edited is somebody new to the ledger.
    """
    of = {"campaign": campaign_id, "names": [row.name_key for row in rows or ()]}
    names: Others = defaultdict(list)
    for row in session.execute(_gone(whole=rows is None), of):
        why = f"has the name of {row.email1}, {_was(row.state)} and is not in the file any more"
        names[row.name_key].append((row.id, Kind.SECOND_ADDRESS, why))
    return names


@cache
def _gone(*, whole: bool) -> Select[Any]:
    blocked = LISTED.where(DO_NOT_CONTACT.c.email_key == PERSON.c.mailbox).exists()
    gone = (
        select(PERSON.c.id, PERSON.c.email1, PERSON.c.name_key, STEP.c.state)
        .join(STEP, steps_of(STEP, Op.INVITE))
        .where(PERSON.c.campaign_id == bindparam("campaign"), PERSON.c.name_key != "")
        .where(~PERSON.c.listed, PERSON.c.became.is_(None), or_(_touched(), blocked))
    )
    theirs = PERSON.c.name_key.in_(bindparam("names", expanding=True))
    return gone if whole else gone.where(theirs)


def _may_have_happened() -> ColumnElement[bool]:
    """Whether a step took effect at the service, as far as anybody knows."""
    came = PART.c.state.not_in((State.WAITING, State.REFUSED))
    return exists().where(PART.c.step_id == STEP.c.id, came)


def _touched() -> ColumnElement[bool]:
    return or_(_may_have_happened(), STEP.c.state == State.GIVEN_UP)


def _was(state: State) -> str:
    words = {State.DONE: "who was invited", State.GIVEN_UP: "who was withdrawn"}
    return words.get(state, "who may have been invited" if state in _MAYBE else "who was blocked")


_COLUMNS = ("id", "email_key", "mailbox", "email1", "name_key", "let_through", "listed")
_MAYBE = (State.SENDING, State.UNSURE, State.WAITING)
