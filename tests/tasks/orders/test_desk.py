"""The order desk: what is taken is taken once and kept, and no answer names anybody else."""

import asyncio
import json
import os
import time
from pathlib import Path
from typing import Any

import httpx
import pytest
from sqlmodel import select
from starlette.exceptions import HTTPException

from config.errors import BadInput
from config.reading import read_campaign
from config.sheets.files import REST
from data.campaigns.intake import take_in
from data.decisions.decisions import By, block, correct, withdraw
from data.decisions.privacy import forget
from data.store.lease import lease
from data.store.states import Op
from data.store.tables import Decision
from tasks.forgetting import folders_of, ordered, what_is_left
from tasks.orders.desk import LARGEST, RATE, Desk, application
from tasks.orders.table import COLUMNS, LOCK
from tests.data.desk import Desk as Ledgers

TOKEN = b"0123456789abcdef"
ADA = {"id": "app-1", "first_name": "Ada", "last_name": "Lovelace", "email1": "ada@x.org"}
BEN = {"id": "app-2", "first_name": "Ben", "last_name": "Okri", "email1": "ben@x.org"}
WHY = {"why": "She took another job"}
PATH = "/campaigns/hiring/candidates"


class Door:
    """A folder with the definition `hiring`, and a client at its desk."""

    def __init__(self, folder: Path, ledgers: Ledgers) -> None:
        self.folder, self.ledgers = folder, ledgers
        self.file, self.table = folder / "hiring.yaml", folder / "hiring.orders.csv"
        self.write()
        self.open()

    def write(self, **more: Any) -> None:
        people = {"file": self.table.name, "where": {"withdrawn": ""}}
        people |= {"columns": {"notes": "notes"}, "ignore": ["id"]}
        whole = {"campaign": "hiring", "project": {"name": "X"}, "problem": 42}
        self.file.write_text(json.dumps(whole | {"candidates": people} | more))
        os.utime(self.file, (0, 0))  # long at rest

    def open(self) -> None:
        """As after a kill: nothing is known but what is on the disk."""
        self.desk = Desk(self.folder, self.ledgers.ledger, TOKEN.decode())

    def ask(
        self, method: str, path: str, asked: Any = None, bearer: bytes = TOKEN
    ) -> tuple[int, dict[str, Any]]:
        """Ask the desk, and give the status and what it says."""
        content = None if method == "GET" else json.dumps(asked)

        async def asking() -> httpx.Response:
            desk = httpx.ASGITransport(application(self.desk))
            async with httpx.AsyncClient(transport=desk, base_url="http://desk") as client:
                headers = {b"Authorization": b"Bearer " + bearer}
                return await client.request(method, path, content=content, headers=headers)

        answer = asyncio.run(asking())
        return answer.status_code, answer.json()

    def post(self, order: Any, path: str = PATH, **more: Any) -> tuple[int, dict[str, Any]]:
        return self.ask("POST", path, order, **more)

    def get(self, number: str = "app-1") -> dict[str, Any]:
        return self.ask("GET", f"{PATH}/{number}")[1]

    def delete(self, number: str = "app-1", why: Any = WHY) -> int:
        return self.ask("DELETE", f"{PATH}/{number}", why)[0]

    def people(self) -> list[str]:
        """Whom the definition has by now."""
        try:
            return [each.candidate.email1 for each in read_campaign(self.file).listed]
        except BadInput:
            return []

    def runs(self, *, sends: bool = True) -> None:
        """A run takes the table in, and sends."""
        self.people()
        with self.ledgers.ledger.writing() as session:
            take_in(session, read_campaign(self.file), self.ledgers.settings)
        if sends:
            self.ledgers.sends(key="hiring")


@pytest.fixture
def door(tmp_path: Path, desk: Ledgers, new_url: str, monkeypatch: pytest.MonkeyPatch) -> Door:
    monkeypatch.setenv("CAMPAIGN_DATABASE_URL", new_url)
    folder = tmp_path / "campaigns"
    folder.mkdir()
    return Door(folder, desk)


def test_what_was_taken_is_kept_through_a_kill_and_taken_once(door: Door) -> None:
    ada = ADA | {"notes": "Paints\rSings"}
    assert [door.post(ada)[0] for _ in range(3)] == [202] * 3
    assert time.time() - door.table.stat().st_mtime > REST  # nobody waits until it rests
    door.open()
    assert door.get()["invite"] == "waiting"
    assert door.post(ada) == (202, {"id": "app-1"})
    assert door.post(ada | {"source": "Referral"})[0] == 409
    assert door.post(ada | {"id": "app-9"})[0] == 202  # the same person by two orders is one
    assert door.people() == ["ada@x.org"]
    assert door.post(ada)[0] == door.post(BEN)[0] == 202
    assert door.people() == ["ada@x.org", "ben@x.org"]
    assert door.post(ada | {"first_name": "Eve"})[0] == 409


def test_what_the_disk_did_not_confirm_is_not_taken(
    door: Door, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(_: int) -> None:
        raise OSError("the disk is full")

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", fails)
        assert door.post(ADA) == (503, {"error": "the desk failed (OSError)"})
    assert door.post(ADA)[0] == 202
    elsewhere = door.folder / "elsewhere"
    (door.folder / LOCK).replace(elsewhere)
    elsewhere.write_text("theirs")
    (door.folder / LOCK).symlink_to(elsewhere)
    assert door.post(BEN) == (503, {"error": "the desk failed (LedgerUnusable)"})
    assert elsewhere.read_text() == "theirs"


@pytest.mark.parametrize(
    ("order", "status", "said"),
    [
        (BEN | {"email1": "ben@"}, 422, 'email1: found "ben@", wanted an email address'),
        (ADA | {"id": "app-2", "email1": "ada@"}, 422, 'email1: found "ada@"'),
        (BEN | {"last_name": None}, 422, "last_name: missing, wanted a last name"),
        (BEN | {"last_name": 12}, 422, "last_name: found"),
        (BEN | {"last_name": "Okri\nEvil,e@x.org"}, 422, "last_name: found"),
        (BEN | {"stage_id": "two"}, 422, "stage_id: found"),
        (BEN | {"source": ["a"]}, 422, "source: Input should be a valid string"),
        (BEN | {"withdrawn": "no"}, 422, "withdrawn: Extra inputs"),
        (BEN | {"id": "a/b"}, 422, "id: String should match"),
        (BEN | {"id": None}, 422, "id: Input should be a valid string"),
        ([BEN], 422, "wanted a JSON object of id, first_name"),
        (BEN | {"email1": "ADA@x.org"}, 422, "somebody of this address or name came before"),
        (BEN | {"first_name": "ada ", "last_name": "LOVELACE"}, 422, "somebody of this address"),
        (BEN | {"email1": "Ben <ben@x.org>"}, 422, "email1: wanted an email address, and nothing"),
        (BEN | {"notes": "x" * LARGEST}, 413, "16,384 bytes"),
        (BEN | {"notes": "\ud800"}, 422, "Invalid JSON"),
    ],
)
def test_what_the_definition_would_refuse(order: Any, status: int, said: str, door: Door) -> None:
    door.post(ADA | {"email1": "ada@x.org"})
    code, answer = door.post(order)
    assert code == status
    assert said in answer["error"]
    assert "ada@x.org" not in str(answer)
    assert door.people() == ["ada@x.org"]


def test_a_definition_that_does_not_read_its_orders(door: Door) -> None:
    door.write(candidates={"file": "people.csv"})
    none = {"error": "no definition here has  candidates: {file: hiring.orders.csv}"}
    assert door.post(ADA) == (404, none)
    door.write(candidates={"file": door.table.name})
    code, answer = door.post(ADA)
    assert (code, answer["error"][:22]) == (422, "Decide who is invited.")
    assert 'where: {withdrawn: ""}' in answer["error"]
    people = {"file": door.table.name, "where": {"withdrawn": ""}}
    door.write(candidates=people)
    assert "ignore: [id]" in door.post(ADA)[1]["error"]
    door.write(candidates=people | {"where": {"withdrawn": "", "source": "Career site"}})
    assert door.post(ADA)[1]["error"].endswith('only  where: {withdrawn: "", source: Career site}')
    assert door.post(ADA, "/campaigns/other/candidates")[0] == 404
    door.write()
    door.post(ADA)
    door.file.write_text("candidates: [")  # half saved: the table had a definition before
    assert door.post(BEN)[0] == 503
    door.write(campaign="hiring-2026")  # its runs would not hear of a withdrawal by the old key
    asked = [door.post(BEN), *(door.ask(each, f"{PATH}/app-1", WHY) for each in ("GET", "DELETE"))]
    assert all(code == 404 and "table hiring-2026.orders" in str(said) for code, said in asked)
    assert door.people() == ["ada@x.org"]
    assert door.post(ADA, "/campaigns/%2e%2e/candidates")[0] == 404
    door.write()
    for name, key in (("a", ""), ("z", "campaign: next")):  # a draft, a copy
        (door.folder / f"{name}.yaml").write_text(f"{key}\ncandidates: {{file: {door.table.name}}}")
    assert (door.post(ADA)[0], door.get()["id"]) == (202, "app-1")


def test_who_may_come_in(door: Door) -> None:
    for wrong in (b"", TOKEN[:-1], TOKEN + b"x", b"\xe4"):
        assert door.post(ADA, bearer=wrong)[0] == 401
    assert door.people() == []


def test_how_often(door: Door, monkeypatch: pytest.MonkeyPatch) -> None:
    at = time.monotonic() + 1000
    monkeypatch.setattr(time, "monotonic", lambda: at)
    bearer = f"Bearer {TOKEN.decode()}"
    for _ in range(int(RATE)):
        door.desk.admit(bearer)
    with pytest.raises(HTTPException, match="ask again in a second"):
        door.desk.admit(bearer)
    at += 1
    for _ in range(int(RATE)):
        door.desk.admit(bearer)


def test_what_a_person_takes_out_of_the_table_stays_out(door: Door) -> None:
    door.post(ADA)
    door.post(BEN)
    door.people()
    kept = [line for line in door.table.read_text().splitlines() if "ada" not in line]
    later = COLUMNS.index("stage_id")
    fewer = [",".join(each[:later] + each[later + 1 :]) for each in (k.split(",") for k in kept)]
    door.table.write_text("\n".join(fewer))  # as of a version without stage_id
    door.post(BEN | {"id": "app-3", "first_name": "Cyd", "email1": "cyd@x.org"})
    assert door.people() == ["ben@x.org", "cyd@x.org"]
    door.table.write_text(door.table.read_text().replace("app-3", "app-2"))
    assert f"wanted {','.join(COLUMNS)} on line 1" in door.post(ADA)[1]["error"]


def test_whoever_is_forgotten_is_in_no_order_and_their_id_does_not_come_back(door: Door) -> None:
    door.post(ADA | {"notes": "afraid of snakes"})
    door.post(BEN)
    door.runs()
    with door.ledgers.ledger.writing() as session:
        gone, folders = forget(session, ["ADA@x.org"], By("me", "she asked")), folders_of(session)
    assert [ordered(folders, "ADA@x.org", empty=e) for e in (True, False)] == [[door.table], []]
    assert not any("remove the row" in line for line in what_is_left(door.folder, gone, [], []))
    assert "was forgotten" in door.post(ADA | {"id": "app-9"})[1]["error"]
    assert not any(word in door.table.read_text() for word in ("ada", "Ada", "Lovelace", "snakes"))
    assert door.people() == ["ben@x.org"]
    assert "was forgotten" in door.post(ADA | {"notes": "afraid of snakes"})[1]["error"]
    assert door.get()["why"] == "withdrawn"


def test_how_far_an_order_is(door: Door) -> None:
    door.post(ADA)
    waits = {"add": "waiting", "invite": "waiting", "candidate_id": None, "embed_url": None}
    assert door.get() == {"id": "app-1", **waits, "why": None}
    door.runs()
    told = door.get()
    assert (told["add"], told["invite"], told["why"]) == ("done", "done", None)
    assert told["embed_url"].endswith(f"candidateId={told['candidate_id']}")


def test_why_not_names_nobody_else(door: Door) -> None:
    door.post(ADA | {"email1": "ada.love@gmail.com"})
    door.post(BEN | {"email1": "adalove+jobs@gmail.com"})
    door.runs()
    assert door.get("app-2")["why"] == "held"
    with door.ledgers.ledger.writing() as session:
        block(session, ["@gmail.com"], By("me", "they asked"))
    assert "@" not in json.dumps(door.get("app-2"))


def test_an_order_is_withdrawn_before_any_run_and_stays_so(door: Door) -> None:
    door.post(ADA)
    door.post(BEN)
    assert door.delete(why={}) == door.delete(why={"why": " "}) == door.delete(why=None) == 422
    assert door.delete() == door.delete() == 200
    assert (door.get()["why"], door.get()["invite"]) == ("withdrawn", "withdrawn")
    assert WHY["why"] in door.table.read_text()
    assert door.post(ADA) == (409, {"error": "this order was withdrawn; order with another id"})
    assert door.people() == ["ben@x.org"]
    assert door.delete("app-7") == 404
    assert door.post(ADA | {"id": "app-9"})[0] == 202
    assert door.delete() == 200  # asked again, of the first order
    assert door.people() == ["ben@x.org", "ada@x.org"]


def test_an_order_is_withdrawn_in_the_ledger_with_its_reason(door: Door) -> None:
    door.post(ADA)
    door.post(BEN)
    door.runs(sends=False)
    assert door.delete() == door.delete() == 200
    assert door.get()["why"] == "withdrawn"
    assert door.people() == ["ben@x.org"]  # also of a new campaign
    assert door.post(ADA | {"id": "app-3", "email1": "ada@right.org"})[0] == 202
    door.runs()
    assert door.ledgers.state("ada@x.org", "hiring")[1] == "given up"
    assert door.ledgers.state("ben@x.org", "hiring")[1] == "done"
    assert door.post(BEN)[0] == 202  # it stands
    door.ledgers.call(withdraw, ["ben@x.org"], By("me"), key="hiring")
    assert "campaign withdraw hiring EMAIL --undo" in door.post(BEN)[1]["error"]
    with door.ledgers.at("hiring") as (session, _):
        [decided, _] = session.exec(select(Decision)).all()
        said = (decided.word, decided.who, decided.why)
        assert said == ("withdraw", "the order desk", WHY["why"])


def test_an_order_whose_address_was_corrected_is_that_of_the_right_one(door: Door) -> None:
    door.post(ADA), door.runs(sends=False)
    door.ledgers.call(correct, "ada@x.org", "ada@y.org", By("me"), key="hiring")
    assert (door.get()["invite"], door.get()["why"]) == ("waiting", None)
    assert door.delete() == 200
    door.ledgers.sends(key="hiring")
    assert door.ledgers.state("ada@y.org", "hiring") == ("given up", "given up")
    assert door.post(ADA | {"id": "app-9"})[0] == 409  # nothing would be sent for it


def test_a_run_at_work_may_have_read_an_order_that_is_withdrawn(door: Door) -> None:
    door.post(ADA)
    door.post(BEN)
    door.people()
    with lease(door.ledgers.ledger, "hiring"):
        assert door.delete() == 409
        assert door.ask("DELETE", f"{PATH.replace('hiring', 'Hiring')}/app-1", WHY)[0] == 409
        door.runs(sends=False)  # one that begins now reads it no more
    assert door.delete() == 200
    assert door.ledgers.due(Op.CREATE, key="hiring")
    assert door.people() == ["ben@x.org"]
