"""An exchange: one request and its answer, the evidence for a verdict."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from enum import IntEnum

# A hook for when the connection is open, before the first byte; if it raises, no byte leaves.
Before = Callable[[], Awaitable[None]]

ENCODED = "the answer has an encoding that was not asked for"


class Phase(IntEnum):
    """How far a request got, in order."""

    NOTHING = 0  # sending the request headers never started: nothing can have happened
    SENDING = 1  # sending started: any byte may have left
    SENT = 2  # all headers and the whole body were written
    ANSWERED = 3  # a status line came back


@dataclass(slots=True)
class Exchange:
    """One request and its answer, filled in as they happen; final once the exchange has ended.

    The repr shows no body, because an answer may repeat names and addresses.

    `headers` have lower-case names. `body` is None if it did not arrive as a whole, and b"" if a
    complete answer has none; `begun` is what arrived. `error` tells people what ended the exchange
    early; with `fatal`, another try would end in the same way. `token` is the number of the access
    token that was used.
    """

    operation: str
    phase: Phase = Phase.NOTHING
    status: int | None = None
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    body: bytes | None = field(default=None, repr=False)
    error: str | None = None
    fatal: bool = False
    begun: bytes = field(default=b"", repr=False)
    cut_short: bool = False  # a part of the request never left
    token: int = 0
