"""The last lines of a command: what happened to each campaign, and what to type next."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from config.command_line import command
from config.timetable.moments import minute_from
from data.holds.rule import Cause
from flows.words.speech import counted, most_quoted

if TYPE_CHECKING:
    from data.store.tables import Approval

# What a person must look at comes last, where it is read.
TOLD = (
    "invited",
    "added",
    "waiting",
    "sending",
    "withdrawn",
    "removed",
    "held",
    "refused",
    "unsure",
)
COUNTED = (
    *("candidates", "added", "invited", "waiting", "held", "removed", "sending"),
    *("unsure", "refused", "withdrawn"),
)
REMOVED = "removed from the file before being invited"


def summary(status: Mapping[str, Any], now: int | None = None) -> str:
    """Count a campaign in one line, from its status object: `47 invited, 1 refused, 2 unsure`.

    `now` is how many of the invitations are those of the run that just ended.
    """
    counts = counted_out(status)
    names = [name for name in TOLD if counts[name]]
    if counts["invited"] and counts["added"] == counts["invited"]:
        names.remove("added")
    words = {name: f"{counts[name]:,} {name}" for name in names}
    if counts["invited"]:
        words["invited"] = _invited(counts["invited"], status.get("withdrawn_since", 0), now)
    if counts["removed"]:
        words["removed"] = f"{counts['removed']:,} {REMOVED}"
    return ", ".join(words.values()) or "nobody added yet"


def _invited(number: int, since: int, now: int | None) -> str:
    words = f"{number:,} invited"
    if now is not None and now != number:
        words = f"{now:,} invited now, {number:,} in all"
    return words + (f" ({since:,} of them withdrawn since)" if since else "")


def counted_out(status: Mapping[str, Any]) -> dict[str, int]:
    """Count separately whom no run will send to (held, removed), and who was withdrawn since."""
    counts, held, removed = status["counts"], status.get("held", 0), status.get("removed", 0)
    return {
        **counts,
        "held": held,
        "removed": removed,
        "waiting": counts["waiting"] - held - removed,
        "withdrawn": counts["withdrawn"] - status.get("withdrawn_since", 0),
    }


def wrote(status: Mapping[str, Any]) -> list[str]:
    """Quote what the service wrote where something is not done."""
    return most_quoted({answer["words"]: answer["requests"] for answer in status["service_wrote"]})


def next_steps(
    status: Mapping[str, Any], file: str, *more: str, instead: str | None = None
) -> list[str]:
    """Say what to type next, one line each; `file` and `more` as they are typed after `run`.

    `instead`: what a person must do before another run can send (tasks/status/asking.py), or ""
    where that was said already.
    """
    key, counts = status["campaign"], counted_out(status)
    calls = (status["project"], status["problem"])
    again = command("run", file, *more)
    steps = []
    if counts["unsure"] or "unsure" in calls:
        steps.append(f"unsure: {command('settle', key)}")
    steps += _mistyped(key, status.get("typed_ids", ()))
    steps += _refused(status, f"fix {file}, then {again}")
    if (counts["waiting"] or "waiting" in calls) and "unsure" not in calls:
        steps += _waiting(status, again, instead)
    held = [hold for hold in status.get("holds", ()) if hold["cause"] != Cause.LISTED]
    steps += _held(key, held, again, status.get("timezone"))
    people = status["counts"]
    if not steps and people["candidates"] > people["waiting"] + people["withdrawn"]:
        steps.append(f"links: {command('links', key)}")
    if (listed := counts["held"] - len(held)) > 0:
        who = counted(listed, "person is", "people are")
        allow = command("allow", key, "EMAIL", "--why", "TEXT")
        steps.append(f"do-not-contact list: {who} left out; to invite one anyway: {allow}")
    if counts["removed"]:
        withdraw = command("withdraw", key, "EMAIL", "--why", "TEXT")
        steps.append(f"removed: they are not invited; to withdraw one for good: {withdraw}")
    if status.get("clean_up"):
        steps.append(f"remove by hand: {command('clean-up', key)}")
    return steps


def _mistyped(key: str, typed: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """What to type if an id that a person typed was refused: no file can correct that."""
    why = ("--why", "TEXT")
    for id_typed in typed:
        if id_typed["step"] == "project":
            right = command("settle", key, "--project", "ID", *why)
            yield f"refused: if the id {id_typed['id']} that you typed is wrong: {right}"
    if ids := [str(id_typed["id"]) for id_typed in typed if id_typed["step"] != "project"]:
        wrong = f"the id {ids[0]} that you typed" if len(ids) == 1 else "an id that you typed"
        right = command("settle", key, "--candidate", "EMAIL=ID", *why)
        yield f"refused: if {wrong} is wrong: {right}"


def _refused(status: Mapping[str, Any], mend: str) -> Iterator[str]:
    """What may be done about what the service refused: the fault may be anywhere."""
    key, people, why = status["campaign"], status["candidates"], ("--why", "TEXT")
    calls = (status["project"], status["problem"])
    added = any(person["add"] == "refused" for person in people)
    invited = any(person["invite"] == "refused" for person in people)
    if added or "refused" in calls:
        yield f"refused: {mend}"
    if code := status.get("listed_refused"):
        # The code keeps it from deciding about unsure adds, and about adds refused since then.
        again = command("settle", key, "--candidates", "again", "--listed", code, *why)
        yield f"refused: if the row is right: {again}"
    if invited:
        # A changed row has no effect on a person who is already added (interface 4: no update).
        yield f"refused: to invite one again: {command('resend', key, 'EMAIL', *why)}"
    if added or invited:
        yield f"refused: to leave one out: {command('withdraw', key, 'EMAIL', *why)}"


def beside_a_run(steps: Sequence[str], key: str) -> list[str]:
    """The same while a run is at work: it will come to those who are waiting."""
    left = [step for step in steps if not step.startswith(("waiting:", "pilot:"))]
    return [*left, f"a run is in progress; look again: {command('status', key)}"]


def _waiting(status: Mapping[str, Any], again: str, instead: str | None) -> Iterator[str]:
    """What to type for those who are waiting: a run, unless a person has to decide first."""
    key = status["campaign"]
    if status.get("paused"):
        yield f"paused: {command('resume', key)}, then {again}"
    elif status.get("to_confirm"):
        yield f"pilot: check its invitation, then {command('confirm', key)}"
    elif instead != "" and "refused" not in (status["project"], status["problem"]):
        yield f"waiting: {instead or again}"


def _held(key: str, held: Sequence[Mapping[str, Any]], again: str, zone: str | None) -> list[str]:
    """What may be done about people who were invited before, or may have been."""
    if not held:
        return []
    ends = sorted(datetime.fromisoformat(hold["until"]) for hold in held if hold["until"])
    wait = [f"held: wait until {minute_from(ends[0], zone)}, then {again}"] if ends else []
    correct = command("correct", key, "OLD", "NEW", "--why", "TEXT")
    seconds = any(hold["cause"] == Cause.SECOND for hold in held)
    return [
        *([f"held: if the earlier address was wrong: {correct}"] if seconds else []),
        f"held: to see why: {command('status', key)}",
        f"held: to invite one anyway: {command('allow', key, 'EMAIL', '--why', 'TEXT')}",
        f"held: to leave one out: {command('withdraw', key, 'EMAIL', '--why', 'TEXT')}",
        *wait,
    ]


def clean_up_line(item: Mapping[str, Any]) -> str:
    """Write one thing to remove: `ada@example.com: candidate 5001 in project 101, withdrawn`."""
    return f"{item['email1']}: {item['why']}" if item["email1"] else str(item["why"])


def lines_of(asked: "Approval") -> list[str]:
    """Write a plan that was shown, a line for each kind of thing; names are masked."""
    from data.campaigns.approvals import code_of, until

    lines = [f"{asked.campaign_key} at {asked.service}, plan {code_of(asked)}"]
    for line in asked.told.splitlines():
        word, _, rest = line.partition(": ")
        lines.append(f"  {word:<11} {rest}")
    if asked.answer_by is not None:
        lines.append(f"  {'answer by':<11} {until(asked)}")
    if asked.answer is not None:
        why = f": {asked.why}" if asked.why else ""
        lines.append(f"  {asked.answer:<11} by {asked.who}{why}")
    return lines
