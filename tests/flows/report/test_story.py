"""Every event in words: what a person decided reads as a sentence, whoever is named how."""

from dataclasses import replace
from datetime import timedelta

import pytest

from data.campaigns.approvals import Answer
from data.history.events import (
    Blocked,
    CameIn,
    Decided,
    Event,
    Paused,
    PlanAnswered,
    PlanShown,
    ReceiptAccepted,
    ReceiptDoubted,
    Request,
    Resumed,
    RunBegan,
    RunEnded,
    Unblocked,
    Wave,
)
from data.store.states import AttemptState, Operation
from flows.report.story import Teller, words
from flows.words.doubts import HOW_FAR
from tests.support.ledgers.small_ledger import NOON

TELLER = Teller(lambda row: f"p{row}", "Europe/Paris")
INVITE, ADD = Operation.INVITE, Operation.ADD


def decided(verdict: str, operation: Operation | None, *people: int, value: str = "") -> Decided:
    return Decided(NOON, 1, verdict, value or None, operation, people, "rita", "looked")


def request(operation: Operation, came_to: AttemptState, *people: int, **more: object) -> Request:
    told: dict[str, object] = {
        "number": 1,
        "run": 1,
        "operation": operation,
        "people": people,
        "carried": len(people),
        "generation": 1,
        "came_to": came_to,
        "settled": False,
        "ended_at": NOON + timedelta(seconds=1.25),
        "phase": 3,
        "status": 200,
        "evidence": None,
    }
    return Request(NOON, **told | more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("event", "line"),
    [
        (decided("id", Operation.CREATE, value="7"), "settled: the project exists, its id is 7"),
        (
            decided("again", Operation.ATTACH),
            "settled: the problem is not there; add it again",
        ),
        (decided("id", ADD, 1, value="9"), "settled p1: is in the project, its id is 9"),
        (decided("sent", INVITE, 1, 2), "settled p1, p2: the invitation arrived"),
        (decided("sent", INVITE, *range(9)), "settled 9 candidates: the invitation arrived"),
        (decided("withdraw", INVITE, 1), "settled p1: do not invite any more"),
        (decided("withdraw", None, 1), "withdrew p1"),
        (decided("resend", INVITE, 1), "asked for one more invitation to p1"),
        (decided("correct", None, 1, value="2"), "corrected p1 to p2"),
        (decided("allow", None, 1), "allowed p1, who was held"),
        (decided("pilot-confirmed", None, 1), "confirmed the pilot's invitation: p1"),
        (
            decided("cleaned", ADD, 1),
            "removed by hand in the web application: p1",
        ),
        (decided("something new", None, 1), "settled p1: something new"),
    ],
)
def test_a_decision_reads_as_a_sentence(event: Decided, line: str) -> None:
    """Who, what, about whom, and why; a word this version does not know is told as it is."""
    assert list(words(event, TELLER)) == [f"rita {line}: looked"]


@pytest.mark.parametrize(
    ("event", "lines"),
    [
        (CameIn(NOON, "a.yaml"), ["the campaign was read from a.yaml"]),
        (CameIn(NOON, None), ["the campaign was added to the ledger"]),
        (RunBegan(NOON, 2, "vm", None), ["run 2 started on vm"]),
        (RunEnded(NOON, 2, "needs_attention", None), ["run 2 ended, needs attention"]),
        (RunEnded(NOON, 2, "died", "gone"), ["run 2 ended, died: gone"]),
        (
            PlanShown(NOON, "c0de", "add: 2\npeople: A*** L***\ninvite: 2", NOON),
            [
                "the plan c0de was shown for approval, to be answered by 2026-12-01 13:00",
                "add: 2",
                "invite: 2",
            ],
        ),
        (
            PlanAnswered(NOON, "c0de", Answer.REJECTED, "rita", "no"),
            ["rita rejected the plan c0de: no"],
        ),
        (Paused(NOON, "rita", ""), ["rita paused the campaign"]),
        (Resumed(NOON, "rita", "back"), ["rita resumed the campaign: back"]),
        (Blocked(NOON, (1,), "rita", ""), ["rita put p1 on the do-not-contact list"]),
        (Unblocked(NOON, (1,), "rita", "x"), ["rita took p1 off the do-not-contact list: x"]),
        (
            ReceiptDoubted(NOON, "a.receipt", "…"),
            ["the receipt a.receipt did not match this ledger, so a run stopped"],
        ),
        (
            ReceiptAccepted(NOON, "a.receipt", "rita", "restored"),
            ["rita accepted this ledger despite a.receipt: restored"],
        ),
    ],
)
def test_an_event_is_told_in_a_line(event: Event, lines: list[str]) -> None:
    """Runs, plans, pauses, the do-not-contact list and receipts."""
    assert list(words(event, TELLER)) == lines


@pytest.mark.parametrize(
    ("event", "line"),
    [
        (request(INVITE, AttemptState.DONE, 1), "invite p1: done (status 200 after 1.2 s)"),
        (
            request(INVITE, AttemptState.DONE, 1, generation=3),
            "invite p1, invitation no. 3: done (status 200 after 1.2 s)",
        ),
        (request(ADD, AttemptState.DONE, 1, 2), "add 2 candidates: done (status 200 after 1.2 s)"),
        (request(ADD, AttemptState.DONE, 1), "add p1: done (status 200 after 1.2 s)"),
        (
            request(ADD, AttemptState.REFUSED, 1, carried=3, status=413),
            "add p1 and 2 others: refused (status 413 after 1.2 s)",
        ),
        (
            request(INVITE, AttemptState.UNSURE, 1, status=None, phase=2, settled=True),
            f"invite p1: unsure, settled since ({HOW_FAR[2]})",
        ),
        (
            request(INVITE, AttemptState.NOT_SENT, 1, status=None, phase=0),
            "invite p1: not sent (nothing was sent)",
        ),
        (
            request(INVITE, AttemptState.SENDING, 1, status=None, phase=None, ended_at=None),
            "invite p1: no outcome recorded (nobody knows how far it got)",
        ),
        (
            request(Operation.CREATE, AttemptState.DONE, ended_at=NOON),
            "create the project: done (status 200 after 0 ms)",
        ),
    ],
)
def test_a_request_says_what_it_came_to_and_how_far_it_got(event: Request, line: str) -> None:
    """And for how long, where an answer came."""
    assert next(words(event, TELLER)) == line


def test_a_wave_counts_people_and_tells_the_reasons_of_what_was_not_done() -> None:
    """Tries that came to nothing are counted beside the people, as nobody is in two of them."""
    wave = Wave(
        at=NOON,
        until=NOON + timedelta(seconds=61),
        number=None,
        run=1,
        operation=INVITE,
        requests=1002,
        people=1000,
        came_to={AttemptState.DONE: 999, AttemptState.UNSURE: 1},
        reasons={(AttemptState.NOT_SENT, "no way [ConnectError]"): 2},
        service_wrote={"slow down": 2},
    )
    assert list(words(wave, TELLER)) == [
        "invite 1,000 candidates, ended 13:01:01: 999 done, 1 unsure, 2 more tries",
        "2 not sent: No way.",
        'the service wrote in 2 answers: "slow down"',
    ]
    for number, begins in ((0, "pilot: invite 1,000"), (2, "wave 2: invite 1,000")):
        assert next(words(replace(wave, number=number), TELLER)).startswith(begins)
