"""The sections of a campaign's report, each with its heading. Pure."""

from collections.abc import Mapping, Sequence
from typing import Any

from config.command_line import command
from data.decisions.verdicts import Doubt
from data.history.events import (
    Blocked,
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
    Unblocked,
    Wave,
)
from data.history.records import Person, Records
from data.history.stretches import stretches, together
from data.history.stretches import waves as in_waves
from data.store.states import Operation, Step
from flows.report.contents import Section, Table
from flows.report.discretion import Discretion
from flows.report.story import VERDICTS, Teller, came_to, decided, words
from flows.words.doubts import STEPS, meaning, proved, reached

OTHERS = (Paused, Resumed, Blocked, Unblocked, ReceiptDoubted, ReceiptAccepted)
SHOWN = 200  # rows of one table
NAMED = 10  # people beside one reason


def waves(
    events: Sequence[Event],
    requests: Sequence[Request],
    numbers: Mapping[int, int],
    teller: Teller,
    key: str,
) -> Section:
    approved = {event.plan: event.who for event in events if isinstance(event, PlanAnswered)}
    under = {
        event.run: f"{approved.get(event.plan, '')} (plan {event.plan})"
        for event in events
        if isinstance(event, RunBegan) and event.plan
    }
    people = [
        request for request in requests if request.operation in (Operation.ADD, Operation.INVITE)
    ]
    numbered = [wave for stretch in stretches(people) for wave in in_waves(stretch, numbers)]
    own = {None: "", 0: "pilot"}  # where the definition has waves, only they are numbered
    rows = [
        (own.get(wave.number, wave.number) if numbers else place, *_wave(wave, teller, under))
        for place, wave in enumerate(numbered, start=1)
    ]
    columns = ("wave", "started", "ended", "what", "people", "result", "approved by")
    return Section(
        "Waves",
        table=_table(columns, rows, command("history", key)),
        nothing="Nobody was added or invited yet.",
    )


def _wave(wave: Wave, teller: Teller, under: Mapping[int, str]) -> tuple[object, ...]:
    what = "invite" if wave.operation is Operation.INVITE else "add"
    begin, end = (f"{teller.local(at):%Y-%m-%d %H:%M:%S}" for at in (wave.at, wave.until))
    until = end[11:] if end[:10] == begin[:10] else end
    approved = under.get(wave.run, "")
    return begin, until, what, wave.people, came_to(wave.came_to), approved


def refused(records: Records, how: Discretion) -> Section:
    """Who is refused now, by reason."""
    by_reason: dict[tuple[str, str], list[Person]] = {}
    for person in records.people.values():
        for step, state in (("add", person.add_state), ("invite", person.invite_state)):
            if state == Step.REFUSED:
                reason = person.why or "No reason was given."
                by_reason.setdefault((step, reason), []).append(person)
    ordered = sorted(by_reason.items(), key=lambda item: -len(item[1]))
    return Section(
        "Refused, by reason",
        lead="The service said no, and nothing happened." if ordered else "",
        table=_table(
            ("people", "step", "reason", "who"),
            [
                (len(group), step, how.text(why), _named(group, how))
                for (step, why), group in ordered
            ],
        ),
        nothing="Nobody is refused.",
    )


def _named(people: Sequence[Person], how: Discretion) -> str:
    more = f" and {len(people) - NAMED:,} more" if len(people) > NAMED else ""
    return ", ".join(how.person(person) for person in people[:NAMED]) + more


def unsure(doubts: Sequence[Doubt], teller: Teller, how: Discretion, key: str) -> Section:
    return Section(
        "Unsure now",
        lead="These calls may have happened. Look in the web application, then decide: "
        f"{command('settle', key)}"
        if doubts
        else "",
        table=_table(
            ("sent", "step", "who", "how far it got", "evidence"),
            [
                (
                    teller.moment(doubt.sent_at),
                    STEPS[doubt.operation],
                    how.person(doubt) if doubt.row is not None else "",
                    reached(doubt),
                    meaning(doubt),
                )
                for doubt in doubts
            ],
            command("settle", key),
        ),
        nothing="Nothing is unsure.",
    )


def settled(events: Sequence[Event], requests: Sequence[Request], teller: Teller) -> Section:
    """What was unsure, and what a person decided on it."""
    evidence = {request.number: request.evidence for request in requests}
    verdicts = [
        verdict
        for verdict in events
        if isinstance(verdict, Decided) and (verdict.operation, verdict.verdict) in VERDICTS
    ]
    rows = [
        (
            teller.moment(verdict.at),
            decided(verdict, teller).removeprefix("settled ").removeprefix("settled: "),
            verdict.who,
            verdict.why,
            proved(evidence.get(verdict.attempt or 0) or "not recorded"),
        )
        for verdict in together(verdicts)
        if isinstance(verdict, Decided)
    ]
    return Section(
        "Settled by a person",
        table=_table(("when", "verdict", "by", "why", "evidence"), rows),
        nothing="No verdict was needed.",
    )


def plans(events: Sequence[Event], teller: Teller) -> Section:
    rows = []
    # The same plan may be shown again, when nobody answered in time.
    for shown, answer in _answered(events):
        lines = [line for line in shown.told.splitlines() if not line.startswith("people: ")]
        rows.append(
            (
                shown.plan,
                teller.moment(shown.at),
                f"{answer.answer} by {answer.who}" if answer else "not answered",
                teller.moment(answer.at) if answer else "",
                answer.why if answer else "",
                "; ".join(lines),
            )
        )
    return Section(
        "Plans, and who approved them",
        table=_table(("plan", "shown", "answer", "when", "why", "content"), rows),
        nothing="No plan had to be approved.",
    )


def _answered(events: Sequence[Event]) -> list[tuple[PlanShown, PlanAnswered | None]]:
    """Each plan as often as it was shown, with the last answer to it."""
    shown: list[tuple[PlanShown, PlanAnswered | None]] = []
    for event in events:
        if isinstance(event, PlanShown):
            shown.append((event, None))
        elif isinstance(event, PlanAnswered):
            at = max((n for n, (s, _) in enumerate(shown) if s.plan == event.plan), default=None)
            if at is not None:
                shown[at] = (shown[at][0], event)
    return shown


def runs(events: Sequence[Event], teller: Teller) -> Section:
    ended = {end.run: end for end in events if isinstance(end, RunEnded)}
    rows = []
    for event in events:
        if isinstance(event, RunBegan):
            end = ended.get(event.run)
            rows.append(
                (
                    event.run,
                    teller.moment(event.at),
                    teller.moment(end.at) if end else "",
                    end.ending.replace("_", " ") if end else "end not recorded",
                    (end.reason if end else None) or "",
                )
            )
    return Section(
        "Runs",
        table=_table(("run", "started", "ended", "result", "why"), rows),
        nothing="There was no run yet.",
    )


def others(events: Sequence[Event], teller: Teller) -> Section:
    """Whatever else people decided."""
    chosen = [
        event
        for event in events
        if isinstance(event, OTHERS)
        or (isinstance(event, Decided) and (event.operation, event.verdict) not in VERDICTS)
    ]
    return Section(
        "Other decisions",
        table=_table(
            ("when", "what"),
            [(teller.moment(event.at), next(words(event, teller))) for event in together(chosen)],
        ),
        nothing="None.",
    )


def left_over(records: Records, stand: Mapping[str, Any], how: Discretion) -> Section:
    """What a person has to remove, as the status object has it."""
    items = stand.get("clean_up", ())
    named = {item["email1"] for item in items}
    shown = {
        person.email1: how.person(person)
        for person in records.people.values()
        if person.email1 in named
    }
    lead = "The service's interface cannot delete anything, so remove these in the web application."
    return Section(
        "To remove by hand",
        lead=lead if items else "",
        table=_table(
            ("who", "what to remove"),
            [(shown.get(item["email1"], ""), how.text(item["why"])) for item in items],
        ),
        nothing="There is nothing to remove in the web application.",
    )


def _table(columns: Sequence[str], rows: Sequence[Sequence[object]], others: str = "") -> Table:
    """Show up to SHOWN rows, without empty columns; `others` is the command that shows the rest."""
    left_out = None
    if len(rows) > SHOWN:
        left_out = f"and {len(rows) - SHOWN:,} more" + (f": {others}" if others else "")
    kept = [place for place in range(len(columns)) if any(row[place] != "" for row in rows)]
    return Table(
        [columns[place] for place in kept],
        [[row[place] for place in kept] for row in rows[:SHOWN]],
        left_out,
    )
