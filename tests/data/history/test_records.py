"""What is read for a story: of everybody, or of one person alone."""

from pathlib import Path

import pytest
from sqlalchemy import insert

from data.history.records import read
from data.store.states import AttemptState, Operation, Step, Word
from data.store.tables import decision
from tests.support.ledgers.small_ledger import FIRST_ID, NOON, Small

pytestmark = pytest.mark.usefixtures("each_database")


@pytest.fixture
def small(tmp_path: Path):
    small = Small.at(tmp_path, "ada", "bo", "cy")
    with small.ledger:
        yield small


def test_a_request_is_told_to_each_as_it_was_for_them(small: Small) -> None:
    """Of two people in one add only one got an id: only the other one was ever in doubt."""
    ada, bo, _ = small.rows().values()
    claimed = small.claim(Operation.ADD, ada, bo)
    came = {"state": AttemptState.DONE, "ids": {ada: FIRST_ID}, "evidence": "ids for 1 of 2"}
    small.land(Operation.ADD, claimed, Step.UNSURE, **came)
    with small.ledger._transactions.writing() as connection:
        connection.execute(
            insert(decision).values(
                campaign_id=small.begun.campaign,
                attempt_id=claimed.attempt,
                candidate_row=bo,
                verdict=Word.AGAIN,
                who="rita",
                why="",
                decided_at=NOON,
            )
        )
    of = {
        person: [
            (request.people, request.carried, request.came_to, request.settled)
            for request in small.ledger.read(read, small.begun.campaign, person).requests
        ]
        for person in (None, ada, bo)
    }
    assert of == {
        None: [((ada, bo), 2, AttemptState.DONE, False)],
        ada: [((ada,), 2, AttemptState.DONE, False)],
        bo: [((bo,), 2, AttemptState.UNSURE, True)],
    }
