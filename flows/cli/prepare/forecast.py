"""What a run would do, counted and named for a person: the plan that the run itself makes
(tasks/plan/plan.py), as `campaign plan` shows it.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from config.definition.model import Candidate, Definition, ProblemById, ProblemByTitle
from data.campaigns.changes import Changes, Known, meant
from data.campaigns.forgotten import is_forgotten
from data.campaigns.remaining import Remaining
from data.campaigns.same_campaign import OPEN
from data.campaigns.whose_turn import Wait
from data.holds.rule import Held
from data.store.ledger import Ledger
from data.store.states import Step
from data.store.tables import Campaign
from flows.cli.prepare.plan_checks import kept_doubt
from tasks.plan.foreseen import Foreseen, foreseen
from tasks.plan.plan import Plan, Stop
from tasks.service.messages import service_date
from tasks.status.standing import furthest

PLAIN = (
    *("campaign", "service", "project_id", "project", "problem", "create", "attach"),
    *("add", "requests", "invite", "done", "problem_doubt", "forgotten", "hidden"),
)
STANDING = (Step.UNSURE, Step.REFUSED, Step.SENDING, Step.WITHDRAWN)


@dataclass(frozen=True, slots=True, kw_only=True)
class Forecast(Remaining):
    """One campaign's plan: the calls a run would make, and what it would leave to a person.

    `requests` are those in which people are added; `project` and `problem` the states of those two
    calls as they stand. `done` counts the candidates who have everything, `standing` those whom a
    run leaves as they are, by their furthest step. `stop` is why a run would send nothing of this
    now. `struck` are people who had already left the definition. `problem_doubt` is what speaks
    against the problem (tasks/plan/problem_doubts.py); if nothing does, `looked` is what the
    service's list says of it. `ahead` is when the invitations would go out. `differs` names fields
    of the campaign that were sent with other values. `held` are those who are left out, by address
    as typed; `forgotten` counts people of the definition who were forgotten. `going` are the email
    keys of those who would be invited (or added, if nobody is invited); `hidden` counts those of
    them who are in hidden rows of the sheet. `adding` are those who would be added.
    `waits` says what a person must do about the pilot before anybody else is invited.
    """

    campaign: str
    service: str | None
    project_id: int | None
    project: Step
    problem: Step
    requests: int
    changes: Changes
    struck: tuple[Known, ...]
    differs: tuple[str, ...]
    done: int
    standing: Mapping[Step, int]
    held: Mapping[str, Held]
    problem_id: int | None = None
    problem_doubt: str | None = None
    looked: str | None = None
    ahead: Foreseen | None = None
    stop: Stop | None = None
    forgotten: int = 0
    going: Collection[str] = ()
    adding: Sequence[Candidate] = ()
    waits: str | None = None
    hidden: int = 0

    @property
    def never(self) -> int:
        """How many people would not be invited at all, as their time ends before their turn."""
        if self.ahead is None or self.ahead.legs.wait not in (Wait.OVER, Wait.TOO_LATE):
            return 0
        return len(self.ahead.legs.left)

    @property
    def needs_a_person(self) -> bool:
        return bool(self.standing[Step.UNSURE]) or Step.UNSURE in (self.project, self.problem)

    def as_json(self) -> dict[str, Any]:
        """Return the object that `campaign plan --json` prints for one campaign."""
        changes = self.changes
        plain = {name: getattr(self, name) for name in PLAIN}
        plain |= {step.value: self.standing[step] for step in STANDING}
        return plain | {
            "new": [person.email1 for person in changes.new],
            "changed": [
                {"email1": person.email1, "fields": list(differing(before, person))}
                for before, person in changes.changed
            ],
            "removed": [email1_of(before) for before in changes.removed],
            "returned": [email1_of(before) for before in changes.returned],
            "removed_before": [email1_of(before) for before in self.struck],
            "corrected": [
                {"email1": person.email1, "instead": email1_of(now)}
                for person, now in changes.corrected
            ],
            "held": [
                {
                    "email1": email1,
                    "cause": hold.cause,
                    "until": hold.until.isoformat() if hold.until else None,
                    "why": hold.why,
                }
                for email1, hold in self.held.items()
            ],
            "differs": list(self.differs),
            "stops": {"cause": self.stop.cause, "why": self.stop.why} if self.stop else None,
            "never": self.never,
            "invitations": [
                {
                    "wave": leg.wave,
                    "count": len(leg.rows),
                    "begins": leg.begins.isoformat(),
                    "ends": leg.ends.isoformat(),
                }
                for leg in (self.ahead.legs.legs if self.ahead else ())
            ],
        }


def forecast(plan: Plan, per_request: int, ledger: Ledger | None) -> Forecast:
    """Count and name for people what a plan has. `ledger` is where its campaign is."""
    definition, campaign = plan.target.definition, plan.target.known
    if definition is None:
        raise ValueError("a plan needs a definition")
    left, changes, in_ledger = plan.left, plan.changes, plan.known
    send = definition.invites.send
    ahead = foreseen(plan, ledger) if left.invite else None
    going = set(ahead.keys if ahead else (person.key for person in changes.new))
    made = campaign is not None and campaign.project_id is not None
    adds = {person.key for person in plan.people if person.add}
    people = meant(definition, in_ledger) if adds else ()
    return Forecast(
        campaign=definition.campaign,
        service=campaign.service if campaign else None,
        project_id=campaign.project_id if campaign and made else definition.project.id,
        project=plan.project,
        problem=plan.problem,
        **asdict(left),
        requests=-(-left.add // per_request),
        changes=changes,
        struck=tuple(_struck(changes, in_ledger)),
        differs=differences(definition, campaign) if campaign else (),
        done=plan.finished + _done(definition, in_ledger),
        standing=_standing(changes, in_ledger, send=send),
        problem_id=campaign.problem_id if campaign else None,
        problem_doubt=kept_doubt(definition, campaign),
        ahead=ahead,
        going=going,
        adding=[person for person, _ in people if person.key in adds],
        waits=plan.early.reason if plan.early and plan.early.wait is Wait.PILOT else None,
        hidden=sum(person.hidden and person.key in going for person in definition.candidates),
        stop=plan.stop,
        forgotten=plan.target.forgotten,
        held={
            (person.email1 if before is None else email1_of(before)): plan.held[person.key]
            for person, before in meant(definition, in_ledger)
            if person.key in plan.held
        },
    )


def _standing(changes: Changes, in_ledger: Mapping[str, Known], *, send: bool) -> dict[Step, int]:
    """Count people by the furthest step, if it is one that a run leaves; a refused person with new
    wording waits again.
    """
    reworded = {person.row for person, _ in changes.reworded}
    counts = Counter(
        furthest(
            Step.WAITING if person.row in reworded else person.add,
            person.invite,
            send=send,
        )
        for person in in_ledger.values()
        if not is_forgotten(person.key)
    )
    return {step: counts[step] for step in STANDING}


def _done(definition: Definition, in_ledger: Mapping[str, Known]) -> int:
    """Count those whom the definition lists and who have all that it asks for, though it says
    something else of them than the ledger.
    """
    send = definition.invites.send
    return sum(
        before is not None and furthest(before.add, before.invite, send=send) is Step.DONE
        for _, before in meant(definition, in_ledger)
    )


def _struck(changes: Changes, in_ledger: Mapping[str, Known]) -> Iterator[Known]:
    """People who were added and had left the definition already before this version of it."""
    back = {person.row for person in changes.returned}
    for person in in_ledger.values():
        out = person.invite is Step.WITHDRAWN or person.instead is not None
        out = out or is_forgotten(person.key)
        if not (person.listed or out or person.row in back) and person.add is not Step.WAITING:
            yield person


def differences(definition: Definition, campaign: Campaign) -> tuple[str, ...]:
    """Name the fields of project and problem that now differ from what was sent.

    The service has no update (interface 4), so these are shown and not applied.
    """
    differing: list[str] = []
    project, problem = definition.project, definition.problem
    if campaign.project_state not in OPEN:
        if project.id is not None:
            differing += ["project.id"] if project.id != campaign.project_id else []
        else:
            now = {
                "name": project.name,
                "description": project.description,
                "state": project.state,
                "starttime": service_date(project.starttime),
                "endtime": service_date(project.endtime),
            }
            differing += [f"project.{name}" for name in now if now[name] != getattr(campaign, name)]
    if campaign.problem_state not in OPEN and (
        (isinstance(problem, ProblemById) and problem.id != campaign.problem_id)
        or (isinstance(problem, ProblemByTitle) and problem.title != campaign.problem_title)
    ):
        differing.append("problem")
    return tuple(differing)


def differing(before: Known, person: Candidate) -> tuple[str, ...]:
    """Name the fields of a person that have changed in the definition."""
    names = ("first_name", "last_name", "email1", "source", "notes", "stage_id")
    return tuple(
        name
        for name, sent in zip(names, before.fields, strict=True)
        if getattr(person, name) != sent
    )


def email1_of(before: Known) -> str:
    """The address of a known person as it was typed."""
    return before.fields[2]
