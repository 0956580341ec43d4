"""The end of a run, where something happens just then: a pause is over, the ledger fails."""

import pytest

from data.campaigns import pauses
from data.sending import recovery
from data.store.errors import LedgerUnusable
from data.store.states import By, Operation
from flows.pages.final_states import state_of
from flows.run import context
from tasks.sending.sender import Sent
from tests.support.campaigns import Heard, Office, people


def test_words_of_a_pause_that_is_over_do_not_reach_prefect(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Somebody resumes while the run that she paused is closing: what she wrote may name people."""

    def pause(sent: Sent) -> None:
        if sent.operation is Operation.ADD:
            with office.ledger() as ledger:
                ledger.write(pauses.pause, "spring", By("Grace", "Ada Lovelace complained"))

    async def close(work: context.ActiveRun) -> None:
        with office.ledger() as ledger:
            ledger.write(pauses.resume, "spring", By("Grace", ""))
        await end(work)

    end = context._end
    monkeypatch.setattr(context, "_end", close)
    ended = office.run(office.write("spring", people("ada", "bo")), observer=Heard(on_sent=pause))
    assert "Ada Lovelace complained" in str(ended.reason)
    message = str(state_of(ended).message)
    assert "paused by Grace" in message
    assert "Lovelace" not in message


def test_a_run_whose_end_cannot_be_recorded_is_alive_no_more(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a process that goes on, what it was sending would never become unsure."""

    def fail(*_: object) -> None:
        raise LedgerUnusable("The ledger could not be read")

    alive = set(recovery.OWN_RUNS)
    monkeypatch.setattr(context, "finish", fail)
    with pytest.raises(LedgerUnusable):
        office.run(office.write("spring", people("ada")))
    assert alive == recovery.OWN_RUNS
