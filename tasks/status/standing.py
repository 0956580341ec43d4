"""The state of a campaign: the object that `status` and `run` print, and its counts."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from data.campaigns import queries
from data.campaigns import service_words as service_answers
from data.campaigns.forgotten import is_forgotten
from data.decisions import cleaning, settling, typed_ids
from data.holds import reasons
from data.holds.rule import Held
from data.store.ledger import Ledger
from data.store.states import Operation, Step
from data.store.tables import Campaign, Candidate
from tasks.service.embed import embed_url
from tasks.status.asking import asked_of_a_person

if TYPE_CHECKING:
    from data.history.records import Person


def furthest(add: Step, invite: Step, *, send: bool) -> Step:
    """The state of the furthest step that a candidate has reached."""
    return invite if add is Step.DONE and send else add


def tally(
    people: Mapping[tuple[bool, Step, Step], int], *, send: bool, since: int = 0
) -> dict[str, int]:
    """Count candidates by (listed, add, invite), as `counts` of the status object.

    `since` is how many withdrawn people had been invited before: a sent email stays counted.
    """
    at: Counter[Step] = Counter()
    for (_, add, invite), number in people.items():
        at[furthest(add, invite, send=send)] += number
    return {
        "candidates": sum(people.values()),
        "added": sum(n for (_, add, _), n in people.items() if add is Step.DONE),
        "invited": sum(n for (_, _, invite), n in people.items() if invite is Step.DONE) + since,
        "waiting": at[Step.WAITING],
        "sending": at[Step.SENDING],
        "unsure": at[Step.UNSURE],
        "refused": at[Step.REFUSED],
        "withdrawn": at[Step.WITHDRAWN],
    }


def counts_of(ledger: Ledger, campaign: Campaign) -> dict[str, int]:
    """The counts of a campaign as the ledger has it now, with `withdrawn_since` and `removed`."""
    people, since = (
        ledger.read(queries.counts, campaign.id),
        ledger.read(queries.withdrawn_since, campaign.id),
    )
    counts = tally(people, send=campaign.send_invites, since=since)
    return {
        **counts,
        "withdrawn_since": since,
        "removed": removed(people, send=campaign.send_invites),
    }


def removed(people: Mapping[tuple[bool, Step, Step], int], *, send: bool) -> int:
    """Count people who wait though no run will take them: the definition no longer lists them."""
    unlisted = {kind: number for kind, number in people.items() if not kind[0]}
    return tally(unlisted, send=send)["waiting"]


def standing(ledger: Ledger, campaign: Campaign) -> dict[str, Any]:
    """The status object of one campaign (`campaign status KEY --json`)."""
    return _standing(ledger, campaign, everybody=True)


def in_short(ledger: Ledger, campaign: Campaign) -> dict[str, Any]:
    """The same for a person to read: if nobody is held, only people who need something.

    Of 100,000 people only a handful has to be read from the ledger then.
    """
    return _standing(ledger, campaign, everybody=False)


def _standing(ledger: Ledger, campaign: Campaign, *, everybody: bool) -> dict[str, Any]:
    held = ledger.read(reasons.held_in, campaign.id)
    rows: Iterable[Candidate] = (
        queries.candidates(ledger, campaign.id)
        if everybody or held
        else ledger.read(queries.in_need, campaign.id)
    )
    counts = counts_of(ledger, campaign)
    apart = {name: counts.pop(name) for name in ("withdrawn_since", "removed")}
    answers = ledger.read(service_answers.of, campaign.id)
    return {
        "campaign": campaign.key,
        "service": campaign.service,
        "timezone": campaign.timezone,
        "project_id": campaign.project_id,
        "problem_id": campaign.problem_id,
        "project": campaign.project_state,
        "problem": campaign.problem_state,
        "counts": counts,
        **apart,
        **holds(held, queries.candidates(ledger, campaign.id) if held else ()),
        **asked_of_a_person(ledger, campaign),
        "clean_up": [item.as_json() for item in ledger.read(cleaning.find, campaign.id)],
        "service_wrote": [
            {"words": words, "requests": number} for words, number in answers.requests.items()
        ],
        "typed_ids": [
            {
                "step": "project" if doubt.operation is Operation.CREATE else "add",
                "email1": doubt.email1 or None,
                "id": doubt.typed,
            }
            for doubt in ledger.read(typed_ids.refused, campaign.id)
        ],
        "listed_refused": ledger.read(settling.listed_refused, campaign.id),
        "candidates": list(people(campaign, rows, held, answers.by_row)),
    }


def holds(held: Mapping[int, Held], rows: Iterable[Candidate]) -> dict[str, Any]:
    """How many waiting people are held, and each of them with the cause and its end (UTC)."""
    return {
        "held": len(held),
        "holds": [
            {
                "email1": row.email1,
                "cause": held[row.id].cause,
                "until": end.isoformat() if (end := held[row.id].until) else None,
            }
            for row in rows
            if row.id in held
        ],
    }


def people(
    campaign: Campaign,
    rows: Iterable[Candidate],
    held: Mapping[int, Held],
    wrote: Mapping[int, str],
) -> Iterable[dict[str, Any]]:
    """One object per candidate: name, ids, states, the embed URL, and why nothing happens next.

    `wrote` are the service's own words, by candidate row. Forgotten people are only counted.
    """
    for row in rows:
        if is_forgotten(row.email_key):
            continue
        yield {
            "email1": row.email1,
            "candidate_id": row.candidate_id,
            "add": row.add_state,
            "invite": row.invite_state,
            "listed": row.listed,
            "embed_url": link(campaign, row.candidate_id),
            "why": why_still(row, held.get(row.id)),
            "service_wrote": wrote.get(row.id),
        }


def why_still(row: "Candidate | Person", held: Held | None = None) -> str | None:
    """Why nothing happens next for a candidate, if there is something to say."""
    if held is not None:
        return f"held: {held.why}"
    return row.why or (None if row.listed else "no longer in the definition; left alone")


def link(campaign: Campaign, candidate_id: int | None) -> str | None:
    """The candidate's embed URL (interface 4.7), once both ids are known."""
    if campaign.project_id is None or candidate_id is None:
        return None
    return embed_url(campaign.app_url, campaign.project_id, candidate_id)
