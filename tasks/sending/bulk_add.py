"""Adding candidates in bulk (interface 4.5), and halving a batch that is refused as a whole."""

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from config.definition.sent_fields import FIELDS
from config.errors import CampaignError
from data.campaigns import intake
from data.sending import queue
from data.sending.claims import Claimed
from data.store.ledger import Ledger
from data.store.states import Operation
from tasks.sending.breaker import IN_A_ROW
from tasks.sending.sender import Learned, Prepared, Sender, Sent
from tasks.service import added_ids, messages
from tasks.service.evidence import Exchange
from tasks.service.verdict import Proof, Then


@dataclass(frozen=True, slots=True)
class AddCandidates:
    """An order to add these candidates to the project, in one request."""

    ledger: Ledger
    project_id: int
    rows: tuple[int, ...]
    operation: Operation = Operation.ADD

    def prepare(self, claimed: Claimed) -> Prepared:
        people = self.ledger.read(intake.people, claimed.rows)
        rows = {person.key: person.row for person in people}
        names = {person.key: (person.fields[0], person.fields[1]) for person in people}

        def read(seen: Exchange) -> Learned:
            matched = added_ids.match_answer(seen.body, names)
            return Learned(
                ids={rows[key]: number for key, number in matched.ids.items()},
                whys={rows[key]: why for key, why in matched.without.items()},
                strangers=self._strangers(matched.strangers),
            )

        bodies = [dict(zip(FIELDS, person.fields, strict=True)) for person in people]
        return Prepared(messages.add_candidates(self.project_id, bodies), read)

    def _strangers(self, answered: Mapping[str, Collection[int]]) -> int:
        """How many people in the answer were not sent, and are not in the project by the ledger
        either.

        Some services answer with everybody in the project.
        """
        if not answered:
            return 0
        try:
            return self.ledger.read(queue.strangers, self.rows[0], answered)
        except CampaignError:  # the outcome of this request is recorded first
            return len(answered)


@dataclass(slots=True)
class Refusals:
    """Single candidates that were refused alike, one after another, with nobody added in between.

    After a number of these, the cause is probably not in their rows: adding stops, and they wait
    like everybody else. `reason` is ours, `wrote` what the service wrote about it, without what
    differs from person to person.
    """

    reason: str = ""
    wrote: str = ""
    rows: list[int] = field(default_factory=list)

    def heard(self, sent: Sent, *, added: bool, wrote: str = "") -> None:
        """Count one add, in the order in which they are made.

        `added`: somebody in its batch was added, so the batch's bad rows are themselves to blame.
        """
        alone = sent.judged.then is Then.ROW
        if added or (alone and (sent.judged.reason, wrote) != (self.reason, self.wrote)):
            self.rows.clear()
        if alone and not added:
            self.reason, self.wrote = sent.judged.reason, wrote
            self.rows += sent.claimed.rows

    @property
    def everybody(self) -> bool:
        return len(self.rows) >= IN_A_ROW

    @property
    def why(self) -> str:
        """Say why adding stops."""
        return (
            f"{len(self.rows)} candidates in a row were refused with the same words, so the cause "
            f"is probably not in their rows. Adding stopped, and they all wait. {self.reason}"
        )


_COMPARED = 200  # characters compared: where an excerpt is cut depends on the names in it
_VARIES = re.compile(r"\S*[@\d]\S*")  # an address, a number of a row or of a request, a time


def alike(excerpt: str | None, own: Iterable[str]) -> str:
    """Reduce the service's words to what it writes about anybody; `own` are the person's fields."""
    words = excerpt or ""
    for text in filter(None, own):
        words = re.sub(rf"(?<!\w){re.escape(text)}(?!\w)", "…", words)
    return _VARIES.sub("…", words)[:_COMPARED]


def _wrote(ledger: Ledger, sent: Sent) -> str:
    if sent.excerpt is None or sent.judged.then is not Then.ROW:
        return ""
    try:
        people = ledger.read(intake.people, sent.claimed.rows)
    except CampaignError:  # the next claim reports it
        people = []
    return alike(sent.excerpt, (str(text) for person in people for text in person.fields[:3]))


async def add(
    sender: Sender,
    ledger: Ledger,
    project_id: int,
    rows: Sequence[int],
    refusals: Refusals,
    *,
    each: Callable[[Sent], None] = lambda _: None,
) -> None:
    """Add candidates; a batch refused as a whole is halved until the bad rows are alone.

    Until anybody in the batch is added, each candidate refused alone is followed by one from a
    distant place: bad rows are often next to each other, and a refusal of everybody shows after a
    few requests. One request at a time: an answer lost here makes every row of the request unsure.
    """

    async def add_one_after_another() -> None:
        waiting = [tuple(rows)]
        added = False
        while waiting and not refusals.everybody:
            batch = waiting.pop(0)
            sent = await sender.send(AddCandidates(ledger, project_id, batch))
            if sent is None:
                continue
            each(sent)
            added = added or sent.judged.proof is Proof.DONE
            refusals.heard(sent, added=added, wrote=_wrote(ledger, sent))
            if sent.judged.then is Then.HALVE:
                middle = len(sent.claimed.rows) // 2
                waiting[:0] = [sent.claimed.rows[:middle], sent.claimed.rows[middle:]]
            elif refusals.rows and waiting:
                waiting = far_from_here(waiting)

    await sender.run_to_end(add_one_after_another())


def far_from_here(waiting: Sequence[tuple[int, ...]]) -> list[tuple[int, ...]]:
    """Put the middle row of the largest batch first, alone."""
    at = max(range(len(waiting)), key=lambda batch: len(waiting[batch]))
    batch = waiting[at]
    middle = len(batch) // 2
    pieces = [batch[:middle], batch[middle + 1 :]]
    return [
        (batch[middle],),
        *waiting[:at],
        *(piece for piece in pieces if piece),
        *waiting[at + 1 :],
    ]
