"""A request to the service and what was seen of it: the evidence for every verdict."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from enum import IntEnum

from data.store.states import Operation

__all__ = [
    "CERTIFICATES",
    "ENCODED",
    "GLUED",
    "SPOKE_FIRST",
    "TOO_LONG",
    "Exchange",
    "HeldBack",
    "Last",
    "Operation",
    "Phase",
]

# Failures that are no exception's. The first: nothing was sent. The second: whichever of two
# answers is the request's, nobody can tell. With the others the status stands, the body is lost.
SPOKE_FIRST = "AnswerBeforeRequest"
GLUED = "MoreThanOneAnswer"
ENCODED = "EncodedBody"
TOO_LONG = "BodyTooLong"
# What is wrong with the server's certificate; nothing was sent.
CERTIFICATES = {
    "CertificateExpired": "its certificate has expired",
    "CertificateNotYetValid": "its certificate is not valid yet; check this machine's clock",
    "CertificateUnknown": "its certificate is not signed by an authority this machine trusts; "
    "name your own authority in CAMPAIGN_CA_FILE",
    "CertificateOfAnotherHost": "its certificate is for another host",
    "CertificateRefused": "its certificate is not valid",
}


class HeldBack(Exception):
    """A request that could have left must not do so any more."""


# Asked when the way is open, before the first byte; raises HeldBack.
Last = Callable[[], Awaitable[None]]


class Phase(IntEnum):
    """How far one request got; the order is the order of the wire."""

    NOTHING = 0  # the sending of the request headers never started
    SENDING = 1  # it started; any byte may have left
    SENT = 2  # headers and body are fully written
    ANSWERED = 3  # a status line came back


@dataclass(frozen=True, slots=True)
class Exchange:
    """One request and what came of it. Holds no exception text: that may name an address.

    `body` is None when none came or it was lost, and b"" when a complete answer had none; `begun`
    is the beginning of one that was lost.
    `body_failed` says that writing the request failed midway, whatever was answered after it.
    `failure` is the class name of the exception that ended the exchange, or a name above. `token`
    is the number of the token it carried (0: none), `seconds` how long it took. `excerpt` is what
    the service wrote, for a person (tasks/service/excerpt.py). Printed, it shows neither this nor
    a body: an answer may repeat names and addresses of candidates.
    """

    reached: Phase
    status: int | None = None
    content_type: str = ""
    body: bytes | None = field(default=None, repr=False)
    begun: bytes = field(default=b"", repr=False)
    body_failed: bool = False
    retry_after: str | None = None
    failure: str | None = None
    token: int = 0
    seconds: float = 0.0
    date: str | None = None
    link: str = field(default="", repr=False)
    excerpt: str | None = field(default=None, repr=False)
