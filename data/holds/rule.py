"""Who is held although a definition lists them, and why. Pure: the time is given.

The plan, the run and the transaction that grants a claim all use this rule (data/holds/reasons.py
reads for all three), so that the forecast is what happens.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from pathlib import PurePath
from typing import TYPE_CHECKING

from config.service_address import same_service
from config.timetable.moments import in_zone, on_the_wall
from config.timetable.spans import in_words
from data.store.states import SPELLING

if TYPE_CHECKING:
    from data.store.tables import DoNotContact


class Cause(StrEnum):
    """What holds somebody, the strongest first."""

    LISTED = "do not contact"  # a person has decided: nobody needs to look
    FORGOTTEN = "forgotten mailbox"  # on the list as well: is it whoever was forgotten?
    SECOND = "second address"  # this campaign has most likely invited them at another address
    PROBLEM = "same problem"  # another campaign has invited them to it, or may have
    COOLDOWN = "cooldown"  # another campaign has invited them to anything, not long ago


@dataclass(frozen=True, slots=True)
class Assessment:
    """What people are invited to: a problem, in a project, at a service. Ids None: not known yet.

    A problem named by its title has no id until the service has listed it.
    """

    service: str
    problem_id: int | None = None
    project_id: int | None = None
    problem_title: str | None = None

    def same(self, other: "Assessment") -> bool:
        """Whether both are the same problem; a project can hold only one (interface 4.7)."""
        if not same_service(self.service, other.service):
            return False
        if self.problem_id is not None and other.problem_id is not None:
            alike = self.problem_id == other.problem_id
        else:
            alike = self.problem_title is not None and self.problem_title == other.problem_title
        return alike or (self.project_id is not None and self.project_id == other.project_id)


@dataclass(frozen=True, slots=True)
class Terms:
    """The terms of the campaign that wants to invite; `pilot` is the person who checks it first.

    A pilot may be the same person in every campaign, so other campaigns' invitations do not hold
    them.
    """

    assessment: Assessment
    cooldown: timedelta | None = None
    pilot: str | None = None
    timezone: str | None = None  # of the campaign, for whoever reads why somebody is held


@dataclass(frozen=True, slots=True)
class Earlier:
    """One invitation by another campaign that had, or may have had, an effect; `attempt` is its
    number.

    `sent` says whether that is certain; `key` and `email1` are the address in that campaign.
    """

    campaign: str
    key: str
    email1: str
    assessment: Assessment
    attempt: int
    at: datetime
    sent: bool = True


@dataclass(frozen=True, slots=True)
class Allowed:
    """A person let somebody through: reasons up to these numbers no longer hold them."""

    attempt: int = 0
    entry: int = 0


@dataclass(frozen=True, slots=True)
class Held:
    """Somebody is not added or invited now. `until`: when that ends without a decision, if ever."""

    cause: Cause
    why: str
    until: datetime | None = None


NEVER = Allowed()


def held(
    key: str,
    terms: Terms,
    earlier: Iterable[Earlier],
    entries: "Iterable[DoNotContact]",
    at: datetime,
    allowed: Allowed = NEVER,
) -> Held | None:
    """Say why the person with this email key is held at a moment (aware); None when they may be
    invited.

    `earlier` are the invitations of other campaigns to their mailbox, `entries` those of it that
    stand on the do-not-contact list.
    """
    by_others = _held_by_others(key, terms, earlier, at, allowed)
    listed = [entry for entry in entries if entry.id > allowed.entry]
    if not listed:
        return by_others
    listed = [entry for entry in listed if entry.why != SPELLING] or listed
    own = next((entry for entry in listed if entry.email_key == key), None)
    entry = own or listed[0]
    spelling = "" if own else f"has the mailbox of {entry.email1}, "
    # Whoever lets them through sees all that this passes over.
    also = f"; {by_others.why}" if by_others else ""
    cause = Cause.FORGOTTEN if entry.why == SPELLING else Cause.LISTED
    return Held(cause, spelling + _listed(entry, terms.timezone) + also)


def _held_by_others(
    key: str, terms: Terms, earlier: Iterable[Earlier], at: datetime, allowed: Allowed
) -> Held | None:
    others = [
        invitation
        for invitation in earlier
        if invitation.attempt > allowed.attempt
        and same_service(invitation.assessment.service, terms.assessment.service)
    ]
    here = [invitation for invitation in others if invitation.assessment.same(terms.assessment)]
    if here:
        last = max(here, key=lambda invitation: (invitation.sent, invitation.at))
        return Held(
            Cause.PROBLEM,
            f"{_invited(last, key)} to the same problem by {_by(last, terms.timezone)}",
        )
    if terms.cooldown is None or not others:
        return None
    last = max(others, key=lambda invitation: invitation.at)
    until = last.at + terms.cooldown
    if at >= until:
        return None
    why = (
        f"{_invited(last, key)} by {_by(last, terms.timezone)}; the cooldown of "
        f"{in_words(terms.cooldown)} ends on {in_zone(until, terms.timezone)}"
    )
    return Held(Cause.COOLDOWN, why, until)


def _listed(entry: "DoNotContact", zone: str | None) -> str:
    if entry.why == SPELLING:
        return entry.why
    if entry.file:
        return f"on the do-not-contact list ({PurePath(entry.file).name})"
    why = f": {entry.why}" if entry.why else ""
    since = on_the_wall(entry.listed_at, zone)
    return f"on the do-not-contact list since {since:%Y-%m-%d}, by {entry.who}{why}"


def _invited(invitation: Earlier, key: str) -> str:
    invited = "invited" if invitation.sent else "may have been invited"
    return invited if invitation.key == key else f"{invited} at {invitation.email1}"


def _by(invitation: Earlier, zone: str | None) -> str:
    return f"{invitation.campaign} on {on_the_wall(invitation.at, zone):%Y-%m-%d}"


@dataclass(frozen=True, slots=True)
class Holds:
    """How many people of a campaign are held: by the do-not-contact list, and for other reasons.

    `until` is when the first of those held for other reasons is free without a decision, if ever.
    """

    listed: int = 0
    others: int = 0
    until: datetime | None = None

    @property
    def number(self) -> int:
        return self.listed + self.others

    @classmethod
    def of(cls, held: Mapping[int, Held] | Mapping[str, Held]) -> "Holds":
        """Count those who are held."""
        ends = [hold.until for hold in held.values() if hold.until is not None]
        listed = sum(1 for hold in held.values() if hold.cause is Cause.LISTED)
        return cls(listed, len(held) - listed, min(ends, default=None))
