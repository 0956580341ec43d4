"""What goes wrong on purpose in a rehearsal: each trouble once, in the order of the steps."""

from dataclasses import dataclass, replace

from config.definition.model import Definition
from sandbox.faults.faults import Fault
from sandbox.protocol.operations import Operation
from sandbox.server import Sandbox


@dataclass(frozen=True)
class Trouble:
    """What goes wrong, and what a run does about it, in words.

    `after`: the share of the invitations that are sent before it. `doubtful`: it leaves a call
    unsure, so the run asks for the problem list before it goes on.
    """

    what: str
    did: str
    fault: Fault
    after: float = 0.0
    doubtful: bool = True


OUTAGE = Trouble(
    "outage (503)",
    "left it for a person, and held back everything not yet sent",
    Fault("status", "invite", count=None, skip=3, status=503),
    after=2 / 3,
)
TROUBLES = (
    Trouble(
        "project created, but the answer lost",
        "left it for a person, and sent nothing else",
        Fault("lost", "create_project", after_work=True),
    ),
    Trouble(
        "problem attached, but the gateway timed out (504)",
        "the same: it may be attached or not",
        Fault("status", "attach_problem", status=504, after_work=True),
    ),
    Trouble(
        "candidates added, but their ids lost",
        "left these for a person, and invited all others",
        Fault("half", "add_candidates"),
    ),
    Trouble(
        "candidates not added, connection lost",
        "the same: the two cases look alike from outside",
        Fault("lost", "add_candidates", skip=2),
    ),
    Trouble(
        "asked to slow down (429)",
        "waited as long as asked, then continued",
        Fault("status", "invite", status=429, retry_after=1),
        after=1 / 8,
        doubtful=False,
    ),
    Trouble(
        "email sent, but the answer lost",
        "left it for a person, after checking the service",
        Fault("lost", "invite", after_work=True),
        after=1 / 4,
    ),
    Trouble(
        "nothing sent, connection lost",
        "the same: the two cases look alike from outside",
        Fault("lost", "invite"),
        after=1 / 2,
    ),
    OUTAGE,
)


class Troubles:
    """The troubles that a campaign has yet to meet, and those that came, with how often."""

    def __init__(self, service: Sandbox, definition: Definition, per_request: int) -> None:
        """`per_request`: how many candidates are added in one request."""
        self._service = service
        adds = -(-len(definition.candidates) // per_request)
        self._left = [trouble for trouble in TROUBLES if _fits(trouble, definition, adds)]
        self.came: list[tuple[Trouble, int]] = []

    def begin(self, people: int) -> None:
        """Set what is left for one run, in which so many people are still to be invited."""
        faults = [
            replace(trouble.fault, skip=trouble.fault.skip + int(people * trouble.after))
            for trouble in self._left
        ]
        if OUTAGE in self._left:
            # The problem list fails with it: asked for at the start, and after each doubt before.
            asked = sum(trouble.doubtful for trouble in self._left)
            faults.append(Fault("status", "list_problems", count=None, skip=asked, status=503))
        self._service.faults.add(*faults)

    def end(self) -> list[Trouble]:
        """Let the service be well again; returns which troubles came, each for the last time."""
        applied = [fault["applied"] for fault in self._service.faults.as_json()]
        self._service.faults.clear()
        # The fault of the problem list, the last one, is not a trouble of its own.
        by_trouble = list(zip(self._left, applied, strict=False))
        self.came += [(trouble, times) for trouble, times in by_trouble if times]
        self._left = [trouble for trouble, times in by_trouble if not times]
        return [trouble for trouble, times in by_trouble if times]


def _fits(trouble: Trouble, definition: Definition, adds: int) -> bool:
    """Whether this campaign makes such a call, and often enough to meet the trouble."""
    match trouble.fault.operation:
        case Operation.CREATE_PROJECT:
            return definition.project.id is None
        case Operation.ATTACH_PROBLEM:
            return definition.problem is not None
        case Operation.ADD_CANDIDATES:
            return trouble.fault.skip < adds
        case Operation.INVITE:
            return definition.invites.send
    return True
