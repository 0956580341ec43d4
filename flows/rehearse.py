"""`run --rehearse`: send a campaign to a sandbox, with a ledger of its own.

The people get invented addresses, and nothing waits: there is no approval, no pilot, no hours.
The rehearsal makes the same calls as the flow, without Prefect.
"""

import asyncio
import json
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from config.definition import Invites, Problem, Project
from config.reading import CampaignFile
from config.settings import Settings
from data.store.lease import lease
from data.store.ledger import Ledger
from data.store.states import OPERATIONS
from sandbox.server import Sandbox
from tasks.plan import make_plan
from tasks.sending.run import sending


def rehearsed(campaigns: Sequence[CampaignFile], *, as_json: bool) -> None:
    """Send each campaign to a sandbox, and say what would have happened."""
    counts = {read.definition.campaign: asyncio.run(_rehearse(read)) for read in campaigns}
    if as_json:
        print(json.dumps(counts, indent=2))
        return
    for key, done in counts.items():
        print(f"{key}, rehearsed in a sandbox with invented addresses:")
        for op, its in OPERATIONS.items():
            print(f"  requests for {its.doing}: {done[op]:,}")
    print("Nothing left this machine, and your ledger is as it was.")


async def _rehearse(read: CampaignFile) -> Counter[str]:
    with tempfile.TemporaryDirectory() as name, Sandbox() as service:
        folder = Path(name)
        own = {"CAMPAIGN_DATABASE_URL": f"sqlite:///{folder}/ledger.db"}
        settings = Settings.model_validate(service.settings | own)
        invented = _invented(read, folder / read.file.name)
        with Ledger.open(settings.database_url) as ledger:
            key = invented.definition.campaign
            with lease(ledger, key) as held:
                plan = make_plan(invented, ledger, settings)
                never = asyncio.Event()  # nothing stops it
                async with sending(ledger, held, plan.intake.campaign_id, settings, never) as run:
                    await run.everything()
        return Counter(entry["op"] for entry in service.entries())


def _invented(read: CampaignFile, file: Path) -> CampaignFile:
    """The same campaign with invented addresses, for a project and problem of the sandbox."""
    made = read.definition
    definition = made.model_copy(
        update={
            "project": Project(name=made.project.name or f"Project {made.project.id}"),
            "problem": Problem(id=42, title=None),
            "invites": Invites(send=made.invites.send),
        }
    )
    people = []
    for number, each in enumerate(read.listed, 1):
        email = f"candidate{number}@rehearsal.invalid"
        candidate = each.candidate.model_copy(update={"email1": email})
        people.append(replace(each, candidate=candidate, key=email))
    return replace(read, definition=definition, listed=people, file=file)
