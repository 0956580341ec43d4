"""Take a campaign into the ledger and plan its run, without a request."""

from sqlmodel import Session

from config.errors import BadInput, Place, command
from config.reading import Campaign as Read
from config.settings import Settings
from config.sheets.entries import read_entries
from data.campaigns.intake import NOTHING, Allowed, Intake, take_in
from data.decisions import approvals
from data.eligibility import do_not_contact
from data.eligibility.holds import Hold, Kind, Scope
from data.store.ledger import Ledger
from tasks.outlook import Plan, outlook


class Rewritten(BadInput):
    says = """{files} has changed since it was shown. Nothing was sent. Look at it again, then
    run it."""


def make_plan(
    read: Read,
    ledger: Ledger,
    settings: Settings,
    *,
    digest: str | None = None,
    allowed: Allowed = NOTHING,
    dry: bool = False,
) -> Plan:
    """Take a campaign into the ledger, and say what a run would do.

    `digest` is of the bytes that were shown: others raise Rewritten. `allowed` says as well to whom
    a plan is shown that waits for an approval. `dry`: the ledger stays as it was. Raises KeyInUse,
    Elsewhere, BadInput of the do-not-contact list.
    """
    if digest not in (None, read.digest):
        raise Rewritten.at(Place(read.file), "this file has changed since it was shown")
    listed = read_entries(settings.do_not_contact) if settings.do_not_contact else []
    with ledger.writing() as session:
        do_not_contact.follow(session, listed)
        intake = take_in(session, read, settings, allowed)
        plan = _planned(session, read, intake, allowed.who)
        if dry:
            session.rollback()
    return plan


def refreshed(plan: Plan, read: Read, ledger: Ledger, who: str) -> Plan:
    """The plan as it is now: another problem or decision is another plan to approve."""
    with ledger.writing() as session:
        return _planned(session, read, plan.intake, who)


def _planned(session: Session, read: Read, intake: Intake, who: str) -> Plan:
    plan = outlook(session, read, intake)
    if any(hold.kind is Kind.APPROVAL for hold in plan.holds):
        approvals.show(session, plan.campaign_id, plan.code, who)
    if intake.too_many_gone:
        plan.holds.insert(0, _guard(read, intake.too_many_gone))
    return plan


def _guard(read: Read, why: str) -> Hold:
    typed = command("run", read.file, "--accept-removed")
    return Hold(Kind.REMOVED, Scope.CAMPAIGN, why, type_this=typed)
