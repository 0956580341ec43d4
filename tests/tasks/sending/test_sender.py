"""A claim has a short life: a request that waited too long after it is not sent by it."""

from pathlib import Path
from typing import Any

import pytest

from data.campaigns import queries
from data.store import clock
from data.store.states import AttemptState, Ending, Operation
from sandbox.server import Sandbox
from tasks.sending.sender import CLAIM_LIVES
from tasks.service.client import Service
from tasks.service.evidence import Exchange
from tasks.service.messages import Request
from tests.support.campaigns import Office, people
from tests.support.ledgers.journal import attempts


@pytest.mark.parametrize("operation", Operation)
@pytest.mark.parametrize("too_long", [False, True])
def test_a_claim_that_waited_too_long_is_claimed_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, operation: Operation, *, too_long: bool
) -> None:
    """The machine slept in between, and nobody took its run for dead: the ledger has no objection.

    Nothing of the first claim left; it is recorded as not sent, and the second one is sent.
    """
    really, slept = Service.call, 0.0
    sleeps = CLAIM_LIVES + 0.001 * too_long

    async def call(service: Service, request: Request, *more: Any) -> Exchange:
        nonlocal slept
        if request.operation is operation:
            slept = sleeps
        return await really(service, request, *more)

    monkeypatch.setattr(Service, "call", call)
    monkeypatch.setattr(clock, "_clocks", lambda: (slept, slept))
    with Sandbox() as service:
        office = Office.at(tmp_path, service)
        assert office.run(office.write("sleepy", people("ada"))).ending is Ending.COMPLETED
        assert office.changing() == [str(each) for each in Operation]
    with office.ledger() as ledger:
        campaign = ledger.read(queries.find_campaign, "sleepy")
        assert campaign is not None
        tried = [
            row.state for row in ledger.read(attempts, campaign.id) if row.operation == operation
        ]
    assert tried == [AttemptState.NOT_SENT] * too_long + [AttemptState.DONE]
