"""The commands with which a person decides about people, plans, and whole campaigns."""

from pathlib import Path

import typer

from config.definition import ORDERS
from config.emails import email_key
from config.errors import CampaignError, command
from config.settings import settings
from data.campaigns.people import rows
from data.decisions import approvals, decisions, privacy
from data.decisions.decisions import By
from data.sending.runs import deciding, writing
from data.store.ledger import Ledger
from data.store.receipts import rewrite
from data.store.states import Op, State
from flows.cli import words
from tasks.forgetting import folders_of, ordered, what_is_left
from tasks.reminders import whom

KEY = typer.Argument(..., help="The campaign.")
EMAILS = typer.Argument(..., help="Addresses.")
WHY = typer.Option("", "--why", help="For whoever reads the history later.")


class NotAgreed(CampaignError):
    says = "You did not agree, so nothing was changed."


def invite(
    key: str = KEY,
    emails: list[str] = typer.Argument([], help="Addresses."),
    everyone: bool = typer.Option(False, "--everyone", help="Remind whoever was invited."),
    listed: Path | None = typer.Option(None, "--from", help="Remind only people of this list."),
    finished: Path | None = typer.Option(None, "--except", help="Remind nobody of this list."),
    yes: bool = typer.Option(False, "--yes", help="Do not ask before a second email."),
    why: str = WHY,
) -> None:
    """Invite somebody once more, or although they are held. Needs --why.

    With --everyone or --from, people get one more email as a reminder; nobody held is let through.

    Example: campaign invite backend-2026 ada@example.org --why "The email went to spam"
    """
    reminds = everyone or listed is not None
    if bool(emails) == reminds or (finished and not reminds):
        raise typer.BadParameter("name people, or type --everyone or --from LIST")
    by = by_whom(why)
    if reminds:
        emails = _reminded(key, listed, finished, ask=not yes)
    elif not yes:
        _ask_before_a_second_email(key, emails)
    with deciding(key) as (session, campaign):
        done = decisions.invite(session, campaign.id, emails, by, through=not reminds)
        for email1, what in done.items():
            print(f"{email1} {what}.")
        print(words.then("run", campaign.file))


def correct(
    key: str = KEY,
    old: str = typer.Argument(..., help="The wrong address."),
    new: str = typer.Argument(..., help="The right one."),
    why: str = WHY,
) -> None:
    """Put the right address in the place of a wrong one.

    Example: campaign correct backend-2026 ada@exmaple.org ada@example.org
    """
    with deciding(key) as (session, campaign):
        email1 = decisions.correct(session, campaign.id, old, new, by_whom(why))
        print(f"{old} gets nothing more; the next run adds and invites {email1}.")
        print(f"In your file, write {email1} in place of {old}.")
        print(words.then("run", campaign.file))


def withdraw(
    key: str = KEY,
    emails: list[str] = EMAILS,
    undo: bool = typer.Option(False, "--undo", help="Take a withdrawal back."),
    why: str = WHY,
) -> None:
    """Send somebody nothing more in this campaign. What was sent stays sent.

    Example: campaign withdraw backend-2026 ada@example.org --why "She took another job"
    """
    with deciding(key) as (session, campaign):
        decide = decisions.undo if undo else decisions.withdraw
        for email1 in decide(session, campaign.id, emails, by_whom(why)):
            print(f"{email1} is {'back' if undo else 'withdrawn'}.")
        if undo:
            people = (campaign.spec or {}).get("candidates") or {}
            if str(people.get("file")).endswith(ORDERS):
                print("An order that was withdrawn stays so; order this person anew as well.")
            print(words.then("run", campaign.file))
        else:
            print("The service has no delete: remove whoever was added in the web application.")


def block(
    entries: list[str] = typer.Argument(..., help="Addresses, or domains such as @corp.org."),
    lift: bool = typer.Option(False, "--lift", help="Take them off the list."),
    why: str = WHY,
) -> None:
    """Never write to an address or a domain again. They join the do-not-contact list.

    Example: campaign block ada@example.org @corp.org --why "They asked for it"
    """
    with writing(create=True) as session:
        changed = decisions.block(session, entries, by_whom(why), lift=lift)
    for entry in changed:
        print(f"{entry} is {'off' if lift else 'on'} the do-not-contact list.")
    if not changed:
        print("Nothing was changed: all of this is off the list already.")


def approve(
    key: str = KEY,
    reject: bool = typer.Option(False, "--reject", help="Say no."),
    plan: str | None = typer.Option(None, help="A plan's code, or pilot: only that is answered."),
    why: str = WHY,
) -> None:
    """Approve the plan that was shown, or the pilot's email. If a plan changes, approve it anew.

    Example: campaign approve backend-2026
    """
    with deciding(key) as (session, campaign):
        answered = approvals.approve(session, campaign.id, by_whom(why), reject=reject, only=plan)
        what = f"Plan {answered.code}" if answered.code else "The pilot's email"
        already = "" if answered.new else " already"
        done = "rejected" if reject else approvals.OWN if answered.own else "approved"
        print(f"{what} of {campaign.key} is{already} {done}.")
        if not reject:
            print(words.then("run", campaign.file))


def pause(key: str = KEY, why: str = WHY) -> None:
    """Send nothing more of a campaign, from the next request on.

    Example: campaign pause backend-2026 --why "The date may change"
    """
    _pause(key, why, resume=False)


def resume(key: str = KEY, why: str = WHY) -> None:
    """Let a paused campaign go on.

    Example: campaign resume backend-2026
    """
    _pause(key, why, resume=True)


def forget(
    emails: list[str] = EMAILS,
    show: bool = typer.Option(False, "--show", help="Only show what is held of them."),
    yes: bool = typer.Option(False, "--yes", help="Do not ask."),
    why: str = WHY,
) -> int:
    """Remove a person everywhere, for good. The same sheet never invites them again.

    Example: campaign forget ada@example.org --show
    """
    with writing(create=not show) as session:
        held, folders = privacy.held_of(session, emails), folders_of(session)
    tables = {each.email: ordered(folders, each.email) for each in held}
    if show:
        for each in held:
            _tell_what_is_held(each, tables[each.email])
        return 0
    unknown = [each.email for each in held if each.nowhere and not tables[each.email]]
    nowhere = [f"{email} is in no campaign and on no list. " for email in unknown]
    question = f"{''.join(nowhere)}Remove {', '.join(emails)} everywhere, for good?"
    if not (yes or words.confirmed(question)):
        raise NotAgreed
    with writing(create=True) as session:
        known = privacy.forget(session, emails, by_whom(why))
    _clean_up(known, folders)
    for each in known:
        ordered(folders, each.email, empty=True)
    waits = "Waiting for a run that sends from this ledger, to remove the last traces. Do not stop."
    with Ledger.open() as ledger:
        rewrite(ledger, lambda: words.aside(waits))  # last, because it may wait long
    return 0


def by_whom(why: str) -> By:
    return By(settings().who, why.strip())


def _clean_up(known: list[privacy.Known], folders: list[Path]) -> None:
    """Say what is left to do by hand, and delete outputs that name these people."""
    with Ledger.open() as ledger:
        place = None if ledger.on_a_server else Path(str(ledger.url.database))
        backups = sorted(place.parent.glob(f"{place.name}.tables-*")) if place else []
    for line in what_is_left(settings().output_dir, known, folders, backups):
        print(line, flush=True)  # at once: to look for outputs may take long
    if settings().do_not_contact:
        print(f"  remove the address from {settings().do_not_contact} if it is there")


def _tell_what_is_held(known: privacy.Known, tables: list[Path]) -> None:
    print(f"{known.email}:")
    for held in known.campaigns:
        states = ", ".join(f"{op} {state}" for op, state in held.states.items())
        print(f"  {held.campaign} ({held.file}): {states}")
        for name, value in held.fields.items():
            if value not in {"", None}:
                print(f"    {name}: {value}")
        if held.candidate_id is not None:
            print(f"    candidate {held.candidate_id} of project {held.project_id}")
    for table in tables:
        print(f"  ordered in {table}")
    for other in known.others:
        print(f"  if {other} is the same person:  {command('forget', other, '--show')}")
    if known.blocked:
        print("  on the do-not-contact list")
    if known.forgotten:
        print("  forgotten: no campaign adds or invites this address")
    elif known.nowhere and not tables:
        print("  nothing is held")


def _ask_before_a_second_email(key: str, emails: list[str]) -> None:
    with deciding(key) as (session, campaign):
        them = rows(session, campaign.id)
    wanted = set(map(email_key, emails))
    over = (State.DONE, State.GIVEN_UP)
    known = [r.email1 for r in them if r.email_key in wanted and r.states[Op.INVITE] in over]
    question = f"Invite {', '.join(known)}, who had an email or was withdrawn?"
    if known and not words.nobody_objects(question):
        raise NotAgreed


def _reminded(key: str, listed: Path | None, finished: Path | None, *, ask: bool) -> list[str]:
    with deciding(key) as (session, campaign):
        emails, notes = whom(session, campaign, listed, finished)
    for line in notes:
        words.aside(line)
    if ask and not words.confirmed("Have the service send it?"):
        raise NotAgreed
    return emails


def _pause(key: str, why: str, *, resume: bool) -> None:
    with deciding(key) as (session, campaign):
        new = decisions.pause(session, campaign.id, by_whom(why), resume=resume)
        state = "not paused" if resume else "paused"
        print(f"{campaign.key} is {'' if new else 'already '}{state}.")
        print(words.then("run", campaign.file) if resume else words.then("resume", campaign.key))
