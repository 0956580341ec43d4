"""One request to the service and what came of it: the evidence that a verdict is made from."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from enum import IntEnum, StrEnum

# Called when the connection stands and before the first byte; what it raises keeps every byte back.
Before = Callable[[], Awaitable[None]]


class Phase(IntEnum):
    """How far a request got; the order is the order of the wire."""

    NOTHING = 0  # sending the request headers never started: nothing can have happened
    SENDING = 1  # it started, any byte may have left
    SENT = 2  # headers and body were written, all of them
    ANSWERED = 3  # a status line came back


@dataclass(frozen=True, slots=True)
class Exchange:
    """One request, ended. The repr shows no body: an answer may repeat names and addresses.

    `headers` have lower-case names. `body` is None if none came or it was lost on the way, and
    b"" if a complete answer had none; `begun` is what arrived of a lost one. `error` names what
    ended the exchange early (`Failure`, or the class of an exception), never its text, which may
    hold an address. `token` is the number of the access token that was used.
    """

    operation: str
    phase: Phase
    status: int | None = None
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    body: bytes | None = field(default=None, repr=False)
    error: str | None = None
    begun: bytes = field(default=b"", repr=False)
    cut_short: bool = False  # the whole request never left, although an answer came
    token: int = 0
    seconds: float = 0.0


class Failure(StrEnum):
    """What ended an exchange, as far as it says more than its phase. `words` are for people.

    `passing`: worth another try by itself, as long as nothing has been sent.
    """

    words: str
    passing: bool

    def __new__(cls, name: str, words: str, passing: bool = True) -> "Failure":
        """Make a member of a name, words and whether it may pass."""
        member = str.__new__(cls, name)
        member._value_ = name
        member.words, member.passing = words, passing
        return member

    @classmethod
    def of(cls, error: str | None) -> "Failure":
        """Find the member of a name; OURS for a name that no network gives."""
        return next((each for each in cls if each == error), cls.OURS)

    NO_CONNECTION = "no connection", "there is no connection to the service"
    TIMEOUT = "timeout", "there was no connection in time"
    PROXY = "proxy refusal", "the proxy refused the connection"
    SPOKE_FIRST = "spoke first", "the service spoke or hung up before it was asked"
    NO_TOKEN = "no token", "there is no access token yet"
    HELD_BACK = "held back", "the request was held back", False
    CREDENTIALS = "credentials refused", "the credentials were refused", False
    EXPIRED = "certificate expired", "the service's certificate has expired", False
    TOO_EARLY = (
        "certificate not yet valid",
        "the service's certificate is not valid yet; check this machine's clock",
        False,
    )
    UNKNOWN_AUTHORITY = (
        "certificate unknown",
        "no authority that this machine trusts signed the service's certificate;"
        " name your company's in CAMPAIGN_CA_FILE",
        False,
    )
    ANOTHER_HOST = (
        "certificate of another host",
        "the service's certificate is for another host",
        False,
    )
    BAD_CERTIFICATE = "certificate refused", "the service's certificate is not valid", False
    TLS = "tls", "no secure connection to the service could be agreed", False
    ENCODED = "encoded", "the answer has an encoding that was not asked for"
    TOO_LONG = "too long", "the answer has no end"
    BROKEN = "broken", "the connection broke"
    OURS = "ours", "this program could not form the request; check the service's address", False
