"""The commands that look: `plan`, `status` and `history`, none of which asks the service."""

import json
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import typer
from sqlmodel import Session

from config.errors import command
from config.reading import CampaignFile
from config.settings import settings
from data.campaigns.history import Event, events_of
from data.campaigns.intake import Allowed
from data.campaigns.people import find
from data.eligibility.holds import holds
from data.sending.runs import recover_all
from data.store.ledger import Ledger
from data.store.states import OPERATIONS
from data.store.tables import Campaign
from flows.cli import words
from flows.ending import guard_stop
from tasks.plan import Plan, make_plan
from tasks.sources.reading import fetch_campaign
from tasks.status import Need, campaign_keys, counted, left_over, needs, status_of, summary, waits

SHOWN = 20  # people whom `status` names; --json names all


def plan(
    file: Path = typer.Argument(..., help="The definition."),
    as_json: bool = typer.Option(False, "--json", help="Print one JSON object."),
) -> int:
    """Show what a run would do, against the ledger; nothing is sent.

    Example: campaign plan backend-2026.yaml
    """
    if file.is_dir():
        raise typer.BadParameter(f"a folder; type: {command('check', file)}", param_hint="FILE")
    read, here = fetch_campaign(file), settings()
    # A plan is kept in the ledger only if somebody has to approve it.
    kept = read.definition.invites.approval is not None and bool(here.base_url)
    with Ledger.open(here.database_url) as ledger:
        made = make_plan(read, ledger, here, allowed=Allowed(here.who), dry=not kept)
    if as_json:
        print(json.dumps(_as_json(made), ensure_ascii=False, indent=2))
    else:
        for line in (*words.planned(made, read), *_more(made, read)):
            print(line)
    return 3 if made.holds else 0


def status(
    key: str = typer.Argument("", help="The campaign; default: all of them."),
    as_json: bool = typer.Option(False, "--json", help="Print one JSON object, or a list of all."),
) -> int:
    """Show where campaigns stand, who needs a person, and what to type.

    Example: campaign status backend-2026
    """
    found: list[dict[str, Any]] = []
    said: list[str] = []
    code = 0
    with Ledger.open(create=False) as ledger:
        recover_all(ledger)  # requests of runs that were killed become unsure
        with ledger.reading() as session:
            for each in [key] if key else campaign_keys(session):
                campaign = find(session, each)
                held = holds(session, campaign)
                needed = [*guard_stop(session, campaign), *needs(session, each, held)]
                code = 3 if needed else code
                found.append((status_of if as_json else summary)(session, each, held))
                if not as_json:
                    said += _where_it_stands(session, campaign, found[-1], needed)
    if as_json:
        print(json.dumps(found[0] if key else found, ensure_ascii=False, indent=2))
    else:
        print("\n".join(said) or "No campaign yet. Begin with: campaign new backend-2026.yaml")
    return code


def history(
    key: str = typer.Argument(..., help="The campaign."),
    email: str | None = typer.Argument(None, help="One person of it."),
) -> None:
    """Show every request and every decision in order, with who and why.

    Example: campaign history backend-2026 ada@example.org
    """
    with Ledger.open(create=False) as ledger, ledger.reading() as session:
        campaign = find(session, key)
        events = events_of(session, campaign.id, email)
    for event in events:
        print(_line(event))
    if not events:
        print("Nothing has happened yet.")


def _where_it_stands(
    session: Session, campaign: Campaign, found: dict[str, Any], needed: Sequence[Need]
) -> Iterator[str]:
    counts, key = found["counts"], campaign.key
    said = [words.counted(counts["candidates"], "candidate")] if counts["candidates"] else []
    said += counted(found)
    project = f"project {found['project_id']}" if found["project_id"] else "no project yet"
    problem = f"problem {found['problem_id']}" if found["problem_id"] else "no problem yet"
    yield f"{key}: {project}, {problem}, {found['service']}"
    yield f"  {', '.join(said) or 'nobody'}"
    if "unsure" in (found["project"], found["problem"]):
        yield f"  project {found['project']}, problem {found['problem']}"
    yield from (f"  waits: {why}" for why in waits(session, key))
    to_send = counts["waiting"] or found["one_more_email"]
    goes_on, typed = command("run", campaign.file), {need.type_this for need in needed}
    if to_send and {need.kind for need in needed} <= {"held", "refused"} and goes_on not in typed:
        yield f"      {goes_on}"
    for need in (*needed[:SHOWN], *islice(left_over(session, key), SHOWN)):
        yield f"  {need.kind}: {need.why}"
        if need.type_this:
            yield f"      {need.type_this}"
    if len(needed) > SHOWN:
        yield f"  and {len(needed) - SHOWN:,} more: {command('status', key)} --json"


def _on_one_line(text: str) -> str:
    return " ".join(text.split())


def _line(event: Event) -> str:
    at = f"{event.at.astimezone():%Y-%m-%d %H:%M:%S}"
    about = f" {event.about}" if event.about else ""
    words_ = f': "{_on_one_line(event.words)}"' if event.words else ""
    if event.who:
        return f"{at}  {_on_one_line(event.who)}: {event.word}{about}{words_}"
    status = f" ({event.status})" if event.status else ""
    return f"{at}  {event.word}{about}: {event.came}{status}{words_}"


def _more(made: Plan, read: CampaignFile) -> Iterator[str]:
    """What is unsure, the plan's code, and what to type."""
    if made.unsure:
        many = words.counted(made.unsure, "request has", "requests have")
        yield f"  unsure    {many} an unknown result"
        yield f"            {command('settle', made.key)}"
    yield f"  plan      {made.code}"
    if made.nothing_due and not made.holds:
        yield "Nothing is left to be sent."
    elif not made.holds:
        yield words.then("run", read.file)


def _as_json(made: Plan) -> dict[str, Any]:
    def hold(each: Any) -> dict[str, Any]:
        until = each.until.isoformat() if each.until else None
        return {"kind": each.kind, "why": each.why, "until": until, "type": each.type_this}

    return {
        "campaign": made.key,
        "code": made.code,
        "project": made.project,
        "problem": made.problem,
        **{op: bool(many) if OPERATIONS[op].own else many for op, many in made.to_do.items()},
        "unsure": made.unsure,
        "gone": list(made.intake.gone),
        "holds": [hold(each) for each in (*made.holds, *made.waits)],
        "held": [{"email1": email1, **hold(why)} for email1, why in made.held.items()],
    }
