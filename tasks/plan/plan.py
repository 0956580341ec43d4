"""The plan of a campaign: what a run would do now, and what would stop it. Made without a request.

`campaign plan` prints it, the question before a run shows it, a run carries it out, and the inbox
checks whether it contains anything.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum

from config.definition.model import Definition
from config.timetable.moments import in_zone
from data.campaigns import intake, pauses, queries
from data.campaigns.changes import Changes, Known, compare, too_many_gone
from data.campaigns.intake import Intent
from data.campaigns.pauses import Paused
from data.campaigns.remaining import Due, Remaining, due, remaining
from data.campaigns.same_campaign import OPEN
from data.decisions import adding_again
from data.holds.do_not_contact import ListFile
from data.holds.rule import Held
from data.sending import runs
from data.store.ledger import Ledger
from data.store.states import Step
from data.store.tables import Campaign
from tasks.plan.holds import held_by, held_unchanged
from tasks.plan.target import Target
from tasks.plan.timing import Later, before_it_begins, over, timetable_of


class Cause(StrEnum):
    """Why a run would stop before any request, in the order in which a run checks."""

    GUARD = "guard"  # too many people are gone from the definition
    OVER = "over"  # the time of the invitations is over
    PAUSED = "paused"  # by a person, or by invites.hold_on


@dataclass(frozen=True, slots=True)
class Stop:
    """One of these causes, and what happened, in words."""

    cause: Cause
    why: str


@dataclass(frozen=True, slots=True)
class Plan:
    """What a run of a campaign that begins `at` a moment (aware) would do.

    `known` are the ledger's people by email key, without those who are `finished`
    (data/campaigns/changes.py), `changes` says how the definition differs from them. `people` are
    those whom a run would add or invite, in the definition's order, without the `held` ones, by
    email key. If the ledger has stored these bytes already and nobody is held, the plan only
    counts: the three are empty. `project` and `problem`: the state of these calls once the
    definition is stored. `left` are all calls to come; `early` says why no invitation can go out
    yet, `stop` why nothing can. `gone` is what the guard says, even if a person accepted it.
    `intent` and `doubt` are known once the service was asked: what is sent from a new definition,
    and what speaks against its problem (tasks/plan/problem_doubts.py).
    """

    target: Target
    at: datetime
    known: Mapping[str, Known]
    changes: Changes
    people: Sequence[Due]
    held: Mapping[str, Held]
    project: Step
    problem: Step
    left: Remaining
    finished: int = 0
    early: Later | None = None
    stop: Stop | None = None
    gone: str | None = None
    intent: Intent | None = None
    doubt: str | None = None

    @property
    def calls(self) -> Remaining:
        """The calls that a run can make now."""
        return self.left if self.early is None else replace(self.left, invite=0)


def make_plan(
    target: Target,
    ledger: Ledger | None,
    at: datetime,
    *,
    listed: ListFile | None = None,
    accepted: bool = False,
    named: bool = False,
) -> Plan:
    """Compare a definition with the ledger (None: there is none yet); writes nothing.

    `listed` is the do-not-contact file, if the ledger has not stored it yet. `accepted`: a person
    said that it is right that people are gone. `named`: list people one by one, even if nothing
    changed.
    """
    definition, campaign = target.definition, target.known
    if definition is None and campaign is not None and ledger is not None:
        plan = _unchanged(target, campaign, ledger, at, named=named)
    elif definition is not None:
        plan = _changed(target, definition, ledger, at, listed)
    else:
        raise ValueError("a campaign is in a definition or in the ledger")
    if plan.left.invite:
        plan = replace(plan, early=before_it_begins(target, ledger, at))
    return replace(plan, stop=_stop(plan, ledger, accepted=accepted))


def _unchanged(
    target: Target, campaign: Campaign, ledger: Ledger, at: datetime, *, named: bool
) -> Plan:
    held = held_unchanged(campaign, ledger)
    send = campaign.send_invites
    in_ledger: Mapping[str, Known] = {}
    people: list[Due] = []
    if held or named:
        in_ledger = ledger.read(intake.everybody, campaign.id)
        people = [person for person in due(None, in_ledger, send=send) if person.key not in held]
        add, invite = _counted(people)
    else:
        counts = ledger.read(queries.counts, campaign.id)
        add = sum(number for (listed, step, _), number in counts.items() if listed and step is W)
        invite = sum(
            number
            for (listed, step, invited), number in counts.items()
            if send and listed and step in (W, Step.DONE) and invited is W
        )
    project, problem = Step(campaign.project_state), Step(campaign.problem_state)
    left = remaining(project, problem, add, invite)
    return Plan(target, at, in_ledger, Changes(), people, held, project, problem, left)


W = Step.WAITING


def _changed(
    target: Target,
    definition: Definition,
    ledger: Ledger | None,
    at: datetime,
    listed: ListFile | None,
) -> Plan:
    campaign = target.known
    wanted, in_ledger, finished = definition, dict[str, Known](), 0
    dead = False
    if campaign is not None and ledger is not None:
        left = ledger.read(intake.unfinished, campaign.id, definition)
        wanted, finished = left.definition, left.finished
        dead = not ledger.read(runs.at_work, campaign.id)
        in_ledger = _after_the_dead(left.people, campaign, wanted, ledger, dead=dead)
    every = list(due(wanted, in_ledger, send=wanted.invites.send))
    held = held_by(target, wanted, in_ledger, every, ledger, listed)
    people = [person for person in every if person.key not in held]
    project, problem = _calls(wanted, campaign, dead=dead)
    changes = compare(wanted, in_ledger)
    return Plan(
        target,
        at,
        in_ledger,
        changes,
        people,
        held,
        project,
        problem,
        left=remaining(project, problem, *_counted(people)),
        finished=finished,
        gone=too_many_gone(wanted.guard, changes, in_ledger, finished),
    )


def _counted(people: Iterable[Due]) -> tuple[int, int]:
    add = invite = 0
    for person in people:
        add += person.add
        invite += person.invite
    return add, invite


def _after_the_dead(
    in_ledger: dict[str, Known],
    campaign: Campaign,
    definition: Definition,
    ledger: Ledger,
    *,
    dead: bool,
) -> dict[str, Known]:
    """Count what is SENDING without a live run as unsure, as a run does when it begins, and add
    people once more if the definition says so.
    """
    again: set[int] = set()
    if definition.add_again:
        unsure = (Step.UNSURE, Step.SENDING) if dead else (Step.UNSURE,)
        again = {row for _, row in ledger.read(adding_again.find, campaign.id, unsure)}
    if not dead and not again:
        return in_ledger
    return {key: _after_death(person, again, dead=dead) for key, person in in_ledger.items()}


def _after_death(person: Known, again: set[int], *, dead: bool) -> Known:
    add = Step.WAITING if person.row in again else _claimed(person.add, dead=dead)
    invite = _claimed(person.invite, dead=dead)
    if (add, invite) == (person.add, person.invite):
        return person
    return replace(person, add=add, invite=invite)


def _claimed(step: Step, *, dead: bool) -> Step:
    return Step.UNSURE if dead and step is Step.SENDING else step


def _calls(definition: Definition, campaign: Campaign | None, *, dead: bool) -> tuple[Step, Step]:
    """The states of the project and the problem once the definition is stored."""
    project = Step(campaign.project_state) if campaign else Step.WAITING
    problem = Step(campaign.problem_state) if campaign else Step.WAITING
    if project in OPEN and definition.project.id is not None:
        project = Step.DONE
    if problem in OPEN and definition.problem is None:
        problem = Step.DONE
    return _claimed(project, dead=dead), _claimed(problem, dead=dead)


def _stop(plan: Plan, ledger: Ledger | None, *, accepted: bool) -> Stop | None:
    if plan.gone is not None and not accepted:
        return Stop(Cause.GUARD, plan.gone)
    if plan.left.invite and (late := over(timetable_of(plan.target), plan.at)) is not None:
        return Stop(Cause.OVER, late)
    if ledger is None or plan.left.nothing:
        return None
    return pause_of(plan.target.key, ledger)


def pause_of(key: str, ledger: Ledger) -> Stop | None:
    """Say that a campaign is paused; None if it is not."""
    paused = ledger.read(pauses.standing, key)
    return Stop(Cause.PAUSED, in_words(paused)) if paused is not None else None


def in_words(paused: Paused) -> str:
    """Say who paused a campaign, since when, and why."""
    why = f": {paused.why}" if paused.why else ""
    return f"paused by {paused.who} on {in_zone(paused.since, paused.timezone)}{why}"
