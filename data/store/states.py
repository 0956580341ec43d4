"""The four operations, the states of a step, and what a person's word does to one."""

from dataclasses import dataclass
from enum import StrEnum


class Op(StrEnum):
    """The calls that change something at the service (interface 4.3 to 4.6)."""

    CREATE = "create"
    ATTACH = "attach"
    ADD = "add"
    INVITE = "invite"


class State(StrEnum):
    """Of a step, and of its part in one request.

    WAITING ─► SENDING ─► DONE | REFUSED | UNSURE     provably not sent: back to WAITING
    UNSURE  ─► DONE | WAITING | GIVEN_UP     by a person's word, or an answer that came late
    """

    WAITING = "waiting"  # nothing was sent, or provably nothing happened
    SENDING = "sending"  # claimed by a run; unsure if that run is gone
    DONE = "done"  # the service did it
    REFUSED = "refused"  # the service said no, nothing happened
    UNSURE = "unsure"  # it may have happened; a person settles it
    GIVEN_UP = "given up"  # a step: withdrawn; a part: overruled by a person


COUNTS = (State.SENDING, State.DONE, State.UNSURE)
"""Of the parts of one step and generation, one may stand here: the schema's unique index."""

OPEN = {
    Op.CREATE: (State.WAITING, State.REFUSED),
    Op.ATTACH: (State.WAITING, State.REFUSED),
    Op.ADD: (State.WAITING,),
    Op.INVITE: (State.WAITING,),
}
"""Where a step may be claimed. A refused project is tried again once its definition is fixed."""

OF_PROJECT = (Op.CREATE, Op.ATTACH)
"""Steps of the project itself (person 0); the others are of each person."""

NEEDS = {Op.ATTACH: Op.CREATE, Op.ADD: Op.ATTACH, Op.INVITE: Op.ADD}
"""What has to be done before, for the project or for the same person."""


@dataclass(frozen=True)
class Word:
    """What one word of a person does to a step, and to the part that counts for it."""

    fits: tuple[State, ...]  # where the step may stand
    step: State | None  # where it goes; None: back to where its part stands (`back_to`)
    part: State | None = None  # where an unsure part goes; None: it stays
    again: bool = False  # begins the next generation: one more is allowed to count


WORDS = {
    "sent": Word((State.UNSURE,), State.DONE, State.DONE),
    "again": Word((State.UNSURE, State.REFUSED), State.WAITING, State.GIVEN_UP),
    "withdraw": Word((State.WAITING, State.REFUSED, State.UNSURE, State.DONE), State.GIVEN_UP),
    "undo": Word((State.GIVEN_UP,), None),
    "invite": Word((State.DONE, State.REFUSED, State.GIVEN_UP), State.WAITING, again=True),
}
"""A step where a word does not fit stays as it is. SENDING fits none: its answer comes first."""


def back_to(part: State | None) -> State:
    """Where a step stands again once its withdrawal is undone, by the state of its part."""
    return part if part in (State.DONE, State.REFUSED, State.UNSURE) else State.WAITING
