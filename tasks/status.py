"""Where a campaign stands, as one object for programs, and who needs a person, in words."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from sqlmodel import Session, col, func, select

from config.errors import command
from data.campaigns.people import Row, find, invites_of, known, own_steps, rows
from data.decisions.doubts import doubts, leftovers
from data.eligibility.due import to_come
from data.eligibility.holds import Hold, campaign_holds, holds
from data.store.ledger import Ledger
from data.store.states import Op, State
from data.store.tables import STEP, Campaign
from tasks.outputs.links import embed_url, word_of


@dataclass(frozen=True, slots=True)
class Need:
    """One situation that a person should look at: what it is, and what to type."""

    kind: str
    why: str
    type_this: str | None = None


def keys(session: Session) -> list[str]:
    """The campaigns of the ledger, the latest first."""
    return list(session.scalars(select(Campaign.key).order_by(col(Campaign.id).desc())))


def status(session: Session, key: str) -> dict[str, Any]:
    """The object that `campaign status KEY --json` prints."""
    campaign = find(session, key)
    own = own_steps(session, campaign.id)
    held = holds(session, campaign)
    everybody = rows(session, campaign.id)
    project = own[Op.CREATE].service_id
    send = invites_of(campaign).send
    where = [stands(row, held, send=send) for row in everybody]
    words = [word for word, _ in where]
    counts = {"candidates": len(everybody), "added": sum(r.add is State.DONE for r in everybody)}
    counts |= {word: words.count(word) for word in COUNTED if word != GONE or word in words}
    return {
        "campaign": campaign.key,
        "service": campaign.service,
        "project_id": project,
        "problem_id": own[Op.ATTACH].service_id,
        "project": str(own[Op.CREATE].state),
        "problem": str(own[Op.ATTACH].state),
        "counts": counts,
        "candidates": [
            row.fields  # what is sent of them
            | {
                "email1": row.email1,
                "candidate_id": row.candidate_id,
                "add": word_of(row.add),
                "invite": word_of(row.invite),
                "embed_url": embed_url(campaign.app_url, project, row.candidate_id),
                "why": why,
                "stands": word,
            }
            for row, (word, why) in zip(everybody, where, strict=True)
        ],
    }


def progress(ledger: Ledger, key: str) -> dict[Op, tuple[int, int]]:
    """How many people are added and invited, each of how many. Nothing before a run has begun."""
    states = select(STEP.c.op, STEP.c.state, func.count()).group_by(STEP.c.op, STEP.c.state)
    with ledger.reading() as session:
        campaign = known(session, key)
        if campaign is None:
            return {}
        theirs = states.where(STEP.c.campaign_id == campaign.id, STEP.c.person_id != 0)
        counts = {(op, state): n for op, state, n in session.execute(theirs)}
        ops = (Op.ADD, Op.INVITE) if invites_of(campaign).send else (Op.ADD,)
    left = (State.WAITING, State.SENDING, State.UNSURE, State.REFUSED)
    done = {op: counts.get((op, State.DONE), 0) for op in ops}
    return {op: (n, n + sum(counts.get((op, each), 0) for each in left)) for op, n in done.items()}


def stands(row: Row, held: Mapping[int, Hold], *, send: bool) -> tuple[str, str | None]:
    """Where one person stands: a word of COUNTED, or `added` if nobody is invited; and why.

    It is the only answer: a run's sentence, status, the report, and Prefect's page count by it.
    """
    hold = held.get(row.person_id)
    why = row.why or (hold.why if hold else None)
    for state, word in _WORDS.items():
        if state in (row.add, row.invite) and (row.listed or state is not State.REFUSED):
            return word, why
    if row.invite is State.DONE:
        return "invited", why
    if row.add is State.DONE and not send:
        return "added", row.why
    if not row.listed:
        return GONE, "no longer in the file"
    return "held" if hold else "waiting", why


def waits_for_a_person(candidate: Mapping[str, Any]) -> bool:
    """Whether somebody of the status object is unsure, refused or held."""
    return candidate["stands"] in ("unsure", "refused", "held")


def so_far(status: Mapping[str, Any], what: str) -> str:
    """How far a campaign is: `2 of 3 invited`, or `232 invited, 1 withdrawn`, which is everybody.

    `what` is done to its people: invited, or added.
    """
    done = sum(each["stands"] == what for each in status["candidates"])
    apart = {word: n for word in APART if (n := status["counts"].get(word))}
    whole = status["counts"]["candidates"]
    of = "" if apart and done + sum(apart.values()) == whole else f" of {whole:,}"
    return ", ".join((f"{done:,}{of} {what}", *(f"{n:,} {in_words(w)}" for w, n in apart.items())))


def in_words(word: str) -> str:
    """A word of COUNTED as a sentence has it."""
    return "gone from your file" if word == GONE else word


def needs(session: Session, key: str) -> Iterator[Need]:
    """What of a campaign waits for a person, the most urgent first. Names people."""
    campaign = find(session, key)
    unsure = len(doubts(session, campaign.id))
    if unsure:
        many = "request has an unknown result" if unsure == 1 else "requests have unknown results"
        yield Need("unsure", f"{unsure:,} {many}", command("settle", key))
    held = holds(session, campaign)
    if any(to_come(session, campaign.id, op, held) for op in (Op.ADD, Op.INVITE)):
        for hold in campaign_holds(session, campaign):
            if hold.type_this is not None or (hold.until is None and not hold.except_person):
                yield Need(str(hold.kind), hold.why, hold.type_this)
    for op, step in own_steps(session, campaign.id).items():
        if step.state is State.REFUSED:
            what = "the project" if op is Op.CREATE else "its problem"
            yield Need("refused", f"the service refused {what}: {step.why}", None)
    by_id = {row.person_id: row for row in rows(session, campaign.id)}
    for person, hold in held.items():
        if person in by_id:
            yield Need("held", f"{by_id[person].email1} {hold.why}", hold.type_this)
    for row in by_id.values():
        if State.REFUSED in (row.add, row.invite) and row.listed:
            typed = command("invite", key, row.email1, "--why", "TEXT")
            yield Need("refused", f"{row.email1}: the service said no ({row.why})", typed)


def left_over(session: Session, key: str) -> Iterator[Need]:
    """What a person may want to remove at the service. It keeps nobody from anything."""
    for op, number in leftovers(session, find(session, key).id):
        what = "project" if op is Op.CREATE else "candidate"
        which = f" {number}" if number is not None else ""
        why = f"the service may have one more {what}{which}; remove it in the web application"
        yield Need("left over", why, command("history", key))


GONE = "gone"  # from the file, before they were invited: nobody has to do anything
COUNTED = ("invited", "waiting", "sending", "unsure", "refused", "withdrawn", "held", GONE)
APART = ("unsure", "refused", "held", "withdrawn", GONE)  # done with, or a person's matter
_WORDS = {
    State.SENDING: "sending",
    State.UNSURE: "unsure",
    State.GIVEN_UP: "withdrawn",
    State.REFUSED: "refused",
}
