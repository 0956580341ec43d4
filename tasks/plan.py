"""Plan a run: take the campaign into the ledger, and make no request."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from sqlmodel import Session

from config.errors import NAMES, BadInput, Place, command
from config.reading import CampaignFile
from config.settings import Settings
from config.sheets.entries import read_entries
from data.campaigns.intake import NOTHING, Allowed, Intake, take_in
from data.campaigns.people import PersonRow, invites_of, own_steps, rows
from data.decisions import approvals
from data.decisions.doubts import doubts
from data.eligibility import do_not_contact
from data.eligibility.due import to_come
from data.eligibility.holds import Hold, Kind, Scope, campaign_holds, code_now, holds
from data.store.ledger import Ledger
from data.store.states import OF_PERSON, OF_PROJECT, OPERATIONS, Op
from data.store.tables import Campaign
from tasks.status import summary


class Rewritten(BadInput):
    says = """{files} has changed since it was shown. Nothing was sent. Look at it again, then
    run it."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What a run would do now. `to_do` counts steps, also invitations of people not added yet.

    `first` are the first NAMES people of `to_do`. `holds` stop the run until a person decides.
    `waits` end by themselves, or stop only invitations, as an unapproved pilot does. `held` says
    who in the file is not added or invited, by address, and why. `code` is the plan's hash.
    `unresolved` is the title of a problem that is still to be looked up in the service's list.
    """

    key: str
    file: Path
    digest: str
    code: str
    to_do: Mapping[Op, int]
    first: list[PersonRow] = field(repr=False)
    again: int  # how many of the invitations go to people who were invited before
    unsure: int
    holds: list[Hold]
    waits: list[Hold]
    held: Mapping[str, Hold] = field(repr=False)
    intake: Intake = field(repr=False)
    project: str
    problem: str
    unresolved: str | None = None

    @property
    def nothing_due(self) -> bool:
        """Whether no step is left to do."""
        return not any(self.to_do.values())


def make_plan(
    read: CampaignFile,
    ledger: Ledger,
    settings: Settings,
    *,
    digest: str | None = None,
    allowed: Allowed = NOTHING,
    dry: bool = False,
) -> Plan:
    """Take a campaign into the ledger, and plan its run.

    Raises Rewritten if the file's digest is not `digest`. If the plan needs approval, the ledger
    notes that it was shown to `allowed.who`. With `dry` the ledger stays as it was. Also raises
    what `take_in` raises, and BadInput about the do-not-contact list.
    """
    if digest not in (None, read.digest):
        raise Rewritten.at(Place(read.file), "this file has changed since it was shown")
    listed = read_entries(settings.do_not_contact) if settings.do_not_contact else []
    with ledger.writing() as session:
        do_not_contact.follow(session, listed)
        intake = take_in(session, read, settings, allowed)
        plan = _planned(session, read, intake, allowed)
        if dry:
            session.rollback()
    return plan


def refreshed(plan: Plan, read: CampaignFile, ledger: Ledger, allowed: Allowed) -> Plan:
    """Plan again. If a problem's id or a decision is new, the plan needs a new approval."""
    with ledger.writing() as session:
        return _planned(session, read, plan.intake, allowed)


def _planned(session: Session, read: CampaignFile, intake: Intake, allowed: Allowed) -> Plan:
    """Read the plan off the ledger; one that needs approval is noted as shown to `allowed.who`."""
    campaign = session.get_one(Campaign, intake.campaign_id)
    held = holds(session, campaign)
    people = {op: [*to_come(session, campaign.id, op, held)] for op in OF_PERSON}
    first = max(people.values(), key=len)[:NAMES]
    by_id = {row.person_id: row for row in rows(session, campaign.id, [*held, *first])}
    own = own_steps(session, campaign.id)
    to_do = {op: int(bool(first) and own[op].state in OPERATIONS[op].open) for op in OF_PROJECT}
    code = code_now(session, campaign.id, held)
    if first and invites_of(campaign).approval is not None:
        approvals.show(session, campaign.id, code, allowed.who)
    found = campaign_holds(session, campaign, code=code)
    stops = [hold for hold in found if hold.scope is Scope.CAMPAIGN and hold.needs_a_person]
    if not first:
        stops = [hold for hold in stops if hold.kind is not Kind.APPROVAL]
    if intake.too_many_gone:
        also = ["--keep-project"] if allowed.project else []
        why, typed = intake.too_many_gone, command("run", read.file, "--accept-removed", *also)
        stops.insert(0, Hold(Kind.REMOVED, Scope.CAMPAIGN, why, type_this=typed))
    problem, title = own[Op.ATTACH].service_id, read.definition.problem.title
    number = f" ({problem})" if problem is not None else ""
    made, name = own[Op.CREATE].service_id, read.definition.project.name
    project = f"project {made}" if made is not None else "a new project"
    return Plan(
        key=campaign.key,
        file=read.file,
        digest=read.digest,
        code=code,
        to_do=to_do | {op: len(each) for op, each in people.items()},
        first=[by_id[it] for it in first],
        again=summary(session, campaign.key, held)["one_more_email"],
        unsure=len(doubts(session, campaign.id)),
        holds=stops,
        waits=[h for h in found if h.scope is Scope.INVITES or not h.needs_a_person],
        held={by_id[it].email1: hold for it, hold in held.items() if it in by_id},
        intake=intake,
        project=f'{project}, "{name}"' if name else project,
        problem=f"problem {problem}" if title is None else f'problem "{title}"{number}',
        unresolved=title if own[Op.ATTACH].state in OPERATIONS[Op.ATTACH].open else None,
    )
