"""A request to the service and what was seen of it: the evidence for every verdict."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from enum import IntEnum

# Failures that are not exceptions. The first: nothing was sent. The second: nobody can tell which
# of two answers belongs to the request. With the others the status is valid, but the body is lost.
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
    """A request that could have left must not leave any more."""


# Called when the connection is open, before the first byte; raises HeldBack.
Last = Callable[[], Awaitable[None]]


class Phase(IntEnum):
    """How far one request got; the order is the order of the wire."""

    NOTHING = 0  # sending the request headers never started
    SENDING = 1  # it started; any byte may have left
    SENT = 2  # headers and body are fully written
    ANSWERED = 3  # a status line came back


@dataclass(frozen=True, slots=True)
class Exchange:
    """One request and its result. Holds no exception text, which may name an address.

    `body` is None if none came or it was lost, and b"" if a complete answer had none; `begun` is
    the beginning of a lost one. `early` says that the answer began before the whole request had
    left this program, `body_failed` that the whole of it never did. `failure` is the class name of
    the exception that ended the exchange, or a name above. `token` is the number of the token it
    carried (0: none), `seconds` how long it took. `excerpt` finds what the service wrote, for a
    person (tasks/service/excerpt.py); few answers are worth the search. The repr shows no body: an
    answer may repeat names and addresses of candidates.
    """

    reached: Phase
    status: int | None = None
    content_type: str = ""
    body: bytes | None = field(default=None, repr=False)
    begun: bytes = field(default=b"", repr=False)
    early: bool = False
    body_failed: bool = False
    retry_after: str | None = None
    failure: str | None = None
    token: int = 0
    seconds: float = 0.0
    date: str | None = None
    link: str = field(default="", repr=False)
    excerpt: Callable[[], str | None] = field(default=lambda: None, repr=False)
