"""The looks of `reconcile`, one beside the other: what goes wrong in one stops no other.

Prefect only takes down what it is asked for; test_reconcile.py asks a server.
"""

import asyncio
import shutil
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from uuid import uuid4

import pytest
from prefect.client.schemas.objects import FlowRun
from prefect.states import Running
from sqlmodel import select

from config.definition import Definition
from config.errors import command
from config.reading import key_of
from data.store.tables import Notice
from flows import dead_runs, reconcile
from flows.new_definition import write_definition
from flows.reconcile import Watched
from tests.flows.conftest import write

LOOKS = 24  # enough for a folder to rest, and for a run to be quiet


class Prefect:
    """It refuses the deployment `refuses`, and has one run whose process is gone."""

    def __init__(self) -> None:
        self.refuses = ""
        self.deployed: list[str] = []
        self.began: list[str] = []
        self.states: list[str] = []
        self.looks = 0
        self.seen_enough = asyncio.Event()
        asked = {"parameters": {"campaign": "dead"}, "deployment_id": uuid4()}
        self.dead = FlowRun(flow_id=uuid4(), name="dead", state=Running(), **asked)

    async def deploy(self, client, file: Path, campaign: Definition) -> None:
        if campaign.campaign == self.refuses:
            raise ValueError("no such schedule")
        self.deployed.append(campaign.campaign)

    async def run_now(self, client, file: Path, key: str) -> bool:
        self.began.append(key)
        return True

    async def unschedule(self, client, folder: Path, keys) -> None: ...

    async def read_flow_runs(self, flow_run_filter, offset: int, **_: object) -> list[FlowRun]:
        self.looks += 1
        if self.looks >= LOOKS:
            self.seen_enough.set()
        there = "RUNNING" in str(flow_run_filter) and not (self.states or offset)
        return [self.dead] if there else []

    async def read_flow_run_states(self, number: object) -> list:
        return []

    async def set_flow_run_state(self, number: object, state, *, force: bool) -> None:
        self.states.append(state.name)


@pytest.fixture
def prefect(monkeypatch: pytest.MonkeyPatch) -> Prefect:
    server = Prefect()

    client = partial(nullcontext, server)

    monkeypatch.setattr(reconcile, "get_client", client)
    monkeypatch.setattr(reconcile, "EVERY", 0.0)
    monkeypatch.setattr(dead_runs, "QUIET", 0.0)
    monkeypatch.setattr(reconcile, "JOBS", ())
    for name in ("deploy", "run_now", "unschedule"):
        monkeypatch.setattr(reconcile, name, getattr(server, name))
    return server


@pytest.fixture(autouse=True)
def _files(folder: Path) -> None:
    for key in ("aa", "bb"):
        write(folder, key)


def said_in_looks(ledger, folder: Path, prefect: Prefect) -> list[str]:
    """What `reconcile` says in a few looks."""
    said: list[str] = []

    async def scenario() -> None:
        looking = asyncio.create_task(reconcile.reconcile(ledger, folder, said.append))
        await prefect.seen_enough.wait()
        looking.cancel()

    asyncio.run(scenario())
    return said


def test_a_file_that_prefect_refuses_stops_no_other_and_no_recovery(
    ledger, folder, prefect
) -> None:
    prefect.refuses = "aa"
    said = said_in_looks(ledger, folder, prefect)
    assert (prefect.began, prefect.states) == (["bb"], ["AwaitingRetry"])
    assert said == ["Trying again: ValueError in run_what_is_new (aa.yaml)"]


def began(watched: Watched, prefect: Prefect) -> list[str]:
    """The campaigns of which a few looks began runs."""
    prefect.began.clear()
    for _ in range(3):
        asyncio.run(watched.run_what_is_new(prefect))
    return prefect.began


def test_what_comes_into_the_folder_is_run_but_not_what_we_write_there(
    ledger, folder, prefect
) -> None:
    watched = Watched(folder, ledger, print)
    began(watched, prefect)
    (folder / "aa.receipt").write_text("{}")
    began(watched, prefect)
    assert prefect.deployed == ["aa", "bb"]
    write(folder, "cc")
    began(watched, prefect)
    assert prefect.deployed[2:] == ["aa", "bb", "cc"]
    (folder / "cc.yaml").rename(folder.parent / "cc.yaml")
    assert began(watched, prefect) == []
    (folder.parent / "cc.yaml").rename(folder / "cc.yaml")  # as it was; a wave may have passed
    assert began(watched, prefect) == ["cc"]


def test_of_files_with_one_key_none_is_run_and_somebody_is_told_whenever_they_come(
    ledger, folder, prefect, monkeypatch
) -> None:
    """Also of workbooks, whose keys are read only when they have changed."""
    said, read = [], []
    monkeypatch.setattr(reconcile, "key_of", lambda file: read.append(file.name) or key_of(file))
    watched = Watched(folder, ledger, said.append)
    write_definition(folder / "cc.xlsx")
    copies = {"bb-copy.yaml": "bb.yaml", "cc - copy.xlsx": "cc.xlsx"}
    for first in (["aa"], []):
        for copy, original in copies.items():
            shutil.copy(folder / original, folder / copy)
        assert (began(watched, prefect), len(said)) == (first, 4)
        write(folder, f"dd{len(first)}")
        assert began(watched, prefect) == [f"dd{len(first)}"]
        assert read.count("cc - copy.xlsx") == 1
        for copy in copies:
            (folder / copy).unlink()
        assert began(watched, prefect) == (["bb", "cc"] if first else [])
        said.clear(), read.clear()
    with ledger.reading() as session:
        assert session.exec(select(Notice)).all() == []


def test_a_notice_of_a_bad_file_has_a_command_that_is_quoted(ledger, folder, prefect) -> None:
    odd = folder.rename(folder.with_name("x; rm -rf $HOME\x1b"))
    (odd / "bad\udcff.yaml").write_text("campaign: [")  # whose name is in no encoding
    said_in_looks(ledger, odd, prefect)
    assert prefect.began == ["aa", "bb"]
    with ledger.reading() as session:
        (notice,) = session.exec(select(Notice)).all()
    assert notice.text.isprintable()
    assert notice.text.endswith(f"Type: {command('check', odd)}")
