"""What a campaign's report says, assembled from the ledger. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from config.reading.sources import as_typed_for
from data.decisions.verdicts import Doubt
from data.history.events import Request
from data.history.history import numbers, story
from data.history.records import Records
from data.store.states import Operation, Step
from data.store.tables import Campaign
from flows.report import report_sections as sections
from flows.report.contents import Report
from flows.report.discretion import discreet, discretion
from flows.report.story import Teller
from flows.report.timeline import Point
from flows.words.closing import COUNTED, counted_out, next_steps, summary


def report(
    records: Records,
    doubts: Sequence[Doubt],
    stand: Mapping[str, Any],
    *,
    names: bool,
    instead: str | None,
) -> Report:
    """Assemble the report. `stand` is the status object, `doubts` what is unsure now, `instead`
    what a person must do before another run can send.
    """
    campaign, people, zone = records.campaign, records.people, records.campaign.timezone
    facts = list(_facts(records, Teller(str, zone)))
    steps = next_steps(stand, *_typed(campaign), instead=instead)
    left = (item["why"] for item in stand.get("clean_up", ()))
    how = discretion(records, (*(fact for _, fact in facts), *steps, *left), names=names)
    teller = Teller(lambda row: how.person(people[row]), zone)
    events = [
        event if isinstance(event, Request) else discreet(event, how) for event in story(records)
    ]
    requests = [event for event in events if isinstance(event, Request)]
    invited = any(request.operation is Operation.INVITE for request in requests)
    kind = Operation.INVITE if invited else Operation.ADD
    tried = [request for request in requests if request.operation is kind]
    what = "Invitations" if kind is Operation.INVITE else "People added to the project"
    return Report(
        key=campaign.key,
        name=campaign.name,
        made_at=f"{teller.moment(records.at)} ({campaign.timezone or 'time of this machine'})",
        told=summary(stand) + ".",
        counts=_counts(stand),
        send=bool(campaign.send_invites),
        facts=[(label, how.text(fact)) for label, fact in facts],
        steps=[how.text(step) for step in steps],
        points=[Point(each.at, each.came_to, len(each.people)) for each in tried],
        zone=zone,
        sent=f"{what}, by the time and result of each request.",
        sections=[
            sections.waves(events, requests, numbers(records, events), teller, campaign.key),
            sections.refused(records, how),
            sections.unsure(doubts, teller, how, campaign.key),
            sections.settled(events, requests, teller),
            sections.plans(events, teller),
            sections.runs(events, teller),
            sections.others(events, teller),
            sections.left_over(records, stand, how),
        ],
        about_names=how.told,
    )


def _typed(campaign: Campaign) -> list[str]:
    """What is typed after `run`, without the places where files lie on this machine."""
    beside = Path(campaign.belongs_to).name if campaign.belongs_to else None
    file = Path(campaign.definition).name
    return as_typed_for(campaign.key, file, beside, sheet=campaign.sheet)


def _counts(stand: Mapping[str, Any]) -> dict[str, int]:
    """Count everybody once; those invited and withdrawn since are counted separately too."""
    counts = counted_out(stand)
    since = {"withdrawn after the invitation": stand["withdrawn_since"]}
    return {name: counts[name] for name in COUNTED} | since


def _facts(records: Records, teller: Teller) -> Iterator[tuple[str, str]]:
    campaign = records.campaign
    yield "Service", campaign.service
    if campaign.project_id is not None:
        yield "Project", f"{campaign.project_id}, {_state(campaign.project_state)}"
    else:
        yield "Project", _state(campaign.project_state)
    problem = campaign.problem_id or campaign.problem_title
    yield (
        "Problem",
        f"{problem}, {_state(campaign.problem_state)}" if problem else "the project's own",
    )
    if campaign.starttime or campaign.endtime:
        yield "Open", f"{campaign.starttime or 'now'} to {campaign.endtime or 'no end'}"
    yield "Definition", Path(campaign.definition).name
    yield "In the ledger since", teller.moment(campaign.created_at)
    if campaign.why:
        yield "Reason", campaign.why
    if campaign.problem_doubt:
        yield "Warning", campaign.problem_doubt


def _state(state: str) -> str:
    return "ready" if state == Step.DONE else state
