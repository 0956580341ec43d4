"""Faults on request: which request gets which fault.

Faults are decided by counting, so that a run can be repeated exactly; chance needs a seed.
"""

import random
import threading
from collections.abc import Collection, Iterable
from dataclasses import KW_ONLY, dataclass, field, fields
from enum import StrEnum
from typing import Any, ClassVar

from pydantic import ConfigDict, TypeAdapter, ValidationError
from pydantic_core import ErrorDetails

from sandbox.protocol.operations import Operation


class Kind(StrEnum):
    # no answer at all
    LOST = "lost"  # the connection is closed
    RESET = "reset"  # the connection is reset
    HANG = "hang"  # silence for `seconds` or until the sandbox stops, then closed
    # an answer that does not arrive whole
    HALF = "half"  # Content-Length promises more than is sent, then closed
    CUT = "cut"  # no Content-Length, half the body, then closed
    STALL = "stall"  # the headers, then as `hang`
    # the right answer, at the wrong moment
    SLOW = "slow"  # the right answer, `seconds` late
    CLOSING = "closing"  # whole, and then the connection is closed without a word
    # another answer
    STATUS = "status"  # `status`, with `retry_after`, `location`, `headers`
    ACCEPTED = "accepted"  # 202 without a body
    HTML = "html"  # 200 with a page
    BODY = "body"  # `body` literally: text as it is, anything else as JSON
    # the right answer to create or add, with other contents
    REORDERED = "reordered"  # the last row first
    LOWERED = "lowered"  # emails in lower case
    PARTIAL = "partial"  # the last row is missing
    DOUBLED = "doubled"  # the first row again, with another id
    SHUFFLED = "shuffled"  # each address with the id and the name of the row after it
    STRANGER = "stranger"  # a row that nobody sent
    EXTRA_KEYS = "extra_keys"  # fields that the interface does not name
    NO_IDS = "no_ids"
    STRING_IDS = "string_ids"
    BOOL_IDS = "bool_ids"


_BEFORE_WORK_UNLESS_TOLD = {Kind.LOST, Kind.RESET, Kind.HANG, Kind.STATUS, Kind.SLOW}
_EITHER = _BEFORE_WORK_UNLESS_TOLD | {Kind.HTML, Kind.BODY, Kind.ACCEPTED}
_OPERATIONS = [operation for operation in Operation if operation is not Operation.UNKNOWN]


@dataclass(frozen=True)
class Fault:
    """What goes wrong, and with which requests.

    Applies to `count` requests (None: to all that follow) among those that match, after the
    first `skip` of them. A request matches by `operation` (None: every call) and, if given, by
    `email`: the candidate invited, or one of those added. With `seed`, each request that is due
    is spared with probability 1 - `chance`.

    `after_work` says whether the service does what it was asked before it misbehaves; left out,
    it is False for lost, reset, hang, status and slow, and True for the others. Raises ValueError
    for what makes no sense.
    """

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(strict=True, extra="forbid")

    kind: str
    operation: str | None = None
    count: int | None = 1
    skip: int = 0
    _: KW_ONLY
    after_work: bool | None = None
    email: str | None = None
    status: int = 500
    retry_after: str | int | None = None
    location: str | None = None
    headers: dict[str, str] = field(default_factory=dict)
    body: Any = None
    seconds: float | None = None
    chance: float = 1.0
    seed: int | None = None

    def __post_init__(self) -> None:
        if self.kind not in list(Kind):
            raise ValueError(f"kind: {self.kind!r} is none of {', '.join(Kind)}")
        if self.operation not in [None, *_OPERATIONS]:
            listed = ", ".join(_OPERATIONS)
            raise ValueError(f"operation: {self.operation!r} is none of {listed}")
        if self.kind == Kind.SLOW and self.seconds is None:
            raise ValueError("a slow answer needs seconds")
        if not 200 <= self.status <= 599:
            raise ValueError("a status is a number from 200 to 599")
        if self.chance != 1.0 and self.seed is None:
            raise ValueError("chance needs a seed, so that the run can be repeated")
        if self.after_work is False and self.kind not in _EITHER:
            raise ValueError(f"{self.kind} always does the work first: leave after_work out")

    @property
    def works(self) -> bool:
        """Whether the service does what it was asked to."""
        if self.after_work is not None:
            return self.after_work
        return self.kind not in _BEFORE_WORK_UNLESS_TOLD


_FAULTS = TypeAdapter(list[Fault])


def faults_from_json(text: str | bytes) -> list[Fault]:
    """Read a JSON list of faults; raises ValueError saying what is wrong."""
    try:
        return _FAULTS.validate_json(text)
    except ValidationError as error:
        raise ValueError(_in_words(error.errors()[0])) from None


def _in_words(wrong: ErrorDetails) -> str:
    name = "".join(map(str, wrong["loc"][1:2]))  # after the number of the fault
    match wrong["type"]:
        case "json_invalid":
            return f"this is not JSON ({wrong['ctx']['error']})"
        case "list_type":
            return "wanted a JSON list of faults"
        case "dataclass_type" | "missing":
            return "a fault is a JSON object with a kind"
        case "unexpected_keyword_argument":
            return f"a fault has no field {name}"
        case "value_error":
            return str(wrong["ctx"]["error"])
    return f"{name}: not {wrong['input']!r}"


@dataclass
class _Waiting:
    """A fault and how far it has got."""

    fault: Fault
    seen: int = 0
    applied: int = 0
    dice: random.Random | None = None

    def due(self, operation: str, emails: Collection[str]) -> bool:
        fault = self.fault
        if fault.operation is not None and fault.operation != operation:
            return False
        if fault.email is not None and fault.email not in emails:
            return False
        self.seen += 1
        if self.seen <= fault.skip or (fault.count is not None and self.applied >= fault.count):
            return False
        return self.dice is None or self.dice.random() < fault.chance


class Faults:
    """The faults that are set, in order; may be changed while the sandbox runs."""

    def __init__(self, faults: Iterable[Fault] = ()) -> None:
        self._lock = threading.Lock()
        self._waiting: list[_Waiting] = []
        self.add(*faults)

    def add(self, *faults: Fault) -> None:
        """Set more faults; each starts counting from here."""
        with self._lock:
            for fault in faults:
                dice = None if fault.seed is None else random.Random(fault.seed)  # noqa: S311 - repeatable on purpose
                self._waiting.append(_Waiting(fault, dice=dice))

    def clear(self) -> None:
        with self._lock:
            self._waiting.clear()

    def next(self, operation: str, emails: Collection[str] = ()) -> Fault | None:
        """Return the fault for the request that has just come in: the first one that is due.

        Every fault that matches counts the request, so `skip` counts requests, not faults.
        """
        with self._lock:
            due = [each for each in self._waiting if each.due(operation, emails)]
            if not due:
                return None
            due[0].applied += 1
            return due[0].fault

    def as_json(self) -> list[dict[str, Any]]:
        """Describe what is set and how often it was applied, for GET /sandbox/faults."""
        with self._lock:
            return [
                {
                    **{each.name: getattr(waiting.fault, each.name) for each in fields(Fault)},
                    "seen": waiting.seen,
                    "applied": waiting.applied,
                }
                for waiting in self._waiting
            ]
