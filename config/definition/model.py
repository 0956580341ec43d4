"""A campaign as a person wrote it, validated: every other room works from this."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum

from config.mistakes import Place
from config.tables.where import Selection
from config.timetable.schedule import Schedule
from config.timetable.timetable import Timetable

# First name, last name and source of a pilot who is not in the definition's table.
PILOT = ("Pilot", "Invitation", "pilot")


@dataclass(frozen=True, slots=True)
class Candidate:
    """One person to add and invite. The fields are spelled as in interface 2, "Candidate".

    Texts are what was typed, trimmed; `key` identifies the person (`email_key`). Personal fields
    stay out of the repr, so that no log or traceback shows them.
    """

    first_name: str = field(repr=False)
    last_name: str = field(repr=False)
    email1: str = field(repr=False)
    source: str = field(repr=False)
    notes: str = field(repr=False)
    stage_id: int
    key: str = field(repr=False)
    place: Place
    timezone: str | None = None  # of this person's clock, for working hours; never sent
    hidden: bool = False  # in a hidden row of the sheet


@dataclass(frozen=True, slots=True)
class Project:
    """The project to create, or with an `id` one made in the web application, used as it is.

    Times are naive local wall times as written; `timezone` is an IANA name.
    """

    id: int | None
    name: str
    description: str
    state: str
    starttime: datetime | None
    endtime: datetime | None
    timezone: str | None


@dataclass(frozen=True, slots=True)
class ProblemById:
    """The problem to attach, by the service's identifier.

    `unlisted`: a person insists on it, although the service's list may not have it.
    """

    id: int
    place: Place | None = field(default=None, compare=False)
    unlisted: bool = field(default=False, compare=False)


@dataclass(frozen=True, slots=True)
class ProblemByTitle:
    """The problem to attach, by a title that must match exactly one in the list of problems."""

    title: str
    place: Place | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Approval:
    """A person approves each plan before anything is sent, `within` this time if it is set."""

    within: timedelta | None = None


class Trust(StrEnum):
    """What proves that a request had no effect; the interface names no status for failures."""

    STATUS = "status"  # a status that says so by the rules of HTTP; repeated a few times at most
    WIRE = "wire"  # only that nothing left this machine


@dataclass(frozen=True, slots=True)
class Invites:
    """Whether invitations are sent or people are only added; who must approve; and when.

    `approval` is None if a run need not wait for anybody. Nobody is invited sooner than
    `cooldown` after an invitation by any other campaign. `trust` applies to all requests of the
    campaign, not only to invitations.
    """

    send: bool
    approval: Approval | None = None
    timetable: Timetable = field(default_factory=Timetable)
    cooldown: timedelta | None = None
    trust: Trust = Trust.STATUS


@dataclass(frozen=True, slots=True)
class Definition:
    """One campaign: its key, project, problem and people.

    `problem` is None only for a project that exists and already has its problem. `guard` is the
    share (0 to 1) of people gone from the file at which a run stops before it sends anything.
    `columns` are the headers of a table by the fields that are sent from them. `add_again`: people
    who may or may not have been added are added once more, without asking. `selection` is what
    `where` made of the table; None if there is no `where`. `rows` is how many rows were read, and
    `people` how many people they are.
    """

    campaign: str
    project: Project
    problem: ProblemById | ProblemByTitle | None
    candidates: tuple[Candidate, ...]
    invites: Invites
    place: Place
    schedule: Schedule | None = None
    guard: float | None = None
    columns: Mapping[str, str] = field(default_factory=dict)
    add_again: bool = False
    rows: int = field(default=0, compare=False)
    people: int = field(default=0, compare=False)
    selection: Selection | None = field(default=None, compare=False)

    @property
    def timezone(self) -> str | None:
        """The zone its people use: the project's, or else that of its times."""
        window, schedule = self.invites.timetable.window, self.schedule
        return (
            self.project.timezone
            or (window.timezone if window else None)
            or (schedule.timezone if schedule else None)
        )
