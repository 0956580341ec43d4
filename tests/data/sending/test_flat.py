"""A claim's work, counted: how many statements, and how many of SQLite's own steps."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import event, insert, select
from sqlalchemy.engine import Engine

from data.decisions.approvals import approve, show
from data.decisions.decisions import By, note
from data.eligibility.holds import code_now, holds
from data.sending.claims import Claim, claim
from data.sending.outcomes import Outcome, record, refusals
from data.store.ledger import Ledger
from data.store.states import Op, State
from data.store.tables import (
    CAMPAIGN,
    DECISION,
    DO_NOT_CONTACT,
    FORGOTTEN,
    PART,
    PERSON,
    REQUEST,
    RUN,
    STEP,
    Campaign,
    now,
)
from tests.data.desk import SERVICE
from tests.data.sending import small

PROBLEM = 42


@contextmanager
def statements() -> Iterator[list[str]]:
    """What is asked of a database meanwhile, with BEGIN and COMMIT."""
    asked: list[str] = []

    def executes(*args: Any) -> None:
        asked.append(args[2])

    def begins(connection: Any) -> None:
        if connection.dialect.name != "sqlite":  # there it is a statement of ours
            asked.append("BEGIN")

    def commits(_: Any) -> None:
        asked.append("COMMIT")

    hooks = {"before_cursor_execute": executes, "begin": begins, "commit": commits}
    for name, hook in hooks.items():
        event.listen(Engine, name, hook)
    try:
        yield asked
    finally:
        for name, hook in hooks.items():
            event.remove(Engine, name, hook)


@pytest.mark.parametrize(
    ("op", "requests", "people"),
    [(Op.ADD, 1, 1), (Op.ADD, 1, 100), (Op.INVITE, 1, 1), (Op.INVITE, 8, 1)],
)
def test_a_claim_is_at_most_ten_statements_however_many_people_it_is_for(
    ledger: Ledger, op: Op, requests: int, people: int
) -> None:
    """What came of the claims before is written in the same commit: four more for all of it."""
    with ledger.writing() as session:
        pilot = {"pilot": f"{small.NAMES[0]}@example.org"}
        run, steps = small.prepared(session, op, requests * people * 2, invites=pilot)
        every, campaign = [step.id for step in steps], session.get_one(Campaign, 1)
        campaign.pilot_id = steps[0].person_id
        note(session, "approve", By("me"), 1, campaign.pilot_id, value=1)
    each = [every[at : at + people] for at in range(0, len(every), people)]
    outcomes: list[Outcome] = []
    for batch, most in ((each[:requests], 10), (each[requests:], 14)):
        with statements() as asked, ledger.recording() as session:
            record(session, outcomes)
            answers = claim(session, 1, run, op, batch)
        granted = [answer for answer in answers if isinstance(answer, Claim)]
        assert sum(len(answer.steps) for answer in granted) == requests * people
        assert len(asked) <= most, asked
        outcomes = [Outcome(answer.request, State.DONE) for answer in granted]


def person(campaign: int, number: int, **more: Any) -> dict[str, Any]:
    email = f"person{number}@x{number % 50}.org"
    names = {"first_name": "Ann", "last_name": f"Person{number}", "email1": email}
    of = {"campaign_id": campaign, "email_key": email, "mailbox": email, "email1": email}
    return of | {"name_key": f"ann person{number}", "fields": names, "listed": True} | more


def fill(ledger: Ledger, campaigns: int, people: int, decisions: int, forgotten: int) -> int:
    """Many campaigns at one service with the same people: one in two is for the same problem and
    invited nobody, the others invited everybody to a problem of their own. The last one, whose
    number is returned, has everybody added. Each has people who are gone from their file."""
    each = range(1, campaigns + 1)
    spec = {"invites": {"approval": "required"}, "project": {"id": None}}
    with ledger.writing() as session:
        at, connection = now(), session.connection()
        rows = [
            {"id": n, "key": f"campaign-{n}", "service": SERVICE, "account": "a", "app_url": ""}
            | {"file": "x.yaml", "digest": "d", "spec": spec, "mark": 0, "created_at": at}
            for n in each
        ]
        connection.execute(insert(CAMPAIGN), rows)
        own = {"person_id": 0, "state": State.DONE, "generation": 1, "part_id": None}
        connection.execute(
            insert(STEP),
            [
                own | {"campaign_id": n, "op": op, "service_id": service_id}
                for n in each
                for op, service_id in (
                    (Op.CREATE, 10**6 + n),
                    (Op.ATTACH, PROBLEM if n % 2 == campaigns % 2 else 1000 + n),
                )
            ],
        )
        run = {"host": "h", "pid": 1, "began": at, "ended": at}
        connection.execute(insert(RUN), [run | {"id": n, "campaign_id": n} for n in each])
        them = [
            person(n, number, id=n * 10**4 + number, listed=number % 10 != 9)
            for n in each
            for number in range(people)
        ]
        connection.execute(insert(PERSON), them)
        waits = {n for n in each if n % 2 == campaigns % 2}
        done = {"generation": 1, "state": State.DONE}
        steps = [
            done
            | {"id": p["id"] * 10 + i, "campaign_id": p["campaign_id"], "person_id": p["id"]}
            | {"op": op, "service_id": p["id"] if op is Op.ADD else None}
            | ({"state": State.WAITING} if op is Op.INVITE and p["campaign_id"] in waits else {})
            for p in them
            for i, op in enumerate((Op.ADD, Op.INVITE))
        ]
        connection.execute(insert(STEP), steps)
        sent = [step for step in steps if step["op"] is Op.INVITE and step["state"] is State.DONE]
        if sent:
            request = {"claimed_at": at, "ended_at": at, "op": Op.INVITE, "status": 200}
            connection.execute(
                insert(REQUEST),
                [request | {"id": s["id"], "run_id": s["campaign_id"]} for s in sent],
            )
            boxes = {p["id"]: p["mailbox"] for p in them}
            connection.execute(
                insert(PART),
                [
                    done
                    | {"id": s["id"], "request_id": s["id"], "step_id": s["id"]}
                    | {"mailbox": boxes[s["person_id"]], "problem": 1000 + s["campaign_id"]}
                    for s in sent
                ],
            )
        word = {"at": at, "who": "me", "campaign_id": None, "person_id": None, "value": None}
        words = [word | {"word": "approve", "campaign_id": campaigns, "value": "not yet"}]
        for n in range(decisions // 4):
            words += [
                word | {"word": "block"},
                word | {"word": "withdraw", "campaign_id": campaigns, "person_id": 1},
                word | {"word": "again", "campaign_id": campaigns, "person_id": 1},
                word | {"word": "invite", "campaign_id": 1 + n % campaigns, "person_id": 1},
            ]
        connection.execute(insert(DECISION), words)
        if forgotten:
            gone = [
                {"digest": f"{n:064x}", "mailbox_digest": f"{n:064x}", "at": at}
                for n in range(forgotten)
            ]
            connection.execute(insert(FORGOTTEN), gone)
            entries = [
                {"email_key": f"no{n}@z.org", "listed_by": "file", "at": at}
                for n in range(forgotten)
            ]
            connection.execute(insert(DO_NOT_CONTACT), entries)
    return campaigns


def steps_of_a_claim(ledger: Ledger, *size: int) -> int:
    """How many of its own steps SQLite takes to claim and answer one invitation, and then eight, in
    a ledger that was filled like this."""
    number = fill(ledger, *size)
    with ledger.writing() as session:
        campaign = session.get_one(Campaign, number)
        show(session, number, code_now(session, number, holds(session, campaign)), "me")
        approve(session, number, By("me", "it is right"))
    counted = 0

    def step() -> None:
        nonlocal counted
        counted += 1

    waiting = select(STEP.c.id).where(STEP.c.op == Op.INVITE, STEP.c.state == State.WAITING)
    with ledger.writing() as session:
        whom = session.scalars(waiting.where(STEP.c.campaign_id == number)).all()
        raw: Any = session.connection().connection.driver_connection
        raw.set_progress_handler(step, 1)
        for requests in ([whom[:1]], [[each] for each in whom[1:9]]):
            granted = claim(session, number, number, Op.INVITE, requests)
            assert all(isinstance(each, Claim) for each in granted), granted
            numbers = [each.request for each in granted if isinstance(each, Claim)]
            record(session, [Outcome(each, State.DONE) for each in numbers])
            refusals(session, [*whom[1:9]])
        raw.set_progress_handler(None, 1)
        session.rollback()
    return counted


# Campaigns, people of each, decisions, people forgotten.
LARGE = pytest.param((1_000, 100, 20_000, 10_000), marks=pytest.mark.slow)


@pytest.mark.parametrize("new_url", ["sqlite"], indirect=True)
@pytest.mark.parametrize("size", [(60, 40, 2_000, 1_000), LARGE])
def test_a_claim_is_no_more_work_in_a_large_ledger(
    ledger: Ledger, tmp_path: Path, size: tuple[int, int, int, int]
) -> None:
    with Ledger.open(f"sqlite:///{tmp_path}/small.db") as other:
        least = steps_of_a_claim(other, 1, 12, 0, 0)
    assert steps_of_a_claim(ledger, *size) <= 1.2 * least
