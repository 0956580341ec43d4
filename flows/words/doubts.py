"""What is unsure, in words: what was asked, how far it got, where to look, what to type."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from config.command_line import command
from config.email_key import email_key
from config.timetable.moments import in_zone
from data.decisions.verdicts import WORDS, Doubt, Doubts, listed
from data.store.states import Operation, Word
from flows.words.speech import counted, most_quoted, say, say_table

if TYPE_CHECKING:
    from data.store.ledger import Ledger
    from data.store.tables import Campaign

# The names that `campaign status` gives the steps.
STEPS = {
    Operation.CREATE: "project",
    Operation.ATTACH: "problem",
    Operation.ADD: "add",
    Operation.INVITE: "invite",
}
# By tasks/service/evidence.py, Phase. What programs read.
REACHED: Mapping[int | None, str] = {1: "began to leave", 2: "left whole", 3: "was answered"}
# The same for people.
HOW_FAR: Mapping[int | None, str] = {
    1: "partly sent",
    2: "sent completely, no answer",
    3: "answered",
}
MEANS = {
    (Operation.CREATE, Word.ID): "the project exists; put its id into value",
    (Operation.CREATE, Word.AGAIN): "there is no project; the next run creates one",
    (Operation.ATTACH, Word.ATTACHED): "the project has its problem",
    (Operation.ATTACH, Word.AGAIN): "the project has no problem; the next run adds it",
    (Operation.ADD, Word.ID): "the person is in the project; put the candidate id into value",
    (Operation.ADD, Word.AGAIN): "the person is not there; the next run adds and invites them",
    (Operation.ADD, Word.WITHDRAW): "do not add or invite this person any more",
    (Operation.INVITE, Word.SENT): "the email arrived",
    (Operation.INVITE, Word.AGAIN): "it did not arrive; the next run sends it again",
    (Operation.INVITE, Word.WITHDRAW): "do not invite this person any more",
}
# Of many people in one call, this many are shown; the exported file and `--json` have everyone.
SHOWN = 50


Place = tuple[str, str]
"""A step by its name and the email key of the person; "" for project and problem."""


@dataclass(frozen=True, slots=True)
class Standing:
    """Where every step of a campaign stands, and everything in it that is unsure."""

    campaign: "Campaign"
    doubts: Doubts
    steps: Mapping[Place, str]
    emails: Mapping[str, str]  # email1 by email key


def by_place(doubts: Iterable[Doubt]) -> dict[Place, Doubt]:
    """Doubts by what they are about; of two about the same, the last."""
    return {(STEPS[doubt.operation], email_key(doubt.email1)): doubt for doubt in doubts}


def standing_of(ledger: "Ledger", campaign: "Campaign") -> Standing:
    from data.campaigns import queries
    from data.decisions import settling

    steps = {("project", ""): campaign.project_state, ("problem", ""): campaign.problem_state}
    emails = {}
    for person in queries.candidates(ledger, campaign.id):
        steps["add", person.email_key] = person.add_state
        steps["invite", person.email_key] = person.invite_state
        emails[person.email_key] = person.email1
    return Standing(campaign, ledger.read(settling.find, campaign.id, typed=True), steps, emails)


def what(doubt: Doubt) -> str:
    """Name what was asked for: `invite Ada Lovelace <ada@example.com>`."""
    who = f"{doubt.first_name} {doubt.last_name} <{doubt.email1}>"
    return {
        Operation.CREATE: "create the project",
        Operation.ATTACH: "add the problem",
        Operation.ADD: f"add {who}",
        Operation.INVITE: f"invite {who}",
    }[doubt.operation]


def reached(doubt: Doubt) -> str:
    """Say how far the request got: `partly sent`, `answered, status 504`."""
    status = f", status {doubt.status}" if doubt.status is not None else ""
    return HOW_FAR.get(doubt.phase, "not known") + status


def meaning(doubt: Doubt) -> str:
    return proved(doubt.evidence or "no answer was recorded")


def proved(evidence: str) -> str:
    """Say what was seen, without the technical name that the journal keeps in brackets."""
    seen = re.sub(r" \[\w+\]$", "", evidence)
    return seen[:1].upper() + seen[1:] + ("" if seen.endswith(".") else ".")


def words(doubt: Doubt) -> str:
    """List the verdicts that fit and what each means."""
    fitting = [f"{word} = {MEANS[doubt.operation, word]}" for word in WORDS[doubt.operation]]
    return "; ".join([*fitting, "empty = decide later"])


def sent_at(doubt: Doubt) -> str:
    """Write when the request was sent, in the campaign's time."""
    return in_zone(doubt.sent_at, doubt.timezone, seconds=True)


def as_json(doubt: Doubt) -> dict[str, Any]:
    """Return one object of `campaign settle KEY --json`; times are UTC."""
    return {
        "call": doubt.attempt,
        "step": STEPS[doubt.operation],
        "email1": doubt.email1 or None,
        "candidate_id": doubt.candidate_id,
        "sent_at": doubt.sent_at.isoformat(),
        "reached": REACHED.get(doubt.phase, "not known"),
        "status": doubt.status,
        "meaning": meaning(doubt),
        "service_wrote": doubt.answer,
        "verdicts": [str(word) for word in WORDS[doubt.operation]],
        "again_from": doubt.again_from.isoformat(),
        "run_at_work": doubt.alive,
    }


def look(operation: Operation, campaign: "Campaign") -> str:
    """Say where a person finds out what happened."""
    project = "the project" if campaign.project_id is None else f"project {campaign.project_id}"
    problem = "its problem" if campaign.problem_id is None else f"problem {campaign.problem_id}"
    return {
        Operation.CREATE: f'Check in the web application whether the project "{campaign.name}" '
        "exists, and note its id.",
        Operation.ATTACH: f"Check in the web application whether {project} has {problem}.",
        Operation.ADD: f"Check in the web application who is in {project}, and note their ids.",
        Operation.INVITE: "Check in the web application, or ask whether the email arrived.",
    }[operation]


def show(campaign: "Campaign", doubts: Sequence[Doubt]) -> None:
    """Show everything that is unsure, and what to type for each possible outcome."""
    say(f"{campaign.key}: {in_calls(doubts)} unsure")
    for operation in Operation:
        alike = [doubt for doubt in doubts if doubt.operation is operation]
        if alike:
            say("")
            _show_alike(alike)
            say(*(f"  {line}" for line in wrote(alike)))
            say(f"  {look(operation, campaign)}")
            code = listed(doubts, operation)
            say(*(f"    {line}" for line in to_type(operation, campaign.key, code)))
    export = ("settle", campaign.key, "--export", "-o", "FILE")
    say("", f"Or decide in a file, row by row: {command(*export)}")


def in_calls(doubts: Sequence[Doubt]) -> str:
    """Count the requests behind some doubts: a bulk add is one."""
    return counted(len({doubt.attempt for doubt in doubts}), "call")


def wrote(alike: Sequence[Doubt]) -> list[str]:
    """Quote what the service wrote to the requests behind some doubts."""
    answers = {doubt.attempt: doubt.answer for doubt in alike if doubt.answer}
    return most_quoted(Counter(answers.values()))


def _show_alike(alike: Sequence[Doubt]) -> None:
    first = alike[0]
    if first.row is None:
        say(what(first), f"  {sent_at(first)}, {reached(first)}: {meaning(first)}")
        return
    say(f"{STEPS[first.operation]} {counted(len(alike), 'candidate')}")
    say_table(
        ["sent", "email1", "how far it got", "evidence"],
        [(sent_at(doubt), doubt.email1, reached(doubt), meaning(doubt)) for doubt in alike[:SHOWN]],
    )
    if len(alike) > SHOWN:
        say(f"  and {len(alike) - SHOWN:,} more")


def to_type(operation: Operation, key: str, code: str) -> list[str]:
    """One line for each answer a person may find; `code` is that of what was `listed`."""
    seen, why = ("--listed", code), ("--why", "TEXT")
    typed: dict[Operation, list[tuple[str, tuple[str, ...]]]] = {
        Operation.CREATE: [
            ("it exists", ("--project", "ID", *seen)),
            ("it does not exist", ("--project", "again", *seen, *why)),
        ],
        Operation.ATTACH: [
            ("it is there", ("--problem", "attached", *seen)),
            ("it is not there", ("--problem", "again", *seen, *why)),
        ],
        Operation.ADD: [
            ("a person is there", ("--candidate", "EMAIL=ID")),
            ("they are in a list", ("--from", "LIST")),
            ("the others are not there", ("--candidates", "again", *seen, *why)),
            ("add none of them", ("--candidates", "withdraw", *seen, *why)),
        ],
        Operation.INVITE: [
            ("they arrived", ("--invites", "sent", *seen)),
            ("they did not arrive", ("--invites", "again", *seen, *why)),
            ("invite none of them", ("--invites", "withdraw", *seen, *why)),
        ],
    }
    width = max(len(answer) for answer, _ in typed[operation])
    return [
        f"{answer + ':':<{width + 1}}  {command('settle', key, *words)}"
        for answer, words in typed[operation]
    ]
