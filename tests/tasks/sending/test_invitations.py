"""Waves follow one another without a gap, and together never exceed what may be in flight."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from data.store.states import Ending, Operation
from flows.run import inviting
from sandbox.faults.faults import Fault
from sandbox.server import Sandbox
from tasks.sending.sender import Sent
from tasks.service.client import Service
from tasks.service.evidence import Exchange
from tasks.service.messages import Request
from tests.support.campaigns import Heard, Office, people
from tests.support.session import PATIENCE

NAMES = [f"person{number}" for number in range(12)]


@pytest.fixture
def office(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Office]:
    monkeypatch.setattr(inviting, "PART", 4)
    with Sandbox() as service:
        yield Office.at(tmp_path, service, invites_in_flight=2)


@pytest.mark.parametrize("part", [4, 1], ids=["steps of one part", "steps of two"])
def test_a_late_answer_does_not_hold_up_the_next_wave(
    office: Office, monkeypatch: pytest.MonkeyPatch, part: int
) -> None:
    """While the last answer of a wave is awaited, the slots that are free go on."""
    monkeypatch.setattr(inviting, "PART", part)
    heard: list[int] = []
    others = asyncio.Event()
    really = Service.call

    def hears(sent: Sent) -> None:
        if sent.operation is Operation.INVITE:
            heard.append(sent.claimed.rows[0])
        if len(heard) == len(NAMES) - 1:
            others.set()

    async def call(service: Service, request: Request, *more: Any) -> Exchange:
        seen = await really(service, request, *more)
        if "candidates/5004/" in request.path:
            await asyncio.wait_for(others.wait(), PATIENCE)  # its answer comes after all others
        return seen

    monkeypatch.setattr(Service, "call", call)
    end = office.run(office.write("held-up", people(*NAMES)), observer=Heard(on_sent=hears))
    assert end.ending is Ending.COMPLETED
    assert heard[-1] == 4
    assert set(office.emails().values()) == {1}


@pytest.mark.parametrize(
    ("part", "steps"),
    [
        (4, ["1-4 of 12", "5-8 of 12", "9-12 of 12"]),
        (1, ["1-2 of 12", "3-4 of 12", "5-6 of 12", "7-8 of 12", "9-10 of 12", "11-12 of 12"]),
    ],
)
def test_many_people_are_invited_in_at_most_ten_steps(
    office: Office, monkeypatch: pytest.MonkeyPatch, part: int, steps: list[str]
) -> None:
    """However many there are: each step costs Prefect's server as much as fifty people."""
    monkeypatch.setattr(inviting, "PART", part)
    names: list[str] = []

    async def perform(name: str, step: Callable[[], Awaitable[Any]], /) -> Any:
        names.append(name)
        return await step()

    office.run(office.write("in-steps", people(*NAMES)), perform=perform)
    assert [name for name in names if "invitations" in name] == [f"invitations {s}" for s in steps]
    assert set(office.emails().values()) == {1}


def test_waves_share_what_may_be_in_flight(office: Office, monkeypatch: pytest.MonkeyPatch) -> None:
    """A wave that begins while another one ends sends no more at the same time than either."""
    really, under_way, most = Service.call, 0, 0
    another = asyncio.Event()

    async def call(service: Service, request: Request, *more: Any) -> Exchange:
        nonlocal under_way, most
        under_way += 1
        most = max(most, under_way)
        if most > 1:
            another.set()
        try:
            seen = await really(service, request, *more)
            if request.operation is Operation.INVITE:
                await asyncio.wait_for(another.wait(), PATIENCE)
            return seen
        finally:
            under_way -= 1

    monkeypatch.setattr(Service, "call", call)
    office.service.faults.add(Fault("slow", "invite", seconds=0.02, count=None))
    office.run(office.write("shared", people(*NAMES)))
    assert (most, len(office.emails())) == (2, 12)
