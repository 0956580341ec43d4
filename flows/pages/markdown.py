"""What Prefect's UI tells of a campaign, as Markdown: how far, who needs a person, what to do.

Pure. Prefect keeps what it shows, so people are masked here, and bounded in number.
"""

import re
from base64 import b64encode
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from hashlib import sha256
from html import escape
from pathlib import Path
from typing import Any

from config.command_line import command
from config.timetable.moments import in_zone
from data.campaigns.approvals import Answer, code_of, code_to_approve, until
from data.campaigns.forgotten import is_forgotten
from data.decisions.verdicts import WORDS, Doubt, listed
from data.holds.rule import Holds
from data.privacy.masking import masked_email, masked_name
from data.store.states import Operation, Step
from data.store.tables import Approval, Campaign, Candidate
from flows.report.funnel import funnel
from flows.run.ending import Finish
from flows.words import closing
from flows.words.doubts import STEPS, look, meaning, reached
from tasks.plan.holds import in_words
from tasks.status.standing import furthest

Forms = Mapping[str, str]
NONE: Forms = {}
APPROVE, SETTLE = "approve campaign", "settle campaign"  # the forms that a page names
SHOWN = 50  # people, and doubts, in one table
TOLD = ("candidates", "added", "invited", "waiting", "sending", "unsure", "refused", "withdrawn")
SINCE, REMOVED = "withdrawn_since", "removed"
NEEDS_A_PERSON = (Step.UNSURE, Step.REFUSED)


def artifact_key(prefix: str, campaign: str) -> str:
    """The key of a campaign's artifact: each run makes a new version of the same one.

    Prefect takes lower-case letters, digits and dashes. A key with other characters gets digits
    of its hash, so that two keys stay different.
    """
    plain = re.sub(r"[^a-z0-9-]", "-", campaign)
    if plain != campaign:
        plain += "-" + sha256(campaign.encode()).hexdigest()[:6]
    return f"{prefix}-{plain}"


def percent(counts: Mapping[str, int], *, send: bool) -> float:
    """How much of a campaign is done, in percent, without people withdrawn or removed."""
    steps = 2 if send else 1
    gone = counts["withdrawn"] - counts[SINCE] + counts[REMOVED]
    whole = (counts["candidates"] - gone) * steps
    done = counts["added"] + (counts["invited"] if send else 0)
    return min(100.0, round(100 * done / whole, 1)) if whole > 0 else 100.0


def how_far(counts: Mapping[str, int], *, send: bool) -> str:
    """Say it in a line: `120 of 120 added, 30 of 120 invited`."""
    whole = counts["candidates"]
    line = f"{counts['added']:,} of {whole:,} added"
    if send:
        line += f", {counts['invited']:,} of {whole:,} invited"
    return line + "".join(
        f", {counts[name]:,} {name}" for name in ("unsure", "refused") if counts[name]
    )


def summary(
    campaign: Campaign,
    end: Finish,
    people: Iterable[Candidate],
    doubts: Sequence[Doubt],
    *,
    written: Path | None = None,
    forms: Forms = NONE,
) -> str:
    """Tell where a campaign stands: the page a person opens in the morning.

    `people` are the ledger's rows of everybody who was refused or is unsure, and of as many others
    as are shown; some may be in it twice. `written` is the folder with the links; `forms` are the
    addresses of Prefect's forms, by their names.
    """
    counts, send = end.counts, campaign.send_invites
    by_row = {person.id: person for person in people if not is_forgotten(person.email_key)}
    everybody = [person for _, person in sorted(by_row.items())]
    parts = [
        f"# {campaign.key}: {how_far(counts, send=send)}",
        f"**Stopped.** {text(end.public_reason)}" if end.reason else "",
        _image(funnel(counts, send=send), how_far(counts, send=send)),
        _counts(campaign, counts),
        *_doubtful(campaign, doubts, forms),
        *_refused(campaign, everybody),
        *_held(campaign, end.held),
        *_people(campaign, everybody, counts["candidates"]),
        f"## Files\n\nThe links are in `{written}`." if written else "",
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _image(picture: str, words: str) -> str:
    """Embed a picture in a page of Markdown, with words for whoever cannot see it."""
    encoded = b64encode(picture.encode()).decode()
    return f"![{words}](data:image/svg+xml;base64,{encoded})"


def plan(asked: Approval, forms: Forms = NONE) -> str:
    """Tell what waits for approval, and how to answer; or what the answer was."""
    key = asked.campaign_key
    rows = [line.partition(": ")[::2] for line in asked.told.splitlines()]
    if (by := until(asked)) is not None:
        rows.append(("answer by", by))
    return "\n\n".join(
        (
            f"# {key}: {text(how_it_stands(asked))}",
            table(("", "what a run would do"), rows),
            *(_how_to_answer(asked, forms) if asked.answer is None else _answered(asked)),
            "Once the definition or the ledger has changed, this plan is void, and the next run "
            "shows another one.\n",
        )
    )


def how_it_stands(asked: Approval) -> str:
    """Say in a line what became of a plan so far."""
    stands = "waits for approval" if asked.answer is None else f"{asked.answer} by {asked.who}"
    return f"plan {code_of(asked)} {stands}"


def _how_to_answer(asked: Approval, forms: Forms) -> Iterable[str]:
    typed = command("approve", asked.campaign_key, "--plan", code_of(asked))
    yield (
        f"Nothing was sent. To answer, run the form {_form(APPROVE, forms)} with the plan "
        f"`{code_of(asked)}`, or type:"
    )
    yield f"```\n{typed}\n{typed} --reject --why TEXT\n```"


def _answered(asked: Approval) -> Iterable[str]:
    if asked.why:  # it may name a candidate
        yield f"To see why: `{command('history', asked.campaign_key)}`."
    if asked.answer == Answer.REJECTED:
        approves = command("approve", asked.campaign_key, "--plan", code_to_approve(asked))
        yield f"To approve it all the same: `{approves}`."
    if asked.answer == Answer.APPROVED:
        yield "The next run sends it."


def dated(page: str, at: datetime, zone: str | None) -> str:
    """Say of when a page is: what is decided in a terminal tells Prefect nothing."""
    return (
        f"{page}\n*As of {in_zone(at, zone)}. What was decided in a terminal since then is "
        "shown with the next run.*\n"
    )


def _counts(campaign: Campaign, counts: Mapping[str, int]) -> str:
    rows: list[tuple[object, ...]] = [
        ("service", campaign.service),
        ("project", _call(campaign.project_state, campaign.project_id)),
        ("problem", _call(campaign.problem_state, campaign.problem_id)),
    ]
    if campaign.problem_doubt:
        rows.append(("warning", campaign.problem_doubt))
    now = {**counts, "waiting": counts["waiting"] - counts[REMOVED]}
    rows += [(name, f"{now[name]:,}") for name in TOLD if now[name] or name == "invited"]
    if counts[REMOVED]:
        rows.append((closing.REMOVED, f"{counts[REMOVED]:,}"))
    if counts[SINCE]:
        rows.append(("withdrawn after the invitation", f"{counts[SINCE]:,}"))
    return table(("", "now"), rows)


def _call(state: str, number: int | None) -> str:
    if state == Step.DONE:
        return "the project's own" if number is None else str(number)
    return state if number is None else f"{number}, {state}"


def _form(name: str, forms: Forms) -> str:
    return f"[{name}]({forms[name]})" if name in forms else f"**{name}**"


def _doubtful(campaign: Campaign, doubts: Sequence[Doubt], forms: Forms) -> Iterable[str]:
    """Tell what is unsure, where to look, and the command or form that settles it."""
    if not doubts:
        return
    calls = len({doubt.attempt for doubt in doubts})
    yield (
        f"## Unsure: {calls:,} {'call' if calls == 1 else 'calls'}\n\n"
        "These calls may have happened, and are not sent again until you settle them. Look in the "
        f"web application, then decide: with the form {_form(SETTLE, forms)}, or type "
        f"`{command('settle', campaign.key)}`."
    )
    for operation in Operation:
        of_one_kind = [doubt for doubt in doubts if doubt.operation is operation]
        if of_one_kind:
            yield look(operation, campaign)
            code, verdicts = listed(doubts, operation), ", ".join(WORDS[operation])
            yield f"What: {STEPS[operation]}. Listed: `{code}`. Verdicts: {verdicts}."
            yield table(
                ("person", "who", "sent", "how far it got", "evidence"),
                [_doubt(doubt) for doubt in of_one_kind[:SHOWN]],
            )
            yield _more(len(of_one_kind))


def _doubt(doubt: Doubt) -> tuple[object, ...]:
    who = masked_email(doubt.email1) if doubt.row is not None else ""
    return (
        doubt.row or "",
        who,
        in_zone(doubt.sent_at, doubt.timezone, seconds=True),
        reached(doubt),
        meaning(doubt),
    )


def _refused(campaign: Campaign, people: Sequence[Candidate]) -> Iterable[str]:
    number = sum(Step.REFUSED in (person.add_state, person.invite_state) for person in people)
    not_added = sum(person.add_state == Step.REFUSED for person in people)
    if number:
        key, why = campaign.key, ("--why", "TEXT")
        yield (
            f"## Refused: {number:,}\n\nThe service said no, and nothing happened. "
            f"To see who and why: `{command('status', key)}`."
        )
        if not_added:
            # The command has a code, which on a page of this morning may be out of date.
            yield (
                f"Fix the row in `{Path(campaign.definition).name}`, then run again; if the row "
                "was right, the same command says what to type."
            )
        if number > not_added:
            again = command("resend", key, "EMAIL", *why)
            yield f"To send a refused invitation again: `{again}`."


def _held(campaign: Campaign, held: Holds) -> Iterable[str]:
    if held.number:
        key, person = campaign.key, ("EMAIL", "--why", "TEXT")
        yield (
            f"## Held: {in_words(held)}\n\nTo see who and why: `{command('status', key)}`. Invite "
            f"one anyway with `{command('allow', key, *person)}`, or leave one out for good with "
            f"`{command('withdraw', key, *person)}`."
        )


def _people(campaign: Campaign, people: Sequence[Candidate], number: int) -> Iterable[str]:
    """A table of masked people, up to SHOWN of `number`: those who need a person first."""
    if not number:
        return
    in_order = sorted(people, key=lambda person: _step(campaign, person) not in NEEDS_A_PERSON)
    typed = command("status", campaign.key)
    yield f"## Candidates\n\nNames are masked here; `{typed}` and the files have them."
    yield table(
        ("person", "name", "email", "candidate id", "added", "invited"),
        [
            (
                person.id,
                masked_name(person.first_name, person.last_name),
                masked_email(person.email1),
                person.candidate_id or "",
                person.add_state,
                person.invite_state if campaign.send_invites else "",
            )
            for person in in_order[:SHOWN]
        ],
    )
    yield _more(number)


def _step(campaign: Campaign, person: Any) -> Step:
    add, invite = Step(person.add_state), Step(person.invite_state)
    return furthest(add, invite, send=campaign.send_invites)


def _more(number: int) -> str:
    return f"and {number - SHOWN:,} more" if number > SHOWN else ""


def table(
    columns: Sequence[str], rows: Iterable[Sequence[object]], numbers: Sequence[str] = ()
) -> str:
    """A table; the columns `numbers` are aligned to the right."""
    rule = ["---:" if column in numbers else "---" for column in columns]
    lines = [columns, rule, *([text(str(cell)) for cell in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def text(written: str) -> str:
    """Take the power out of text that others wrote: no tag, no link, no further cell."""
    plain = escape(" ".join(written.split()), quote=False)
    return re.sub(r"([\\`*_~|#\[\]])", r"\\\1", plain)
