"""What Prefect's pages show of a campaign: one markdown page, made from its status.

Prefect keeps what it shows, so a person is a masked address, and a typed reason is left out.
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
from prefect.exceptions import ObjectNotFound
from prefect.logging import get_run_logger
from prefect.runtime import flow_run
from prefect.settings import PREFECT_UI_URL

from config.errors import CampaignError, printable
from config.settings import settings
from data.campaigns.people import find
from data.decisions.doubts import Doubt, doubts
from data.store.ledger import Ledger
from flows.ending import End, Ending
from tasks.service.messages import masked
from tasks.status import in_words, status_of

PATIENCE = 10.0  # seconds that Prefect's server may take for a page
SHOWN = 50  # people in one table
TAGS = [kind.tag for kind in End]
SOLVE = (End.DONE, End.NOT_YET)  # after these nobody is needed for an earlier run either


def artifact_key(campaign: str) -> str:
    """The key of its page: lower-case letters, digits and dashes, as Prefect wants it."""
    plain = re.sub(r"[^a-z0-9-]", "-", campaign)
    if plain != campaign:  # two keys stay different
        plain += "-" + sha256(campaign.encode()).hexdigest()[:6]
    return f"campaign-{plain}"


def campaign_page(
    status: Mapping[str, Any], doubts: Sequence[Doubt], ending: Ending, forms: Mapping[str, str]
) -> str:
    """The page that a person opens in the morning: how far, who needs them, what to do.

    `status` is the object of `campaign status KEY --json`; `ending` tells how the last run ended.
    `forms` says where the forms are, by name.
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
    """Take the power out of text that others wrote: no tag, no link, no further cell."""
    plain = escape(" ".join(printable(written).split()), quote=False)
    return re.sub(r"([\\`*_~|#\[\]])", r"\\\1", plain)


def _next_step(ending: Ending, forms: Mapping[str, str]) -> Iterable[str]:
    next_step = ending.next_step or ""
    if ending.kind is End.APPROVAL:
        yield (
            f"To answer, fill in the form {_form('approve', forms)}; the code of the plan is in "
            "the sentence above, or `pilot` for the pilot's email. Or type:"
        )
    if next_step:  # a command is a block of code, in which nothing has power
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
    """What may have happened, by number, with what settles it."""
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
    """Renew the campaign's page in Prefect, if there is anything new to show, and announce it.

    A server that is away is not waited for, and a ledger that cannot be read has no page.
    """
    counts: dict[str, int] = {}
    with suppress(CampaignError), Ledger.open(settings().database_url, create=False) as ledger:
        with ledger.reading() as has:
            whole, open_ = status_of(has, ending.key), doubts(has, find(has, ending.key).id)
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
    get_run_logger().info("Its campaign's page: %s", address)  # which Prefect shows as a link


async def _forms(client: PrefectClient, ending: Ending) -> dict[str, str]:
    """Where each form is, filled in as far as it can be."""
    typed, code = {"campaign": ending.key}, ending.fingerprint
    plan = code if code in ending.sentence else "pilot"
    filled_in = {"approve": typed | {"plan": plan}, "settle": typed}
    found = {}
    for name, parameters in filled_in.items():
        with suppress(ObjectNotFound):
            form = await client.read_deployment_by_name(f"{name}/{name}")
            query = quote(quote(json.dumps(parameters)))  # Prefect's pages read it twice
            found[name] = f"/deployments/deployment/{form.id}/run?parameters={query}"
    return found


async def announce(ending: Ending, counts: Mapping[str, int]) -> None:
    """Tell automations by an event how a run ended, and show it by this run's tag. Names nobody."""
    of = f"campaign.{ending.key}"
    with suppress(Exception):  # a server that is away hears of it from the state
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
    """Show by its tag that a run ended so and somebody is needed; None: nobody is, any more."""
    tags = [tag for tag in run.tags if tag not in TAGS]
    tags += [kind.tag] if kind is not None and kind.needs_a_person else []
    if run.id and tags != run.tags:
        await client.update_flow_run(run.id, tags=tags)
