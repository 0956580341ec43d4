"""`campaign history`: the whole story of a campaign, or of one person in it, to the request."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields
from datetime import datetime
from enum import Enum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from config.command_line import command
from flows.cli.arguments import Key
from flows.cli.ledgers import campaign_as_it_is
from flows.words.complaints import Mistyped
from flows.words.speech import answer_program, complain, counted, manner, say_at_length

if TYPE_CHECKING:
    from data.history.events import Event
    from data.history.records import Records
    from data.holds.rule import Held
    from data.store.ledger import Ledger
    from data.store.tables import Campaign
    from flows.report.story import Teller


def history(
    key: Key,
    email: Annotated[
        str | None,
        typer.Argument(metavar="EMAIL", help="Only this person; without it, the whole campaign."),
    ] = None,
) -> None:
    """Show the whole story of a campaign, or of one person.

    Runs, requests and what each proved, verdicts, approvals and pauses, in the campaign's time
    zone. With thousands of people the campaign's story is summed up by wave; a person's is always
    complete. Reads only the ledger.
    """
    from data.history import records as campaign_records
    from data.history.events import CameIn
    from data.history.history import numbers, story
    from data.history.stretches import summed_up
    from data.holds import reasons
    from flows.report.story import Teller

    with campaign_as_it_is(key) as (ledger, campaign):
        row = None if email is None else _row_of(ledger, campaign, email)
        records = ledger.read(campaign_records.read, campaign.id, row)
        held = None if row is None else ledger.read(reasons.held_in, campaign.id).get(row)
    people = records.people
    teller = Teller(lambda number: str(people[number].email1), campaign.timezone)
    events = story(records)
    if row is not None:  # when the campaign itself came in says nothing about one person
        events = [event for event in events if not isinstance(event, CameIn)]
    if manner().as_json:
        answer_program(_object(records, row, events, teller))
        return
    head = _campaign_lines(records) if row is None else _person_lines(records, row)
    shown = summed_up(events, numbers(records, events)) if row is None else events
    say_at_length([*head, *_days(shown, teller), "", *_ending(records, row, held)])


def _row_of(ledger: "Ledger", campaign: "Campaign", email: str) -> int:
    """Find a person by the address. Raises Mistyped, having named the nearest one."""
    from config.email_key import email_key
    from data.campaigns import intake
    from flows.cli.named_people import emails_of, unknown

    everybody = ledger.read(intake.everybody, campaign.id)
    if (person := everybody.get(email_key(email))) is None:
        complain(f"{email}: {unknown(email, emails_of(everybody))}")
        to_see = f"To see everybody: {command('links', campaign.key)}"
        raise Mistyped(f"Nobody in {campaign.key} has this address. {to_see}")
    return person.row


def _campaign_lines(records: "Records") -> Iterator[str]:
    campaign = records.campaign
    name = f' "{campaign.name}"' if campaign.name else ""
    yield f"{campaign.key}{name} at {campaign.service}"
    yield f"  {counted(len(records.people), 'candidate')}, {_clocks(records)}"


def _person_lines(records: "Records", row: int) -> Iterator[str]:
    person = records.people[row]
    yield f"{person.first_name} {person.last_name} <{person.email1}> in {records.campaign.key}"
    yield f"  {_clocks(records)}"


def _clocks(records: "Records") -> str:
    return f"times of {records.campaign.timezone or 'this machine'}"


def _days(events: "Sequence[Event]", teller: "Teller") -> Iterator[str]:
    """Write events under their days; what belongs to one stands below it."""
    from flows.report.story import words

    day = ""
    for event in events:
        if (today := f"{teller.local(event.at):%Y-%m-%d}") != day:
            day = today
            yield ""
            yield day
        first, *others = words(event, teller)
        yield f"  {teller.time(event.at)}  {first}"
        yield from (f"            {line}" for line in others)


def _ending(records: "Records", row: int | None, held: "Held | None") -> Iterable[str]:
    """Say where it all stands now, and what to type next; `held` is why the person is held."""
    key = records.campaign.key
    if row is None:
        return [f"The story of one person: {command('history', key, 'EMAIL')}"]
    from tasks.status.standing import why_still

    person = records.people[row]
    number = f", candidate {person.candidate_id}" if person.candidate_id else ""
    lines = [f"Now: add {person.add_state}, invite {person.invite_state}{number}"]
    if why := why_still(person, held):
        lines.append(f"  {why}")
    if held:
        allow = command("allow", key, person.email1, "--why", "TEXT")
        lines.append(f"  to invite this person anyway: {allow}")
    if "unsure" in (person.add_state, person.invite_state):
        lines.append(f"  unsure: {command('settle', key)}")
    if not records.requests:
        lines.insert(0, "Nothing was sent about this person yet.")
    return lines


def _object(
    records: "Records", row: int | None, events: "Iterable[Event]", teller: "Teller"
) -> dict[str, Any]:
    """The object that `campaign history --json` prints: every event, none summed up."""
    campaign = records.campaign
    person = None if row is None else records.people[row]
    return {
        "campaign": campaign.key,
        "service": campaign.service,
        "timezone": campaign.timezone,
        "person": person
        and {
            "email1": person.email1,
            "first_name": person.first_name,
            "last_name": person.last_name,
            "candidate_id": person.candidate_id,
            "add": person.add_state,
            "invite": person.invite_state,
        },
        "events": [_plain(event, teller) for event in events],
    }


def _plain(event: "Event", teller: "Teller") -> dict[str, Any]:
    from data.store.states import Word

    name = type(event).__name__
    what = name[0].lower() + "".join(f" {c.lower()}" if c.isupper() else c for c in name[1:])
    plain: dict[str, Any] = {"what": what}
    for each in fields(event):
        value = getattr(event, each.name)
        if each.name == "people":
            plain["people"] = [teller.person(row) for row in value]
        elif isinstance(value, datetime):
            plain[each.name] = teller.local(value).isoformat()
        else:
            plain[each.name] = value.value if isinstance(value, Enum) else value
    if plain.get("verdict") == Word.CORRECT and plain["value"]:
        plain["value"] = teller.person(int(plain["value"]))
    return plain
