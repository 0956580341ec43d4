"""Each fault and dialect as a row: what the client sees, and whether the work was done."""

from collections.abc import Callable
from typing import Any

import httpx
import pytest

from sandbox import faults
from sandbox.faults import ALWAYS, Fault
from sandbox.switchboard import KINDS, typed_fault
from tests.sandbox.conftest import Client

ADA, BOB, CY, STRANGER = "ada@x.org", "Bob@X.org", "cy@x.org", "stranger@sandbox.invalid"
BIG = 2**53 + 1


def seen(call: Callable[[], httpx.Response]) -> int | str:
    """The status of an answer, or why there is none."""
    try:
        return call().status_code
    except httpx.RemoteProtocolError as error:
        return "half" if "complete message body" in str(error) else "nothing"


INVITED = [
    (faults.lost(), "nothing", True, None),
    (faults.dropped(), "nothing", False, None),
    (faults.half(), "half", True, 200),
    (faults.late(0.01), 200, True, 200),
    (faults.status(503), 503, False, 503),
    (faults.status(503, after=True), 503, True, 503),
    (faults.status(204, after=True), 204, True, 204),
    (faults.garbage(), 200, True, 200),
    (faults.html(), 200, False, 200),
    (faults.redirect(), 302, False, 302),
    (faults.says_no(), 200, False, 200),
    (faults.throttled(7), 429, False, 429),
    (faults.refuse_all(403), 403, False, 403),
    (faults.bad_row("ADA@x.org"), 422, False, 422),
]


def test_an_invitation(client: Client) -> None:
    """What the client sees, whether somebody got an email, and what the record says of it."""
    for fault, sees, worked, recorded in INVITED:
        client.sandbox.faults["invite"] = fault
        assert seen(client.invite) == sees, fault
        told = [client.last()[name] for name in ("worked", "email", "status", "fault")]
        assert told == [worked, "ada@x.org" if worked else None, recorded, fault.name]


ADDED: list[tuple[Fault, list[tuple[str, Any]]]] = [
    (faults.shuffled(), [(BOB, 5002), (CY, 5003), (ADA, 5001)]),
    (faults.lowered(), [(ADA, 5001), ("bob@x.org", 5002), (CY, 5003)]),
    (faults.as_text(), [(ADA, "5001"), (BOB, "5002"), (CY, "5003")]),
    (faults.above_2_53(), [(ADA, BIG), (BOB, BIG + 1), (CY, BIG + 2)]),
    (faults.extra(), [(ADA, 5001), (BOB, 5002), (CY, 5003)]),
    (faults.missing(), [(ADA, None), (BOB, None), (CY, None)]),
    (faults.left_out(), [(ADA, 5001), (BOB, 5002)]),
    (faults.doubled(), [(ADA, 5001), (BOB, 5002), (CY, 5003), (ADA, 1_005_001)]),
    (faults.shared(), [(ADA, 5001), (BOB, 5001), (CY, 5001)]),
    (faults.earlier(), [(ADA, 5000), (BOB, 5001), (CY, 5002)]),
    (faults.strangers(), [(ADA, 5001), (BOB, 5002), (CY, 5003), (STRANGER, 9_000_001)]),
]


def test_an_added_list(start: Callable[..., Client]) -> None:
    """Everybody is added whatever the answer says, and the record has the true ids."""
    for fault, expected in ADDED:
        client = start(add=fault)
        client.project()
        rows = client.add(ADA, BOB, CY).json()
        assert [(each["email1"], each.get("candidate_id")) for each in rows] == expected
        ids = client.last()["ids"]
        assert list(ids) == [ADA, BOB, CY]
        assert client.invite(ids[CY]).status_code == 200


def test_a_created_project(start: Callable[..., Client]) -> None:
    client = start()
    for client.sandbox.faults["create"], expected in [
        (faults.as_text(), {"id": "101"}),
        (faults.missing(), {}),
        (faults.earlier(), {"id": 102}),
        (faults.status(500, body=[1]), [1]),
        (faults.above_2_53(), {"id": BIG}),
    ]:
        assert client.project().json() == expected


def test_limits_on_a_list(client: Client) -> None:
    """One bad row costs the whole request; too many people are too many."""
    client.sandbox.faults["add"] = [faults.at_most(2), faults.bad_row("bob@x.org")]
    lists = [[ADA], [ADA, "bob@x.org"], [ADA] * 3]
    assert [client.add(*each).status_code for each in lists] == [201, 422, 413]


def test_a_late_answer_is_late_and_its_work_is_not(client: Client) -> None:
    """The record has it while the client waits; and a sandbox that stops lets go of it."""
    client.sandbox.faults["create"] = faults.late(3600)
    client.timeout = 0.5
    with pytest.raises(httpx.ReadTimeout):
        client.project()
    assert (client.last()["op"], client.last()["worked"]) == ("create", True)


def test_which_requests_meet_a_fault(client: Client) -> None:
    """A fault counts from when it was set; of several, the first that is due is met."""
    for client.sandbox.faults["invite"], expected in [
        (faults.lost(3), "..L..."),
        (faults.lost(2, 2), ".LL..."),
        (faults.lost(times=ALWAYS), "LLLLLL"),
        ([faults.lost(5), faults.dropped(2)], ".D..L."),
        ([faults.lost(2), faults.dropped(2, times=2)], ".LD..."),
    ]:
        for _ in expected:
            seen(client.invite)
        met = [each["fault"] or "." for each in client.sandbox.entries()[-len(expected) :]]
        assert "".join(name[0].upper() for name in met) == expected


def test_a_fault_is_changed_while_the_sandbox_runs(client: Client) -> None:
    """The cause is fixed; a fault that is set anew begins to count anew."""
    client.sandbox.faults["invite"] = faults.refuse_all(422, "the account is not verified")
    assert client.invite().json() == {"error": "the account is not verified"}
    client.sandbox.faults["invite"] = None
    assert client.invite().status_code == 200
    with pytest.raises(KeyError, match="remove is none of token"):
        client.sandbox.faults["remove"] = faults.lost()


TYPED = [
    ("invite=lost:3", faults.lost(3)),
    ("token=dropped:3:always", faults.dropped(3, ALWAYS)),
    ("add=503:2:4", faults.status(503, at=2, times=4)),
    ("create=late=2.5:1:2", faults.late(2.5, 1, 2)),
    ("add=bad_row=Bob@x.org", faults.bad_row("Bob@x.org")),
    *((f"invite={kind}", getattr(faults, kind)()) for kind in KINDS[6:]),
]
MISTYPED = "lost remove=lost invite=gone invite=lost:x invite=late invite=lost:1:2:3 invite=lost=2"


def test_a_typed_fault() -> None:
    for typed, fault in TYPED:
        assert typed_fault(typed) == (typed.partition("=")[0], fault)
    for typed in MISTYPED.split():
        with pytest.raises(ValueError, match=r"none of|is not KIND"):
            typed_fault(typed)
