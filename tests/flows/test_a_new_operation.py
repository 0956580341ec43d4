"""A new operation: whoever adds one to `Op` is told here of every place that has to know it."""

import inspect
import shutil
from pathlib import Path

from prefect import Task
from sqlalchemy import func, select

from data.store.ledger import Ledger
from data.store.states import OF_PERSON, OPERATIONS, Op
from data.store.tables import PERSON, STEP
from flows import campaign, steps
from sandbox import api
from tasks.sending.run import CampaignRun
from tasks.service.client import Service

OLD = Path(__file__).parents[1] / "data" / "ledger-1.0.db"


def test_a_new_operation_is_known_everywhere(tmp_path: Path) -> None:
    tasks = {name: name.split("_")[0] for name, of in vars(steps).items() if isinstance(of, Task)}
    flow, run, sandbox = map(inspect.getsource, (campaign, CampaignRun.everything, api))
    shutil.copy(OLD, tmp_path / "ledger.db")
    with Ledger.open(f"sqlite:///{tmp_path / 'ledger.db'}") as ledger, ledger.reading() as session:
        people = session.scalar(select(func.count()).select_from(PERSON))
        of_each = session.execute(select(STEP.c.op, func.count()).group_by(STEP.c.op))
        have_it = [op for op, number in of_each if op not in OF_PERSON or number == people]
    places = {
        "OPERATIONS in data/store/states.py": OPERATIONS,
        "a migration in data/store/migrations: a step for whoever is in a ledger already": have_it,
        "a method of Service in tasks/service/client.py": vars(Service),
        "a method of CampaignRun in tasks/sending/run.py": vars(CampaignRun),
        "CampaignRun.everything": [op for op in Op if f"await self.{op}(" in run],
        "a task in flows/steps.py": tasks.values(),
        "flows/campaign.py": [op for name, op in tasks.items() if f"await {name}(" in flow],
        "sandbox/api.py": [op for op in Op if f'"{op}"' in sandbox],
    }
    lacks = [f"{op}: {place}" for place, known in places.items() for op in Op if op not in known]
    assert not lacks, "\n".join(lacks)
