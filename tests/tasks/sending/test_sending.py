"""What leaves, what does not, and where everybody stands afterwards; by the service's record."""

import asyncio
import os
import shutil
import time
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from sqlmodel import select

from data.sending.writer import Running
from data.store import receipts
from data.store.ledger import Ledger
from data.store.states import Op, State
from data.store.tables import Campaign, Person, Request
from sandbox import faults
from tasks.sending import run as sending_run
from tasks.sending.gate import How
from tests.data.ledgers import Postgres
from tests.data.sending.small import NAMES
from tests.tasks.sending.desk import Desk

Make = Callable[..., Desk]
S = State
EVERYBODY = {f"{name}@example.org": 1 for name in NAMES}


@pytest.mark.parametrize("most", [1, 2, 5])
def test_a_batch_that_is_too_large_is_halved(desk: Make, most: int) -> None:
    at = desk(add=faults.at_most(most))
    at.campaign(8)
    assert at.run() is None
    assert at.emails() == EVERYBODY
    assert all(len(e["body"]) <= most for e in at.received("add") if e["worked"])


def test_a_field_that_is_newer_than_a_person_is_sent_empty(desk: Make) -> None:
    at = desk()
    at.campaign(2)
    with at.ledger.writing() as session:
        for person in session.exec(select(Person)):
            person.fields = {k: v for k, v in person.fields.items() if k != "source"}
    assert at.run() is None
    assert [row["source"] for e in at.received("add") for row in e["body"]] == ["", ""]


@pytest.mark.parametrize("bad", [("bo",), ("ada", "bo", "cy"), ("hal",), NAMES[:4]])
def test_bad_rows_cost_themselves(desk: Make, bad: tuple[str, ...]) -> None:
    at = desk(add=[faults.bad_row(f"{name}@example.org") for name in bad])
    at.campaign(8)
    at.run()
    assert at.emails() == {k: 1 for k in EVERYBODY if k.partition("@")[0] not in bad}
    assert at.states(Op.ADD) == {S.REFUSED: len(bad), S.DONE: 8 - len(bad)}


@pytest.mark.parametrize(
    ("faulty", "unsure"),
    [
        ({"invite": faults.html(2)}, 1),  # a login page may have been taken for every answer
        ({"invite": faults.lost(2), "problems": faults.throttled(30)}, 1),  # which other runs keep
        ({"invite": faults.lost(2, times=3)}, 3),
        ({"invite": faults.refuse_all(422)}, 0),
        ({"invite": faults.throttled(3_600)}, 0),
    ],
)
def test_doubts_and_refusals_of_everybody_end_a_run(
    desk: Make, faulty: dict[str, Any], unsure: int
) -> None:
    at = desk({"invites_in_flight": 1}, **faulty)
    at.campaign(8)
    ending = at.run()
    assert ending and ending.how is (How.HELD if "'3600'" in str(faulty) else How.STOPPED)
    came = {S.DONE: 1, S.UNSURE: unsure} if unsure else {}
    assert at.states(Op.INVITE) == came | {S.WAITING: 8 - sum(came.values())}
    with at.ledger.reading() as session:
        until = session.exec(select(Campaign.paused_until)).one()
    assert (until is not None) == ("throttled" in str(faulty))


@pytest.mark.parametrize("what", ["cy@example.org\n@x.org", "", None])
def test_a_list_that_changes_while_a_run_sends_holds_at_once(
    desk: Make, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, what: str | None
) -> None:
    """Whoever it lists by then; one that cannot be read lets nothing more leave, whatever fails,
    and no answer is lost.
    """
    file = tmp_path / "never.txt"
    file.write_text("@other.example")
    at = desk({"invites_in_flight": 1, "do_not_contact": file})
    at.campaign(4)
    really, looks = Running.still_ours, count(1)

    async def listing(running: Running) -> None:
        if next(looks) == 4:  # after the project's two, those who are added
            file.write_text(what or "")
            if what is None:
                monkeypatch.setattr(sending_run, "read_entries", lambda _: {}[file])
        await really(running)

    monkeypatch.setattr(Running, "still_ours", listing)
    ending = at.run()
    names = [name for name in NAMES[:4] if name != "cy"] if what else NAMES[:1]
    assert at.emails() == {f"{name}@example.org": 1 for name in names}
    assert at.states(Op.INVITE)[S.DONE] == len(names) and at.states(Op.INVITE)[S.UNSURE] == 0
    assert (ending is None) == bool(what)


def test_who_was_still_connecting_when_a_pause_began_is_kept_back(
    desk: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    at = desk({"invites_in_flight": 4}, invite=faults.throttled(1))
    at.campaign(4)
    really, looks = Running.still_ours, count(1)

    async def slowly(running: Running) -> None:
        if next(looks) > 4:  # the project's two, those who are added, and the first email's
            await at.has_received("invite", 1)
            await asyncio.sleep(0.3)
        await really(running)

    monkeypatch.setattr(Running, "still_ours", slowly)
    assert at.run() is None
    assert at.emails() == dict.fromkeys(list(EVERYBODY)[:4], 1)
    with at.ledger.reading() as session:
        until = session.exec(select(Campaign.paused_until)).one()
        invites = [r for r in session.exec(select(Request)) if r.op is Op.INVITE and r.status]
    assert until is not None
    assert all(r.claimed_at >= until for r in invites if r.status != 429)


def test_what_was_claimed_before_the_machine_slept_is_claimed_again(
    desk: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    at = desk({"invites_in_flight": 1})
    at.campaign(2)
    slept = [0.0]
    really, looks, clock = Running.still_ours, count(1), time.clock_gettime

    async def sleeps(running: Running) -> None:
        slept[0] += 3600 * (next(looks) == 4)  # after three requests, those before any email
        await really(running)

    monkeypatch.setattr(Running, "still_ours", sleeps)
    monkeypatch.setattr(time, "clock_gettime", lambda which: clock(which) + slept[0])
    assert at.run() is None
    assert list(at.emails().values()) == [1, 1]
    with at.ledger.reading() as session:
        invites = [r.status for r in session.exec(select(Request)) if r.op is Op.INVITE]
    assert invites == [None, 200, 200]


@pytest.mark.parametrize("new_url", ["sqlite"], indirect=True)
def test_nothing_is_claimed_while_the_mark_grows(
    desk: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A copy without its log, made where the log went into the file, has all that was claimed."""
    at = desk({"invites_in_flight": 4})
    at.campaign(130)
    checkpoint, grow = Ledger.checkpoint, receipts.Mark.grow
    found: list[int] = []

    def claims() -> int:
        with at.ledger.reading() as session:
            return len(session.exec(select(Request.id)).all())

    def slowly(ledger: Ledger) -> None:
        checkpoint(ledger)
        found.append(claims())
        time.sleep(0.05)

    def grown(mark: receipts.Mark) -> int:
        number = grow(mark)
        found.append(claims())
        return number

    monkeypatch.setattr(Ledger, "checkpoint", slowly)
    monkeypatch.setattr(receipts.Mark, "grow", grown)
    assert at.run() is None
    assert len(at.emails()) == 130
    assert found[::2] == found[1::2]
    assert len(found) >= 6


def test_a_replay_after_401_is_a_request_of_its_own(desk: Make) -> None:
    at = desk({"invites_in_flight": 1}, invite=faults.status(401, at=2))
    at.campaign(3)
    assert at.run() is None
    assert list(at.emails().values()) == [1, 1, 1]
    with at.ledger.reading() as session:
        invites = [r for r in session.exec(select(Request)) if r.op is Op.INVITE]
    assert [r.status for r in invites] == [200, 401, 200, 200]
    assert len(at.received("token")) == 2


def test_a_cancelled_run_still_records_its_answers(desk: Make) -> None:
    at = desk({"invites_in_flight": 2}, invite=faults.late(0.3, at=1, times=8))
    at.campaign(8)

    async def cancelled() -> None:
        run = asyncio.create_task(at.send())
        await at.has_received("invite", 1)
        run.cancel()
        with pytest.raises(asyncio.CancelledError):
            await run

    asyncio.run(cancelled())
    assert set(at.states(Op.INVITE)) == {S.DONE, S.WAITING}


def no_lock(at: Desk) -> None:
    shutil.rmtree(at.ledger.locks)


def another_plan(at: Desk) -> None:
    with at.ledger.writing() as session:  # as `campaign plan` takes in a file that has changed
        session.get_one(Campaign, 1).spec = {"invites": {"approval": "required"}}


@pytest.mark.parametrize("new_url", ["sqlite"], indirect=True)
@pytest.mark.parametrize(
    ("change", "how", "said"),
    [(no_lock, How.STOPPED, "Nothing more is sent"), (another_plan, How.HELD, "has approved")],
)
def test_nothing_more_is_sent_once(desk: Make, change: Any, how: How, said: str) -> None:
    at = desk({"invites_in_flight": 1}, invite=faults.late(0.3, at=2))
    at.campaign(8)

    async def changed() -> Any:
        run = asyncio.create_task(at.send())
        await at.has_received("invite", 2)
        change(at)
        return await run

    ending = asyncio.run(changed())
    assert ending.how is how
    assert said in str(ending)
    assert at.states(Op.INVITE) == {S.DONE: 2, S.WAITING: 6}
    assert len(at.received("invite")) == 2


def test_without_a_receipt_nothing_is_sent(desk: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    at = desk()
    at.campaign(1)
    nowhere = at.folder / "file"
    nowhere.write_text("no folder")
    monkeypatch.setenv("XDG_DATA_HOME", str(nowhere))
    with at.ledger.writing() as session:
        session.get_one(Campaign, 1).file = str(nowhere / "backend.yaml")
    ending = at.run()
    assert ending is not None
    assert "No receipt of backend can be written" in str(ending)
    assert at.service.entries() == []


@pytest.mark.slow
@pytest.mark.xdist_group("pg")
@pytest.mark.parametrize("new_url", ["postgres"], indirect=True)
@pytest.mark.parametrize("whose", ["lease", "ledger", "both"])
def test_a_cut_connection_leaves_little_unsure(desk: Make, postgres: Postgres, whose: str) -> None:
    """The lease's session lost: nothing more is sent. The ledger's: what is answered is kept."""
    at = desk({"invites_in_flight": 2}, invite=faults.late(2, at=2, times=2))
    at.campaign(8)
    lease_of = f"% {os.getpid()}"

    async def cut() -> Any:
        run = asyncio.create_task(at.send())
        await at.has_received("invite", 2)
        if whose != "ledger":
            assert postgres.cut(lease_of) == 1
        if whose != "lease":
            postgres.cut("")
        return await run

    ending = asyncio.run(cut())
    if whose != "ledger":
        assert ending.how is How.STOPPED
        assert len(at.received("invite")) <= 3
    assert at.states(Op.INVITE)[S.UNSURE] == at.states(Op.INVITE)[S.SENDING] == 0
    at.run()
    assert at.emails() == EVERYBODY
