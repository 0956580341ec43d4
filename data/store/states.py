"""The states of a step, a request and a run, and who decided something."""

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from data.store import clock


class Openness(StrEnum):
    """Which of two copies of a ledger is the ledger."""

    OPEN = "open"
    CLOSED = "closed"  # it was copied elsewhere; it can only be read
    ARRIVING = "arriving"  # a copy whose original is not known to be closed


class Operation(StrEnum):
    """The four calls that change something at the service (interface 4.3 to 4.6)."""

    CREATE = "create_project"
    ATTACH = "attach_problem"
    ADD = "add_candidates"
    INVITE = "invite"


class Step(StrEnum):
    """The state of one step of a campaign or of a candidate.

    WAITING ─► SENDING ─► DONE | REFUSED | UNSURE       provably not sent: back to WAITING
    UNSURE  ─► DONE | WAITING | WITHDRAWN               only by a person's decision; of an add,
                                                        WAITING also by the definition's
    """

    WAITING = "waiting"  # nothing has been sent
    SENDING = "sending"  # claimed by a run; becomes UNSURE if the run is gone
    DONE = "done"  # the service has it
    REFUSED = "refused"  # the service said no, nothing happened
    UNSURE = "unsure"  # it may have happened; only a person may settle this
    WITHDRAWN = "withdrawn"  # a person decided against it


class AttemptState(StrEnum):
    """What is known of one request in the journal.

    The first three count in the schema's unique index: while an attempt is in one of them, the
    database itself refuses a second invitation of that generation.
    """

    SENDING = "sending"  # claimed, durably, before the first byte leaves
    DONE = "done"
    UNSURE = "unsure"
    NOT_SENT = "not_sent"  # provably nothing happened
    REFUSED = "refused"
    OVERRULED = "overruled"  # was unsure; decided: it did not happen, or whatever happened


TAKEN = (AttemptState.SENDING, AttemptState.DONE, AttemptState.UNSURE)
"""While an attempt is in one of these states, its step is taken: the schema's unique index."""

MAY_HAVE_HAPPENED = (*TAKEN, AttemptState.OVERRULED)
"""Whoever decided what since: the service may have done what these requests asked for."""


class Ending(StrEnum):
    """How a run ended. The exit code of the command line follows from it (flows/run/ending.py)."""

    COMPLETED = "completed"  # nothing left to do, nobody needs to look
    NEEDS_ATTENTION = "needs_attention"  # finished; unsure or refused rows wait for a person
    NOT_YET = "not_yet"  # everything is prepared; it is not yet time for the invitations
    AWAITS_APPROVAL = "awaits_approval"  # nothing sent; a person has to approve the plan first
    STOPPED = "stopped"  # ended early by a rule; the same command continues
    DIED = "died"  # its process disappeared; said by the run that found it


@dataclass(frozen=True, slots=True)
class By:
    """Who decides, when and why."""

    who: str
    why: str
    at: datetime = field(default_factory=lambda: clock.now())  # noqa: PLW0108 - as it stands then


class Word(StrEnum):
    """What a person may decide, as typed and as stored in `decision.verdict`."""

    ID = "id"  # it happened; its id was read in the web application
    ATTACHED = "attached"  # it happened: the project has its problem
    SENT = "sent"  # it happened: the invitation arrived
    AGAIN = "again"  # it did not happen: the next run sends it
    ADD_AGAIN = "add-again"  # it may have happened: the definition says to add people once more
    DOUBLE = "double"  # the service has this person once more, under the id in `value`
    WITHDRAW = "withdraw"  # whatever happened, nothing more is sent
    RESEND = "resend"  # an invitation was settled, and another one is wanted
    ALLOW = "allow"  # this person is let through by name, whatever holds them
    CORRECT = "correct"  # the address was wrong; `value` is the row of the right one
    REMOVED = "removed-accepted"  # many people are gone from the definition, and that is right
    CLEANED = "cleaned"  # what was left over in the web application was removed by hand


# Stored instead of its process's start: it claimed nothing, so nobody needs to check it.
SENT_NOTHING = ""

# Why an address is on the do-not-contact list that nobody has put there.
SPELLING = "has the mailbox of somebody who was forgotten"
