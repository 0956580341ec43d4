"""Choose the fault of each request; read faults as they are typed on a command line."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from sandbox import faults
from sandbox.faults import ALWAYS, Fault

OPERATIONS = ("token", "problems", "create", "attach", "add", "invite")
KINDS = (
    *("status", "throttled", "late", "at_most", "bad_row", "refuse_all"),
    *("lost", "dropped", "half", "garbage", "html", "redirect", "says_no"),
    *("shuffled", "lowered", "extra", "as_text", "above_2_53"),
    *("missing", "left_out", "doubled", "shared", "earlier", "strangers"),
)
Setting = Fault | Sequence[Fault] | None


class Switchboard(dict[str, Setting]):
    """The current faults by operation, which may be changed while the sandbox runs.

    Setting the faults of an operation, or None, restarts its count of requests.
    """

    def __init__(self, settings: Mapping[str, Setting]) -> None:
        super().__init__()
        self._met: Counter[str] = Counter()
        for operation, setting in settings.items():
            self[operation] = setting

    def __setitem__(self, operation: str, setting: Setting) -> None:
        if operation not in OPERATIONS:
            raise KeyError(f"{operation} is none of {', '.join(OPERATIONS)}")
        self._met[operation] = 0
        super().__setitem__(operation, setting)

    def next(self, operation: str, emails: Callable[[], list[str]]) -> Fault | None:
        """The fault of a request that has just come in, about the people with these addresses."""
        setting = self.get(operation)
        if setting is None:
            return None
        self._met[operation] += 1
        listed = (setting,) if isinstance(setting, Fault) else setting
        number = self._met[operation]
        return next((fault for fault in listed if _is_due(fault, number, emails)), None)


def _is_due(fault: Fault, number: int, emails: Callable[[], list[str]]) -> bool:
    if not fault.at <= number < fault.at + fault.times:
        return False
    if fault.email is not None:
        return fault.email.casefold() in (email.casefold() for email in emails())
    return fault.above is None or len(emails()) > fault.above


def typed_fault(text: str) -> tuple[str, Fault]:
    """Read OPERATION=KIND[:at[:times]], as in invite=lost:3 or invite=503:1:always.

    A kind that needs a value has it after another =: invite=late=2.5, add=bad_row=bob@x.org.
    Raises ValueError in one sentence.
    """
    operation, _, spec = text.partition("=")
    if operation not in OPERATIONS:
        raise ValueError(f"{operation!r} is none of {', '.join(OPERATIONS)}")
    kind, *numbers = spec.split(":")
    kind, _, value = kind.partition("=")
    if kind.isdecimal():
        kind, value = "status", kind
    if kind not in KINDS:
        raise ValueError(f"{kind!r} is none of {', '.join(KINDS)}, nor a status")
    make: Callable[..., Fault] = getattr(faults, kind)
    try:
        values = [_VALUES[kind](value)] if value else []
        counts = [ALWAYS if each == "always" else int(each) for each in numbers]
        named = dict(zip(("at", "times")[: len(counts)], counts, strict=True))
        return operation, make(*values, **named)
    except (KeyError, TypeError, ValueError):
        raise ValueError(f"{spec!r} is not KIND[=VALUE][:at[:times]]") from None


_VALUES: dict[str, Callable[[str], Any]] = {
    **dict.fromkeys(("status", "throttled", "at_most", "refuse_all"), int),
    "late": float,
    "bad_row": str,
}
