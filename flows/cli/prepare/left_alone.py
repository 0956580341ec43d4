"""The people of a plan in words: who is new, who is done, and whom a run would leave alone."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from flows.words.speech import counted

if TYPE_CHECKING:
    from flows.cli.prepare.forecast import Forecast

NAMED = 20  # of each kind; `--json` names everyone


def left_alone(seen: "Forecast", *, send: bool) -> Iterator[tuple[str, str]]:
    """Write people by kind: for each line its first word, and the rest."""
    from tasks.plan.target import left_out

    yield from _new_and_done(seen, send=send)
    if seen.forgotten:
        yield "forgotten", left_out(seen.forgotten)
    yield from _first("held", [f"{email1}: {hold.why}" for email1, hold in seen.held.items()])
    yield from _changes(seen)
    if seen.sending:
        yield "sending", f"{counted(seen.sending, 'candidate')}, by a run right now"
    if seen.unsure:
        yield "unsure", f"{counted(seen.unsure, 'candidate')}: not sent again until you settle it"
    if seen.refused:
        yield "refused", f"{counted(seen.refused, 'candidate')}, by the service; not sent again"
    if seen.withdrawn:
        yield "withdrawn", f"{counted(seen.withdrawn, 'candidate')}, by a person's decision"


def _new_and_done(seen: "Forecast", *, send: bool) -> Iterator[tuple[str, str]]:
    """Name who came in since the last run; before the first one everybody is new."""
    if seen.service is not None:
        new = [person.email1 for person in seen.changes.new]
        yield from _first("new", [email1 for email1 in new if email1 not in seen.held])
    if seen.done:
        yield "done", f"{counted(seen.done, 'candidate')}, {'invited' if send else 'added'}"


def _changes(seen: "Forecast") -> Iterator[tuple[str, str]]:
    """Tell what differs from what was sent, and is not applied: there is no update and no delete
    (interface 4).
    """
    from flows.cli.prepare.forecast import differing, email1_of

    changes = seen.changes
    yield from _first(
        "corrected",
        [f"{old.email1}: {email1_of(now)} is used instead" for old, now in changes.corrected],
    )
    if seen.differs:
        fields = ", ".join(seen.differs)
        yield "changed", f"{fields}: the service has no update, so this is not applied"
    yield from _first(
        "changed",
        [
            f"{person.email1} ({', '.join(differing(before, person))}): already added, so this is "
            "not applied"
            for before, person in changes.changed
        ],
    )
    yield from _first(
        "removed",
        [
            f"{email1_of(before)}: no longer in the definition; nothing is changed"
            for before in (*changes.removed, *seen.struck)
        ],
    )
    if changes.returned:
        yield "returned", f"{counted(len(changes.returned), 'candidate')}, in the definition again"


def _first(word: str, lines: Sequence[str]) -> Iterator[tuple[str, str]]:
    """A few lines of a kind, and how many more there are."""
    yield from ((word, line) for line in lines[:NAMED])
    if len(lines) > NAMED:
        yield word, f"and {len(lines) - NAMED:,} more"
