"""A claim's work, counted: how many statements, and how many of SQLite's own steps."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import event, select
from sqlalchemy.engine import Engine

from data.decisions.approvals import approve, show
from data.decisions.decisions import By, note
from data.eligibility.holds import code_now, holds
from data.sending.claims import Claim, claim
from data.sending.outcomes import Outcome, record, refusals
from data.store.ledger import Ledger
from data.store.states import Op, State
from data.store.tables import (
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


FILL = f"""
CREATE TEMP TABLE number AS SELECT value AS n FROM json_each(:numbers);
CREATE TEMP TABLE each AS
    SELECT n, n % 2 = :last % 2 AS waits FROM number WHERE n BETWEEN 1 AND :last;
INSERT INTO campaign (id, key, service, account, app_url, file, digest, spec, mark, created_at)
    SELECT n, 'campaign-' || n, '{SERVICE}', 'a', '', 'x.yaml', 'd', :spec, 0, :at FROM each;
INSERT INTO step (campaign_id, person_id, op, state, generation, service_id)
    SELECT n, 0, 'create', 'done', 1, 1000000 + n FROM each UNION ALL
    SELECT n, 0, 'attach', 'done', 1, iif(waits, {PROBLEM}, 1000 + n) FROM each;
INSERT INTO run (id, campaign_id, host, pid, began, ended) SELECT n, n, 'h', 1, :at, :at FROM each;
INSERT INTO person (id, campaign_id, email_key, mailbox, email1, name_key, fields, listed)
    SELECT each.n * 10000 + i, each.n, email, email, email, 'ann person' || i,
        json_object('first_name', 'Ann', 'last_name', 'Person' || i, 'email1', email), i % 10 != 9
    FROM each, (SELECT n AS i, printf('person%d@x%d.org', n, n % 50) AS email FROM number)
    WHERE i < :people;
INSERT INTO step (id, campaign_id, person_id, op, state, generation, service_id)
    SELECT id * 10, campaign_id, id, 'add', 'done', 1, id FROM person UNION ALL
    SELECT id * 10 + 1, n, id, 'invite', iif(waits, 'waiting', 'done'), 1, NULL
    FROM person JOIN each ON n = campaign_id;
INSERT INTO request (id, run_id, op, claimed_at, ended_at, status)
    SELECT id, campaign_id, op, :at, :at, 200 FROM step WHERE op = 'invite' AND state = 'done';
INSERT INTO part (id, request_id, step_id, generation, state, said_yes, mailbox, problem)
    SELECT step.id, step.id, step.id, 1, 'done', 0, mailbox, 1000 + step.campaign_id
    FROM request JOIN step ON step.id = request.id JOIN person ON person.id = person_id;
INSERT INTO decision (at, who, word, campaign_id, value)
    SELECT :at, 'me', 'approve', :last, '"not yet"';
INSERT INTO decision (at, who, word, campaign_id, person_id)
    SELECT :at, 'me', w.value, CASE w.value WHEN 'block' THEN NULL WHEN 'invite'
        THEN 1 + n % :last ELSE :last END, iif(w.value = 'block', NULL, 1)
    FROM number, json_each('["block", "withdraw", "again", "invite"]') AS w
    WHERE n < :decisions / 4;
INSERT INTO forgotten (digest, mailbox_digest, at)
    SELECT printf('%064x', n), printf('%064x', n), :at FROM number WHERE n < :forgotten;
INSERT INTO do_not_contact (email_key, listed_by, at)
    SELECT printf('no%d@z.org', n), 'file', :at FROM number WHERE n < :forgotten
"""


def fill(ledger: Ledger, campaigns: int, people: int, decisions: int, forgotten: int) -> int:
    """Many campaigns at one service with the same people: one in two is for the same problem and
    invited nobody, the others invited everybody to a problem of their own. The last one, whose
    number is returned, has everybody added. Each has people who are gone from their file."""
    of = {"last": campaigns, "people": people, "decisions": decisions, "forgotten": forgotten}
    numbers = json.dumps([*range(max(*of.values(), 1) + 1)])
    spec = '{"invites": {"approval": "required"}, "project": {"id": null}}'
    of |= {"at": f"{now():%F %T.%f}", "spec": spec, "numbers": numbers}
    with ledger.writing() as session:
        raw: Any = session.connection().connection.driver_connection
        for statement in FILL.split(";\n"):
            raw.execute(statement, of)
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
