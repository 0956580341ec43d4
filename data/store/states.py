"""The four operations, the states of a step, and what a person's word does to a step."""

from dataclasses import dataclass
from enum import StrEnum


class Op(StrEnum):
    """The calls that change something at the service (interface 4.3 to 4.6)."""

    CREATE = "create"
    ATTACH = "attach"
    ADD = "add"
    INVITE = "invite"


class State(StrEnum):
    """The state of a step, and of its part in one request.

    WAITING ─► SENDING ─► DONE | REFUSED | UNSURE     provably not sent: back to WAITING
    UNSURE  ─► any of these by a late answer, or as WORDS say by a person's word
    """

    WAITING = "waiting"  # nothing was sent, or provably nothing happened
    SENDING = "sending"  # claimed by a run; unsure if that run is gone
    DONE = "done"  # the service did it
    REFUSED = "refused"  # the service said no, nothing happened
    UNSURE = "unsure"  # it may have happened; a person settles it
    GIVEN_UP = "given up"  # a step: withdrawn; a part: overruled by a person


COUNTS = (State.SENDING, State.DONE, State.UNSURE)
"""At most one part of a step and generation may be in these states: the schema's unique index."""


@dataclass(frozen=True)
class Operation:
    """What is true of one operation, for whoever plans, claims, judges, counts or shows it."""

    what: str  # its object, as in: `the invitation` may have been sent
    done: str  # its participle, as in: the invitation may have been `sent`
    doing: str  # its gerund, as in: the service refused `inviting people`
    own: bool = False  # a step of the project itself (person 0), not of each person
    open: tuple[State, ...] = (State.WAITING,)  # where a step may be claimed
    needs: tuple[Op, ...] = ()  # what has to be done before, for the project or the same person
    of_id: Op | None = None  # the earlier operation whose id names the person in the call
    brings_id: bool = False  # the answer has a new id, else it is not done
    many: bool = False  # several people in one request
    emails: bool = False  # holds on invitations hold it, too


FIXED = (State.WAITING, State.REFUSED)  # `open` of a step that is claimed again if refused
OPERATIONS = {
    Op.CREATE: Operation(
        "the project", "created", "creating the project", own=True, open=FIXED, brings_id=True
    ),
    Op.ATTACH: Operation(
        "the problem", "added", "adding the problem", own=True, open=FIXED, needs=(Op.CREATE,)
    ),
    Op.ADD: Operation(
        "the candidates", "added", "adding people", needs=(Op.ATTACH,), brings_id=True, many=True
    ),
    Op.INVITE: Operation(
        "the invitation", "sent", "inviting people", needs=(Op.ADD,), of_id=Op.ADD, emails=True
    ),
}
OF_PROJECT = tuple(op for op in Op if OPERATIONS[op].own)
OF_PERSON = tuple(op for op in Op if not OPERATIONS[op].own)
BRINGS_ID = tuple(op for op in Op if OPERATIONS[op].brings_id)


@dataclass(frozen=True)
class Word:
    """What one word of a person does to a step, and to the part that counts for it."""

    fits: tuple[State, ...]  # the states that the step may have
    step: State | None  # its new state; None: as its latest part, or WAITING
    part: State | None = None  # the new state of an unsure part; None: it stays
    again: bool = False  # begins the next generation, in which one more part may count


WORDS = {
    "sent": Word((State.UNSURE,), State.DONE, State.DONE),
    "again": Word((State.UNSURE, State.REFUSED), State.WAITING, State.GIVEN_UP),
    "withdraw": Word((State.WAITING, State.REFUSED, State.UNSURE, State.DONE), State.GIVEN_UP),
    "undo": Word((State.GIVEN_UP,), None),
    "invite": Word((State.DONE, State.REFUSED, State.GIVEN_UP), State.WAITING, again=True),
}
"""A word that does not fit changes nothing. No word fits SENDING: the answer comes first."""
