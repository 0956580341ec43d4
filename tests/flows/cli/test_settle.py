"""`settle --seen`: what a list from the web application shows to have happened."""

from itertools import product
from pathlib import Path
from string import ascii_letters

import pytest
from sqlalchemy import select

from data.decisions.decisions import By, invite
from data.store.states import Op, State
from data.store.tables import PERSON, STEP
from flows.cli import app
from tests.data.desk import Desk, address

IDS = (
    select(PERSON.c.email1, STEP.c.service_id)
    .join(STEP, STEP.c.person_id == PERSON.c.id)
    .where(STEP.c.op == Op.ADD, STEP.c.state == State.DONE)
)


def settle(table: str, tmp_path: Path) -> int:
    file = tmp_path / "export.csv"
    file.write_text(table)
    return app.run(["settle", "backend", "--seen", str(file)])


def test_everybody_of_a_lost_add_by_one_command(
    desk: Desk, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    letters = [f"{one}{two}" for one, two in product(ascii_letters[:10], repeat=2)]
    desk.take_in(*(("Pat", f"Of {each}", f"p{n}@x.org") for n, each in enumerate(letters)))
    desk.does(Op.CREATE)
    desk.does(Op.ATTACH)
    desk.does(Op.ADD, state=State.UNSURE)
    rows = "".join(f"Pat,P{n}@X.org,{7000 + n}\n" for n in reversed(range(98)))
    assert settle(f"Name,Email,Candidate ID\n{rows}", tmp_path) == 3
    states = [desk.state(f"p{n}@x.org")[0] for n in (0, 97, 98, 99)]
    assert states == ["done", "done", "unsure", "unsure"]
    said = capsys.readouterr()
    assert "98 requests of backend settled." in said.out
    assert "Stays unsure, not in the list: p98@x.org, p99@x.org" in said.err
    assert len(desk.due(Op.INVITE)) == 98
    with desk.ledger.reading() as session:
        ids = dict(session.execute(IDS).all())
    assert ids == {f"p{n}@x.org": 7000 + n for n in range(98)}


@pytest.mark.parametrize(
    ("table", "state", "said"),
    [
        ("Email,ID\nada@x.org,7001", "done", "1 request of backend settled"),
        ("Email,ID,Candidate ID\nada@x.org,U-1,7001", "done", "settled"),
        ("Email,ID\nada@x.org,\n", "unsure", "without an id"),
        ("Email,ID\nada@x.org,7001\nada@x.org,7002", "unsure", "or with several"),
        ("Email,ID\nben@x.org,7001", "unsure", "not in the list"),
        ("Email,ID,Project\nada@x.org,6001,99\nada@x.org,7001,101", "done", "settled"),
        ("Email,ID,Project title\nada@x.org,6001,Sales", "unsure", "with another project"),
        ("Email,ID,Invited\nada@x.org,7001,yes", "unsure", "invited already"),
        ("Email,Name\nada@x.org,Ada", "unsure", "no column of candidates' ids"),
    ],
)
def test_an_add(table, state, said, desk, tmp_path, capsys) -> None:
    desk.take_in("Ada")
    desk.does(Op.CREATE)
    desk.does(Op.ATTACH)
    desk.does(Op.ADD, state=State.UNSURE)
    settle(table, tmp_path)
    assert desk.state("Ada") == (state, "waiting")
    assert said in "".join(capsys.readouterr())


@pytest.mark.parametrize(
    ("columns", "cells", "state"),
    [
        ("Invited", "yes", "done"),
        ("Invitation sent at", "2030-12-01 09:14", "done"),
        ("Invitation sent at", "2030-12-01 bounced", "unsure"),
        ("Invitation status", "Sent", "done"),
        ("Invited,Invitation sent at", "yes,01.12.2030", "done"),
        ("Invited,Invitation sent at", "no,01.12.2030", "unsure"),
        ("Invited", "no", "unsure"),
        ("Invited", "Yes - bounced", "unsure"),
        ("Invited", "", "unsure"),
        ("Invitation status", "not sent", "unsure"),
        ("Invitation expires", "2030-12-14", "unsure"),
        ("Invitation link", "yes", "unsure"),
        ("Emails sent", "2", "done"),
        ("Emails sent", "0", "unsure"),
        ("Invited,Candidate ID", "yes,5001", "done"),
        ("Invited,Candidate ID", "yes,5002", "unsure"),
    ],
)
def test_only_a_column_that_says_so_settles_an_invitation(
    columns: str, cells: str, state: str, desk: Desk, tmp_path: Path
) -> None:
    desk.take_in("Ada")
    desk.adds()
    desk.does(Op.INVITE, state=State.UNSURE)
    settle(f"Email,{columns}\nada@x.org,{cells}", tmp_path)
    assert desk.state("Ada") == ("done", state)
    if state == "done":  # which of two emails the list means, it does not say
        desk.call(invite, [address("Ada")], By("me", "a reminder"))
        desk.does(Op.INVITE, state=State.UNSURE)
        settle(f"Email,{columns}\nada@x.org,{cells}", tmp_path)
        assert desk.state("Ada") == ("done", "unsure")
