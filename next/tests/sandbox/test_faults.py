"""Each fault and dialect as a row: what the client sees, and whether the work was done."""

from collections.abc import Callable
from functools import partial
from threading import Thread
from typing import Any

import httpx
import pytest

from sandbox.faults import (
    ALWAYS,
    Fault,
    above_2_53,
    as_text,
    at_most,
    bad_row,
    doubled,
    dropped,
    earlier,
    extra,
    garbage,
    half,
    html,
    late,
    left_out,
    lost,
    lowered,
    missing,
    pages,
    redirect,
    refuse_all,
    says_no,
    shared,
    shuffled,
    status,
    strangers,
    throttled,
)
from sandbox.server import Sandbox
from sandbox.switchboard import KINDS, typed_fault
from tests.sandbox.conftest import CREDENTIALS, Client

BIG = 2**53 + 1


def seen(call: Callable[[], httpx.Response]) -> int | str:
    """The status of an answer, or why there is none."""
    try:
        return call().status_code
    except httpx.RemoteProtocolError as error:
        return "half" if "complete message body" in str(error) else "nothing"


@pytest.mark.parametrize(
    ("fault", "sees", "worked", "recorded"),
    [
        (lost(), "nothing", True, None),
        (dropped(), "nothing", False, None),
        (half(), "half", True, 200),
        (late(0.01), 200, True, 200),
        (status(503), 503, False, 503),
        (status(503, after=True), 503, True, 503),
        (status(204, after=True), 204, True, 204),
        (garbage(), 200, True, 200),
        (html(), 200, False, 200),
        (redirect(), 302, False, 302),
        (says_no(), 200, False, 200),
        (throttled(7), 429, False, 429),
        (bad_row("ADA@x.org"), 422, False, 422),
        (bad_row("bob@x.org"), 200, True, 200),
        (refuse_all(403), 403, False, 403),
        (at_most(1), 200, True, 200),
    ],
    ids=lambda value: value.name if isinstance(value, Fault) else "",
)
def test_an_invitation(
    client: Client, fault: Fault, sees: int | str, worked: bool, recorded: int | None
) -> None:
    client.sandbox.faults["invite"] = fault
    assert seen(client.invite) == sees
    entry = client.last()
    assert (entry["worked"], entry["status"]) == (worked, recorded)
    assert entry["email"] == ("ada@x.org" if worked else None)
    met = None if recorded == 200 and fault.status in (422, 413) else fault.name
    assert entry["fault"] == met


@pytest.mark.parametrize(
    ("fault", "expected"),
    [
        (shuffled(), [("Bob@X.org", 5002), ("cy@x.org", 5003), ("ada@x.org", 5001)]),
        (lowered(), [("ada@x.org", 5001), ("bob@x.org", 5002), ("cy@x.org", 5003)]),
        (as_text(), [("ada@x.org", "5001"), ("Bob@X.org", "5002"), ("cy@x.org", "5003")]),
        (above_2_53(), [("ada@x.org", BIG), ("Bob@X.org", BIG + 1), ("cy@x.org", BIG + 2)]),
        (extra(), [("ada@x.org", 5001), ("Bob@X.org", 5002), ("cy@x.org", 5003)]),
        (missing(), [("ada@x.org", None), ("Bob@X.org", None), ("cy@x.org", None)]),
        (left_out(), [("ada@x.org", 5001), ("Bob@X.org", 5002)]),
        (doubled(), [("ada@x.org", 5001), ("Bob@X.org", 5002), ("cy@x.org", 5003),
                     ("ada@x.org", 1_005_001)]),
        (shared(), [("ada@x.org", 5001), ("Bob@X.org", 5001), ("cy@x.org", 5001)]),
        (earlier(), [("ada@x.org", 5000), ("Bob@X.org", 5001), ("cy@x.org", 5002)]),
        (strangers(), [("ada@x.org", 5001), ("Bob@X.org", 5002), ("cy@x.org", 5003),
                       ("stranger@sandbox.invalid", 9_000_001)]),
    ],
    ids=lambda value: value.name if isinstance(value, Fault) else "",
)  # fmt: skip
def test_an_added_list(
    start: Callable[..., Client], fault: Fault, expected: list[tuple[str, Any]]
) -> None:
    """Everybody is added whatever the answer says, and the record has the true ids."""
    client = start(add=fault)
    client.project()
    rows = client.add("ada@x.org", "Bob@X.org", "cy@x.org").json()
    assert [(each["email1"], each.get("candidate_id")) for each in rows] == expected
    ids = client.last()["ids"]
    assert list(ids) == ["ada@x.org", "Bob@X.org", "cy@x.org"]
    assert client.invite(ids["cy@x.org"]).status_code == 200


@pytest.mark.parametrize(
    ("fault", "expected"),
    [
        (as_text(), {"id": "101"}),
        (missing(), {}),
        (earlier(), {"id": 100}),
        (above_2_53(), {"id": BIG}),
        (says_no(), {"success": False, "error": "this could not be done"}),
        (status(500, body=[1]), [1]),
    ],
    ids=lambda value: value.name if isinstance(value, Fault) else "",
)
def test_a_created_project(start: Callable[..., Client], fault: Fault, expected: Any) -> None:
    assert start(create=fault).project().json() == expected


def test_what_goes_with_a_status(start: Callable[..., Client]) -> None:
    date = "Wed, 21 Oct 2026 07:28:00 GMT"
    client = start(problems=[throttled(3), throttled(date, at=2), redirect(3)], attach=html())
    answers = [client.call("GET", "/api/problems") for _ in range(3)]
    assert [each.headers.get("retry-after") for each in answers] == ["3", date, None]
    assert answers[2].headers["location"] == "/login"
    assert client.attach().headers["content-type"].startswith("text/html")


def test_the_problems_come_in_pages(start: Callable[..., Client]) -> None:
    client, path, titles = start(problems=pages()), "/api/problems", []
    while path:
        answer = client.call("GET", path)
        titles.append([each["title"] for each in answer.json()])
        path = answer.links.get("next", {}).get("url", "")
    assert [len(page) for page in titles] == [2, 2, 1]


def test_limits_on_a_list(start: Callable[..., Client]) -> None:
    """One bad row costs the whole request; too many people are too many."""
    client = start(add=[at_most(2), bad_row("bob@x.org")])
    client.project()
    lists = [["ada@x.org"], ["ada@x.org", "bob@x.org"], ["bob@x.org"] * 3]
    assert [client.add(*each).status_code for each in lists] == [201, 422, 413]


def test_a_late_answer_is_late_and_its_work_is_not() -> None:
    """The record has it while the client still waits; a sandbox that stops lets go of them."""
    seen_by_client: list[int | str] = []
    with Sandbox(token=late(3600)) as sandbox:
        ask = partial(httpx.post, f"{sandbox.url}/oauth/token", json=CREDENTIALS, timeout=60)
        client = Thread(target=lambda: seen_by_client.append(seen(ask)))
        client.start()
        [entry] = sandbox.wait_for(bool)
        assert (entry["worked"], entry["fault"], seen_by_client) == (True, "late", [])
    client.join()
    assert seen_by_client == ["nothing"]


@pytest.mark.parametrize(
    ("faults", "expected"),
    [
        (lost(3), "..L..."),
        (lost(2, 2), ".LL..."),
        (lost(times=ALWAYS), "LLLLLL"),
        ([lost(5), dropped(2)], ".D..L."),
        ([lost(2), dropped(2, times=2)], ".LD..."),
        (None, "......"),
    ],
)
def test_which_requests_meet_a_fault(client: Client, faults: Any, expected: str) -> None:
    client.sandbox.faults["invite"] = faults
    for _ in expected:
        seen(client.invite)
    met = [each["fault"] for each in client.sandbox.entries() if each["op"] == "invite"]
    assert "".join(name[0].upper() if name else "." for name in met) == expected


def test_a_fault_is_changed_while_the_sandbox_runs(client: Client) -> None:
    """The cause is fixed; a fault that is set anew begins to count anew."""
    client.sandbox.faults["invite"] = refuse_all(422, "the account is not verified")
    assert client.invite().json() == {"error": "the account is not verified"}
    client.sandbox.faults["invite"] = None
    assert client.invite().status_code == 200
    client.sandbox.faults["invite"] = lost(1)
    assert [seen(client.invite), seen(client.invite)] == ["nothing", 200]


def test_a_fault_of_an_unknown_operation_is_a_mistake(start: Callable[..., Client]) -> None:
    with pytest.raises(KeyError, match="remove is none of token"):
        start(remove=lost())


@pytest.mark.parametrize(
    ("typed", "fault"),
    [
        ("invite=lost", lost()),
        ("invite=lost:3", lost(3)),
        ("token=dropped:3:always", dropped(3, ALWAYS)),
        ("add=503:2:4", status(503, at=2, times=4)),
        ("add=status=503", status(503)),
        ("create=late=2.5:1:2", late(2.5, 1, 2)),
        ("add=bad_row=Bob@x.org", bad_row("Bob@x.org")),
        ("add=at_most=10", at_most(10)),
        ("attach=refuse_all", refuse_all()),
    ],
)
def test_a_typed_fault(typed: str, fault: Fault) -> None:
    assert typed_fault(typed) == (typed.partition("=")[0], fault)


@pytest.mark.parametrize(
    "typed",
    ["lost", "remove=lost", "invite=gone", "invite=lost:x", "invite=late", "invite=lost:1:2:3",
     "invite=lost=2", "invite=refuse_all:1", "invite=bad_row"],
)  # fmt: skip
def test_a_mistyped_fault(typed: str) -> None:
    with pytest.raises(ValueError, match=r"none of|is not KIND"):
        typed_fault(typed)


def test_every_kind_can_be_typed() -> None:
    valued = {"status": "=500", "late": "=1", "at_most": "=1", "bad_row": "=a@x.org"}
    for kind in KINDS:
        assert typed_fault(f"invite={kind}{valued.get(kind, '')}")[1].name == kind
