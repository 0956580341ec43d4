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


def stopped_by(breaker: Breaker) -> Verdict | None:
    """Which verdict ended the run: one alone in its own words, or three of a kind."""
    if breaker.stop in (None, FORBIDDEN.reason):
        return FORBIDDEN if breaker.stop else None
    return REFUSED if breaker.stop.endswith(REFUSED.reason) else UNSURE


@pytest.mark.parametrize(
    ("operation", "heard", "doubt", "stop"),
    [
        (INVITE, [], False, None),
        (INVITE, [UNSURE], True, None),
        (INVITE, [UNSURE] * 2, True, None),
        (INVITE, [UNSURE] * 3, True, UNSURE),
        (INVITE, [UNSURE] * 4, True, UNSURE),
        (ADD, [UNSURE] * 3, True, UNSURE),
        (INVITE, [UNSURE, UNSURE, DONE, UNSURE, UNSURE], True, None),
        (INVITE, [UNSURE, UNSURE, REFUSED, UNSURE, UNSURE], True, None),
        # What was never sent says nothing about the service's answers.
        (INVITE, [UNSURE, UNSURE, NOT_SENT, UNSURE], True, UNSURE),
        (INVITE, [REFUSED] * 2, False, None),
        (INVITE, [REFUSED] * 3, False, REFUSED),
        (INVITE, [REFUSED, REFUSED, DONE, REFUSED, REFUSED], False, None),
        (INVITE, [REFUSED, REFUSED, UNSURE, REFUSED, REFUSED], True, None),
        (INVITE, [REFUSED, REFUSED, UNSURE, REFUSED, REFUSED, REFUSED], True, REFUSED),
        # A bulk add may rightly hold many bad rows.
        (ADD, [REFUSED] * 9, False, None),
        (INVITE, [FORBIDDEN], False, FORBIDDEN),
        (INVITE, [FORBIDDEN, UNSURE, UNSURE, UNSURE], True, FORBIDDEN),
        (INVITE, [FORBIDDEN, REFUSED, REFUSED], False, FORBIDDEN),
        (INVITE, [UNSURE, UNSURE, UNSURE, FORBIDDEN], True, UNSURE),
        (INVITE, [REFUSED, REFUSED, REFUSED, FORBIDDEN], False, REFUSED),
    ],
)
def test_what_was_heard_decides(
    operation: Operation, heard: list[Verdict], doubt: bool, stop: Verdict | None
) -> None:
    """One unclear answer holds new sending back, three of a kind in a row end the run."""
    breaker = Breaker()
    for judged in heard:
        breaker.heard(operation, judged)
    assert (breaker.doubt, stopped_by(breaker)) == (doubt, stop)


def test_a_probe_takes_the_doubt_away_and_forgets_no_count() -> None:
    """A service that answers a harmless question may still lose the third request in a row."""
    breaker = Breaker()
    for _ in range(2):
        breaker.heard(INVITE, UNSURE)
        breaker.probed()
    assert breaker.doubt is False
    assert breaker.stop is None
    breaker.heard(INVITE, UNSURE)
    assert stopped_by(breaker) is UNSURE
