"""What leaves, what does not, and where everybody stands afterwards; by the service's record."""

import asyncio
import os
import shutil
import time
from collections import Counter
from collections.abc import Callable
from itertools import count
from typing import Any

import pytest
from sqlmodel import select

from data.eligibility.holds import Kind, campaign_holds
from data.sending.outcomes import SHARED_ID
from data.sending.runs import Running
from data.store import receipts
from data.store.lease import lease
from data.store.ledger import Ledger
from data.store.states import Op, State
from data.store.tables import Campaign, Decision, Pace, Request, Run
from sandbox import faults
from tasks.sending.gate import How
from tasks.sending.run import sending
from tests.data.ledgers import Postgres
from tests.data.sending.small import NAMES
from tests.tasks.sending.desk import Desk, all_of_it

Make = Callable[..., Desk]
S = State
EVERYBODY = {f"{name}@example.org": 1 for name in NAMES}


def test_everybody_is_invited_once(desk: Make) -> None:
    at = desk()
    at.campaign(8)
    assert at.run() is None
    assert at.emails() == EVERYBODY
    before = len(at.service.entries())
    assert at.run() is None
    assert len([e for e in at.service.entries() if e["op"] != "token"]) == before - 1
    with at.ledger.reading() as session:
        assert [run.ending for run in session.exec(select(Run))] == ["completed"] * 2


@pytest.mark.parametrize("name", ["shuffled", "lowered", "extra", "as_text", "above_2_53"])
def test_ids_are_matched_by_address(desk: Make, name: str) -> None:
    at = desk(add=getattr(faults, name)())
    at.campaign(8)
    assert at.run() is None
    assert at.emails() == EVERYBODY


@pytest.mark.parametrize("most", [1, 2, 5])
def test_a_batch_that_is_too_large_is_halved(desk: Make, most: int) -> None:
    at = desk(add=faults.at_most(most))
    at.campaign(8)
    assert at.run() is None
    assert at.emails() == EVERYBODY
    assert all(len(e["body"]) <= most for e in at.received("add") if e["worked"])


@pytest.mark.parametrize("bad", [("bo",), ("ada", "bo", "cy"), ("hal",), NAMES[:4]])
def test_bad_rows_cost_themselves(desk: Make, bad: tuple[str, ...]) -> None:
    at = desk(add=[faults.bad_row(f"{name}@example.org") for name in bad])
    at.campaign(8)
    at.run()
    assert at.emails() == {k: 1 for k in EVERYBODY if k.partition("@")[0] not in bad}
    assert at.states(Op.ADD) == {S.REFUSED: len(bad), S.DONE: 8 - len(bad)}


@pytest.mark.parametrize(
    ("op", "code"), [("add", 422), ("add", 403), ("invite", 404), ("invite", 403), ("create", 422)]
)
def test_a_refusal_of_everybody_stops_and_they_wait(desk: Make, op: str, code: int) -> None:
    at = desk({"invites_in_flight": 2}, **{op: faults.refuse_all(code, "your plan has ended")})
    at.campaign(8)
    ending = at.run()
    assert ending is not None
    assert (ending.how, ending.exit_code) == (How.STOPPED, 1)
    assert "your plan has ended" in str(ending)
    assert len(at.received(op)) <= 8
    if op != "create":
        assert set(at.states(Op(op))) == {S.WAITING}
    at.service.faults[op] = None
    assert at.run() is None
    assert at.emails() == EVERYBODY


def test_a_lost_answer_is_unsure_and_the_problem_list_is_asked(desk: Make) -> None:
    at = desk({"invites_in_flight": 1}, invite=faults.lost(3))
    at.campaign(8)
    assert at.run() is None
    assert at.emails() == EVERYBODY
    assert at.states(Op.INVITE) == {S.UNSURE: 1, S.DONE: 7}
    ops = [e["op"] for e in at.service.entries()]
    third = [i for i, op in enumerate(ops) if op == "invite"][2]
    assert ops[third + 1] == "problems"
    assert at.run() is None
    assert at.emails() == EVERYBODY


def test_three_in_a_row_end_the_run(desk: Make) -> None:
    at = desk(
        {"invites_in_flight": 1}, invite=faults.status(502, after=True, at=2, times=faults.ALWAYS)
    )
    at.campaign(8)
    ending = at.run()
    assert ending is not None
    assert ending.how is How.STOPPED
    assert at.states(Op.INVITE) == {S.DONE: 1, S.UNSURE: 3, S.WAITING: 4}
    assert len(at.received("problems")) == 2


def test_a_service_that_does_not_answer_the_check_ends_the_run(desk: Make) -> None:
    at = desk(
        {"invites_in_flight": 1}, invite=faults.lost(2), problems=faults.refuse_all(403, "closed")
    )
    at.campaign(8)
    ending = at.run()
    assert ending is not None
    assert "closed" in str(ending)
    assert at.states(Op.INVITE) == {S.DONE: 1, S.UNSURE: 1, S.WAITING: 6}


def test_after_a_429_nothing_leaves_for_a_while(desk: Make) -> None:
    at = desk({"invites_in_flight": 1}, invite=faults.throttled(1, at=3))
    at.campaign(8)
    assert at.run() is None
    assert at.emails() == EVERYBODY
    with at.ledger.reading() as session:
        until = session.exec(select(Pace.paused_until)).one()
        invites = [r for r in session.exec(select(Request)) if r.op is Op.INVITE]
    assert until is not None
    assert [r.status for r in invites] == [200, 200, 429, *[200] * 6]
    assert all(r.claimed_at >= until for r in invites[3:])


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
        until = session.exec(select(Pace.paused_until)).one()
        invites = [r for r in session.exec(select(Request)) if r.op is Op.INVITE and r.status]
    assert until is not None
    assert all(r.claimed_at >= until for r in invites if r.status != 429)


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


def test_a_pause_of_another_run_holds_here(desk: Make) -> None:
    at = desk(create=faults.throttled(600))
    at.campaign(3)
    at.campaign(3, key="frontend")

    def paused() -> bool:
        with at.ledger.reading() as session:
            return any(pace.paused_until for pace in session.exec(select(Pace)))

    async def both() -> None:
        stop = asyncio.Event()
        first = asyncio.create_task(at.send(1, stop))
        while not paused():
            await asyncio.wait([first], timeout=0.01)
        second = asyncio.create_task(at.send(2, stop))
        await asyncio.wait([second], timeout=0.5)
        stop.set()
        endings = [await first, await second]
        assert [ending.how for ending in endings if ending] == [How.INTERRUPTED] * 2

    asyncio.run(both())
    assert len(at.received("create")) == 1


def test_a_replay_after_401_is_a_request_of_its_own(desk: Make) -> None:
    at = desk({"invites_in_flight": 1}, invite=faults.status(401, at=2))
    at.campaign(3)
    assert at.run() is None
    assert list(at.emails().values()) == [1, 1, 1]
    with at.ledger.reading() as session:
        invites = [r for r in session.exec(select(Request)) if r.op is Op.INVITE]
    assert [r.status for r in invites] == [200, 401, 200, 200]
    assert len(at.received("token")) == 2


@pytest.mark.parametrize("fault", [faults.html(2), faults.redirect(2)])
def test_a_page_stops_the_run(desk: Make, fault: faults.Fault) -> None:
    at = desk({"invites_in_flight": 1}, invite=fault)
    at.campaign(3)
    ending = at.run()
    assert ending is not None
    assert at.states(Op.INVITE) == {S.DONE: 1, S.UNSURE: 1, S.WAITING: 1}


def test_an_answer_that_names_strangers_stops_the_run(desk: Make) -> None:
    at = desk(add=faults.strangers())
    at.campaign(3)
    ending = at.run()
    assert ending is not None
    assert at.states(Op.ADD) == {S.DONE: 3}
    assert at.received("invite") == []


def test_an_id_of_another_project_stops_the_run(desk: Make) -> None:
    at = desk()
    at.campaign(1)
    at.campaign(["zoe"], key="frontend")
    assert at.run(1) is None
    at.service.faults["create"] = faults.earlier()
    ending = at.run(2)
    assert ending is not None
    assert (ending.how, ending.exit_code) == (How.UNSURE, 3)
    assert SHARED_ID in str(ending)
    assert "campaign settle frontend" in ending.then
    assert len(at.received("add")) == 1


@pytest.mark.parametrize("op", [Op.CREATE, Op.ATTACH])
def test_an_unsure_project_keeps_everybody_back(desk: Make, op: Op) -> None:
    at = desk(**{op: faults.lost()})
    at.campaign(3)
    for _ in range(2):
        ending = at.run()
        assert ending is not None
        assert (ending.how, ending.exit_code) == (How.UNSURE, 3)
        assert ending.then == "campaign settle backend"
    assert len(at.received(op)) == 1
    assert at.received("add") == at.received("invite") == []
    with at.ledger.reading() as session:
        [hold] = campaign_holds(session, 1)
        assert (hold.kind, hold.type_this) == (Kind.UNSURE, "campaign settle backend")


def test_told_to_stop_what_is_in_flight_gets_its_answer(desk: Make) -> None:
    at = desk(invite=faults.late(0.3, at=2, times=8))
    at.campaign(8)

    async def told() -> None:
        stop = asyncio.Event()
        run = asyncio.create_task(at.send(1, stop))
        await at.has_received("invite", 4)
        stop.set()
        ending = await run
        assert ending is not None
        assert (ending.how, ending.exit_code) == (How.INTERRUPTED, 130)
        assert ending.then.startswith("campaign run ")

    asyncio.run(told())
    assert set(at.states(Op.INVITE)) <= {S.DONE, S.WAITING}
    assert at.run() is None
    assert at.emails() == EVERYBODY


def test_a_cancelled_run_still_records_its_answers(desk: Make) -> None:
    at = desk({"invites_in_flight": 2}, invite=faults.late(0.3, at=1, times=8))
    at.campaign(8)

    async def cancelled() -> None:
        run = asyncio.create_task(at.send(1))
        await at.has_received("invite", 1)
        run.cancel()
        with pytest.raises(asyncio.CancelledError):
            await run

    asyncio.run(cancelled())
    assert set(at.states(Op.INVITE)) == {S.DONE, S.WAITING}


def test_a_persons_pause_holds_within_one_request(desk: Make) -> None:
    at = desk({"invites_in_flight": 1}, invite=faults.late(0.2, at=2))
    at.campaign(8)

    async def paused() -> None:
        run = asyncio.create_task(at.send(1))
        await at.has_received("invite", 2)
        with at.ledger.writing() as session:
            session.add(Decision(who="Ada", word="pause", campaign_id=1))
        ending = await run
        assert ending is not None
        assert (ending.how, ending.exit_code) == (How.HELD, 3)
        assert ending.hold is not None
        assert ending.hold.kind is Kind.PAUSED

    asyncio.run(paused())
    assert len(at.received("invite")) == 2


def _remove_locks(at: Desk) -> None:
    shutil.rmtree(at.ledger.locks)


def _move_ledger(at: Desk) -> None:
    (at.folder / "ledger.db").rename(at.folder / "elsewhere.db")


def _replace_ledger(at: Desk) -> None:
    shutil.copy(at.folder / "ledger.db", at.folder / "copy.db")
    (at.folder / "copy.db").rename(at.folder / "ledger.db")


@pytest.mark.parametrize("new_url", ["sqlite"], indirect=True)
@pytest.mark.parametrize("harm", [_remove_locks, _move_ledger, _replace_ledger])
def test_nothing_more_is_sent_once_lease_or_ledger_is_gone(
    desk: Make, harm: Callable[[Desk], None]
) -> None:
    at = desk({"invites_in_flight": 1}, invite=faults.late(0.3, at=2))
    at.campaign(8)

    async def harmed() -> Any:
        run = asyncio.create_task(at.send(1))
        await at.has_received("invite", 2)
        harm(at)
        return await run

    ending = asyncio.run(harmed())
    assert ending.how is How.STOPPED
    assert "Nothing more is sent" in str(ending)
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


def test_the_flow_may_look_at_what_was_sent(desk: Make) -> None:
    at = desk()
    at.campaign(3)

    async def looked() -> Counter[tuple[Op, State]]:
        with lease(at.ledger, "backend") as held:
            async with sending(at.ledger, held, 1, at.settings(), asyncio.Event()) as run:
                await all_of_it(run)
                return run.sent

    sent = asyncio.run(looked())
    assert sent == {
        (Op.CREATE, S.DONE): 1,
        (Op.ATTACH, S.DONE): 1,
        (Op.ADD, S.DONE): 3,
        (Op.INVITE, S.DONE): 3,
    }


@pytest.mark.slow
@pytest.mark.xdist_group("pg")
@pytest.mark.parametrize("new_url", ["postgres"], indirect=True)
@pytest.mark.parametrize("whose", ["lease", "ledger", "both"])
def test_a_cut_connection_leaves_little_unsure(desk: Make, postgres: Postgres, whose: str) -> None:
    """The lease's session lost: nothing more is sent. The ledger's: what is answered is kept."""
    at = desk({"invites_in_flight": 2}, invite=faults.late(0.3, at=2, times=2))
    at.campaign(8)
    lease_of = f"% {os.getpid()}"

    async def cut() -> Any:
        run = asyncio.create_task(at.send(1))
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
