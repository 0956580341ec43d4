"""What becomes of people's data: `forget` deletes it here, `clean-up` lists what is to be removed
by hand in the web application, `export` writes all that the ledger has.
"""

import json
import sys
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from config.command_line import command
from config.email_key import email_key
from data.decisions.verdicts import NotDecided
from flows.cli.arguments import Key, Who, Why, WhyIfAny, by, confirmed, given
from flows.cli.ledgers import files_read, known_campaign, open_ledger
from flows.cli.named_people import addresses, refuse
from flows.cli.outputs import check_output, output_option
from flows.words.closing import clean_up_line
from flows.words.speech import (
    answer_program,
    answer_to,
    complain,
    counted,
    for_program,
    manner,
    say,
)

if TYPE_CHECKING:
    from config.settings import LocalSettings
    from data.privacy.disclosure import Disclosed
    from data.privacy.forgetting import AtTheService
    from data.store.ledger import Ledger
    from data.store.states import By


def forget(
    emails: Annotated[
        list[str] | None, typer.Argument(metavar="EMAIL", help="Whom to forget.")
    ] = None,
    why: WhyIfAny = None,
    due: Annotated[
        bool, typer.Option("--due", help="Forget everybody whose time (CAMPAIGN_KEEP) is over.")
    ] = False,
    lift: Annotated[
        bool, typer.Option("--allow-again", help="Allow these addresses in campaigns again.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask again.")] = False,
    who: Who = None,
) -> None:
    """Remove people from every campaign, for good.

    Names, addresses, notes, ids and links are deleted; the counts stay, without names. A keyed hash
    of the address keeps them from being added or invited again. It lists what the service and your
    own files still have, for you to remove. Ends with 3 if an address is unknown.
    """
    from config.settings import load_local
    from data.campaigns import queries
    from data.decisions import adding_again

    if due == bool(emails):
        both = ", not both" if due else ""
        raise typer.BadParameter(f"name the addresses, or add --due{both}")
    local = load_local()
    named = addresses(emails or [])
    reason = "" if due else given(why)
    with open_ledger() as ledger:
        for campaign in ledger.read(queries.every_campaign):
            adding_again.recover(ledger, campaign.id)
        if due:
            _forget_due(ledger, local)
        elif lift:
            _let_in_again(ledger, named)
        else:
            _sure(len(named), yes=yes)
            _forget(ledger, local, named, by(who, reason))


def _sure(people: int, *, yes: bool) -> None:
    if yes:
        return
    if not sys.stdin.isatty():
        raise typer.BadParameter(f"this cannot be undone; to confirm: {confirmed()}")
    asked = f"Forget {counted(people, 'person', 'people')}? This cannot be undone. Type yes: "
    if (answer_to(asked) or "").casefold() != "yes":
        say("Nobody was forgotten.")
        raise typer.Exit(1)


def _forget(
    ledger: "Ledger", local: "LocalSettings", named: Mapping[str, str], person: "By"
) -> None:
    """Forget in the ledger and say what is left elsewhere; then write the links anew.

    The links come last: if a file cannot be written, what the service has is already shown.
    """
    from data.privacy import disclosure, forgetting
    from data.privacy.traces import naming

    held = {key: ledger.read(disclosure.about, key) for key in named}
    rows = [row for about in held.values() for row in about["campaigns"]]
    every = {row["email1"] for row in rows} | set(named.values())
    perhaps = list(_perhaps_once_more(ledger, every))
    try:
        left = ledger.write(forgetting.forget, named.keys(), person)
    except NotDecided as error:
        complain(
            *(f"{list(named.values())[n]} {objection}" for n, objection in error.objections.items())
        )
        raise
    for key, typed in named.items():
        say(f"{typed}: {_what_was_done(held[key])}")
    say(*_at_the_service(left), *perhaps, *_of_the_same_mailbox(ledger, every, person.why))
    ledger.rewrite()
    unwritten = list(_links_anew(ledger, local, every))
    for file in naming(every, _places(ledger, local)):
        say(f"  still named in {file}: remove it there yourself")
    if unwritten:
        each_once = {email_key(address): address for address in sorted(every)}
        again = command("forget", *each_once.values(), "--why", person.why)
        complain("", *unwritten, f"Not everything is done. Once this is fixed, run again: {again}")
        raise typer.Exit(1)
    if nobody := [typed for key, typed in named.items() if not any(held[key].values())]:
        again = command("forget", *nobody, "--allow-again", "--why", "a typo")
        mistyped = "If you mistyped an address, forget the right one, and let this one in again:"
        say("", mistyped, again)
        raise typer.Exit(3)


def _of_the_same_mailbox(ledger: "Ledger", every: Collection[str], why: str) -> Iterator[str]:
    """Who shares a mailbox with these people, and whether they are held until a person decides."""
    from data.holds import do_not_contact
    from data.privacy.forgetting import of_mailboxes

    there = ledger.read(of_mailboxes, [email_key(address) for address in every])
    listed = {entry.email_key for entry in ledger.read(do_not_contact.standing, there)}
    for key, typed in there.items():
        held = " and is on the do-not-contact list" if key in listed else ""
        yield f"  {typed} has the same mailbox{held}"
        yield f"    if it is the same person: {command('forget', typed, '--why', why)}"
        if held:
            lifts = command("block", typed, "--lift", "--why", "TEXT")
            yield f"    if it is somebody else: {lifts}"


def _perhaps_once_more(ledger: "Ledger", every: Collection[str]) -> Iterator[str]:
    """Possible duplicates of these people: nobody can look them up once they are forgotten."""
    from data.campaigns import queries
    from data.decisions import cleaning

    keys = set(map(email_key, every))
    for campaign in ledger.read(queries.every_campaign):
        for item in ledger.read(cleaning.find, campaign.id):
            theirs = item.email1 is not None and email_key(item.email1) in keys
            if theirs and item.what is cleaning.What.DOUBLE and not item.certain:
                yield f"  {item.said} ({campaign.key}): look in the web application"


def _links_anew(ledger: "Ledger", local: "LocalSettings", every: Collection[str]) -> Iterator[str]:
    """Write the links that name one of these addresses; returns why some cannot be written."""
    from data.campaigns import queries
    from data.own_files import CannotWrite
    from data.privacy.traces import naming
    from tasks.outputs.links import WRITTEN_BY_RUNS, write_links

    # Found by their content, so that a second try finds them as well.
    for campaign in ledger.read(queries.every_campaign):
        if naming(every, [local.output_dir / campaign.key / name for name in WRITTEN_BY_RUNS]):
            try:
                write_links(ledger, campaign, local.output_dir)
            except CannotWrite as error:
                yield (
                    f"{campaign.key}: the links still name them, because {error.path} cannot be "
                    f"written ({error.why}). Fix that."
                )


def _what_was_done(held: "Disclosed") -> str:
    """Say what became of an address; `held` is what was there of it before
    (data/privacy/disclosure.py)."""
    if held["campaigns"]:
        within = ", ".join(dict.fromkeys(row["campaign"] for row in held["campaigns"]))
        return f"forgotten in {within}"
    if held["do_not_contact"]:
        return (
            "forgotten: taken off the do-not-contact list; a keyed hash keeps the address out "
            "instead"
        )
    if held["forgotten"]:
        return f"was already forgotten, on {held['forgotten'][:10]}"
    return (
        "nobody here has this address, so nothing was removed. A keyed hash of it is kept, so it "
        "is never added or invited"
    )


def _at_the_service(left: "Collection[AtTheService]") -> Iterator[str]:
    for person in left:
        if person.candidate_id is None:
            yield (
                f"  the service may still have this person in project {person.project_id} "
                f"({person.campaign}), under the id shown when they were forgotten: look "
                "in the web application"
            )
        else:
            yield (
                f"  the service still has candidate {person.candidate_id} in project "
                f"{person.project_id} ({person.campaign}): remove it by hand in the web application"
            )


def _places(ledger: "Ledger", local: "LocalSettings") -> list[Path]:
    """Where files may name people: the results, the sheets, and copies beside the ledger."""
    from config.reading.sources import TABLES, YAML

    read = files_read(ledger)
    places = [local.output_dir, *read]
    for folder in (file.parent for file in read if file.parent.is_dir()):
        places += (near for near in folder.iterdir() if near.suffix in (*TABLES, *YAML, ".json"))
    ledger_file = Path(ledger.place)
    if ledger_file.is_file():
        places += ledger_file.parent.glob(f"{ledger_file.stem}*")
    return places


def _let_in_again(ledger: "Ledger", named: Mapping[str, str]) -> None:
    from data.campaigns import forgotten

    gone = ledger.read(forgotten.among, named)
    strange = {key: typed for key, typed in named.items() if key not in gone}
    spelled = ledger.read(forgotten.by_mailbox, strange)
    left = {key: ", ".join(ledger.read(forgotten.by_which, key)) for key in named}
    refuse([_not_forgotten(typed, left[key], key in spelled) for key, typed in strange.items()])
    ledger.write(forgotten.lift, named)
    for key, typed in named.items():
        say(f"{typed}: campaigns may use this address again")
        if left[key]:
            say(f"  but not {left[key]}: put the person into another campaign")


def _not_forgotten(typed: str, left: str, is_spelled: bool) -> str:
    if left:
        return f"{typed} may be used again already, but not by {left}"
    if not is_spelled:
        return f"{typed} was not forgotten"
    allow = command("allow", "KEY", typed, "--why", "TEXT")
    other = f"another address of its mailbox was: type that one, or {allow}"
    return f"{typed} was not forgotten, but {other}"


def _forget_due(ledger: "Ledger", local: "LocalSettings") -> None:
    from data.store.clock import now
    from tasks.retention import forget_due

    if local.keep is None:
        raise typer.BadParameter("CAMPAIGN_KEEP says how long people are kept, and it is not set")
    say(*(forget_due(ledger, local, now()) or ["Nobody is due to be forgotten."]))


def export(
    email: Annotated[str, typer.Argument(metavar="EMAIL", help="The person's address.")],
    output: Annotated[Path | None, output_option("The file to write.")] = None,
) -> None:
    """Write everything that the ledger holds about a person.

    Every campaign, request, decision and entry of the do-not-contact list, as JSON. After a
    correction, what is recorded under the other address is included.
    """
    from data.own_files import write_whole
    from data.privacy import disclosure

    [(key, typed)] = addresses([email]).items()
    with open_ledger() as ledger:
        check_output(output, ledger)
        held = ledger.read(disclosure.about, key)
    content = json.dumps({"email1": typed, **held}, indent=2)
    for_program(**held)
    if output is None and not manner().as_json:
        print(content)
    elif output is None:
        say(f"everything about {typed}")
    else:
        write_whole(output, content.encode() + b"\n")
        say(f"{output}: everything about {typed}")
    if not any(held.values()):
        complain(f"This ledger has nothing about {typed}.")


def clean_up(
    key: Key,
    done: Annotated[
        bool, typer.Option("--done", help="You have removed all of this, or it was not there.")
    ] = False,
    why: Why = "",
    who: Who = None,
) -> None:
    """List what to remove by hand in the web application.

    It only lists: the service has no call that removes anything. When you have removed
    everything, type it again with --done.
    """
    from data.campaigns import forgotten as forgotten_people
    from data.decisions import cleaning

    with known_campaign(key) as (ledger, campaign):
        items = ledger.read(cleaning.find, campaign.id)
        forgotten = 0 if done else ledger.read(forgotten_people.added, campaign.id)
        if done and items:
            ledger.write(cleaning.write_cleaned, campaign.id, items, by(who, why))
        left = [] if done else [item.as_json() for item in items]
    answer_program({"campaign": key, "clean_up": left})
    if done:
        gone = counted(len(items), "thing") if items else "nothing"
        say(f"{key}: {gone} marked as removed by hand")
    elif not items:
        say(f"{key}: nothing to remove by hand")
    else:
        where = f"{campaign.app_url}, " if campaign.app_url else ""
        say(
            f"{key}: remove these by hand in the web application ({where}project "
            f"{campaign.project_id or 'not known'})",
        )
        say(*(f"  {clean_up_line(item)}" for item in left))
        say(f"  when you have removed them: {command('clean-up', key, '--done')}")
    if forgotten:
        say(
            f"  {counted(forgotten, 'person was', 'people were')} forgotten: the service may "
            f"still have them in project {campaign.project_id}; their ids are no longer known here",
        )
