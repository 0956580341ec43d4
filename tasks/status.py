"""Where a campaign stands, as an object for programs, and what needs a person, in words."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from sqlmodel import Session, col, select

from config.errors import command
from data.campaigns.people import find, invites_of, known, own_steps, rows, tally
from data.decisions.doubts import doubts, leftovers
from data.eligibility.due import to_come
from data.eligibility.holds import Hold, campaign_holds, code_now, holds
from data.store.ledger import Ledger
from data.store.states import OF_PERSON, OPERATIONS, Op, State
from data.store.tables import Campaign
from tasks.outputs.links import embed_url

Held = Mapping[int, Hold]
States = Mapping[Op, State]


@dataclass(frozen=True, slots=True)
class Need:
    """A situation that a person should look at: what it is, and what to type."""

    kind: str
    why: str
    type_this: str | None = None


def campaign_keys(session: Session) -> list[str]:
    """The campaigns of the ledger, the latest first."""
    return list(session.scalars(select(Campaign.key).order_by(col(Campaign.id).desc())))


def status_of(session: Session, key: str, held: Held | None = None) -> dict[str, Any]:
    """The object that `campaign status KEY --json` prints.

    `held` is the result of `holds`, if the caller has it already.
    """
    campaign = find(session, key)
    held = holds(session, campaign) if held is None else held
    found, send = summary(session, key, held), invites_of(campaign).send
    found["candidates"] = []
    for row in rows(session, campaign.id):
        hold = held.get(row.person_id)
        word = _standing(row.states, row.listed, hold is not None, row.emailed, send)
        why = row.why or (hold.why if hold and word != "added" else None)
        found["candidates"].append(
            row.fields  # what the service gets
            | {
                "email1": row.email1,
                "candidate_id": row.candidate_id,
                **{str(op): str(_WORDS.get(state, state)) for op, state in row.states.items()},
                **({"invite": "done"} if word == "invited" else {}),  # though one more may wait
                "embed_url": embed_url(campaign.app_url, found["project_id"], row.candidate_id),
                "why": "no longer in the file" if word == GONE else why,
                "stands": word,
            }
        )
    return found


def summary(session: Session, key: str, held: Held) -> dict[str, Any]:
    """The object of `status_of` without candidates. It is fast, because the database counts."""
    campaign = find(session, key)
    own, send = own_steps(session, campaign.id), invites_of(campaign).send
    words: Counter[str] = Counter()
    added = more = 0
    for states, listed, is_held, emailed, number in tally(session, campaign.id, held):
        words[_standing(states, listed, is_held, emailed, send)] += number
        added += number if states[Op.ADD] is State.DONE else 0
        waits = states[Op.INVITE] is State.WAITING and listed and send and not is_held
        more += number if emailed and waits else 0
    counts = {"candidates": words.total(), "added": added}
    counts |= {word: words[word] for word in COUNTED if word != GONE or word in words}
    return {
        "campaign": campaign.key,
        "service": campaign.service,
        "project_id": own[Op.CREATE].service_id,
        "problem_id": own[Op.ATTACH].service_id,
        "project": str(own[Op.CREATE].state),
        "problem": str(own[Op.ATTACH].state),
        "counts": counts,
        "one_more_email": more,  # so many of those who are invited
    }


def progress(ledger: Ledger, key: str) -> dict[Op, tuple[int, int]]:
    """How many people are added, and invited, of all not withdrawn. Empty before the first run."""
    with ledger.reading() as session:
        if (campaign := known(session, key)) is None:
            return {}
        kinds = list(tally(session, campaign.id, ()))
        send = invites_of(campaign).send
    ops = [op for op in OF_PERSON if send or not OPERATIONS[op].emails]
    left: dict[Op, Counter[State]] = {op: Counter() for op in ops}
    for (states, *_, number), op in product(kinds, ops):
        left[op][states[op]] += number
    return {op: (n[State.DONE], n.total() - n[State.GIVEN_UP]) for op, n in left.items()}


def _standing(states: States, listed: bool, held: bool, emailed: bool, send: bool) -> str:
    """Where one person stands: a word of COUNTED, or `added` in a campaign that invites nobody.

    A run's sentence, status, the report, and Prefect's page all count these words.
    """
    for state, word in _WORDS.items():
        if state in states.values() and (listed or state is not State.REFUSED):
            return word
    if emailed:
        return "invited"
    if states[Op.ADD] is State.DONE and not send:
        return "added"
    if not listed:
        return GONE
    return "held" if held else "waiting"


def so_far(status: Mapping[str, Any], what: str) -> str:
    """How far a campaign is: `2 of 3 invited`, or `232 invited, 1 withdrawn` if nobody waits.

    `what` is done to its people: invited, or added.
    """
    counts, whole = status["counts"], status["counts"]["candidates"]
    apart = {word: n for word in APART if (n := counts.get(word))}
    others = (n for word, n in counts.items() if word in COUNTED and word != what)
    done = whole - sum(others)  # each person has one word
    of = "" if apart and done + sum(apart.values()) == whole else f" of {whole:,}"
    return ", ".join((f"{done:,}{of} {what}", *counted(status, APART)))


def counted(status: Mapping[str, Any], words: Sequence[str] = ()) -> list[str]:
    """The counts of these words, or of COUNTED, except 0; and how many get one more email."""
    counts = {word: status["counts"].get(word) for word in words or COUNTED}
    counts["to get one more email"] = status["one_more_email"]
    return [f"{number:,} {in_words(word)}" for word, number in counts.items() if number]


def in_words(word: str) -> str:
    """A word of COUNTED as it is used in a sentence."""
    return "gone from your file" if word == GONE else word


def needs(session: Session, key: str, held: Held | None = None) -> Iterator[Need]:
    """What a campaign needs from a person, the most urgent first. Some needs name people."""
    campaign = find(session, key)
    if unsure := len(doubts(session, campaign.id)):
        many = "request has an unknown result" if unsure == 1 else "requests have unknown results"
        yield Need("unsure", f"{unsure:,} {many}", command("settle", key))
    held = holds(session, campaign) if held is None else held
    if any(any(to_come(session, campaign.id, op, held)) for op in OF_PERSON):
        for hold in campaign_holds(session, campaign, code=code_now(session, campaign.id, held)):
            if hold.needs_a_person:
                yield Need(str(hold.kind), hold.why, hold.type_this)
    for op, step in own_steps(session, campaign.id).items():
        if step.state is State.REFUSED:
            why = f"the service refused {OPERATIONS[op].what}: {step.why}"
            yield Need("refused", why, command("run", campaign.file))
    by_id = {row.person_id: row for row in rows(session, campaign.id, held)}
    for person, hold in held.items():
        if person in by_id:
            yield Need("held", f"{by_id[person].email1} {hold.why}", hold.type_this)
    for row in by_id.values():
        if State.REFUSED in row.states.values() and row.listed:
            typed = command("invite", key, row.email1, "--why", "TEXT")
            yield Need("refused", f"{row.email1}: the service said no ({row.why})", typed)


def waits(session: Session, key: str) -> list[str]:
    """Why a campaign waits: the reasons that need nobody."""
    found = campaign_holds(session, find(session, key))
    return [hold.why for hold in found if not hold.needs_a_person]


def left_over(session: Session, key: str) -> Iterator[Need]:
    """What a person may want to remove at the service, though such a thing stops nothing."""
    for op, number in leftovers(session, find(session, key).id):
        what = "project" if OPERATIONS[op].own else "candidate"
        which = f" {number}" if number is not None else ""
        why = f"the service may have one more {what}{which}; remove it in the web application"
        yield Need("left over", why, command("history", key))


GONE = "gone"  # of people who left the file before an invitation; nobody has to do anything
COUNTED = ("invited", "waiting", "sending", "unsure", "refused", "withdrawn", "held", GONE)
FOR_A_PERSON = ("unsure", "refused", "held")  # people with one of these words wait for a person
APART = (*FOR_A_PERSON, "withdrawn", GONE)  # needs a person, or is over
_WORDS = {
    State.SENDING: "sending",
    State.UNSURE: "unsure",
    State.GIVEN_UP: "withdrawn",
    State.REFUSED: "refused",
}
