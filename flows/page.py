"""What Prefect's pages show of a campaign: a markdown page, the tags of its runs, and events.

Prefect keeps what it shows, so people appear as masked addresses, and no typed reason is shown.
"""

import asyncio
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from hashlib import sha256
from html import escape
from typing import Any
from urllib.parse import quote

from prefect.artifacts import Artifact, acreate_markdown_artifact
from prefect.client.orchestration import PrefectClient, get_client
from prefect.client.schemas.filters import FlowRunFilter
from prefect.events import emit_event
from prefect.logging import get_run_logger
from prefect.runtime import flow_run
from prefect.settings import PREFECT_UI_URL

from config.errors import CampaignError, printable
from config.settings import settings
from data.campaigns.people import find
from data.decisions.doubts import Doubt, doubts
from data.eligibility.holds import holds
from data.store.ledger import Ledger
from flows.ending import End, Ending
from flows.this_run import deployment_named
from tasks.service.messages import masked
from tasks.status import in_words, summary

PATIENCE = 30.0  # seconds in which Prefect's server has to take a page, or a tag
SHOWN = 50  # rows of a table
TAGS = [kind.tag for kind in End]
SOLVE = (End.DONE, End.NOT_YET)  # after these, earlier runs need nobody any more


def artifact_key(campaign: str) -> str:
    """The key of the campaign's page: Prefect allows lower-case letters, digits and dashes."""
    plain = re.sub(r"[^a-z0-9-]", "-", campaign)
    if plain != campaign:  # so that a.b and a-b have two pages
        plain += "-" + sha256(campaign.encode()).hexdigest()[:6]
    return f"campaign-{plain}"


def campaign_page(
    status: Mapping[str, Any], doubts: Sequence[Doubt], ending: Ending, forms: Mapping[str, str]
) -> str:
    """The text of the page: how the last run ended, what to do, counts, and what is unsure.

    `status` is the object of `campaign status KEY --json` without candidates. `forms` has the
    addresses of the forms, by name.
    """
    parts = [
        f"# {text(ending.key)}",
        text(ending.first_line),
        *_next_step(ending, forms),
        _table(("", "now"), _counts(status)),
        *_doubtful(ending.key, doubts, forms),
    ]
    return "\n\n".join(parts) + "\n"


def text(written: str) -> str:
    """Escape a text of others, so that the text makes no tag, no link and no cell of a table."""
    plain = escape(" ".join(printable(written).split()), quote=False)
    return re.sub(r"([\\`*_~|#\[\]])", r"\\\1", plain)


def _next_step(ending: Ending, forms: Mapping[str, str]) -> Iterable[str]:
    next_step = ending.next_step or ""
    if ending.kind is End.APPROVAL:
        yield (
            f"To answer, fill in the form {_form('approve', forms)}; the code of the plan is in "
            "the sentence above, or `pilot` for the pilot's email. Or type:"
        )
    if next_step:  # a command becomes a block of code, so it needs no `text`
        yield f"    {next_step}" if next_step.startswith("campaign ") else text(next_step)


def _form(name: str, forms: Mapping[str, str]) -> str:
    return f"[{name}]({forms[name]})" if name in forms else f"**{name}**"


def _counts(status: Mapping[str, Any]) -> Iterable[tuple[str, object]]:
    yield "service", status["service"]
    for name in ("project", "problem"):
        yield name, f"{status[f'{name}_id'] or ''} {status[name]}".strip()
    for name, number in status["counts"].items():
        if number:
            yield in_words(name), f"{number:,}"


def _doubtful(key: str, doubts: Sequence[Doubt], forms: Mapping[str, str]) -> Iterable[str]:
    """The doubts by number, and how to settle them."""
    columns = ("number", "request", "address", "sent (UTC)", "status")
    rows = [
        (d.part_id, d.op, masked(d.email1), f"{d.sent_at:%Y-%m-%d %H:%M}", d.status or "no answer")
        for d in doubts
    ]
    if rows:
        yield f"## Unsure: {len(rows):,}"
        yield (
            "These requests may have worked, and are never repeated by themselves. Look in the web "
            f"application; then fill in the form {_form('settle', forms)} with the number, or type "
            f"`campaign settle {key}`."
        )
        yield _table(columns, rows[:SHOWN])
    if len(rows) > SHOWN:
        yield f"and {len(rows) - SHOWN:,} more"


def _table(columns: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    heads = list(columns)
    lines = [heads, ["---"] * len(heads), *([text(str(cell)) for cell in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


async def publish_page(ending: Ending) -> None:
    """Renew the campaign's page in Prefect, if its text has changed, and announce the ending.

    If the server is away or the ledger cannot be read, there is no page, and no error.
    """
    counts: dict[str, int] = {}
    with suppress(CampaignError), Ledger.open(settings().database_url, create=False) as ledger:
        with ledger.reading() as session:
            campaign = find(session, ending.key)
            whole = summary(session, ending.key, holds(session, campaign))
            open_ = doubts(session, campaign.id)
        counts = whole["counts"]
        with suppress(Exception):
            await asyncio.wait_for(_publish(whole, open_, ending), PATIENCE)
    await announce(ending, counts)


async def _publish(whole: Mapping[str, Any], open_: Sequence[Doubt], ending: Ending) -> None:
    key = artifact_key(ending.key)
    async with get_client() as client:
        page = campaign_page(whole, open_, ending, await _forms(client, ending))
        newest = await Artifact.aget(key, client)
    if newest and newest.data == page:
        number = newest.id
    else:
        says = text(ending.first_line)
        number = await acreate_markdown_artifact(page, key=key, description=says)
    address = f"{PREFECT_UI_URL.value()}/artifacts/artifact/{number}"
    get_run_logger().info("Its campaign's page: %s", address)  # shown as a link


async def _forms(client: PrefectClient, ending: Ending) -> dict[str, str]:
    """The address of each form by name, with its fields filled in as far as they are known."""
    typed, code = {"campaign": ending.key}, "".join(ending.situations)
    plan = code if code in ending.sentence else "pilot"
    filled_in = {"approve": typed | {"plan": plan}, "settle": typed}
    found = {}
    for name, parameters in filled_in.items():
        if form := await deployment_named(client, f"{name}/{name}"):
            query = quote(quote(json.dumps(parameters)))  # Prefect's pages decode it twice
            found[name] = f"/deployments/deployment/{form.id}/run?parameters={query}"
    return found


async def announce(ending: Ending, counts: Mapping[str, int]) -> None:
    """Emit an event of how a run ended, and tag the run. After SOLVE other runs lose their tags."""
    of = f"campaign.{ending.key}"
    with suppress(Exception):  # if the server is away, the run's state still says how it ended
        emit_event(
            f"campaign.{ending.kind.replace(' ', '-')}",
            {"prefect.resource.id": of, "prefect.resource.name": ending.key},
            payload={"campaign": ending.key, "kind": ending.kind, "counts": dict(counts)},
        )
        async with get_client() as client, asyncio.timeout(PATIENCE):
            await tag(client, flow_run, ending.kind)
            if ending.kind in SOLVE:
                those = {"tags": {"all_": [f"campaign:{ending.key}"], "any_": TAGS}}
                solved = FlowRunFilter.model_validate(those)
                for each in await client.read_flow_runs(flow_run_filter=solved):
                    await tag(client, each, None)


async def tag(client: PrefectClient, run: Any, kind: End | None) -> None:
    """Give a run the tag of this ending, if it needs a person, and take our other tags away."""
    tags = [tag for tag in run.tags if tag not in TAGS]
    tags += [kind.tag] if kind is not None and kind.needs_a_person else []
    if run.id and tags != run.tags:
        await client.update_flow_run(run.id, tags=tags)
