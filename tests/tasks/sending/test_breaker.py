"""When sending stops: counting what the last answers proved, answer by answer."""

import pytest

from data.store.states import Operation
from tasks.sending.breaker import Breaker
from tasks.service.verdict import Proof, Then, Verdict

ADD, INVITE = Operation.ADD, Operation.INVITE
UNSURE = Verdict(Proof.UNSURE, Then.GO_ON, "Nobody answered.")
DONE = Verdict(Proof.DONE, Then.GO_ON, "Done.")
REFUSED = Verdict(Proof.REFUSED, Then.ROW, "No such person.")
NOT_SENT = Verdict(Proof.NOT_SENT, Then.RETRY, "Not there.")
FORBIDDEN = Verdict(Proof.REFUSED, Then.STOP, "Not with these credentials.")

NO_CLEAR_ANSWER = "3 requests in a row got no clear answer, so sending stopped."
ALL_REFUSED = "3 invitations in a row were refused, so sending stopped. No such person."


@pytest.mark.parametrize(
    ("operation", "heard", "doubt", "stop"),
    [
        (INVITE, [], False, None),
        (INVITE, [UNSURE], True, None),
        (INVITE, [UNSURE] * 2, True, None),
        (INVITE, [UNSURE] * 3, True, NO_CLEAR_ANSWER),
        (INVITE, [UNSURE] * 4, True, NO_CLEAR_ANSWER),
        (ADD, [UNSURE] * 3, True, NO_CLEAR_ANSWER),
        (INVITE, [UNSURE, UNSURE, DONE, UNSURE, UNSURE], True, None),
        (INVITE, [UNSURE, UNSURE, REFUSED, UNSURE, UNSURE], True, None),
        # What was never sent says nothing about the service's answers.
        (INVITE, [UNSURE, UNSURE, NOT_SENT, UNSURE], True, NO_CLEAR_ANSWER),
        (INVITE, [REFUSED] * 2, False, None),
        (INVITE, [REFUSED] * 3, False, ALL_REFUSED),
        (INVITE, [REFUSED, REFUSED, DONE, REFUSED, REFUSED], False, None),
        (INVITE, [REFUSED, REFUSED, UNSURE, REFUSED, REFUSED], True, None),
        (INVITE, [REFUSED, REFUSED, UNSURE, REFUSED, REFUSED, REFUSED], True, ALL_REFUSED),
        # A bulk add may rightly hold many bad rows.
        (ADD, [REFUSED] * 9, False, None),
        (INVITE, [FORBIDDEN], False, "Not with these credentials."),
        (INVITE, [FORBIDDEN, UNSURE, UNSURE, UNSURE], True, "Not with these credentials."),
        (INVITE, [FORBIDDEN, REFUSED, REFUSED], False, "Not with these credentials."),
        (INVITE, [UNSURE, UNSURE, UNSURE, FORBIDDEN], True, NO_CLEAR_ANSWER),
        (INVITE, [REFUSED, REFUSED, REFUSED, FORBIDDEN], False, ALL_REFUSED),
    ],
)
def test_what_was_heard_decides(
    operation: Operation, heard: list[Verdict], doubt: bool, stop: str | None
) -> None:
    """One unclear answer holds new sending back, three of a kind in a row end the run."""
    breaker = Breaker()
    for judged in heard:
        breaker.heard(operation, judged)
    assert (breaker.doubt, breaker.stop) == (doubt, stop)


def test_a_probe_takes_the_doubt_away_and_forgets_no_count() -> None:
    """A service that answers a harmless question may still lose the third request in a row."""
    breaker = Breaker()
    for _ in range(2):
        breaker.heard(INVITE, UNSURE)
        breaker.probed()
    assert breaker.doubt is False
    assert breaker.stop is None
    breaker.heard(INVITE, UNSURE)
    assert breaker.stop == NO_CLEAR_ANSWER
