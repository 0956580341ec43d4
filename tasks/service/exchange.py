"""One request to the service and what came of it: the evidence that a verdict is made from."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from enum import IntEnum

# Called when the connection stands and before the first byte; what it raises keeps every byte back.
Before = Callable[[], Awaitable[None]]

ENCODED = "the answer has an encoding that was not asked for"


class Phase(IntEnum):
    """How far a request got; the order is the order of the wire."""

    NOTHING = 0  # sending the request headers never started: nothing can have happened
    SENDING = 1  # it started, any byte may have left
    SENT = 2  # headers and body were written, all of them
    ANSWERED = 3  # a status line came back


@dataclass(slots=True)
class Exchange:
    """One request, filled in as it goes; nothing changes it once it has ended.

    The repr shows no body: an answer may repeat names and addresses.

    `headers` have lower-case names. `body` is None if none came or it was lost on the way, and
    b"" if a complete answer had none; `begun` is what arrived of a lost one. `error` says in words
    for people what ended the exchange early; `fatal`, that another try would meet it again.
    `token` is the number of the access token that was used.
    """

    operation: str
    phase: Phase = Phase.NOTHING
    status: int | None = None
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    body: bytes | None = field(default=None, repr=False)
    error: str | None = None
    fatal: bool = False
    begun: bytes = field(default=b"", repr=False)
    cut_short: bool = False  # the whole request never left, although an answer came
    token: int = 0
