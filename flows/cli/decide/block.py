"""`campaign block`: the do-not-contact list, which no campaign sends to."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from config.command_line import command
from flows.cli.arguments import Who, WhyIfAny, by, given
from flows.cli.named_people import addresses, refuse
from flows.words.speech import answer_program, counted, manner, say, say_table

if TYPE_CHECKING:
    from data.store.ledger import Ledger
    from data.store.tables import DoNotContact

FORGOTTEN = ", as it was forgotten; if it is allowed again, block it again"
IN_FILE = "is in the file named by CAMPAIGN_DO_NOT_CONTACT; remove it there"


def block(
    emails: Annotated[
        list[str] | None,
        typer.Argument(metavar="EMAIL", help="Addresses that no campaign may send to."),
    ] = None,
    why: WhyIfAny = None,
    lift: Annotated[
        bool, typer.Option("--lift", help="Take these addresses off the list again.")
    ] = False,
    who: Who = None,
) -> None:
    """Put people on the do-not-contact list, or show it.

    From now on no campaign adds or invites them, not even a run that is already at work. People who
    were invited before keep that invitation: the service cannot take it back. Without an address,
    it shows the list.
    """
    from config.settings import load_local
    from data.campaigns import forgotten
    from data.holds import do_not_contact
    from data.store.ledger import Ledger
    from tasks.plan.holds import follow_the_list

    if lift and not emails:
        raise typer.BadParameter("--lift needs the addresses to take off the list")
    typed = addresses(emails or [])
    reason = given(why) if typed else ""
    local = load_local()
    with Ledger.open(local.database_url) as ledger:
        if typed and not lift:
            # At once, even if something is wrong with the file.
            gone = ledger.read(forgotten.among, typed)
            new = ledger.write(do_not_contact.block, typed, by(who, reason))
            for key, email in typed.items():
                before = FORGOTTEN if key in gone else "" if key in new else ", as before"
                say(f"{email}: no campaign sends to this address{before}")
        listed = follow_the_list(ledger, local)
        if lift:
            in_file = listed.addresses if listed else {}
            _check_lift(ledger, typed, in_file)
            ledger.write(do_not_contact.lift, typed.keys(), by(who, reason))
            say(*(f"{email}: campaigns may send to this address again" for email in typed.values()))
            say(*_still_held(ledger, typed, in_file))
        _show(ledger.read(do_not_contact.standing), whole=not typed)


def _check_lift(ledger: "Ledger", addresses: Mapping[str, str], in_file: Collection[str]) -> None:
    """Refuse to take off what is not on the list, or is in the file and would only come back."""
    from data.holds import do_not_contact

    on_it = {entry.email_key for entry in ledger.read(do_not_contact.standing)}
    strange = {key: typed for key, typed in addresses.items() if key not in on_it}
    wrong = [
        "\n".join([f"{typed} is not on the list", *_still_held(ledger, {key: typed}, in_file)])
        for key, typed in strange.items()
    ]
    wrong += [f"{typed} {IN_FILE}" for key, typed in addresses.items() if key in in_file]
    refuse(wrong)


def _still_held(
    ledger: "Ledger", lifted: Mapping[str, str], in_file: Collection[str]
) -> Iterator[str]:
    """Which other spellings on the list hold these addresses all the same."""
    from data.holds import do_not_contact
    from data.store.tables import box_of

    boxes = {box_of(key): typed for key, typed in lifted.items()}
    for entry in ledger.read(do_not_contact.standing):
        if typed := boxes.get(entry.mailbox):
            again = command("block", entry.email1, "--lift", "--why", "TEXT")
            on_it = IN_FILE if entry.email_key in in_file else f"is on the list: {again}"
            yield f"  but {entry.email1}, the same mailbox as {typed}, {on_it}"


def _show(entries: "Sequence[DoNotContact]", *, whole: bool) -> None:
    if manner().as_json:
        answer_program({"do_not_contact": [_as_json(entry) for entry in entries]})
    elif not whole or not entries:
        number = counted(len(entries), "address", "addresses") if entries else "nobody"
        say(f"On the do-not-contact list: {number}")
        if not whole and entries:
            say(f"  who and why: {command('block')}")
    else:
        rows = [
            (entry.email1, f"{entry.listed_at.astimezone():%Y-%m-%d}", entry.who, entry.why)
            for entry in entries
        ]
        say_table(["email1", "since", "who", "why"], rows)


def _as_json(entry: "DoNotContact") -> dict[str, Any]:
    return {
        "email1": entry.email1,
        "since": entry.listed_at.isoformat(),
        "who": entry.who,
        "why": entry.why,
        "file": entry.file or None,
    }
