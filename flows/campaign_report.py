"""What a campaign's report says, assembled from the ledger. Pure.

Nobody is named unless that is asked for: people are masked, and so are the words in which
somebody gave a reason.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from data.doubts import Doubt
from data.events import (
    Decided,
    Event,
    Paused,
    PlanAnswered,
    PlanShown,
    ReceiptAccepted,
    ReceiptDoubted,
    Request,
    Resumed,
    RunBegan,
    RunEnded,
    Wave,
)
from data.history import story
from data.records import Records
from data.report.contents import Report, Section, Table
from data.report.timeline import Point, pictures
from data.states import Operation, Step
from data.stretches import stretches, together, waves
from flows.cli.closing import next_steps, summary
from flows.cli.doubts import STEPS, meaning, reached
from flows.cli.speech import command
from flows.story import VERDICTS, Teller, came_to, decided, proved, words, zone_of
from tasks.masking import masked_email, masked_name, masked_text, words_of_names

SHOWN = 200  # rows of one table
NAMED = 10  # people beside one reason
COUNTED = ("candidates", "added", "invited", "waiting", "sending", "unsure", "refused", "withdrawn")


@dataclass(frozen=True, slots=True)
class Discretion:
    """How people are named in a report, and what becomes of what somebody typed."""

    person: Callable[[Any], str]
    text: Callable[[str], str]
    told: str


def discretion(records: Records, *, names: bool) -> Discretion:
    """Name everybody, or mask everybody."""
    if names:
        told = "This report names candidates. Keep it as carefully as the list of them."
        return Discretion(lambda one: f"{one.first_name} {one.last_name} <{one.email1}>", str, told)
    known = words_of_names((one.first_name, one.last_name) for one in records.people.values())
    return Discretion(
        lambda one: f"{masked_name(one.first_name, one.last_name)} ({masked_email(one.email1)})",
        lambda said: masked_text(said, known),
        "Candidates are masked here: names, addresses, and both in what people wrote as a reason. "
        f"With names: {command('report', records.campaign.key, '--names')}",
    )


def report(
    records: Records,
    doubts: Sequence[Doubt],
    stand: Mapping[str, Any],
    left_over: Sequence[tuple[int | None, str]],
    *,
    names: bool,
) -> Report:
    """Assemble the report. `stand` is the status object, `doubts` what is unsure now.

    `left_over` is what a person has to remove by hand, each with the candidate row it is about.
    """
    campaign = records.campaign
    how = discretion(records, names=names)
    people = records.people
    teller = Teller(lambda row: how.person(people[row]), zone_of(campaign.timezone))
    events = [_discreet(event, how) for event in story(records)]
    requests = [event for event in events if isinstance(event, Request)]
    kind = Operation.INVITE if _invited(requests) else Operation.ADD
    what = "Invitations" if kind is Operation.INVITE else "People added to the project"
    counts = stand["counts"]
    return Report(
        key=campaign.key,
        name=campaign.name,
        made_at=f"{teller.moment(records.at)} ({campaign.timezone or 'time of this machine'})",
        told=summary(stand) + ".",
        counts={name: counts[name] for name in COUNTED},
        send=bool(campaign.send_invites),
        facts=list(_facts(records, teller)),
        steps=next_steps(stand, Path(campaign.definition).name),
        pictures=pictures(_points(requests, kind), teller.zone),
        sent=f"{what}, by when each request was made and what it came to.",
        sections=[
            _waves(events, requests, teller, campaign.key),
            _refused(records, how),
            _unsure(doubts, teller, how, campaign.key),
            _settled(events, requests, teller),
            _plans(events, teller),
            _runs(events, teller),
            _others(events, teller),
            _left_over([(row, how.text(said)) for row, said in left_over], teller),
        ],
        about_names=how.told,
    )


def _invited(requests: Iterable[Request]) -> bool:
    return any(request.operation is Operation.INVITE for request in requests)


def _points(requests: Iterable[Request], kind: Operation) -> Iterator[Point]:
    for request in requests:
        if request.operation is kind:
            yield Point(request.at, request.came_to, len(request.people))


def _discreet(event: Event, how: Discretion) -> Event:
    """Take what a person typed, and where files lie, out of an event as far as that is wanted."""
    if isinstance(event, Decided | PlanAnswered | Paused | Resumed):
        return replace(event, why=how.text(event.why))
    if isinstance(event, ReceiptAccepted):
        return replace(event, why=how.text(event.why), file=Path(event.file).name)
    if isinstance(event, ReceiptDoubted):
        return replace(event, file=Path(event.file).name)
    if isinstance(event, RunEnded) and event.reason:
        return replace(event, reason=how.text(event.reason))
    return event


def _facts(records: Records, teller: Teller) -> Iterator[tuple[str, str]]:
    campaign = records.campaign
    yield "Service", campaign.service
    if campaign.project_id is not None:
        yield "Project", f"{campaign.project_id}, {_state(campaign.project_state)}"
    else:
        yield "Project", _state(campaign.project_state)
    problem = campaign.problem_id or campaign.problem_title
    yield "Problem", f"{problem}, {_state(campaign.problem_state)}" if problem else "its own"
    if campaign.starttime or campaign.endtime:
        yield "Open", f"{campaign.starttime or 'at once'} to {campaign.endtime or 'no end'}"
    yield "Definition", Path(campaign.definition).name
    yield "Known since", teller.moment(campaign.created_at)
    if campaign.why:
        yield "Why it stands", campaign.why


def _state(state: str) -> str:
    return "there" if state == Step.DONE else state


def _waves(
    events: Sequence[Event], requests: Sequence[Request], teller: Teller, key: str
) -> Section:
    approved = {one.plan: one.who for one in events if isinstance(one, PlanAnswered)}
    under = {
        one.run: f"{approved.get(one.plan, '')} (plan {one.plan})"
        for one in events
        if isinstance(one, RunBegan) and one.plan
    }
    people = [one for one in requests if one.operation in (Operation.ADD, Operation.INVITE)]
    found = [wave for some in stretches(people) for wave in waves(some)]
    rows = [_wave(number, wave, teller, under) for number, wave in enumerate(found, start=1)]
    columns = ("wave", "began", "until", "what", "people", "came to", "approved by")
    return Section(
        "Waves",
        table=_table(columns, rows, command("history", key)),
        nothing="Nobody was added or invited yet.",
    )


def _wave(number: int, wave: Wave, teller: Teller, under: Mapping[int, str]) -> tuple[object, ...]:
    what = "invite" if wave.operation is Operation.INVITE else "add"
    begin, end = (f"{teller.local(at):%Y-%m-%d %H:%M:%S}" for at in (wave.at, wave.until))
    until = end[11:] if end[:10] == begin[:10] else end
    approved = under.get(wave.run, "")
    return number, begin, until, what, wave.people, came_to(wave.came_to), approved


def _refused(records: Records, how: Discretion) -> Section:
    """Who is refused now, by reason."""
    by_reason: dict[tuple[str, str], list[Any]] = {}
    for one in records.people.values():
        for step in ("add", "invite"):
            if getattr(one, f"{step}_state") == Step.REFUSED:
                by_reason.setdefault((step, one.why or "No reason was given."), []).append(one)
    ordered = sorted(by_reason.items(), key=lambda item: -len(item[1]))
    return Section(
        "Refused, by reason",
        lead="The service said no, and nothing happened." if ordered else "",
        table=_table(
            ("people", "step", "reason", "who"),
            [(len(some), step, why, _named(some, how)) for (step, why), some in ordered],
        ),
        nothing="Nobody is refused.",
    )


def _named(some: Sequence[Any], how: Discretion) -> str:
    more = f" and {len(some) - NAMED:,} more" if len(some) > NAMED else ""
    return ", ".join(how.person(one) for one in some[:NAMED]) + more


def _unsure(doubts: Sequence[Doubt], teller: Teller, how: Discretion, key: str) -> Section:
    return Section(
        "Unsure now",
        lead=f"It may have happened. A person looks and decides: {command('settle', key)}"
        if doubts
        else "",
        table=_table(
            ("sent", "step", "who", "how far", "what was seen"),
            [
                (
                    teller.moment(one.sent_at),
                    STEPS[one.operation],
                    how.person(one) if one.row is not None else "",
                    reached(one),
                    meaning(one),
                )
                for one in doubts
            ],
            command("settle", key),
        ),
        nothing="Nothing is unsure.",
    )


def _settled(events: Sequence[Event], requests: Sequence[Request], teller: Teller) -> Section:
    """What was unsure, and what a person decided on it."""
    evidence = {one.number: one.evidence for one in requests}
    verdicts = [
        one
        for one in events
        if isinstance(one, Decided) and (one.operation, one.verdict) in VERDICTS
    ]
    rows = [
        (
            teller.moment(one.at),
            decided(one, teller).removeprefix("settled ").removeprefix("settled: "),
            one.who,
            one.why,
            proved(evidence.get(one.attempt or 0) or "not recorded"),
        )
        for one in together(verdicts)
        if isinstance(one, Decided)
    ]
    return Section(
        "Settled by a person",
        table=_table(("when", "verdict", "by", "why", "what was seen"), rows),
        nothing="No verdict was needed.",
    )


def _plans(events: Sequence[Event], teller: Teller) -> Section:
    answers = {one.plan: one for one in events if isinstance(one, PlanAnswered)}
    rows = []
    for one in events:
        if isinstance(one, PlanShown):
            answer = answers.get(one.plan)
            said = [line for line in one.told.splitlines() if not line.startswith("people: ")]
            rows.append(
                (
                    one.plan,
                    teller.moment(one.at),
                    f"{answer.answer} by {answer.who}" if answer else "not answered",
                    teller.moment(answer.at) if answer else "",
                    answer.why if answer else "",
                    "; ".join(said),
                )
            )
    return Section(
        "Plans, and who approved them",
        table=_table(("plan", "shown", "answer", "when", "why", "what it said"), rows),
        nothing="No plan had to be approved.",
    )


def _runs(events: Sequence[Event], teller: Teller) -> Section:
    ended = {one.run: one for one in events if isinstance(one, RunEnded)}
    rows = []
    for one in events:
        if isinstance(one, RunBegan):
            end = ended.get(one.run)
            rows.append(
                (
                    one.run,
                    teller.moment(one.at),
                    teller.moment(end.at) if end else "",
                    end.ending.replace("_", " ") if end else "no end is recorded",
                    (end.reason if end else None) or "",
                )
            )
    return Section(
        "Runs",
        table=_table(("run", "began", "ended", "how", "why"), rows),
        nothing="No run was needed yet.",
    )


def _others(events: Sequence[Event], teller: Teller) -> Section:
    """Whatever else people decided."""
    chosen = [
        one
        for one in events
        if isinstance(one, Paused | Resumed | ReceiptDoubted | ReceiptAccepted)
        or (isinstance(one, Decided) and (one.operation, one.verdict) not in VERDICTS)
    ]
    return Section(
        "Other decisions",
        table=_table(
            ("when", "what"),
            [(teller.moment(one.at), next(words(one, teller))) for one in together(chosen)],
        ),
        nothing="There are none: nobody paused it, and nobody was invited once more.",
    )


def _left_over(left_over: Sequence[tuple[int | None, str]], teller: Teller) -> Section:
    return Section(
        "To remove by hand",
        lead="The service has no way to delete; only the web application has." if left_over else "",
        table=_table(
            ("who", "what is left there"),
            [("" if row is None else teller.person(row), said) for row, said in left_over],
        ),
        nothing="Nothing is left over in the web application.",
    )


def _table(columns: Sequence[str], rows: Sequence[Sequence[object]], others: str = "") -> Table:
    """Show so many rows, without the columns in which nothing stands; `others` shows the rest."""
    left_out = None
    if len(rows) > SHOWN:
        left_out = f"and {len(rows) - SHOWN:,} more" + (f": {others}" if others else "")
    kept = [place for place in range(len(columns)) if any(row[place] != "" for row in rows)]
    return Table(
        [columns[place] for place in kept],
        [[row[place] for place in kept] for row in rows[:SHOWN]],
        left_out,
    )
